/**
 * Strings of a payload. The one seam to Node's fast calls on Buffer: `utf8Slice` and `utf8Write` are ten times as fast as
 * TextDecoder and TextEncoder on short strings; where there is no Buffer, those two take their place.
 *
 * Measured (Node 20, ns a string of 4 to 32 bytes): utf8Slice 43-55, TextDecoder 81-90, a table of repeated strings compared
 * byte by byte 12-84, by words 8-14. So short strings go through a table first, long ones straight to utf8Slice.
 */

/** Longest string, in bytes, that is looked for in a table. */
const TABLE_MAX = 28;

interface BufferMethods {
  base64Slice(this: Uint8Array, start: number, end: number): string;
  latin1Write(this: Uint8Array, text: string, offset: number, length: number): number;
  utf8Slice(this: Uint8Array, start: number, end: number): string;
  utf8Write(this: Uint8Array, text: string, offset: number, length: number): number;
}

const native = typeof Buffer === 'undefined' ? undefined : (Buffer.prototype as unknown as Partial<BufferMethods>);

const textDecoder = new TextDecoder('utf-8', { ignoreBOM: true });
const textEncoder = new TextEncoder();

const nativeUtf8 = native?.utf8Slice;
const nativeWrite = native?.utf8Write;

/** The text of `u8[start, end)`: invalid UTF-8 becomes U+FFFD, a byte order mark stays. */
export const decodeUtf8: (u8: Uint8Array, start: number, end: number) => string =
  nativeUtf8 === undefined
    ? (u8, start, end) => textDecoder.decode(u8.subarray(start, end))
    : (u8, start, end) => nativeUtf8.call(u8, start, end);

/** Writes `text` as UTF-8 at `offset`, at most `room` bytes; returns the bytes written. */
export const writeUtf8: (u8: Uint8Array, text: string, offset: number, room: number) => number =
  nativeWrite === undefined
    ? (u8, text, offset, room) => textEncoder.encodeInto(text, u8.subarray(offset, offset + room)).written
    : (u8, text, offset, room) => nativeWrite.call(u8, text, offset, room);

const nativeBase64 = native?.base64Slice;
const nativeLatin1 = native?.latin1Write;

/** The bytes `u8[start, end)` as base64 (RFC 4648, with padding). */
export const encodeBase64: (u8: Uint8Array, start: number, end: number) => string =
  nativeBase64 === undefined
    ? (u8, start, end) => btoa(Array.from(u8.subarray(start, end), (byte) => String.fromCharCode(byte)).join(''))
    : (u8, start, end) => nativeBase64.call(u8, start, end);

/** Writes ASCII text at `offset`, where there is room for it. */
export const writeAscii: (u8: Uint8Array, text: string, offset: number) => void =
  nativeLatin1 === undefined
    ? (u8, text, offset) => {
        textEncoder.encodeInto(text, u8.subarray(offset));
      }
    : (u8, text, offset) => {
        nativeLatin1.call(u8, text, offset, text.length);
      };

/** The bytes that base64 text stands for, of memory of their own; undefined where it is none. Padding may be left out. */
export function decodeBase64(text: string): Uint8Array | undefined {
  const digits = text.endsWith('==') ? text.length - 2 : text.endsWith('=') ? text.length - 1 : text.length;
  if (digits % 4 === 1 || (digits !== text.length && text.length % 4 !== 0)) return undefined;
  const bytes = new Uint8Array(Math.floor((digits * 3) / 4));
  if (typeof Buffer !== 'undefined') {
    // It stops or steps over what is no base64: fewer bytes come of it then.
    const written = Buffer.from(bytes.buffer).write(text, 'base64');
    return written === bytes.length && Buffer.byteLength(text.slice(0, digits), 'base64') === written
      ? bytes
      : undefined;
  }
  try {
    const binary = atob(text.slice(0, digits));
    for (let index = 0; index < bytes.length; index++) bytes[index] = binary.charCodeAt(index);
    return binary.length === bytes.length ? bytes : undefined;
  } catch {
    return undefined;
  }
}

/** A copy of `u8[start, end)`: a Buffer where the host has it, so that it turns to text by `String`. */
export function copyBytes(u8: Uint8Array, start: number, end: number): Uint8Array {
  return typeof Buffer === 'undefined' ? u8.slice(start, end) : Buffer.from(u8.subarray(start, end));
}

/**
 * Strings seen lately at one place of one schema: a direct-mapped table. An entry is 8 words: the length and up to 28 bytes,
 * compared four at a time.
 */
export interface StringTable {
  readonly words: Int32Array;
  readonly texts: string[];
  /** 32 less the binary logarithm of the number of entries: what a hash is shifted by. */
  readonly shift: number;
}

/** A table with 2^`bits` entries. */
export function stringTable(bits: number): StringTable {
  const size = 2 ** bits;
  return { words: new Int32Array(size * 8), texts: new Array<string>(size).fill(''), shift: 32 - bits };
}

/**
 * The string of `size` bytes at `u8[at]`, its NUL included: one trailing NUL is dropped if there is one, and only then.
 * Both forms of an empty string are read.
 *
 * It is longer than what V8 puts in place of a call, and that is well: each decoder with a string would be compiled with two
 * copies of it, 40 ms of CPU time in a start, and decode no faster.
 */
export function readString(u8: Uint8Array, view: DataView, at: number, size: number, table: StringTable): string {
  let length = size;
  if (length !== 0 && u8[at + length - 1] === 0) length--;
  if (length < 4) {
    const a = length > 0 ? (u8[at] ?? 0) : 0;
    const b = length > 1 ? (u8[at + 1] ?? 0) : 0;
    const c = length > 2 ? (u8[at + 2] ?? 0) : 0;
    if ((a | b | c) >= 0x80) return decodeUtf8(u8, at, at + length);
    // V8 keeps the strings of one character, and joins two short ones without a copy.
    if (length === 3) return String.fromCharCode(a, b, c);
    if (length === 2) return String.fromCharCode(a, b);
    return length === 1 ? String.fromCharCode(a) : '';
  }
  if (length > TABLE_MAX) return decodeUtf8(u8, at, at + length);
  const { words, texts, shift } = table;
  const first = view.getInt32(at, true);
  const last = view.getInt32(at + length - 4, true);
  const slot = Math.imul(Math.imul(first, 0x2c1b3c6d) ^ last ^ (length << 11), 0x297a2d39) >>> shift;
  const entry = slot * 8;
  if (words[entry] === length && words[entry + 1] === first && words[entry + 7] === last) {
    // First and last word may overlap, so that what is between is whole words.
    let index = 4;
    let word = entry + 2;
    while (index < length - 4 && words[word] === view.getInt32(at + index, true)) {
      index += 4;
      word++;
    }
    if (index >= length - 4) return texts[slot] ?? '';
  }
  words[entry] = length;
  words[entry + 1] = first;
  words[entry + 7] = last;
  for (let index = 4, word = entry + 2; index < length - 4; index += 4, word++)
    words[word] = view.getInt32(at + index, true);
  return (texts[slot] = decodeUtf8(u8, at, at + length));
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

/** Memory that is overwritten before anyone sees it: not zeroed where Node can leave that out. */
export function scratchMemory(size: number): ArrayBufferLike {
  return typeof Buffer === 'undefined' ? new ArrayBuffer(size) : Buffer.allocUnsafeSlow(size).buffer;
}
