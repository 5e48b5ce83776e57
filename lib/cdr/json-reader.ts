/**
 * JSON to values, directed by the type: base64 becomes bytes, decimal strings 64-bit integers, "NaN" and the infinities
 * numbers, lists typed arrays. As strict as the encoder: what it gives encodes.
 */
import { McapStreamsError } from '../errors.js';
import type { EncodeErrorCode } from '../errors.js';
import { nearest } from '../options.js';
import { fits64, kindOf, overflowsFloat32, RANGES, readField, toBigInt } from './accept.js';
import { ARRAY_TYPES } from './arrays.js';
import { MAX_DEFAULT_SIZE } from './encode-interpreter.js';
import { minSize } from './layout.js';
import type { FieldPlan, ListNode, PlanNode, ScalarName, StructNode } from './layout.js';
import { pathText } from './path-text.js';
import { decodeBase64, decodeUtf8, isWellFormed, utf8Length } from './text.js';
import { absentValue, int64Value, setOwn, timeValue } from './values.js';
import type { ValueOptions } from './values.js';

/** Gives the value that JSON stands for: its text (a string, or UTF-8 bytes), or what a parser made of it. */
export type ReadJson = (json: unknown) => unknown;

/**
 * A reader of values of the type `root`.
 *
 * It throws McapStreamsError: ENCODE_BAD_JSON for a text that does not parse, else the `ENCODE_*` code and the field's path.
 */
export function jsonReader(root: StructNode, values: ValueOptions, unknownFields: 'error' | 'ignore'): ReadJson {
  return (json) => new JsonReader(root.name, values, unknownFields).struct(root, parsed(json, root.name));
}

function parsed(json: unknown, schemaName: string): unknown {
  if (typeof json !== 'string' && !(json instanceof Uint8Array)) return json;
  const text = typeof json === 'string' ? json : decodeUtf8(json, 0, json.length);
  try {
    return JSON.parse(text) as unknown;
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause);
    throw new McapStreamsError('ENCODE_BAD_JSON', `${schemaName}: no JSON: ${why}`, { schemaName, cause });
  }
}

const FLOATS: ReadonlyMap<unknown, number> = new Map([
  ['NaN', NaN],
  ['Infinity', Infinity],
  ['-Infinity', -Infinity],
]);

class JsonReader {
  readonly #schemaName: string;
  readonly #values: ValueOptions;
  readonly #unknownFields: 'error' | 'ignore';
  readonly #path: (string | number)[] = [];

  constructor(schemaName: string, values: ValueOptions, unknownFields: 'error' | 'ignore') {
    this.#schemaName = schemaName;
    this.#values = values;
    this.#unknownFields = unknownFields;
  }

  struct(node: StructNode, json: unknown): Record<string, unknown> {
    const from = this.#object(json, node.name);
    const names = node.fields.map((field) => field.name);
    this.#checkKeys(from, new Set(names), node.name);
    const object: Record<string, unknown> = {};
    const depth = this.#path.length;
    for (const field of node.fields) {
      this.#path[depth] = field.name;
      const given = readField(from, field.name);
      setOwn(object, field.name, given === undefined ? this.#absent(field) : this.#value(field.node, given));
    }
    this.#path.length = depth;
    return object;
  }

  #object(json: unknown, type: string): Record<string, unknown> {
    if (typeof json !== 'object' || json === null || Array.isArray(json) || ArrayBuffer.isView(json))
      return this.#refuse('ENCODE_WRONG_KIND', json, `a ${type} object`);
    return json as Record<string, unknown>;
  }

  #checkKeys(from: object, known: ReadonlySet<string>, type: string): void {
    if (this.#unknownFields === 'ignore') return;
    for (const name of Object.keys(from)) {
      if (known.has(name)) continue;
      this.#path.push(name);
      const [near] = nearest(name, [...known], 1);
      const hint = near === undefined ? 'it has none' : `did you mean ${near}?`;
      this.#fail('ENCODE_UNKNOWN_FIELD', `${type} has no field ${JSON.stringify(name)}: ${hint}`);
    }
  }

  #absent(field: FieldPlan): unknown {
    const size = minSize(field.node);
    if (size > MAX_DEFAULT_SIZE) return this.#fail('ENCODE_NO_SPACE', `a default of ${size} bytes is too large`);
    return absentValue(field.node, field.defaultValue, this.#values);
  }

  #value(node: PlanNode, json: unknown): unknown {
    switch (node.kind) {
      case 'scalar': {
        const value = this.#scalar(node.scalar, json);
        return typeof value === 'bigint' ? int64Value(value, this.#values) : value;
      }
      case 'string':
      case 'wstring': {
        const { kind, bound } = node;
        if (typeof json !== 'string') return this.#refuse('ENCODE_WRONG_KIND', json, `a ${kind}`);
        if (!isWellFormed(json)) return this.#refuse('ENCODE_BAD_STRING', json, `a ${kind} without lone surrogates`);
        if (json.includes('\0')) return this.#refuse('ENCODE_BAD_STRING', json, `a ${kind} without NUL`);
        const size = bound === Infinity ? 0 : kind === 'string' ? utf8Length(json) : json.length;
        if (size > bound) {
          const unit = kind === 'string' ? 'bytes' : 'UTF-16 units';
          return this.#fail('ENCODE_OVER_BOUND', `${size} ${unit}, where ${kind}<=${bound} is allowed`);
        }
        return json;
      }
      case 'time':
        return this.#time(node.type, json);
      case 'struct':
        return this.struct(node, json);
      case 'list':
        return this.#list(node, json);
    }
  }

  #scalar(scalar: ScalarName, json: unknown): boolean | number | bigint {
    switch (scalar) {
      case 'bool':
        return typeof json === 'boolean' ? json : this.#refuse('ENCODE_WRONG_KIND', json, 'a bool');
      case 'int64':
      case 'uint64': {
        const wanted = `an ${scalar}: a decimal string, or a number up to 2^53`;
        const big = toBigInt(json);
        if (big === undefined) {
          const code = typeof json === 'number' ? 'ENCODE_OUT_OF_RANGE' : 'ENCODE_WRONG_KIND';
          return this.#refuse(code, json, wanted);
        }
        return fits64(big, scalar === 'int64') ? big : this.#refuse('ENCODE_OUT_OF_RANGE', json, `an ${scalar}`);
      }
      case 'float32':
      case 'float64': {
        const special = FLOATS.get(json);
        if (special !== undefined) return special;
        // A parser that keeps long integers exact gives a bigint, which a float rounds as its text would be.
        const value = typeof json === 'bigint' ? Number(json) : json;
        if (typeof value !== 'number')
          return this.#refuse('ENCODE_WRONG_KIND', json, `a ${scalar}: a number, "NaN", "Infinity" or "-Infinity"`);
        if (!Number.isFinite(value) || (scalar === 'float32' && overflowsFloat32(value)))
          return this.#refuse('ENCODE_OUT_OF_RANGE', json, `a ${scalar}`);
        return scalar === 'float32' ? Math.fround(value) : value;
      }
      default: {
        if (typeof json !== 'number' && typeof json !== 'bigint')
          return this.#refuse('ENCODE_WRONG_KIND', json, `a ${scalar} number`);
        const [least, most] = RANGES[scalar];
        if (typeof json === 'bigint' || !Number.isInteger(json) || json < least || json > most)
          return this.#refuse('ENCODE_OUT_OF_RANGE', json, `a ${scalar} integer from ${least} to ${most}`);
        return json;
      }
    }
  }

  #time(type: 'Time' | 'Duration', json: unknown): unknown {
    const from = this.#object(json, `${type} {"sec","nanosec"}`);
    const nanosecName = from['nanosec'] === undefined && from['nsec'] !== undefined ? 'nsec' : 'nanosec';
    this.#checkKeys(from, new Set(['sec', nanosecName]), type);
    const depth = this.#path.length;
    this.#path[depth] = 'sec';
    const sec = from['sec'] === undefined ? 0 : this.#scalar('int32', from['sec']);
    this.#path[depth] = nanosecName;
    const nanosec = from[nanosecName] === undefined ? 0 : this.#scalar('uint32', from[nanosecName]);
    this.#path.length = depth;
    return timeValue(Number(sec), Number(nanosec), this.#values);
  }

  #list(node: ListNode, json: unknown): unknown {
    const { element } = node;
    if (element.kind === 'scalar' && element.scalar === 'uint8' && typeof json === 'string') {
      const bytes = decodeBase64(json);
      if (bytes === undefined) return this.#refuse('ENCODE_WRONG_KIND', json, 'base64, or an array of numbers,');
      this.#checkCount(node, bytes.length);
      return bytes;
    }
    if (!Array.isArray(json)) {
      const wanted = element.kind === 'scalar' && element.scalar === 'uint8' ? 'base64, or an array,' : 'an array';
      return this.#refuse('ENCODE_WRONG_KIND', json, wanted);
    }
    const items = json as unknown[];
    this.#checkCount(node, items.length);
    const depth = this.#path.length;
    const values =
      element.kind === 'scalar' ? this.#emptyArray(element.scalar, items.length) : new Array<unknown>(items.length);
    const target = values as unknown[];
    const plain = element.kind === 'scalar' && !Array.isArray(values) ? element.scalar : undefined;
    for (let index = 0; index < items.length; index++) {
      this.#path[depth] = index;
      target[index] = plain === undefined ? this.#value(element, items[index]) : this.#scalar(plain, items[index]);
    }
    this.#path.length = depth;
    return values;
  }

  /** What decoding gives for a list of these: see ValueOptions. */
  #emptyArray(scalar: ScalarName, count: number): ArrayLike<unknown> {
    const wide = scalar === 'int64' || scalar === 'uint64';
    if (scalar === 'bool' || (wide && this.#values.int64 !== 'bigint')) return new Array<unknown>(count);
    const type = ARRAY_TYPES[scalar];
    return new type(new ArrayBuffer(count * type.BYTES_PER_ELEMENT), 0, count);
  }

  #checkCount(node: ListNode, count: number): void {
    if (node.length >= 0 && count !== node.length)
      this.#fail('ENCODE_WRONG_LENGTH', `${count} elements, where ${node.length} are wanted`);
    if (count > node.bound) this.#fail('ENCODE_OVER_BOUND', `${count} elements, where ${node.bound} are allowed`);
  }

  #refuse(code: EncodeErrorCode, value: unknown, wanted: string): never {
    return this.#fail(code, `${kindOf(value)}, where ${wanted} is wanted`);
  }

  #fail(code: EncodeErrorCode, text: string): never {
    const field = pathText(this.#path);
    throw new McapStreamsError(code, `${this.#schemaName}${field === '' ? '' : ` ${field}`}: ${text}`, {
      schemaName: this.#schemaName,
      field: field === '' ? undefined : field,
    });
  }
}
