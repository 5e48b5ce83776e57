/**
 * The encoder without generated code: it walks the plan beside the value. The slow, exact twin of the compiled encoder,
 * which calls it to say what is wrong with a value; it writes element by element and shares with its twin only the rules
 * of what is accepted (accept.ts).
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
import { EncodeBuffer } from './encode-buffer.js';
import type { EncoderOptions } from './encoder.js';
import { HEADER_SIZE } from './encapsulation.js';
import type { Wire } from './encapsulation.js';
import { minSize } from './layout.js';
import type { FieldPlan, ListNode, PlanNode, ScalarNode, StructNode, TimeNode } from './layout.js';
import { isWellFormed, utf8Length, writeUtf8 } from './text.js';
import { absentValue, wideForm } from './values.js';

/** Encodes `value` into `buffer` from `start` on, header first; returns the end. */
export type Encode = (buffer: EncodeBuffer, value: unknown, start: number) => number;

/** An encoder that interprets the plan `root`. */
export function interpretEncoder(root: StructNode, wire: Wire, options: EncoderOptions): Encode {
  return (buffer, value, start) => {
    const writer = new Writer(root.name, buffer, buffer, start, wire, options);
    writer.struct(root, value, '');
    return writer.at;
  };
}

/** Throws what is wrong with a value that the compiled encoder has refused. */
export function explainRefusal(
  root: StructNode,
  wire: Wire,
  options: EncoderOptions,
): (value: unknown, buffer: EncodeBuffer) => never {
  return (value, buffer) => {
    new Writer(root.name, new EncodeBuffer(), buffer, 0, wire, options).struct(root, value, '');
    throw new McapStreamsError('ENCODE_WRONG_KIND', `${root.name}: the value cannot be encoded`, {
      schemaName: root.name,
    });
  };
}

/** The most bytes that defaults may take: a missing array of 2^30 elements is a mistake. */
export const MAX_DEFAULT_SIZE: number = 2 ** 28;

class Writer {
  at: number;
  readonly #schemaName: string;
  readonly #out: EncodeBuffer;
  readonly #collector: EncodeBuffer;
  readonly #origin: number;
  readonly #wire: Wire;
  readonly #options: EncoderOptions;

  constructor(
    schemaName: string,
    out: EncodeBuffer,
    collector: EncodeBuffer,
    start: number,
    wire: Wire,
    options: EncoderOptions,
  ) {
    this.#schemaName = schemaName;
    this.#out = out;
    this.#collector = collector;
    this.#origin = start + HEADER_SIZE;
    this.at = this.#origin;
    this.#wire = wire;
    this.#options = options;
    if (this.#origin > out.capacity) out.grow(start, this.#origin);
    out.view.setUint32(start, wire.kind * 0x10000);
  }

  struct(node: StructNode, value: unknown, path: string): void {
    if (!isStruct(value)) return this.#refuse('ENCODE_WRONG_KIND', path, value, `a ${node.name} object`);
    this.#checkKeys(node.fields, value, path, node.name);
    const header = node.dheader ? this.#open() : undefined;
    if (node.empty && !node.dheader) this.#out.u8[this.#take(1, 1)] = 0;
    for (const field of node.fields) this.#field(field, value, join(path, field.name));
    if (header !== undefined) this.#close(header);
  }

  #checkKeys(fields: readonly FieldPlan[], value: object, path: string, type: string): void {
    if (this.#options.unknownFields === 'ignore') return;
    for (const name of Object.keys(value)) {
      if (fields.some((field) => field.name === name)) continue;
      const known = fields.map((field) => field.name).join(', ');
      this.#fail(
        'ENCODE_UNKNOWN_FIELD',
        join(path, name),
        `${type} has no field ${JSON.stringify(name)}, it has: ${known}`,
      );
    }
  }

  #field(field: FieldPlan, parent: Record<string, unknown>, path: string): void {
    const given = readField(parent, field.name);
    if (given !== undefined) {
      this.#value(field.node, given, path);
      return;
    }
    if (minSize(field.node) > MAX_DEFAULT_SIZE) {
      return this.#fail('ENCODE_NO_SPACE', path, `a default of ${minSize(field.node)} bytes is too large`);
    }
    this.#value(field.node, absentValue(field.node, field.defaultValue, PLAIN), path);
  }

  #value(node: PlanNode, value: unknown, path: string): void {
    switch (node.kind) {
      case 'scalar': {
        this.#scalar(node, value, path);
        return;
      }
      case 'string': {
        this.#string(value, node.bound, path);
        return;
      }
      case 'wstring': {
        this.#wide(value, node.bound, path);
        return;
      }
      case 'time': {
        this.#time(node, value, path);
        return;
      }
      case 'struct': {
        this.struct(node, value, path);
        return;
      }
      case 'list': {
        this.#list(node, value, path);
        return;
      }
    }
  }

  #scalar({ scalar, size, align }: ScalarNode, value: unknown, path: string): void {
    const le = this.#wire.littleEndian;
    if (scalar === 'bool') {
      if (typeof value !== 'boolean') return this.#refuse('ENCODE_WRONG_KIND', path, value, 'a bool');
      this.#out.u8[this.#take(1, 1)] = value ? 1 : 0;
      return;
    }
    if (scalar === 'int64' || scalar === 'uint64') {
      const big = toBigInt(value);
      const wanted = `an ${scalar} (bigint, safe integer or decimal string)`;
      if (big === undefined) {
        const code = typeof value === 'number' && Number.isFinite(value) ? 'ENCODE_OUT_OF_RANGE' : 'ENCODE_WRONG_KIND';
        return this.#refuse(code, path, value, wanted);
      }
      if (!fits64(big, scalar === 'int64')) return this.#refuse('ENCODE_OUT_OF_RANGE', path, value, wanted);
      const at = this.#take(size, align);
      if (scalar === 'int64') this.#out.view.setBigInt64(at, big, le);
      else this.#out.view.setBigUint64(at, big, le);
      return;
    }
    if (typeof value !== 'number') return this.#refuse('ENCODE_WRONG_KIND', path, value, `a ${scalar} number`);
    if (scalar === 'float32') {
      if (overflowsFloat32(value)) return this.#refuse('ENCODE_OUT_OF_RANGE', path, value, 'a float32');
      const at = this.#take(size, align);
      this.#out.view.setFloat32(at, value, le);
      return;
    }
    if (scalar === 'float64') {
      const at = this.#take(size, align);
      this.#out.view.setFloat64(at, value, le);
      return;
    }
    const [least, most] = RANGES[scalar];
    if (!Number.isInteger(value) || value < least || value > most) {
      return this.#refuse('ENCODE_OUT_OF_RANGE', path, value, `a ${scalar} integer from ${least} to ${most}`);
    }
    const at = this.#take(size, align);
    const { view } = this.#out;
    if (size === 1) view.setUint8(at, value);
    else if (size === 2) view.setUint16(at, value, le);
    else view.setUint32(at, value, le);
  }

  #string(value: unknown, bound: number, path: string): void {
    const text = this.#text(value, path, 'a string');
    const bytes = utf8Length(text);
    if (bytes > bound) return this.#over(path, `${bytes} bytes`, `string<=${bound}`);
    this.#count(bytes + 1);
    const at = this.#take(bytes + 1, 1);
    writeUtf8(this.#out.u8, text, at, bytes);
    this.#out.u8[at + bytes] = 0;
  }

  #wide(value: unknown, bound: number, path: string): void {
    const text = this.#text(value, path, 'a wstring');
    if (text.length > bound) return this.#over(path, `${text.length} UTF-16 units`, `wstring<=${bound}`);
    const { unit, inBytes } = wideForm(this.#options, this.#wire.xcdr);
    this.#count(inBytes ? text.length * unit : text.length);
    for (const code of Array.from({ length: text.length }, (_, index) => text.charCodeAt(index))) {
      const at = this.#take(unit, 1);
      if (unit === 4) this.#out.view.setUint32(at, code, this.#wire.littleEndian);
      else this.#out.view.setUint16(at, code, this.#wire.littleEndian);
    }
  }

  #text(value: unknown, path: string, wanted: string): string {
    if (typeof value !== 'string') return this.#refuse('ENCODE_WRONG_KIND', path, value, wanted);
    if (!isWellFormed(value))
      return this.#refuse('ENCODE_BAD_STRING', path, value, `${wanted} without lone surrogates`);
    if (value.includes('\0')) return this.#refuse('ENCODE_BAD_STRING', path, value, `${wanted} without NUL`);
    return value;
  }

  #time(node: TimeNode, value: unknown, path: string): void {
    const parts = timeParts(value);
    if (parts === undefined) {
      return this.#refuse('ENCODE_WRONG_KIND', path, value, `a ${node.type}: { sec, nanosec }, a Date or bigint ns`);
    }
    if (isStruct(value) && this.#options.unknownFields === 'error') {
      const names = timeNames(value);
      const unknown = Object.keys(value).find((name) => !names.has(name));
      if (unknown !== undefined) {
        this.#fail(
          'ENCODE_UNKNOWN_FIELD',
          join(path, unknown),
          `${node.type} has no field ${JSON.stringify(unknown)}, it has: sec, nanosec`,
        );
      }
    }
    const align = 4;
    const header = node.dheader ? this.#open() : undefined;
    this.#scalar({ kind: 'scalar', scalar: 'int32', size: 4, align }, parts.sec, `${path}.sec`);
    this.#scalar({ kind: 'scalar', scalar: 'uint32', size: 4, align }, parts.nanosec, `${path}.nanosec`);
    if (header !== undefined) this.#close(header);
  }

  #list(node: ListNode, value: unknown, path: string): void {
    const { element } = node;
    const items = toItems(value, element.kind === 'scalar' ? element.scalar : undefined, this.#collector);
    if (items === undefined) return this.#refuse('ENCODE_WRONG_KIND', path, value, 'an array');
    const count = items.length;
    if (node.length >= 0 && count !== node.length) {
      return this.#refuse('ENCODE_WRONG_LENGTH', path, value, `${node.length} elements, not ${count}`);
    }
    if (count > node.bound) return this.#over(path, `${count} elements`, `at most ${node.bound}`);
    const header = node.dheader ? this.#open() : undefined;
    if (node.length < 0) this.#count(count);
    for (let index = 0; index < count; index++) this.#value(element, items[index], `${path}[${index}]`);
    if (header !== undefined) this.#close(header);
  }

  #open(): number {
    const at = this.#take(4, 4);
    this.#out.view.setUint32(at, 0);
    return at;
  }

  #close(header: number): void {
    this.#out.view.setUint32(header, this.at - header - 4, this.#wire.littleEndian);
  }

  #count(count: number): void {
    const at = this.#take(4, 4);
    this.#out.view.setUint32(at, count, this.#wire.littleEndian);
  }

  /** Pads with zeros and makes room for `size` bytes; where they begin. */
  #take(size: number, align: number): number {
    const at = this.at + ((this.#origin - this.at) & (align - 1));
    if (at + size > this.#out.capacity) this.#out.grow(this.at, at + size);
    this.#out.u8.fill(0, this.at, at);
    this.at = at + size;
    return at;
  }

  #over(path: string, size: string, wanted: string): never {
    return this.#fail('ENCODE_OVER_BOUND', path, `${size}, where ${wanted} is allowed`);
  }

  #refuse(code: EncodeErrorCode, path: string, value: unknown, wanted: string): never {
    return this.#fail(code, path, `${kindOf(value)}, where ${wanted} is wanted`);
  }

  #fail(code: EncodeErrorCode, field: string, text: string): never {
    const where = field === '' ? this.#schemaName : `${this.#schemaName} ${field}`;
    throw new McapStreamsError(code, `${where}: ${text}`, {
      schemaName: this.#schemaName,
      field: field === '' ? undefined : field,
    });
  }
}

const PLAIN = { int64: 'bigint', time: 'object', arrays: 'copy', wstring: 'ros2' } as const;

function join(path: string, name: string): string {
  return path === '' ? name : `${path}.${name}`;
}
