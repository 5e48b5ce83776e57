/**
 * What a field's value is in JavaScript, and the options that change it: the one description that the compiler and the
 * interpreter share.
 */
import type { LiteralValue } from '../schema/definition.js';
import { ARRAY_TYPES } from './arrays.js';
import type { ArrayMode } from './arrays.js';
import type { PlanNode, ScalarName } from './layout.js';
import { toWellFormed } from './text.js';

/** How decoded values look. */
export interface ValueOptions {
  /**
   * int64 and uint64: `bigint` (default); `number`, rounded beyond 2^53; `string`, decimal. Arrays of them are BigInt64Array
   * and BigUint64Array, or plain arrays of numbers or strings.
   */
  readonly int64: 'bigint' | 'number' | 'string';
  /** builtin_interfaces Time and Duration: `{ sec, nanosec }` (default), or one bigint of ns. */
  readonly time: 'object' | 'bigint';
  /**
   * Numeric arrays: `copy` them, `view` the bytes they were decoded from where these are aligned, or `auto` (default): copy
   * up to 4 KiB, view above. Small copies lie together in buffers of 56 KiB: take `array.slice()` of what is to be
   * transferred, or kept alone.
   */
  readonly arrays: ArrayMode;
  /**
   * wstring on the wire. `ros2` (default): in XCDR1 as rosidl_typesupport_fastrtps writes it, a count of UTF-16 units and 4
   * bytes a unit; in XCDR2 as XTypes has it, a count of bytes and 2 bytes a unit. `fastcdr`: Fast-CDR's own form in both, a
   * count of units and 2 bytes a unit.
   */
  readonly wstring: 'ros2' | 'fastcdr';
}

export interface Time {
  sec: number;
  nanosec: number;
}

/** A decoded Time or Duration. */
export function timeValue(sec: number, nanosec: number, options: ValueOptions): Time | bigint {
  if (options.time === 'object') return { sec, nanosec };
  return BigInt(sec) * 1_000_000_000n + BigInt(nanosec);
}

/** A decoded 64-bit integer. */
export function int64Value(value: bigint, options: ValueOptions): bigint | number | string {
  if (options.int64 === 'bigint') return value;
  return options.int64 === 'number' ? Number(value) : value.toString();
}

/** Bytes of a unit of a wstring, and whether its length counts bytes. */
export function wideForm(options: Pick<ValueOptions, 'wstring'>, xcdr: 1 | 2): { unit: 2 | 4; inBytes: boolean } {
  if (options.wstring === 'fastcdr') return { unit: 2, inBytes: false };
  return xcdr === 2 ? { unit: 2, inBytes: true } : { unit: 4, inBytes: false };
}

/** The wstring in `bytes` bytes at `at`. A lone surrogate and a unit that is no character become U+FFFD. */
export function readWide(view: DataView, at: number, bytes: number, unit: number, littleEndian: boolean): string {
  let text = '';
  for (let offset = at; offset + unit <= at + bytes; offset += unit) {
    if (unit === 2) {
      text += String.fromCharCode(view.getUint16(offset, littleEndian));
    } else {
      const code = view.getUint32(offset, littleEndian);
      text += code > 0x10ffff ? '\ufffd' : String.fromCodePoint(code);
    }
  }
  return toWellFormed(text);
}

/** The decoded form of a field that a payload does not have: its default, else zero, empty, and so for its parts. */
export function absentValue(
  node: PlanNode,
  defaultValue: LiteralValue | readonly LiteralValue[] | undefined,
  options: ValueOptions,
): unknown {
  switch (node.kind) {
    case 'scalar':
      return scalarValue(node.scalar, defaultValue as LiteralValue | undefined, options);
    case 'string':
    case 'wstring':
      return defaultValue ?? '';
    case 'time':
      return timeValue(0, 0, options);
    case 'struct': {
      const object: Record<string, unknown> = {};
      for (const field of node.fields) setOwn(object, field.name, absentValue(field.node, field.defaultValue, options));
      return object;
    }
    case 'list': {
      const given = Array.isArray(defaultValue) ? (defaultValue as readonly LiteralValue[]) : [];
      const length = defaultValue === undefined ? Math.max(0, node.length) : given.length;
      const { element } = node;
      const values = Array.from({ length }, (_, index) => absentValue(element, given[index], options));
      if (element.kind !== 'scalar' || element.scalar === 'bool') return values;
      const wide = element.scalar === 'int64' || element.scalar === 'uint64';
      if (wide && options.int64 !== 'bigint') return values;
      const type = ARRAY_TYPES[element.scalar];
      const array = new type(new ArrayBuffer(length * type.BYTES_PER_ELEMENT), 0, length);
      for (let index = 0; index < length; index++) array[index] = values[index] as never;
      return array;
    }
  }
}

function scalarValue(scalar: ScalarName, value: LiteralValue | undefined, options: ValueOptions): unknown {
  if (scalar === 'bool') return value ?? false;
  if (scalar !== 'int64' && scalar !== 'uint64') return value ?? 0;
  return int64Value(typeof value === 'bigint' ? value : BigInt(value ?? 0), options);
}

/** Sets an own property whatever its name is, `__proto__` too. */
export function setOwn(object: Record<string, unknown>, name: string, value: unknown): void {
  if (name === '__proto__') {
    Object.defineProperty(object, name, { value, writable: true, enumerable: true, configurable: true });
  } else {
    object[name] = value;
  }
}
