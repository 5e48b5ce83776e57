/**
 * Literals of .msg texts: the values of constants and defaults. Wider than rosidl's, as recordings are: hex, octal and
 * binary integers, exponents, `inf` and `nan`, bools in any case, quoted and bare strings. What cannot be read gives an
 * explanation and never a wrong value.
 */
import type { LiteralValue, PrimitiveName, PrimitiveType } from './definition.js';

/** A literal's value, or why there is none. */
export type LiteralResult<T = LiteralValue> = { readonly value: T } | { readonly problem: string };

/** Smallest and largest value of each integer type. */
export const INTEGER_RANGES: ReadonlyMap<PrimitiveName, readonly [bigint, bigint]> = new Map([
  ['byte', [0n, 255n]],
  ['char', [0n, 255n]],
  ['wchar', [0n, 65535n]],
  ['int8', [-128n, 127n]],
  ['uint8', [0n, 255n]],
  ['int16', [-32768n, 32767n]],
  ['uint16', [0n, 65535n]],
  ['int32', [-(2n ** 31n), 2n ** 31n - 1n]],
  ['uint32', [0n, 2n ** 32n - 1n]],
  ['int64', [-(2n ** 63n), 2n ** 63n - 1n]],
  ['uint64', [0n, 2n ** 64n - 1n]],
]);

const MAX_FLOAT32 = 3.4028234663852886e38;

/** More digits than this are no number of any type (and slow to turn into one). */
const MAX_DIGITS = 400;

/** Reads a literal of a primitive type. `text` is trimmed and without comment. */
export function parseLiteral(type: PrimitiveType, text: string): LiteralResult {
  switch (type.name) {
    case 'string':
    case 'wstring':
      return parseString(type, text);
    case 'bool':
      return parseBool(text);
    case 'float32':
    case 'float64':
      return parseFloating(type.name, text);
    default:
      return parseInteger(type.name, text);
  }
}

/** Reads `[a, b]` for an array of a primitive type; a comma may stand last. */
export function parseArrayLiteral(type: PrimitiveType, text: string): LiteralResult<LiteralValue[]> {
  if (!text.startsWith('[') || !text.endsWith(']') || text.length < 2) return { problem: 'not an array in brackets' };
  const values: LiteralValue[] = [];
  const end = text.length - 1;
  let i = 1;
  while (i < end) {
    const from = i;
    const first = skipBlanks(text, i);
    const quoted = text[first] === '"' || text[first] === "'" ? closingQuote(text, first) : -1;
    i = quoted < 0 ? first : quoted + 1;
    while (i < end && text[i] !== ',') i++;
    const element = text.slice(from, i).trim();
    i++;
    if (element === '') {
      if (i > end) break;
      return { problem: 'an element is missing' };
    }
    const result = parseLiteral(type, element);
    if ('problem' in result) return result;
    values.push(result.value);
  }
  return { value: values };
}

/** Checks an integer against its type and gives it the form of its type: bigint for 64 bits, number otherwise. */
export function integerOfType(name: PrimitiveName, value: bigint): LiteralResult {
  const range = INTEGER_RANGES.get(name);
  if (range === undefined || value < range[0] || value > range[1])
    return { problem: `${value} is out of range of ${name}` };
  return { value: name === 'int64' || name === 'uint64' ? value : Number(value) };
}

/** Checks a floating-point number against its type. */
export function floatOfType(name: PrimitiveName, value: number): LiteralResult {
  if (name === 'float32' && Number.isFinite(value) && Math.abs(Math.fround(value)) > MAX_FLOAT32) {
    return { problem: `${value} is out of range of float32` };
  }
  return { value };
}

/**
 * Checks a string: no NUL and no half of a surrogate pair, which no ROS 2 string can hold, and not over its bound: bytes
 * of UTF-8 for a string, UTF-16 units for a wstring.
 */
export function stringOfType(type: PrimitiveType, value: string): LiteralResult {
  if (value.includes('\0')) return { problem: 'it holds a NUL' };
  if (/\p{Surrogate}/u.test(value)) return { problem: 'it holds half of a surrogate pair' };
  const { maxLength } = type;
  if (maxLength !== undefined) {
    const length = type.name === 'string' ? new TextEncoder().encode(value).length : value.length;
    if (length > maxLength) return { problem: `longer than its bound of ${maxLength}` };
  }
  return { value };
}

/** The index of the quote that ends the one at `start`, or -1. A backslash escapes. */
export function closingQuote(text: string, start: number, end: number = text.length): number {
  const quote = text[start];
  for (let i = start + 1; i < end; i++) {
    if (text[i] === '\\') i++;
    else if (text[i] === quote) return i;
  }
  return -1;
}

/** Decodes C's escapes; an unknown one stays as it stands. */
export function unescapeString(text: string): string {
  if (!text.includes('\\')) return text;
  return text.replace(
    /\\(?:x([0-9A-Fa-f]{1,2})|u([0-9A-Fa-f]{1,4})|U([0-9A-Fa-f]{1,8})|([0-7]{1,3})|([^]))/g,
    (whole: string, hex?: string, short?: string, long?: string, octal?: string, char?: string) => {
      const digits = hex ?? short ?? long;
      if (digits !== undefined) {
        const code = Number.parseInt(digits, 16);
        return code <= 0x10ffff ? String.fromCodePoint(code) : whole;
      }
      if (octal !== undefined) return String.fromCodePoint(Number.parseInt(octal, 8));
      return ESCAPES.get(char ?? '') ?? whole;
    },
  );
}

const ESCAPES: ReadonlyMap<string, string> = new Map([
  ['n', '\n'],
  ['t', '\t'],
  ['r', '\r'],
  ['a', '\x07'],
  ['b', '\b'],
  ['f', '\f'],
  ['v', '\v'],
  ['\\', '\\'],
  ['"', '"'],
  ["'", "'"],
  ['?', '?'],
]);

function parseString(type: PrimitiveType, text: string): LiteralResult {
  if (text.startsWith('"') || text.startsWith("'")) {
    const end = closingQuote(text, 0);
    if (end === text.length - 1) return stringOfType(type, unescapeString(text.slice(1, -1)));
    if (end > 0 && text.endsWith(text.charAt(0))) return { problem: 'a quote inside the string is not escaped' };
  }
  return stringOfType(type, text);
}

function parseBool(text: string): LiteralResult {
  const lower = text.toLowerCase();
  if (lower === 'true' || lower === '1') return { value: true };
  if (lower === 'false' || lower === '0') return { value: false };
  return { problem: 'not a bool' };
}

function parseInteger(name: PrimitiveName, text: string): LiteralResult {
  const value = readInteger(text);
  return value === undefined ? { problem: `not an integer of type ${name}` } : integerOfType(name, value);
}

function parseFloating(name: PrimitiveName, text: string): LiteralResult {
  const special = /^([+-]?)(?:(inf|infinity)|nan)$/i.exec(text);
  if (special !== null) {
    if (special[2] === undefined) return { value: Number.NaN };
    return { value: special[1] === '-' ? Number.NEGATIVE_INFINITY : Number.POSITIVE_INFINITY };
  }
  if (text.length <= MAX_DIGITS && /^[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?$/.test(text)) {
    const value = Number(text);
    if (!Number.isFinite(value)) return { problem: `out of range of ${name}` };
    return floatOfType(name, value);
  }
  const integer = readInteger(text);
  return integer === undefined ? { problem: `not a number of type ${name}` } : floatOfType(name, Number(integer));
}

/** Decimal (leading zeros are no octal), `0x`, `0o` and `0b`, each with a sign. */
function readInteger(text: string): bigint | undefined {
  if (text.length > MAX_DIGITS) return undefined;
  const match = /^([+-]?)(\d+|0[xX][0-9a-fA-F]+|0[oO][0-7]+|0[bB][01]+)$/.exec(text);
  if (match === null) return undefined;
  const magnitude = BigInt((match[2] ?? '').toLowerCase());
  return match[1] === '-' ? -magnitude : magnitude;
}

function skipBlanks(text: string, from: number): number {
  let i = from;
  while (text[i] === ' ' || text[i] === '\t') i++;
  return i;
}
