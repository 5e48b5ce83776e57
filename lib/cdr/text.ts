/**
 * Strings of a payload. The one seam to Node's fast calls on Buffer: `utf8Slice` and `utf8Write` are ten times as fast as
 * TextDecoder and TextEncoder on short strings; where there is no Buffer, those two take their place.
 *
 * Measured (Node 20, ns a string of 4 / 8 / 16 / 32 bytes): cache of repeated strings 12 / 20 / 35 / 84, latin1Slice
 * 39-47, utf8Slice 43-55, TextDecoder 81-90. So short strings go through a table first, long ones straight to utf8Slice.
 */

/** Longest string, in bytes, that is looked for in a table. */
const TABLE_MAX = 32;

interface BufferMethods {
  utf8Slice(this: Uint8Array, start: number, end: number): string;
  latin1Slice(this: Uint8Array, start: number, end: number): string;
  utf8Write(this: Uint8Array, text: string, offset: number, length: number): number;
}

const native = typeof Buffer === 'undefined' ? undefined : (Buffer.prototype as unknown as Partial<BufferMethods>);

const textDecoder = new TextDecoder('utf-8', { ignoreBOM: true });
const textEncoder = new TextEncoder();

const nativeUtf8 = native?.utf8Slice;
const nativeLatin1 = native?.latin1Slice;
const nativeWrite = native?.utf8Write;

/** The text of `u8[start, end)`: invalid UTF-8 becomes U+FFFD, a byte order mark stays. */
export const decodeUtf8: (u8: Uint8Array, start: number, end: number) => string =
  nativeUtf8 === undefined
    ? (u8, start, end) => textDecoder.decode(u8.subarray(start, end))
    : (u8, start, end) => nativeUtf8.call(u8, start, end);

/** The text of `u8[start, end)` when it is ASCII. */
const decodeAscii: (u8: Uint8Array, start: number, end: number) => string =
  nativeLatin1 === undefined ? decodeUtf8 : (u8, start, end) => nativeLatin1.call(u8, start, end);

/** Writes `text` as UTF-8 at `offset`, at most `room` bytes; returns the bytes written. */
export const writeUtf8: (u8: Uint8Array, text: string, offset: number, room: number) => number =
  nativeWrite === undefined
    ? (u8, text, offset, room) => textEncoder.encodeInto(text, u8.subarray(offset, offset + room)).written
    : (u8, text, offset, room) => nativeWrite.call(u8, text, offset, room);

/** Strings seen lately at one place of one schema: a direct-mapped table whose size is a power of two. */
export type StringTable = string[];

export function stringTable(size: number): StringTable {
  return new Array<string>(size).fill('');
}

/**
 * The string of `size` bytes at `u8[at]`, its NUL included: one trailing NUL is dropped if there is one, and only then.
 * Both forms of an empty string are read.
 */
export function readString(u8: Uint8Array, at: number, size: number, table: StringTable): string {
  let length = size;
  if (length !== 0 && u8[at + length - 1] === 0) length--;
  if (length === 0) return '';
  if (length > TABLE_MAX) return decodeUtf8(u8, at, at + length);
  const first = u8[at] ?? 0;
  const last = u8[at + length - 1] ?? 0;
  const middle = u8[at + (length >> 1)] ?? 0;
  const slot = (first * 7 + last * 31 + middle * 13 + length) & (table.length - 1);
  const known = table[slot] ?? '';
  if (known.length === length) {
    let index = 0;
    while (index < length && known.charCodeAt(index) === u8[at + index]) index++;
    if (index === length) return known;
  }
  let bits = 0;
  for (let index = 0; index < length; index++) bits |= u8[at + index] ?? 0;
  // Only ASCII is kept: there a character is a byte, so that the comparison above is exact.
  if (bits >= 0x80) return decodeUtf8(u8, at, at + length);
  return (table[slot] = decodeAscii(u8, at, at + length));
}

/** UTF-8 bytes of a well-formed string. */
export function utf8Length(text: string): number {
  let bytes = text.length;
  for (let index = 0; index < text.length; index++) {
    const unit = text.charCodeAt(index);
    if (unit < 0x80) continue;
    // A surrogate pair is 4 bytes for 2 units: 2 more than its units, 1 for each.
    bytes += unit < 0x800 || (unit >= 0xd800 && unit < 0xe000) ? 1 : 2;
  }
  return bytes;
}

/** True where every surrogate has its partner. */
export function isWellFormed(text: string): boolean {
  return (text as string & { isWellFormed(): boolean }).isWellFormed();
}

/** `text` with U+FFFD for every lone surrogate. */
export function toWellFormed(text: string): string {
  return (text as string & { toWellFormed(): string }).toWellFormed();
}
