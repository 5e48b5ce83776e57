/**
 * From declared messages to the tree: looks names up, refuses cycles and what is too deep or too large, and gives each
 * type one object. The limits stand here so that nothing behind (layout plan, generated code, default values) can be
 * made to explode by a text of a few lines.
 */
import type { FieldDefinition, FieldType, MessageDefinition } from './definition.js';
import { builtinMessage, DURATION, isTimeLayout, TIME } from './builtin.js';
import {
  jsonable,
  type DeclaredMessage,
  type DeclaredType,
  type MessageTable,
  type ReferenceType,
  type UnsupportedType,
} from './declaration.js';
import type { SourceText } from './source-text.js';

/** Messages and arrays inside one another. Real types stay below 20. */
export const MAX_DEPTH = 64;

/**
 * Fields of a type with those of all its parts: ten fields of a type of ten fields of a type ... Real types stay below a
 * thousand, and generated code grows with it.
 */
export const MAX_EXPANDED_FIELDS = 20_000;

/** Bytes that a value takes at least, through its fixed arrays. */
export const MAX_FIXED_SIZE: number = 2 ** 28;

/** The member that rosidl puts into a struct that would have none. */
const PLACEHOLDER = 'structure_needs_at_least_one_member';

/** What the limits need to know of a type. */
interface Extent {
  readonly depth: number;
  readonly fields: number;
  readonly size: number;
}

interface Resolved extends Extent {
  readonly definition: MessageDefinition;
}

/** The definition of the message at `key`, with the text's warnings. */
export function resolveMessage(source: SourceText, table: MessageTable, key: string): MessageDefinition {
  const { definition } = new Resolver(source, table).resolve(key);
  return { ...definition, warnings: source.warnings };
}

class Resolver {
  readonly #source: SourceText;
  readonly #table: MessageTable;
  readonly #done = new Map<string, Resolved>();
  /** Keys from the root to here. */
  readonly #path: string[] = [];

  constructor(source: SourceText, table: MessageTable) {
    this.#source = source;
    this.#table = table;
  }

  resolve(key: string, offset = -1): Resolved {
    const done = this.#done.get(key);
    if (done !== undefined) return done;
    if (this.#path.includes(key)) {
      const cycle = [...this.#path.slice(this.#path.indexOf(key)), key].map(
        (part) => this.#message(part)?.name ?? part,
      );
      throw this.#source.error('SCHEMA_CYCLE', `a type contains itself: ${cycle.join(' -> ')}`, offset);
    }
    if (this.#path.length >= MAX_DEPTH) throw this.#tooDeep(offset);
    const message = this.#message(key);
    if (message === undefined) throw this.#source.error('SCHEMA_ROOT_NOT_FOUND', `${key} is not defined`, offset);
    this.#path.push(key);
    const resolved = this.#define(message);
    this.#path.pop();
    this.#done.set(key, resolved);
    return resolved;
  }

  #message(key: string): DeclaredMessage | undefined {
    const declared = this.#table.get(key);
    const name = declared?.name ?? key;
    if (name !== TIME && name !== DURATION) return declared ?? builtinMessage(key);
    if (declared !== undefined && !isTimeLayout(declared)) {
      throw this.#source.error(
        'SCHEMA_CONFLICTING_DEFINITIONS',
        `${name} must be sec and nanosec, 32 bits each`,
        declared.offset,
      );
    }
    const builtin = builtinMessage(name);
    return declared === undefined || builtin === undefined ? builtin : { ...builtin, ...commentOf(declared) };
  }

  #define(message: DeclaredMessage): Resolved {
    if (message.unsupported !== undefined) throw this.#unsupported(message.unsupported, message);
    const fields: FieldDefinition[] = [];
    let depth = 0;
    let count = 0;
    let size = 0;
    const declared = isPlaceholder(message) ? [] : message.fields;
    for (const { type, offset, ...rest } of declared) {
      const [resolved, extent] = this.#type(type, message, 1, offset);
      const { name, ...others } = rest;
      fields.push(jsonable({ name, type: resolved, ...others }));
      depth = Math.max(depth, extent.depth);
      count += extent.fields;
      size += extent.size;
      if (count > MAX_EXPANDED_FIELDS) {
        const problem = `${message.name} has more than ${MAX_EXPANDED_FIELDS} fields with those of its parts`;
        throw this.#source.error('SCHEMA_LIMIT', problem, offset);
      }
      if (size > MAX_FIXED_SIZE) {
        const problem = `${message.name} takes more than ${MAX_FIXED_SIZE} bytes at least`;
        throw this.#source.error('SCHEMA_LIMIT', problem, offset);
      }
    }
    if (depth + 1 > MAX_DEPTH) throw this.#tooDeep(message.offset);
    const definition: MessageDefinition = {
      name: message.name,
      extensibility: message.extensibility,
      fields,
      constants: message.constants,
      warnings: [],
      ...commentOf(message),
    };
    return { definition, depth: depth + 1, fields: Math.max(count, 1), size: Math.max(size, 1) };
  }

  #type(type: DeclaredType, owner: DeclaredMessage, level: number, offset: number): [FieldType, Extent] {
    if (level > MAX_DEPTH) throw this.#tooDeep(offset);
    switch (type.kind) {
      case 'primitive':
        return [type, { depth: 0, fields: 1, size: SIZES.get(type.name) ?? 1 }];
      case 'enum':
        return [type, { depth: 0, fields: 1, size: SIZES.get(type.underlying) ?? 4 }];
      case 'unsupported':
        throw this.#unsupported(type, owner);
      case 'reference': {
        const { definition, ...extent } = this.resolve(this.#lookUp(type, owner), type.offset);
        return [{ kind: 'message', definition }, extent];
      }
      case 'array': {
        const [element, extent] = this.#type(type.element, owner, level + 1, offset);
        const { depth, fields, size } = extent;
        return [
          { ...type, element },
          { depth: depth + 1, fields: fields + 1, size: size * type.length },
        ];
      }
      case 'sequence': {
        const [element, { depth, fields }] = this.#type(type.element, owner, level + 1, offset);
        return [
          { ...type, element },
          { depth: depth + 1, fields: fields + 1, size: 4 },
        ];
      }
    }
  }

  #lookUp(type: ReferenceType, owner: DeclaredMessage): string {
    const found = type.candidates.find((key) => this.#table.has(key) || builtinMessage(key) !== undefined);
    if (found !== undefined) return found;
    const meant = type.candidates[0] ?? '';
    const also = meant === type.spelling ? '' : ` (${meant})`;
    const problem = `type ${type.spelling}${also} of a field of ${owner.name} is not defined`;
    throw this.#source.error('SCHEMA_UNKNOWN_TYPE', problem, type.offset);
  }

  #unsupported(type: UnsupportedType, owner: DeclaredMessage): Error {
    const problem = `${type.construct} (type ${owner.name}) is not supported`;
    return this.#source.error('SCHEMA_UNSUPPORTED_IDL', problem, type.offset);
  }

  #tooDeep(offset: number): Error {
    return this.#source.error('SCHEMA_LIMIT', `types are nested more than ${MAX_DEPTH} deep`, offset);
  }
}

const SIZES: ReadonlyMap<string, number> = new Map([
  ['int16', 2],
  ['uint16', 2],
  ['wchar', 2],
  ['int32', 4],
  ['uint32', 4],
  ['float32', 4],
  ['string', 4],
  ['wstring', 4],
  ['int64', 8],
  ['uint64', 8],
  ['float64', 8],
]);

/** A struct that is empty but for the byte that IDL makes it have: the codec writes that byte for every empty message. */
function isPlaceholder(message: DeclaredMessage): boolean {
  const [first] = message.fields;
  return message.fields.length === 1 && first?.name === PLACEHOLDER && first.type.kind === 'primitive';
}

function commentOf(object: { readonly comment?: string }): { comment?: string } {
  return object.comment === undefined ? {} : { comment: object.comment };
}
