/**
 * Values as JSON text, directed by the type: the slow, exact twin of the generated writer, which goes from bytes. It takes
 * every form of a value that the encoder takes, and what decoding gives for payloads that encoding would refuse (a NUL in a
 * string, more elements than a bound allows).
 */
import { McapStreamsError } from '../errors.js';
import type { EncodeErrorCode } from '../errors.js';
import {
  fits64,
  isStruct,
  kindOf,
  overflowsFloat32,
  RANGES,
  readField,
  timeNames,
  timeParts,
  toBigInt,
  toItems,
} from './accept.js';
import type { EncodeBuffer } from './encode-buffer.js';
import { MAX_DEFAULT_SIZE } from './encode-interpreter.js';
import { putBool } from './json-arrays.js';
import { NUMBER_ROOM, putBigInt, putFloat, putInt32, putUint32, room } from './json-numbers.js';
import { putBase64, putText } from './json-strings.js';
import { minSize } from './layout.js';
import type { ListNode, PlanNode, ScalarName, StructNode, TimeNode } from './layout.js';
import { pathText } from './path-text.js';
import { absentValue } from './values.js';

export interface JsonValueOptions {
  readonly unknownFields: 'error' | 'ignore';
  /** Whether fields may be absent because nobody asked for them: they are left out of the text then. */
  readonly partial: boolean;
}

/** Writes `value` to `out` from `q` on; returns the end. */
export type WriteValue = (out: EncodeBuffer, value: unknown, q: number) => number;

/**
 * A writer of values of the type `root`.
 *
 * It throws McapStreamsError with an `ENCODE_*` code and the field's path for a value of another kind.
 */
export function valueWriter(root: StructNode, options: JsonValueOptions): WriteValue {
  return (out, value, q) => {
    try {
      const writer = new ValueWriter(root.name, out, q, options);
      writer.struct(root, value);
      return writer.at;
    } finally {
      out.done();
    }
  };
}

class ValueWriter {
  at: number;
  readonly #schemaName: string;
  readonly #out: EncodeBuffer;
  readonly #options: JsonValueOptions;
  readonly #path: (string | number)[] = [];

  constructor(schemaName: string, out: EncodeBuffer, at: number, options: JsonValueOptions) {
    this.#schemaName = schemaName;
    this.#out = out;
    this.at = at;
    this.#options = options;
  }

  struct(node: StructNode, value: unknown): void {
    if (!isStruct(value)) return this.#refuse('ENCODE_WRONG_KIND', value, `a ${node.name} object`);
    if (this.#options.unknownFields === 'error') this.#checkKeys(node, value);
    this.#byte(123);
    let first = true;
    const depth = this.#path.length;
    for (const field of node.fields) {
      let given = readField(value, field.name);
      if (given === undefined && this.#options.partial) continue;
      if (!first) this.#byte(44);
      first = false;
      this.#path[depth] = field.name;
      this.at = putText(this.#out, this.at, field.name);
      this.#byte(58);
      if (given === undefined) {
        if (minSize(field.node) > MAX_DEFAULT_SIZE)
          this.#fail('ENCODE_NO_SPACE', `a default of ${minSize(field.node)} bytes is too large`);
        given = absentValue(field.node, field.defaultValue, PLAIN);
      }
      this.#value(field.node, given);
    }
    this.#path.length = depth;
    this.#byte(125);
  }

  #checkKeys(node: StructNode, value: object): void {
    for (const name of Object.keys(value)) {
      if (node.fields.some((field) => field.name === name)) continue;
      this.#path.push(name);
      const known = node.fields.map((field) => field.name).join(', ');
      this.#fail('ENCODE_UNKNOWN_FIELD', `${node.name} has no field ${JSON.stringify(name)}, it has: ${known}`);
    }
  }

  #value(node: PlanNode, value: unknown): void {
    switch (node.kind) {
      case 'scalar':
        this.#scalar(node.scalar, value);
        return;
      case 'string':
      case 'wstring':
        if (typeof value !== 'string') return this.#refuse('ENCODE_WRONG_KIND', value, `a ${node.kind}`);
        this.at = putText(this.#out, this.at, value);
        return;
      case 'time':
        this.#time(node, value);
        return;
      case 'struct':
        this.struct(node, value);
        return;
      case 'list':
        this.#list(node, value);
        return;
    }
  }

  #scalar(scalar: ScalarName, value: unknown): void {
    const out = this.#out;
    room(out, this.at, NUMBER_ROOM);
    switch (scalar) {
      case 'bool':
        if (typeof value !== 'boolean') return this.#refuse('ENCODE_WRONG_KIND', value, 'a bool');
        this.at = putBool(out.u8, this.at, value);
        return;
      case 'int64':
      case 'uint64': {
        const big = toBigInt(value);
        if (big === undefined || !fits64(big, scalar === 'int64')) {
          const code = typeof value === 'number' || big !== undefined ? 'ENCODE_OUT_OF_RANGE' : 'ENCODE_WRONG_KIND';
          return this.#refuse(code, value, `an ${scalar} (bigint, safe integer or decimal string)`);
        }
        this.at = putBigInt(out.u8, this.at, big);
        return;
      }
      case 'float32':
      case 'float64':
        if (typeof value !== 'number') return this.#refuse('ENCODE_WRONG_KIND', value, `a ${scalar} number`);
        if (scalar === 'float64') this.at = putFloat(out.u8, out.view, this.at, value);
        else {
          if (overflowsFloat32(value)) return this.#refuse('ENCODE_OUT_OF_RANGE', value, 'a float32');
          this.at = putFloat(out.u8, out.view, this.at, Math.fround(value));
        }
        return;
      default: {
        if (typeof value !== 'number') return this.#refuse('ENCODE_WRONG_KIND', value, `a ${scalar} number`);
        const [least, most] = RANGES[scalar];
        if (!Number.isInteger(value) || value < least || value > most)
          return this.#refuse('ENCODE_OUT_OF_RANGE', value, `a ${scalar} integer from ${least} to ${most}`);
        this.at = value < 0 ? putInt32(out.u8, out.view, this.at, value) : putUint32(out.u8, out.view, this.at, value);
      }
    }
  }

  #time(node: TimeNode, value: unknown): void {
    const parts = timeParts(value);
    if (parts === undefined)
      return this.#refuse('ENCODE_WRONG_KIND', value, `a ${node.type}: { sec, nanosec }, a Date or bigint ns`);
    const depth = this.#path.length;
    if (isStruct(value) && this.#options.unknownFields === 'error') {
      const names = timeNames(value);
      const unknown = Object.keys(value).find((name) => !names.has(name));
      if (unknown !== undefined) {
        this.#path.push(unknown);
        this.#fail('ENCODE_UNKNOWN_FIELD', `${node.type} has no field ${JSON.stringify(unknown)}`);
      }
    }
    // A projection may have asked for one of them.
    const absent = this.#options.partial && isStruct(value) ? value : undefined;
    let before = '{';
    for (const name of ['sec', 'nanosec'] as const) {
      if (absent !== undefined && !(name in absent)) continue;
      this.#path[depth] = name;
      room(this.#out, this.at, 16);
      for (const char of `${before}"${name}":`) this.#byte(char.charCodeAt(0));
      before = ',';
      this.#scalar(name === 'sec' ? 'int32' : 'uint32', parts[name]);
    }
    this.#path.length = depth;
    this.#byte(125);
  }

  #list(node: ListNode, value: unknown): void {
    const { element } = node;
    const scalar = element.kind === 'scalar' ? element.scalar : undefined;
    const items = toItems(value, scalar, this.#out);
    if (items === undefined) return this.#refuse('ENCODE_WRONG_KIND', value, 'an array');
    const count = items.length;
    if (node.length >= 0 && count !== node.length && !this.#options.partial)
      return this.#refuse('ENCODE_WRONG_LENGTH', value, `${node.length} elements, not ${count}`);
    if (scalar === 'uint8' && !this.#isSparse(items)) {
      this.#bytes(items);
      return;
    }
    const depth = this.#path.length;
    this.#byte(91);
    for (let index = 0; index < count; index++) {
      this.#path[depth] = index;
      if (index !== 0) this.#byte(44);
      if (this.#options.partial && items[index] === undefined) this.#null();
      else this.#value(element, items[index]);
    }
    this.#path.length = depth;
    this.#byte(93);
  }

  #bytes(items: ArrayLike<unknown>): void {
    let bytes: Uint8Array;
    if (items instanceof Uint8Array) bytes = items;
    else {
      bytes = new Uint8Array(items.length);
      for (let index = 0; index < bytes.length; index++) {
        const item = items[index];
        if (typeof item !== 'number' || item !== (item & 255)) {
          this.#path.push(index);
          const code = typeof item === 'number' ? 'ENCODE_OUT_OF_RANGE' : 'ENCODE_WRONG_KIND';
          return this.#refuse(code, item, 'a uint8 integer from 0 to 255');
        }
        bytes[index] = item;
      }
    }
    this.at = putBase64(this.#out, this.at, bytes, 0, bytes.length);
  }

  /** Whether a projection took single elements: base64 cannot leave any out. */
  #isSparse(items: ArrayLike<unknown>): boolean {
    return this.#options.partial && !(items instanceof Uint8Array);
  }

  #byte(byte: number): void {
    room(this.#out, this.at, 1);
    this.#out.u8[this.at++] = byte;
  }

  #null(): void {
    room(this.#out, this.at, 4);
    for (const byte of [110, 117, 108, 108]) this.#out.u8[this.at++] = byte;
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

const PLAIN = { int64: 'bigint', time: 'object', arrays: 'copy', wstring: 'ros2' } as const;
