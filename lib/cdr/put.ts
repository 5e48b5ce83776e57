/**
 * Strings and numeric arrays for the compiled encoder. Each takes the position and returns the one behind what it wrote,
 * with padding before it zeroed; what cannot be encoded ends in `buffer.fail()`.
 *
 * Measured (performance.md): a loop over characters up to 24 (8-46 ns), utf8Write beyond (43 ns); `encodeInto` needs a view
 * of its own and takes 82.
 */
import { fits64, overflowsFloat32, RANGES, toBigInt, toItems } from './accept.js';
import { ARRAY_TYPES, swap } from './arrays.js';
import type { ArrayScalar } from './arrays.js';
import { canGenerateCode, run } from './emit.js';
import type { EncodeBuffer } from './encode-buffer.js';
import type { ScalarName } from './layout.js';
import { SCALAR_SIZE } from './layout.js';
import { isWellFormed, utf8Length, writeUtf8 } from './text.js';

const LOOP_MAX = 24;

/** A string with its count and NUL, aligned to 4 from the origin `o`. `bound` counts bytes without the NUL. */
export function putString(b: EncodeBuffer, text: string, p: number, o: number, le: boolean, bound: number): number {
  const length = text.length;
  const begin = p + ((o - p) & 3) + 4;
  if (length > LOOP_MAX) return putLongString(b, text, p, begin, le, bound);
  if (begin + length >= b.capacity) b.grow(p, begin + length + 1);
  const u = b.u8;
  for (let index = 0; index < length; index++) {
    const unit = text.charCodeAt(index);
    if (unit > 127 || unit === 0) return putLongString(b, text, p, begin, le, bound);
    u[begin + index] = unit;
  }
  if (length > bound) b.fail();
  for (let at = p; at < begin - 4; at++) u[at] = 0;
  b.view.setUint32(begin - 4, length + 1, le);
  u[begin + length] = 0;
  return begin + length + 1;
}

function putLongString(b: EncodeBuffer, text: string, p: number, begin: number, le: boolean, bound: number): number {
  if (!isWellFormed(text) || text.includes('\0')) b.fail();
  // A unit is 3 bytes at most; where there is no room for so many, count.
  if (begin + text.length * 3 + 1 > b.capacity) {
    const needed = begin + utf8Length(text) + 1;
    if (needed > b.capacity) b.grow(p, needed);
  }
  const u = b.u8;
  const bytes = writeUtf8(u, text, begin, b.capacity - begin - 1);
  if (bytes > bound) b.fail();
  for (let at = p; at < begin - 4; at++) u[at] = 0;
  b.view.setUint32(begin - 4, bytes + 1, le);
  u[begin + bytes] = 0;
  return begin + bytes + 1;
}

/** A wstring: see ValueOptions.wstring for its forms. `bound` counts UTF-16 units. */
export function putWide(
  b: EncodeBuffer,
  text: string,
  p: number,
  o: number,
  le: boolean,
  bound: number,
  unit: number,
  inBytes: boolean,
): number {
  if (text.length > bound || !isWellFormed(text) || text.includes('\0')) b.fail();
  const bytes = text.length * unit;
  const begin = putCount(b, inBytes ? bytes : text.length, p, o, le);
  if (begin + bytes > b.capacity) b.grow(begin, begin + bytes);
  const { view } = b;
  for (let index = 0; index < text.length; index++) {
    const at = begin + index * unit;
    if (unit === 4) view.setUint32(at, text.charCodeAt(index), le);
    else view.setUint16(at, text.charCodeAt(index), le);
  }
  return begin + bytes;
}

/** A uint32, aligned to 4 from the origin `o`. */
export function putCount(b: EncodeBuffer, count: number, p: number, o: number, le: boolean): number {
  const at = p + ((o - p) & 3);
  if (at + 4 > b.capacity) b.grow(p, at + 4);
  for (let pad = p; pad < at; pad++) b.u8[pad] = 0;
  b.view.setUint32(at, count, le);
  return at + 4;
}

/**
 * A numeric array: the elements of `value`, and their count before them where `length` is below 0.
 *
 * @param length elements of a fixed array, or -1
 */
export type ArrayPutter = (
  b: EncodeBuffer,
  value: unknown,
  p: number,
  o: number,
  le: boolean,
  length: number,
  bound: number,
) => number;

const HOST_LITTLE_ENDIAN = new Uint8Array(new Uint16Array([1]).buffer)[0] === 1;
/** Up to this many elements a loop is faster than a copy of bytes, which needs a view of its own. */
const ELEMENT_LOOP_MAX = 24;

/** The putter for arrays of `scalar` in an encoding whose largest alignment is `maxAlign`. */
export function arrayPutter(scalar: ScalarName, maxAlign: number): ArrayPutter {
  const size = SCALAR_SIZE[scalar];
  const mask = Math.min(size, maxAlign) - 1;
  const type = scalar === 'bool' ? undefined : (ARRAY_TYPES[scalar] as unknown as ArrayConstructorLike);
  const set = SETTERS[scalar];

  const putArray: ArrayPutter = (b, value, p, o, le, length, bound) => {
    const same = type !== undefined && value instanceof type;
    const items = same ? (value as unknown as ArrayLike<unknown>) : (toItems(value, scalar, b) ?? b.fail());
    const count = items.length;
    if (length < 0) {
      if (count > bound) b.fail();
      p = putCount(b, count, p, o, le);
    } else if (count !== length) b.fail();
    if (count === 0) return p;
    const at = p + ((o - p) & mask);
    const end = at + count * size;
    if (end > b.capacity) b.grow(p, end);
    const u = b.u8;
    for (let pad = p; pad < at; pad++) u[pad] = 0;
    if (same && count > ELEMENT_LOOP_MAX) {
      const view = value as unknown as Uint8Array;
      u.set(new Uint8Array(view.buffer, view.byteOffset, count * size), at);
      if (le !== HOST_LITTLE_ENDIAN && size > 1) swap(u.subarray(at, end), size);
    } else {
      set(b, items, at, count, le);
    }
    return end;
  };
  if (type === undefined || !canGenerateCode()) return putArray;
  const source = putterSource(ARRAY_TYPES[scalar as ArrayScalar].name, scalar, size, mask);
  return run(source, `mcap-ros2:///arrays/put_${scalar}.js`, { putArray, putCount }) as ArrayPutter;
}

/**
 * The same for the short typed array that decoding gives, as source of its own for each scalar, whose values need no check:
 * 9 doubles 67 -> 40 ns.
 */
function putterSource(type: string, scalar: string, size: number, mask: number): string {
  return `'use strict';
const putArray = rt.putArray, putCount = rt.putCount;
return function put_${scalar}(b, value, p, o, le, length, bound) {
  if (!(value instanceof ${type})) return putArray(b, value, p, o, le, length, bound);
  const count = value.length;
  if (count === 0 || count > ${ELEMENT_LOOP_MAX}) return putArray(b, value, p, o, le, length, bound);
  if (length < 0) {
    if (count > bound) b.fail();
    p = putCount(b, count, p, o, le);
  } else if (count !== length) b.fail();
  const at = p + ((o - p) & ${mask});
  const end = at + count * ${size};
  if (end > b.capacity) b.grow(p, end);
  if (p < at) for (let pad = p; pad < at; pad++) b.u8[pad] = 0;
  const v = b.view;
  for (let i = 0; i < count; i++) v.${setterName(scalar)}(at + i * ${size}, value[i], le);
  return end;
};`;
}

/** The method of DataView that writes a scalar. */
function setterName(scalar: string): string {
  const name = `${scalar.charAt(0).toUpperCase()}${scalar.slice(1)}`;
  return `set${name.replace('Int64', 'BigInt64').replace('Uint64', 'BigUint64')}`;
}

type ArrayConstructorLike = new (length: number) => object;
type Setter = (b: EncodeBuffer, items: ArrayLike<unknown>, at: number, count: number, le: boolean) => void;

function integers(
  scalar: keyof typeof RANGES,
  write: (view: DataView, at: number, value: number, le: boolean) => void,
): Setter {
  const [least, most] = RANGES[scalar];
  const size = SCALAR_SIZE[scalar];
  return (b, items, at, count, le) => {
    const { view } = b;
    for (let index = 0; index < count; index++) {
      const value = items[index] as number;
      if (!Number.isInteger(value) || value < least || value > most) b.fail();
      write(view, at + index * size, value, le);
    }
  };
}

function wide(signed: boolean): Setter {
  return (b, items, at, count, le) => {
    const { view } = b;
    for (let index = 0; index < count; index++) {
      const value = toBigInt(items[index]);
      if (value === undefined || !fits64(value, signed)) return b.fail();
      if (signed) view.setBigInt64(at + index * 8, value, le);
      else view.setBigUint64(at + index * 8, value, le);
    }
  };
}

const SETTERS: Readonly<Record<ScalarName, Setter>> = {
  bool: (b, items, at, count) => {
    for (let index = 0; index < count; index++) {
      const value = items[index];
      if (value !== true && value !== false) b.fail();
      b.u8[at + index] = value === true ? 1 : 0;
    }
  },
  int8: integers('int8', (view, at, value) => {
    view.setInt8(at, value);
  }),
  uint8: integers('uint8', (view, at, value) => {
    view.setUint8(at, value);
  }),
  int16: integers('int16', (view, at, value, le) => {
    view.setInt16(at, value, le);
  }),
  uint16: integers('uint16', (view, at, value, le) => {
    view.setUint16(at, value, le);
  }),
  int32: integers('int32', (view, at, value, le) => {
    view.setInt32(at, value, le);
  }),
  uint32: integers('uint32', (view, at, value, le) => {
    view.setUint32(at, value, le);
  }),
  int64: wide(true),
  uint64: wide(false),
  float32: (b, items, at, count, le) => {
    const { view } = b;
    for (let index = 0; index < count; index++) {
      const value = items[index];
      if (typeof value !== 'number' || overflowsFloat32(value)) return b.fail();
      view.setFloat32(at + index * 4, value, le);
    }
  },
  float64: (b, items, at, count, le) => {
    const { view } = b;
    for (let index = 0; index < count; index++) {
      const value = items[index];
      if (typeof value !== 'number') return b.fail();
      view.setFloat64(at + index * 8, value, le);
    }
  },
};
