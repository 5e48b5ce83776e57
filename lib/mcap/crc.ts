/**
 * CRC-32 as MCAP uses it (IEEE 802.3).
 *
 * `@node-rs/crc32` multiplies without carry in SIMD registers: 22 GB/s in the cache and 8 beyond it. `zlib.crc32` as Node builds it goes by
 * tables, 4 GB/s, which was half of the main thread's time with big payloads. It takes 3 ms to load, so that it is loaded by
 * those who have some to sum.
 */
import { crc32 as zlibCrc32 } from 'node:zlib';
import { loadAddon } from './addon.js';

type Crc32 = (bytes: Uint8Array, value: number) => number;

/** So many bytes are summed by zlib before the addon is loaded: what they take is what the loading takes. */
const FIRST = 8 * 2 ** 20;
/** Shorter parts are not worth the longer way into an addon. Bytes. */
const SHORT = 64;

let fast: Crc32 = zlibCrc32;
/** Bytes left of the first ones. */
let left = FIRST;

/** CRC of `bytes`; `value` is the CRC of what came before. */
export function crc32(bytes: Uint8Array, value = 0): number {
  if (bytes.length < SHORT) return zlibCrc32(bytes, value);
  if (left > 0) {
    left -= bytes.length;
    if (left <= 0) fast = (loadAddon('@node-rs/crc32') as { crc32: Crc32 } | null)?.crc32 ?? zlibCrc32;
  }
  return fast(bytes, value);
}

/**
 * The CRC of two parts, one behind the other, from the CRCs of each: what was summed once is not read again. In some
 * microseconds, whatever the length (multiplication by a power of x modulo the polynomial).
 */
export function combineCrc32(first: number, second: number, secondLength: number): number {
  let power = 0x80000000; // 1
  // Each byte is a factor x^8.
  for (let rest = secondLength, bit = 3; rest > 0; rest = Math.floor(rest / 2), bit++) {
    if (rest % 2 === 1) power = multiply(SQUARES[bit & 31] ?? 0, power);
  }
  return (multiply(power, first) ^ second) >>> 0;
}

const POLYNOMIAL = 0xedb88320;

/** Product of two polynomials over GF(2) modulo the CRC's, in its reflected bit order. */
function multiply(a: number, b: number): number {
  let product = 0;
  let factor = b;
  for (let bit = 31; bit >= 0; bit--) {
    if (((a >>> bit) & 1) === 1) product ^= factor;
    factor = (factor & 1) === 1 ? (factor >>> 1) ^ POLYNOMIAL : factor >>> 1;
  }
  return product >>> 0;
}

/** x^(2^n). */
const SQUARES: number[] = [0x40000000];
for (let n = 1; n < 32; n++) SQUARES.push(multiply(SQUARES[n - 1] ?? 0, SQUARES[n - 1] ?? 0));
