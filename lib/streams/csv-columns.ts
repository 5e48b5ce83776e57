/** The columns of a type: known from its definition, so that the first message does not decide them. */
import { OptionError } from '../errors.js';
import { nearest } from '../options.js';
import type { FieldType, MessageDefinition } from '../schema/definition.js';
import { jsonValue } from './json-value.js';

/** Fixed arrays up to so many elements are columns, above they are JSON text. */
const MAX_ARRAY_COLUMNS = 1024;

export interface Column {
  readonly name: string;
  /** The cell's text, of a message, of an element of the exploded field, or of that element's index. */
  readonly cell: (of: unknown) => string;
  readonly of: 'message' | 'element' | 'index';
}

export interface ColumnSet {
  readonly columns: readonly Column[];
  /** The elements of the exploded field. */
  readonly elements: ((message: unknown) => ArrayLike<unknown>) | undefined;
}

type Get = (message: unknown) => unknown;

/**
 * The columns of `definition`: `pose.position.x`, `covariance[0]`; arrays of any length as JSON text, but for `explode`,
 * whose elements become rows, with a column `explode[]` for the index.
 *
 * @param fields paths of what is wanted, default all; a path to a struct or array means all of it
 */
export function columnsOf(
  definition: MessageDefinition,
  explode: string | undefined,
  fields: readonly string[] | undefined,
): ColumnSet {
  const columns: Column[] = [];
  const lists: string[] = [];
  let elements: ColumnSet['elements'];

  function add(type: FieldType, name: string, get: Get, of: 'message' | 'element'): void {
    switch (type.kind) {
      case 'primitive':
      case 'enum':
        columns.push({ name, cell: (message) => cellText(get(message)), of });
        return;
      case 'message':
        for (const field of type.definition.fields) {
          add(field.type, `${name}.${field.name}`, property(get, field.name), of);
        }
        return;
      case 'array':
      case 'sequence':
        if (of === 'message') lists.push(name);
        if (name === explode && of === 'message') {
          elements = (message) => listOf(get(message));
          columns.push({ name: `${name}[]`, cell: String, of: 'index' });
          add(type.element, name, (element) => element, 'element');
        } else if (type.kind === 'array' && type.length <= MAX_ARRAY_COLUMNS) {
          for (let index = 0; index < type.length; index++) {
            add(type.element, `${name}[${index}]`, (message) => listOf(get(message))[index], of);
          }
        } else {
          columns.push({ name, cell: (message) => jsonText(get(message)), of });
        }
    }
  }

  for (const field of definition.fields) {
    add(
      field.type,
      field.name,
      property((message) => message, field.name),
      'message',
    );
  }
  if (explode !== undefined && elements === undefined) throw unknown('explode', explode, lists, definition);
  const unknownField = fields?.find((path) => !columns.some(({ name }) => isPart(name, path)));
  if (fields !== undefined && unknownField !== undefined) {
    throw unknown(
      'fields',
      unknownField,
      columns.map(({ name }) => name),
      definition,
    );
  }
  const wanted =
    fields === undefined
      ? columns
      : columns.filter(({ name }) => name === `${explode ?? ''}[]` || fields.some((path) => isPart(name, path)));
  return { columns: wanted, elements };
}

function isPart(name: string, path: string): boolean {
  return name === path || name.startsWith(`${path}.`) || name.startsWith(`${path}[`);
}

function unknown(option: string, path: string, known: readonly string[], definition: MessageDefinition): OptionError {
  const near = nearest(path, known, 3);
  const hint = near.length === 0 ? 'it has none' : `did you mean ${near.join(', ')}?`;
  return new OptionError('OPTION_INVALID', `${option}: ${definition.name} has no ${JSON.stringify(path)}: ${hint}`);
}

function property(get: Get, name: string): Get {
  return (message) => {
    const owner = get(message);
    if (typeof owner !== 'object' || owner === null || !Object.hasOwn(owner, name)) return undefined;
    return (owner as Readonly<Record<string, unknown>>)[name];
  };
}

function listOf(value: unknown): ArrayLike<unknown> {
  return typeof value === 'object' && value !== null && 'length' in value ? (value as ArrayLike<unknown>) : [];
}

/** Exact text: 64-bit integers in full, -0, NaN and Infinity as they are called. What is absent is empty. */
function cellText(value: unknown): string {
  switch (typeof value) {
    case 'string':
      return value;
    case 'number':
      return Object.is(value, -0) ? '-0' : String(value);
    case 'bigint':
    case 'boolean':
      return String(value);
    default:
      return value === undefined || value === null ? '' : jsonValue(value);
  }
}

function jsonText(value: unknown): string {
  return value === undefined ? '' : jsonValue(value);
}
