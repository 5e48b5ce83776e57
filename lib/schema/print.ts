/** Definitions back to text: what a recorder would have stored for them. */
import { McapStreamsError } from '../errors.js';
import type {
  ConstantDefinition,
  FieldDefinition,
  FieldType,
  LiteralValue,
  MessageDefinition,
  PrimitiveType,
} from './definition.js';

const SEPARATOR = '='.repeat(80);

/**
 * The concatenated .msg text of a definition (`ros2msg`): its own text, then that of each message it needs, in the order
 * of first use. Parsed under the definition's name it gives an equal definition.
 *
 * What only IDL has is written in the form that has the same bytes in plain CDR: an enum as its integer, a wchar as uint16.
 *
 * @throws McapStreamsError SCHEMA_UNSUPPORTED_IDL for arrays of arrays, which a .msg text cannot say
 */
export function definitionToRos2Msg(definition: MessageDefinition): string {
  const texts = [printMessage(definition)];
  const seen = new Set([definition.name]);
  const queue = [definition];
  for (let current = queue.shift(); current !== undefined; current = queue.shift()) {
    for (const { type } of current.fields) {
      const part = elementOf(type);
      if (part.kind !== 'message' || seen.has(part.definition.name)) continue;
      seen.add(part.definition.name);
      queue.push(part.definition);
      texts.push(`${SEPARATOR}\nMSG: ${spell(part.definition.name)}\n${printMessage(part.definition)}`);
    }
  }
  return texts.join('\n');
}

/** One message's own text. */
function printMessage(message: MessageDefinition): string {
  const lines = message.comment === undefined ? [] : [...commentLines(message.comment), ''];
  for (const constant of message.constants) lines.push(...printConstant(constant));
  if (message.constants.length > 0 && message.fields.length > 0) lines.push('');
  for (const field of message.fields) lines.push(...printField(message, field));
  return lines.map((line) => `${line}\n`).join('');
}

function printConstant({ name, type, value, comment }: ConstantDefinition): string[] {
  return [...commentLines(comment), `${printPrimitive(type)} ${name}=${printLiteral(value)}`];
}

function printField(owner: MessageDefinition, { name, type, defaultValue, comment }: FieldDefinition): string[] {
  const line = `${printType(owner, name, type)} ${name}`;
  const literal = defaultValue === undefined ? '' : ` ${printDefault(defaultValue)}`;
  return [...commentLines(comment), line + literal];
}

function printType(owner: MessageDefinition, field: string, type: FieldType): string {
  switch (type.kind) {
    case 'primitive':
      return printPrimitive(type);
    case 'enum':
      return type.underlying;
    case 'message':
      return spell(type.definition.name);
    case 'array':
    case 'sequence': {
      if (type.element.kind === 'array' || type.element.kind === 'sequence') {
        const problem = `field ${field} of ${owner.name} is an array of arrays, which a .msg text cannot say`;
        throw new McapStreamsError('SCHEMA_UNSUPPORTED_IDL', problem, { schemaName: owner.name, field });
      }
      const element = printType(owner, field, type.element);
      if (type.kind === 'array') return `${element}[${type.length}]`;
      return type.maxLength === undefined ? `${element}[]` : `${element}[<=${type.maxLength}]`;
    }
  }
}

function printPrimitive({ name, maxLength }: PrimitiveType): string {
  if (name === 'wchar') return 'uint16';
  return maxLength === undefined ? name : `${name}<=${maxLength}`;
}

function printDefault(value: LiteralValue | readonly LiteralValue[]): string {
  return isList(value) ? `[${value.map(printLiteral).join(', ')}]` : printLiteral(value);
}

function printLiteral(value: LiteralValue): string {
  if (typeof value === 'string') return quote(value);
  if (typeof value !== 'number') return String(value);
  if (Object.is(value, -0)) return '-0.0';
  if (Number.isNaN(value)) return 'nan';
  if (!Number.isFinite(value)) return value < 0 ? '-inf' : 'inf';
  return String(value);
}

/** A string in double quotes; what would end the line or the quotes is escaped. */
function quote(text: string): string {
  let quoted = '';
  for (const char of text) {
    const code = char.codePointAt(0) ?? 0;
    if (char === '"' || char === '\\') quoted += `\\${char}`;
    else if (code < 0x20 || code === 0x7f) quoted += `\\x${code.toString(16).padStart(2, '0')}`;
    else quoted += char;
  }
  return `"${quoted}"`;
}

function commentLines(comment: string | undefined): string[] {
  return comment === undefined ? [] : comment.split(/\r\n|\n|\r/).map((line) => (line === '' ? '#' : `# ${line}`));
}

/** As recorders spell names: messages in two parts, all others with their middle part. */
function spell(name: string): string {
  return name.replace(/^([^/]+)\/msg\/([^/]+)$/, '$1/$2');
}

function elementOf(type: FieldType): FieldType {
  let element = type;
  while (element.kind === 'array' || element.kind === 'sequence') element = element.element;
  return element;
}

function isList(value: LiteralValue | readonly LiteralValue[]): value is readonly LiteralValue[] {
  return Array.isArray(value);
}
