/** Definitions as TypeScript: an interface for each type, in the form that decoding gives. */
import { checkChoice, checkOptions } from '../options.js';
import type {
  ConstantDefinition,
  FieldDefinition,
  FieldType,
  LiteralValue,
  MessageDefinition,
  PrimitiveName,
} from './definition.js';
import { TIME, DURATION } from './builtin.js';
import { baseName, packageOf } from './names.js';

/** The options of the codec that change the form of values. */
export interface TypeScriptOptions {
  /** int64 and uint64. Default `bigint`. */
  readonly int64?: 'bigint' | 'number' | 'string' | undefined;
  /** builtin_interfaces Time and Duration. Default `object`. */
  readonly time?: 'object' | 'bigint' | undefined;
}

const ARRAYS: Readonly<Partial<Record<PrimitiveName, string>>> = {
  byte: 'Uint8Array',
  char: 'Uint8Array',
  int8: 'Int8Array',
  uint8: 'Uint8Array',
  int16: 'Int16Array',
  uint16: 'Uint16Array',
  wchar: 'Uint16Array',
  int32: 'Int32Array',
  uint32: 'Uint32Array',
  float32: 'Float32Array',
  float64: 'Float64Array',
};

/** Names that mean something else in TypeScript: a type called so gets its package's name before it. */
const RESERVED: ReadonlySet<string> = new Set([
  ...['Array', 'BigInt', 'BigInt64Array', 'BigUint64Array', 'Boolean', 'Date', 'Error', 'Function', 'Map', 'Number'],
  ...['Object', 'Promise', 'Record', 'RegExp', 'Set', 'String', 'Symbol', ...Object.values(ARRAYS)],
]);

/**
 * A TypeScript module with an interface for a type and for each type that it needs, the type itself first, with the
 * comments of the schema text; bounds, sizes, defaults and units stand in the comments too. Constants become a const
 * object with the name of their type.
 *
 * A type is called by the last part of its name, with its package before it where two would have one name.
 */
export function definitionToTypeScript(definition: MessageDefinition, options: TypeScriptOptions = {}): string {
  checkOptions(options, ['int64', 'time'], 'definitionToTypeScript');
  checkChoice(options.int64, ['bigint', 'number', 'string'], 'int64');
  checkChoice(options.time, ['object', 'bigint'], 'time');
  return new Printer(definition, options).print();
}

class Printer {
  readonly #int64: 'bigint' | 'number' | 'string';
  readonly #time: 'object' | 'bigint';
  readonly #types: MessageDefinition[] = [];
  readonly #names = new Map<string, string>();

  constructor(root: MessageDefinition, options: TypeScriptOptions) {
    this.#int64 = options.int64 ?? 'bigint';
    this.#time = options.time ?? 'object';
    this.#collect(root, new Set());
    const taken = new Map<string, number>();
    for (const { name } of this.#types) taken.set(shortName(name), (taken.get(shortName(name)) ?? 0) + 1);
    const used = new Set<string>();
    for (const { name } of this.#types) {
      const short = shortName(name);
      const plain = /^[A-Z]\w*$/.test(short) && !RESERVED.has(short);
      const wanted = plain && taken.get(short) === 1 ? short : longName(name);
      let unique = wanted;
      for (let n = 2; used.has(unique); n++) unique = `${wanted}${n}`;
      used.add(unique);
      this.#names.set(name, unique);
    }
  }

  print(): string {
    return this.#types.map((type) => this.#message(type)).join('\n');
  }

  #collect(type: MessageDefinition, seen: Set<string>): void {
    // A time as the message itself is an object in any case.
    if (seen.has(type.name) || (this.#time === 'bigint' && isTime(type) && seen.size > 0)) return;
    seen.add(type.name);
    this.#types.push(type);
    for (const field of type.fields) {
      const element = elementOf(field.type);
      if (element.kind === 'message') this.#collect(element.definition, seen);
    }
  }

  #message(type: MessageDefinition): string {
    const name = this.#names.get(type.name) ?? shortName(type.name);
    const lines = docComment([type.name, ...textLines(type.comment)], '');
    if (type.fields.length === 0) lines.push(`export type ${name} = Record<string, never>;`);
    else {
      lines.push(`export interface ${name} {`);
      for (const field of type.fields) lines.push(...this.#field(field));
      lines.push('}');
    }
    if (type.constants.length > 0) lines.push('', ...this.#constants(name, type.constants));
    return lines.map((line) => `${line}\n`).join('');
  }

  #field({ name, type, comment, unit, defaultValue }: FieldDefinition): string[] {
    const notes = [...textLines(comment), rosType(type)];
    if (unit !== undefined) notes.push(`Unit: ${unit}`);
    if (defaultValue !== undefined) notes.push(`Default: ${defaultText(defaultValue)}`);
    return [...docComment(notes, '  '), `  ${property(name)}: ${this.#type(type)};`];
  }

  #constants(name: string, constants: readonly ConstantDefinition[]): string[] {
    const lines = [`export const ${name} = {`];
    for (const constant of constants) {
      lines.push(...docComment([...textLines(constant.comment), constant.type.name], '  '));
      lines.push(`  ${property(constant.name)}: ${this.#literal(constant.value)},`);
    }
    lines.push('} as const;');
    return lines;
  }

  #literal(value: LiteralValue): string {
    if (typeof value === 'string') return JSON.stringify(value);
    if (typeof value === 'bigint')
      return this.#int64 === 'bigint' ? `${value}n` : this.#int64 === 'string' ? `"${value}"` : String(Number(value));
    return Object.is(value, -0) ? '-0' : String(value);
  }

  #type(type: FieldType): string {
    switch (type.kind) {
      case 'primitive':
        if (type.name === 'int64' || type.name === 'uint64') return this.#int64;
        if (type.name === 'bool') return 'boolean';
        return type.name === 'string' || type.name === 'wstring' ? 'string' : 'number';
      case 'enum':
        return 'number';
      case 'message':
        if (this.#time === 'bigint' && isTime(type.definition)) return 'bigint';
        return this.#names.get(type.definition.name) ?? 'unknown';
      case 'array':
      case 'sequence':
        return this.#list(type.element);
    }
  }

  #list(element: FieldType): string {
    const primitive =
      element.kind === 'enum' ? element.underlying : element.kind === 'primitive' ? element.name : undefined;
    if (this.#int64 === 'bigint' && primitive === 'int64') return 'BigInt64Array';
    if (this.#int64 === 'bigint' && primitive === 'uint64') return 'BigUint64Array';
    return (primitive === undefined ? undefined : ARRAYS[primitive]) ?? `${this.#type(element)}[]`;
  }
}

function isTime({ name }: MessageDefinition): boolean {
  return name === TIME || name === DURATION;
}

function elementOf(type: FieldType): FieldType {
  let element = type;
  while (element.kind === 'array' || element.kind === 'sequence') element = element.element;
  return element;
}

function shortName(name: string): string {
  return baseName(name).replace(/\W/g, '_');
}

/** `StdMsgsString` of `std_msgs/msg/String`. */
function longName(name: string): string {
  const words = `${packageOf(name)}_${shortName(name)}`.split('_').filter((word) => word !== '');
  const long = words.map((word) => word.charAt(0).toUpperCase() + word.slice(1)).join('');
  return /^[A-Za-z]/.test(long) ? long : `Type${long}`;
}

/** Quoted where it is no plain name; `constructor` would be one, but of something else. */
function property(name: string): string {
  return /^[A-Za-z_]\w*$/.test(name) && name !== 'constructor' && name !== '__proto__' ? name : JSON.stringify(name);
}

/** The type as the schema has it: what TypeScript cannot say. */
function rosType(type: FieldType): string {
  switch (type.kind) {
    case 'primitive':
      return type.maxLength === undefined ? type.name : `${type.name}, at most ${type.maxLength} bytes`;
    case 'enum': {
      const members = type.members.map(({ name, value }) => `${name} = ${String(value)}`).join(', ');
      return `${type.name}: ${members}`;
    }
    case 'message':
      return type.definition.name;
    case 'array':
      return `${rosType(type.element)}: ${type.length} elements`;
    case 'sequence':
      return `${rosType(type.element)}: ${type.maxLength === undefined ? 'any number' : `at most ${type.maxLength}`} of elements`;
  }
}

function defaultText(value: LiteralValue | readonly LiteralValue[]): string {
  if (Array.isArray(value)) return `[${(value as readonly LiteralValue[]).map(defaultText).join(', ')}]`;
  return typeof value === 'string' ? JSON.stringify(value) : String(value);
}

function textLines(comment: string | undefined): string[] {
  return comment === undefined ? [] : comment.split(/\r\n|\n|\r|\u2028|\u2029/).map((line) => line.trimEnd());
}

function docComment(lines: readonly string[], indent: string): string[] {
  const safe = lines.map((line) => line.replaceAll('*/', '* /').replace(/[\r\n\u2028\u2029]/g, ' '));
  const [first = ''] = safe;
  if (safe.length === 1) return [`${indent}/** ${first} */`];
  return [`${indent}/**`, ...safe.map((line) => `${indent} * ${line}`.trimEnd()), `${indent} */`];
}
