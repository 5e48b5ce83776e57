/**
 * Numbers as JSON text, straight into bytes, with the digits that `String(number)` has: the shortest that give the number
 * back, the nearest of these (ECMA-262, Number::toString).
 *
 * Measured (Node 20, ns a float64 of 17 digits): `String(x)` and copying its characters 150, JSON.stringify 110, this 35. The
 * exact product of x and a power of ten is held in two doubles (Dekker), which tells the digits and whether fewer do; where
 * a comparison is too close to call, or the text has an exponent, `String(x)` decides.
 */
import type { EncodeBuffer } from './encode-buffer.js';

/** Most bytes that a number takes, quotes included: "-9223372036854775808". Writing may touch some more. */
export const NUMBER_ROOM = 40;

const POW10 = Array.from({ length: 23 }, (_, exponent) => Number(`1e${exponent}`));
/** Powers of ten in halves of 26 bits, for exact products. */
const POW10_HIGH = Float64Array.from(POW10, high);
const POW10_LOW = Float64Array.from(POW10, (power) => power - high(power));
const POW10_ALL = Float64Array.from(POW10);
/** 1e-6 to 1e16, for the decimal exponent. */
const DECADES = Float64Array.from({ length: 23 }, (_, index) => Number(`1e${index - 6}`));
/** Half the distance to the next float64, by binary exponent from -20 on. */
const HALF_ULP = Float64Array.from({ length: 80 }, (_, index) => 2 ** (index - 20 - 53));

/** Two ASCII digits of 0 to 99, as a little-endian uint16. */
const PAIRS = Uint16Array.from({ length: 100 }, (_, value) => 0x3030 + Math.floor(value / 10) + ((value % 10) << 8));

const scratch = new Float64Array(1);
const words = new Uint32Array(scratch.buffer);
const HIGH_WORD = new Uint8Array(new Uint16Array([1]).buffer)[0] === 1 ? 1 : 0;

/** Comparisons nearer than this are left to `String`: the remainder below is exact to 2e-8. */
const DOUBT = 1e-6;

function high(value: number): number {
  const scaled = value * 134217729;
  return scaled - (scaled - value);
}

/** Writes a float at `q`, NaN and the infinities as strings, -0 as `-0`; returns the end. Room for 40 bytes is needed. */
export function putFloat(b: Uint8Array, w: DataView, q: number, value: number): number {
  let x = value;
  if (x === 0) {
    if (1 / x < 0) b[q++] = 45;
    b[q] = 48;
    return q + 1;
  }
  if (x < 0) {
    x = -x;
    b[q++] = 45;
  }
  if (x >= 1e-6 && x < 9007199254740992) {
    if (x === Math.floor(x)) return x < 4294967296 ? putUint32(b, w, q, x >>> 0) : putSafe(b, w, q, x);
    return putFraction(b, w, q, x);
  }
  if (x !== x || x === Infinity) return putSpecial(b, q - (value < 0 ? 1 : 0), value);
  return putAscii(b, q, String(x));
}

/** A positive number that is no integer, from 1e-6 on. */
function putFraction(b: Uint8Array, w: DataView, q: number, x: number): number {
  scratch[0] = x;
  const word = words[HIGH_WORD] as number;
  const exponent = (word >>> 20) - 1023;
  // The decimal exponent is this or one more: 1233 / 4096 is a little less than log10(2).
  let index = ((exponent * 1233) >> 12) + 6;
  if (index < 0) index = 0;
  if (x >= (DECADES[index + 1] as number)) index++;
  const decimal = index - 6;
  const k = 16 - decimal;
  if (k > 22) return putAscii(b, q, String(x));
  // x * 10^k = product + error, exactly: 17 digits before the point.
  const scaled = x * 134217729;
  const xh = scaled - (scaled - x);
  const xl = x - xh;
  const ph = POW10_HIGH[k] as number;
  const pl = POW10_LOW[k] as number;
  const product = x * (POW10_ALL[k] as number);
  const error = xh * ph - product + xh * pl + xl * ph + xl * pl;
  let top = Math.floor(product / 1e8);
  let rest = product - top * 1e8 + error;
  if (rest < 0) {
    top--;
    rest += 1e8;
  } else if (rest >= 1e8) {
    top++;
    rest -= 1e8;
  }
  const half = (HALF_ULP[exponent + 20] as number) * (POW10_ALL[k] as number);
  // The shortest number within half an ulp: the interval is 1.1 to 22.2 wide, so it has one multiple of 100 at most.
  let digits = Math.floor(rest / 100 + 0.5) * 100;
  let distance = Math.abs(rest - digits);
  // Below a power of two the next number is nearer.
  const power = (word & 0xfffff) === 0 && words[1 - HIGH_WORD] === 0;
  if (power) {
    if (!(distance < half / 2 - DOUBT)) return putAscii(b, q, String(x));
  } else if (!(distance < half - DOUBT)) {
    if (distance < half + DOUBT) return putAscii(b, q, String(x));
    digits = Math.floor(rest / 10 + 0.5) * 10;
    distance = Math.abs(rest - digits);
    if (distance > 5 - DOUBT && half > 5 - DOUBT) return putAscii(b, q, String(x));
    if (!(distance < half - DOUBT)) {
      if (distance < half + DOUBT) return putAscii(b, q, String(x));
      digits = Math.floor(rest + 0.5);
      if (Math.abs(rest - digits) > 0.5 - DOUBT) return putAscii(b, q, String(x));
    }
  }
  if (digits >= 1e8) {
    digits -= 1e8;
    top++;
  }
  if (top < 1e8 || top >= 1e9) return putAscii(b, q, String(x));
  // Digits go behind the place of the point; those before it move back over it.
  let at: number;
  if (decimal >= 0) at = q + 1;
  else {
    b[q] = 48;
    b[q + 1] = 46;
    at = q + 2;
    for (let zeros = -1 - decimal; zeros > 0; zeros--) b[at++] = 48;
  }
  put9(b, w, at, top | 0);
  let end = at + 9;
  if (digits !== 0) {
    put8(w, end, digits | 0);
    end += 8;
  }
  while (b[end - 1] === 48) end--;
  if (decimal >= 0) {
    if (end <= at + decimal + 1) return putAscii(b, q, String(x));
    for (let place = 0; place <= decimal; place++) b[q + place] = b[q + place + 1] as number;
    b[q + decimal + 1] = 46;
  }
  return end;
}

/** An unsigned integer of 32 bits. */
export function putUint32(b: Uint8Array, w: DataView, q: number, value: number): number {
  if (value < 10) {
    b[q] = 48 + value;
    return q + 1;
  }
  if (value < 100) {
    w.setUint16(q, PAIRS[value] as number, true);
    return q + 2;
  }
  if (value < 10000) {
    const head = (value / 100) | 0;
    const end = head < 10 ? q + 1 : q + 2;
    if (head < 10) b[q] = 48 + head;
    else w.setUint16(q, PAIRS[head] as number, true);
    w.setUint16(end, PAIRS[value - head * 100] as number, true);
    return end + 2;
  }
  if (value < 100000000) {
    const head = (value / 10000) | 0;
    const end = putUint32(b, w, q, head);
    put4(w, end, value - head * 10000);
    return end + 4;
  }
  const head = Math.floor(value / 100000000);
  const end = putUint32(b, w, q, head);
  put8(w, end, (value - head * 100000000) | 0);
  return end + 8;
}

export function putInt32(b: Uint8Array, w: DataView, q: number, value: number): number {
  if (value >= 0) return putUint32(b, w, q, value);
  b[q] = 45;
  return putUint32(b, w, q + 1, -value);
}

/** A non-negative safe integer. */
export function putSafe(b: Uint8Array, w: DataView, q: number, value: number): number {
  if (value < 4294967296) return putUint32(b, w, q, value >>> 0);
  const head = Math.floor(value / 100000000);
  const end = head < 4294967296 ? putUint32(b, w, q, head >>> 0) : putAscii(b, q, String(head));
  put8(w, end, (value - head * 100000000) | 0);
  return end + 8;
}

/** The 64-bit integer at `v[at]`, little-endian, in quotes. */
export function putInt64(b: Uint8Array, w: DataView, q: number, v: DataView, at: number): number {
  const hi = v.getInt32(at + 4, true);
  if (hi >= 0x200000 || hi < -0x200000) return putBigInt(b, q, v.getBigInt64(at, true));
  let value = hi * 4294967296 + v.getUint32(at, true);
  b[q++] = 34;
  if (value < 0) {
    b[q++] = 45;
    value = -value;
  }
  const end = putSafe(b, w, q, value);
  b[end] = 34;
  return end + 1;
}

export function putUint64(b: Uint8Array, w: DataView, q: number, v: DataView, at: number): number {
  const hi = v.getUint32(at + 4, true);
  if (hi >= 0x200000) return putBigInt(b, q, v.getBigUint64(at, true));
  b[q] = 34;
  const end = putSafe(b, w, q + 1, hi * 4294967296 + v.getUint32(at, true));
  b[end] = 34;
  return end + 1;
}

/** A 64-bit integer, in quotes. */
export function putBigInt(b: Uint8Array, q: number, value: bigint): number {
  b[q] = 34;
  const end = putAscii(b, q + 1, value.toString());
  b[end] = 34;
  return end + 1;
}

/** ASCII text, without a check of room. */
export function putAscii(b: Uint8Array, q: number, text: string): number {
  for (let index = 0; index < text.length; index++) b[q++] = text.charCodeAt(index);
  return q;
}

/** Makes room for `bytes` behind `q`. */
export function room(out: EncodeBuffer, q: number, bytes: number): void {
  if (q + bytes > out.capacity) out.grow(q, q + bytes);
}

function putSpecial(b: Uint8Array, q: number, value: number): number {
  return putAscii(b, q, `"${value}"`);
}

function put9(b: Uint8Array, w: DataView, q: number, value: number): void {
  const head = (value / 100000000) | 0;
  b[q] = 48 + head;
  put8(w, q + 1, value - head * 100000000);
}

function put8(w: DataView, q: number, value: number): void {
  const head = (value / 10000) | 0;
  put4(w, q, head);
  put4(w, q + 4, value - head * 10000);
}

function put4(w: DataView, q: number, value: number): void {
  const head = (value / 100) | 0;
  w.setUint16(q, PAIRS[head] as number, true);
  w.setUint16(q + 2, PAIRS[value - head * 100] as number, true);
}
