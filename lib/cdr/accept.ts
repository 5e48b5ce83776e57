/**
 * What the encoder takes for a field (design: strict encoding): the conversions that compiler and interpreter share, and
 * the words for what was given.
 */
import type { EncodeBuffer } from './encode-buffer.js';
import type { ScalarName } from './layout.js';

/** Least and greatest value of the integers that are numbers. */
export const RANGES: Readonly<
  Record<'int8' | 'uint8' | 'int16' | 'uint16' | 'int32' | 'uint32', readonly [number, number]>
> = {
  int8: [-128, 127],
  uint8: [0, 255],
  int16: [-32768, 32767],
  uint16: [0, 65535],
  int32: [-2147483648, 2147483647],
  uint32: [0, 4294967295],
};

/** A 64-bit integer in any accepted form as a bigint, or undefined for another kind. The range is not checked. */
export function toBigInt(value: unknown): bigint | undefined {
  if (typeof value === 'bigint') return value;
  if (typeof value === 'number') return Number.isSafeInteger(value) ? BigInt(value) : undefined;
  return typeof value === 'string' && /^[+-]?\d{1,20}$/.test(value) ? BigInt(value.replace('+', '')) : undefined;
}

export function fits64(value: bigint, signed: boolean): boolean {
  return (signed ? BigInt.asIntN(64, value) : BigInt.asUintN(64, value)) === value;
}

/** True where a finite number would become infinite as float32. */
export function overflowsFloat32(value: number): boolean {
  return Number.isFinite(value) && !Number.isFinite(Math.fround(value));
}

/**
 * Seconds and nanoseconds of a Time or Duration: `{ sec, nanosec }`, `{ sec, nsec }`, a Date, or bigint ns. Undefined for
 * another kind; the parts are not checked.
 */
export function timeParts(value: unknown): { sec: unknown; nanosec: unknown } | undefined {
  if (typeof value === 'bigint') {
    const nanosec = ((value % NS) + NS) % NS;
    return { sec: Number((value - nanosec) / NS), nanosec: Number(nanosec) };
  }
  if (value instanceof Date) {
    const ms = value.getTime();
    if (Number.isNaN(ms)) return undefined;
    const sec = Math.floor(ms / 1000);
    return { sec, nanosec: (ms - sec * 1000) * 1_000_000 };
  }
  if (!isStruct(value)) return undefined;
  const { sec, nanosec, nsec } = value as { sec?: unknown; nanosec?: unknown; nsec?: unknown };
  return {
    sec: sec === undefined ? 0 : sec,
    nanosec: nanosec === undefined ? (nsec === undefined ? 0 : nsec) : nanosec,
  };
}

const NS = 1_000_000_000n;

/** Names that an object for a Time may have. */
export function timeNames(value: object): ReadonlySet<string> {
  return (value as { nanosec?: unknown }).nanosec === undefined ? NSEC : NANOSEC;
}

const NSEC: ReadonlySet<string> = new Set(['sec', 'nsec', 'nanosec']);
const NANOSEC: ReadonlySet<string> = new Set(['sec', 'nanosec']);

/** True for what may stand for a struct: an object that is none of the containers below. */
export function isStruct(value: unknown): value is Record<string, unknown> {
  if (typeof value !== 'object' || value === null || Array.isArray(value) || ArrayBuffer.isView(value)) return false;
  return !CONTAINERS.some((type) => value instanceof type);
}

const CONTAINERS = [Date, Map, Set, WeakMap, WeakSet, RegExp, Promise, Error, ArrayBuffer, Number, String, Boolean];

/** True for `{ sec, nanosec }` in range and with nothing else: the form that decoding gives. */
export function isTime(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false;
  const { sec, nanosec } = value as { sec: number; nanosec: number };
  if (sec !== (sec | 0) || nanosec !== nanosec >>> 0) return false;
  let keys = 0;
  for (const key in value) if (key !== '') keys++;
  return keys === 2;
}

/** The property `name` of `value`: only an own one where Object.prototype has it too (`constructor`, `__proto__`). */
export function readField(value: Record<string, unknown>, name: string): unknown {
  if (name in Object.prototype) return Object.hasOwn(value, name) ? value[name] : undefined;
  return value[name];
}

/**
 * The elements of a list in any accepted form: array, typed array, iterable, a DataView for one-byte elements. Undefined
 * for another kind; a string is none.
 */
export function toItems(
  value: unknown,
  scalar: ScalarName | undefined,
  buffer: EncodeBuffer,
): ArrayLike<unknown> | undefined {
  if (Array.isArray(value)) return value as unknown[];
  if (typeof value !== 'object' || value === null) return undefined;
  if (value instanceof DataView) {
    if (scalar === 'uint8') return new Uint8Array(value.buffer, value.byteOffset, value.byteLength);
    return scalar === 'int8' ? new Int8Array(value.buffer, value.byteOffset, value.byteLength) : undefined;
  }
  if (ArrayBuffer.isView(value)) return value as unknown as ArrayLike<unknown>;
  return Symbol.iterator in value ? buffer.collect(value as Iterable<unknown>) : undefined;
}

/** What a value is, for an error: `null`, `string "a"`, `number 300`, `Float64Array`, `array of 3`. */
export function kindOf(value: unknown): string {
  switch (typeof value) {
    case 'string':
      return `string ${JSON.stringify(value.length > 40 ? `${value.slice(0, 40)}...` : value)}`;
    case 'number':
      return `number ${Object.is(value, -0) ? '-0' : value}`;
    case 'bigint':
      return `bigint ${value}n`;
    case 'boolean':
      return `boolean ${value}`;
    case 'object':
      break;
    default:
      return typeof value;
  }
  if (value === null) return 'null';
  if (Array.isArray(value)) return `array of ${value.length}`;
  const tag = Object.prototype.toString.call(value).slice(8, -1);
  return tag === 'Object' ? 'object' : tag;
}
