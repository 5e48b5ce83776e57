/** Strings and bytes as JSON text, straight into bytes: quoted and escaped as `JSON.stringify` does it, and base64. */
import type { EncodeBuffer } from './encode-buffer.js';
import { room } from './json-numbers.js';
import { decodeUtf8, encodeBase64, writeAscii, writeUtf8 } from './text.js';

const QUOTE = 34;

/** 1 for a byte that stands in JSON text as it is: ASCII, but for control characters, quotes and backslashes. */
const PLAIN = Uint8Array.from({ length: 256 }, (_, byte) =>
  byte >= 0x20 && byte < 0x80 && byte !== QUOTE && byte !== 92 ? 1 : 0,
);

/** Up to here bytes are copied in a loop, which is faster than a call of the host. */
const SHORT = 48;

/** The string of `size` bytes at `u8[at]`, one NUL at its end left out. Invalid UTF-8 becomes U+FFFD. */
export function putString(out: EncodeBuffer, q: number, u8: Uint8Array, at: number, size: number): number {
  let end = at + size;
  if (size !== 0 && u8[end - 1] === 0) end--;
  room(out, q, end - at + 2);
  const b = out.u8;
  b[q] = QUOTE;
  let k = q + 1;
  if (end - at > SHORT) {
    for (let index = at; index < end; index++)
      if (PLAIN[u8[index] as number] === 0) return putText(out, q, decodeUtf8(u8, at, end));
    b.set(u8.subarray(at, end), k);
    k += end - at;
  } else {
    for (let index = at; index < end; index++) {
      const byte = u8[index] as number;
      if (PLAIN[byte] === 0) return putText(out, q, decodeUtf8(u8, at, end));
      b[k++] = byte;
    }
  }
  b[k] = QUOTE;
  return k + 1;
}

/** A JavaScript string. A lone surrogate becomes its escape. */
export function putText(out: EncodeBuffer, q: number, text: string): number {
  const length = text.length;
  if (length <= SHORT) {
    room(out, q, length + 2);
    const b = out.u8;
    let index = 0;
    for (; index < length; index++) {
      const code = text.charCodeAt(index);
      if (code >= 0x80 || PLAIN[code] === 0) break;
      b[q + 1 + index] = code;
    }
    if (index === length) {
      b[q] = QUOTE;
      b[q + 1 + length] = QUOTE;
      return q + 2 + length;
    }
  }
  return putJson(out, q, JSON.stringify(text));
}

/** Text that is JSON already. */
export function putJson(out: EncodeBuffer, q: number, json: string): number {
  room(out, q, json.length * 3);
  return q + writeUtf8(out.u8, json, q, json.length * 3);
}

const DIGITS = Uint8Array.from('ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/', (char) =>
  char.charCodeAt(0),
);

/** The bytes `u8[at, at + count)` as base64 in quotes. */
export function putBase64(out: EncodeBuffer, q: number, u8: Uint8Array, at: number, count: number): number {
  const size = Math.ceil(count / 3) * 4;
  room(out, q, size + 2);
  const b = out.u8;
  b[q] = QUOTE;
  b[q + 1 + size] = QUOTE;
  if (count > SHORT) {
    writeAscii(b, encodeBase64(u8, at, at + count), q + 1);
    return q + 2 + size;
  }
  let k = q + 1;
  const end = at + count;
  for (let index = at; index < end; index += 3) {
    const left = end - index;
    const first = u8[index] as number;
    const second = left > 1 ? (u8[index + 1] as number) : 0;
    const third = left > 2 ? (u8[index + 2] as number) : 0;
    b[k] = DIGITS[first >> 2] as number;
    b[k + 1] = DIGITS[((first & 3) << 4) | (second >> 4)] as number;
    b[k + 2] = left > 1 ? (DIGITS[((second & 15) << 2) | (third >> 6)] as number) : 61;
    b[k + 3] = left > 2 ? (DIGITS[third & 63] as number) : 61;
    k += 4;
  }
  return q + 2 + size;
}
