/** The canonical text of a decoded value, in which the golden values of the reference material are hashed. */
import type { FieldType, MessageDefinition } from '../../lib/index.js';

export function canonical(value: unknown, definition: MessageDefinition): string {
  const fields = value as Record<string, unknown>;
  return `{${definition.fields.map(({ name, type }) => `${JSON.stringify(name)}:${text(fields[name], type)}`).join(',')}}`;
}

function text(value: unknown, type: FieldType): string {
  switch (type.kind) {
    case 'message':
      return canonical(value, type.definition);
    case 'array':
    case 'sequence':
      return `[${Array.from(value as Iterable<unknown>, (item) => text(item, type.element)).join(',')}]`;
    case 'enum':
      return String(value);
    case 'primitive':
      if (type.name === 'float32' || type.name === 'float64') return `"f:${floatBits(value as number)}"`;
      if (type.name === 'string' || type.name === 'wstring') return JSON.stringify(value);
      return String(value);
  }
}

function floatBits(value: number): string {
  const bytes = Buffer.alloc(8);
  bytes.writeDoubleBE(value);
  return bytes.toString('hex');
}
