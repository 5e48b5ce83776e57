/**
 * Numeric arrays of a payload as typed arrays.
 *
 * Measured (Node 20, ns): a `new Float64Array(36)` of its own takes 261, because above 64 bytes it leaves V8's heap; a view
 * into a slab that many arrays share 116 with the copy; a view into the payload 13-22 at any length. So small arrays are
 * copied into slabs, and from 4 KiB on (`arrays: 'auto'`) an aligned array is a view into the bytes it was decoded from.
 */
import { canGenerateCode, run } from './emit.js';
import type { ScalarName } from './layout.js';
import { scratchMemory } from './text.js';

export type ArrayMode = 'auto' | 'copy' | 'view';

/** Scalars whose arrays are typed arrays. */
export type ArrayScalar = Exclude<ScalarName, 'bool'>;

export type NumericArray =
  | Int8Array
  | Uint8Array
  | Int16Array
  | Uint16Array
  | Int32Array
  | Uint32Array
  | BigInt64Array
  | BigUint64Array
  | Float32Array
  | Float64Array;

/**
 * Reads `count` elements at `u8[at]`. The caller has checked that they lie inside the payload; `view` is over the memory
 * of `u8`.
 */
export type ArrayReader = (u8: Uint8Array, view: DataView, at: number, count: number) => NumericArray;

interface TypedArrayType {
  readonly BYTES_PER_ELEMENT: number;
  new (buffer: ArrayBufferLike, byteOffset: number, length: number): NumericArray;
}

export const ARRAY_TYPES: Readonly<Record<ArrayScalar, TypedArrayType>> = {
  int8: Int8Array,
  uint8: Uint8Array,
  int16: Int16Array,
  uint16: Uint16Array,
  int32: Int32Array,
  uint32: Uint32Array,
  int64: BigInt64Array,
  uint64: BigUint64Array,
  float32: Float32Array,
  float64: Float64Array,
};

export const ARRAY_SCALARS = Object.keys(ARRAY_TYPES) as readonly ArrayScalar[];

const SLAB_SIZE = 56 * 1024;
/** Arrays up to this size go into a slab, so that a slab takes at least a dozen. */
const SLAB_MAX = 4096;
/** From this size on `auto` gives views. */
const VIEW_MIN = 4096;
/** Up to this many elements a loop is faster than a copy of bytes, which needs a view of its own. */
const LOOP_MAX = 24;

/** The slab that is filled now. */
const slab = { buffer: new ArrayBuffer(0) as ArrayBufferLike, bytes: new Uint8Array(0), used: SLAB_SIZE };

function renew(): void {
  slab.buffer = scratchMemory(SLAB_SIZE);
  slab.bytes = new Uint8Array(slab.buffer as ArrayBuffer);
  slab.used = 0;
}

/** Offset in the slab for `bytes` more, aligned to 8. The slab's rest is left when they do not fit. */
function reserve(bytes: number): number {
  let offset = (slab.used + 7) & ~7;
  if (offset + bytes > SLAB_SIZE) {
    renew();
    offset = 0;
  }
  slab.used = offset + bytes;
  return offset;
}

const HOST_LITTLE_ENDIAN = new Uint8Array(new Uint16Array([1]).buffer)[0] === 1;

/** The reader for arrays of `scalar` in payloads of one byte order. */
export function arrayReader(scalar: ArrayScalar, littleEndian: boolean, mode: ArrayMode): ArrayReader {
  const type = ARRAY_TYPES[scalar];
  const size = type.BYTES_PER_ELEMENT;
  const empty = new type(new ArrayBuffer(0), 0, 0);
  const sameOrder = size === 1 || littleEndian === HOST_LITTLE_ENDIAN;
  const viewMin = mode === 'auto' ? VIEW_MIN : mode === 'view' ? 1 : Infinity;
  // Each reader is made from source of its own scalar, so that its loop sees one kind of array only.
  const fill = FILLERS[scalar](littleEndian);

  function large(u8: Uint8Array, at: number, count: number): NumericArray {
    const bytes = count * size;
    if (sameOrder && bytes >= viewMin && (u8.byteOffset + at) % size === 0) {
      return new type(u8.buffer, u8.byteOffset + at, count);
    }
    const own = new Uint8Array(scratchMemory(bytes));
    own.set(u8.subarray(at, at + bytes));
    if (!sameOrder) swap(own, size);
    return new type(own.buffer, 0, count);
  }

  const limit = Math.min(SLAB_MAX, viewMin - 1);
  if (sameOrder && mode !== 'view' && canGenerateCode()) {
    const rt = { slab, empty, large, renew };
    return run(
      readerSource(type.name, scalar, size, littleEndian, limit),
      `mcap-ros2:///arrays/${scalar}.js`,
      rt,
    ) as ArrayReader;
  }
  return function readArray(u8, view, at, count) {
    if (count === 0) return empty;
    const bytes = count * size;
    if (bytes > SLAB_MAX || (sameOrder && bytes >= viewMin && (u8.byteOffset + at) % size === 0))
      return large(u8, at, count);
    const offset = reserve(bytes);
    const array = new type(slab.buffer, offset, count);
    if (sameOrder && count > LOOP_MAX) slab.bytes.set(u8.subarray(at, at + bytes), offset);
    else fill(array, view, at, count);
    return array;
  };
}

/**
 * The reader as source of its own for each scalar: V8 then knows the one kind of array that it makes. With eight elements a
 * step it is too long to be put in place of its calls, which makes each decoder that has an array faster to compile.
 */
function readerSource(type: string, scalar: string, size: number, littleEndian: boolean, limit: number): string {
  const get = scalar.startsWith('int64')
    ? 'getBigInt64'
    : scalar.startsWith('uint64')
      ? 'getBigUint64'
      : `get${scalar.charAt(0).toUpperCase()}${scalar.slice(1)}`;
  let eight = '';
  for (let k = 0; k < 8; k++) eight += `      array[i + ${k}] = v.${get}(p + ${k * size}, ${littleEndian});\n`;
  return `'use strict';
const slab = rt.slab, empty = rt.empty, large = rt.large, renew = rt.renew;
return function read_${scalar}(u, v, p, n) {
  if (n === 0) return empty;
  const bytes = n * ${size};
  if (bytes > ${limit}) return large(u, p, n);
  let at = (slab.used + 7) & ~7;
  if (at + bytes > ${SLAB_SIZE}) {
    renew();
    at = 0;
  }
  slab.used = at + bytes;
  const array = new ${type}(slab.buffer, at, n);
  if (n > ${LOOP_MAX}) slab.bytes.set(u.subarray(p, p + bytes), at);
  else {
    let i = 0;
    for (; i + 8 <= n; i += 8, p += ${8 * size}) {
${eight}    }
    for (; i < n; i++, p += ${size}) array[i] = v.${get}(p, ${littleEndian});
  }
  return array;
};`;
}

type Filler = (array: NumericArray, view: DataView, at: number, count: number) => void;

/** A loop per scalar: one loop for all would see ten kinds of arrays and be five times as slow. */
const FILLERS: Readonly<Record<ArrayScalar, (le: boolean) => Filler>> = {
  int8: () => (array, view, at, count) => {
    const out = array as Int8Array;
    for (let i = 0; i < count; i++) out[i] = view.getInt8(at + i);
  },
  uint8: () => (array, view, at, count) => {
    const out = array as Uint8Array;
    for (let i = 0; i < count; i++) out[i] = view.getUint8(at + i);
  },
  int16: (le) => (array, view, at, count) => {
    const out = array as Int16Array;
    for (let i = 0; i < count; i++) out[i] = view.getInt16(at + 2 * i, le);
  },
  uint16: (le) => (array, view, at, count) => {
    const out = array as Uint16Array;
    for (let i = 0; i < count; i++) out[i] = view.getUint16(at + 2 * i, le);
  },
  int32: (le) => (array, view, at, count) => {
    const out = array as Int32Array;
    for (let i = 0; i < count; i++) out[i] = view.getInt32(at + 4 * i, le);
  },
  uint32: (le) => (array, view, at, count) => {
    const out = array as Uint32Array;
    for (let i = 0; i < count; i++) out[i] = view.getUint32(at + 4 * i, le);
  },
  int64: (le) => (array, view, at, count) => {
    const out = array as BigInt64Array;
    for (let i = 0; i < count; i++) out[i] = view.getBigInt64(at + 8 * i, le);
  },
  uint64: (le) => (array, view, at, count) => {
    const out = array as BigUint64Array;
    for (let i = 0; i < count; i++) out[i] = view.getBigUint64(at + 8 * i, le);
  },
  float32: (le) => (array, view, at, count) => {
    const out = array as Float32Array;
    for (let i = 0; i < count; i++) out[i] = view.getFloat32(at + 4 * i, le);
  },
  float64: (le) => (array, view, at, count) => {
    const out = array as Float64Array;
    for (let i = 0; i < count; i++) out[i] = view.getFloat64(at + 8 * i, le);
  },
};

/** Turns the byte order of every element of `size` bytes. */
export function swap(bytes: Uint8Array, size: number): void {
  for (let at = 0; at + size <= bytes.length; at += size) {
    for (let low = at, high = at + size - 1; low < high; low++, high--) {
      const byte = bytes[low] ?? 0;
      bytes[low] = bytes[high] ?? 0;
      bytes[high] = byte;
    }
  }
}

/** `bool[]`: any non-zero byte is true. */
export function readBools(u8: Uint8Array, at: number, count: number): boolean[] {
  const array = new Array<boolean>(count);
  for (let i = 0; i < count; i++) array[i] = u8[at + i] !== 0;
  return array;
}
