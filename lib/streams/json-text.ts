/** Bytes of JSON -> its values, each with its number: the lines of NDJSON, or the elements of one array. */
import { McapStreamsError } from '../errors.js';
import { JsonValues, parseJson } from './json-parser.js';

/** A value, and what it is called in errors. */
export interface JsonItem {
  readonly value: unknown;
  /** Line, from 1, in NDJSON; element, from 0, in an array. */
  readonly number: number;
  readonly where: string;
  readonly line: number | undefined;
}

/** So much of an array is parsed at once: what it becomes is held until it is taken. */
const PIECE = 16 * 1024;

const LF = 10;
const SPACE: ReadonlySet<number> = new Set([9, LF, 13, 32]);

/** Takes bytes in any pieces. Which of the two forms they have is told by the first character. */
export class JsonText {
  readonly #maxLength: number;
  #form: 'lines' | 'array' | undefined;
  #number = 0;
  /** The beginning of a line whose end has not come. */
  #parts: Buffer[] = [];
  #partsLength = 0;
  readonly #fatal = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
  readonly #values = new JsonValues(1);
  readonly #stream = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
  #elementLength = 0;
  /** Bytes before the first character: a byte order mark may be cut. */
  #begin: Buffer | undefined = Buffer.alloc(0);

  /** @param maxLength most bytes of a line or element */
  constructor(maxLength: number) {
    this.#maxLength = maxLength;
  }

  *write(chunk: Buffer): Generator<JsonItem, void> {
    let bytes = chunk;
    if (this.#begin !== undefined) {
      bytes = this.#begin.length === 0 ? bytes : Buffer.concat([this.#begin, bytes]);
      if (bytes[0] === 0xef && bytes.length < 3) {
        this.#begin = bytes;
        return;
      }
      this.#begin = undefined;
      if (bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf) bytes = bytes.subarray(3);
    }
    let at = 0;
    if (this.#form === undefined) {
      while (at < bytes.length && SPACE.has(bytes[at] ?? 0)) if (bytes[at++] === LF) this.#number++;
      if (at === bytes.length) return;
      this.#form = bytes[at] === 0x5b ? 'array' : 'lines';
      if (this.#form === 'array') this.#number = 0;
    }
    const rest = bytes.subarray(at);
    yield* this.#form === 'array' ? this.#array(rest) : this.#lines(rest);
  }

  *end(): Generator<JsonItem, void> {
    if (this.#begin !== undefined && this.#begin.length > 0) {
      this.#form = 'lines';
      yield* this.#lines(this.#begin);
    }
    if (this.#form === 'lines' && this.#partsLength > 0) yield* this.#line(Buffer.concat(this.#parts));
    if (this.#form !== 'array') return;
    yield* this.#elements(() => {
      const text = this.#stream.decode();
      const found = text === '' ? [] : this.#values.write(text);
      return [...found, ...this.#values.end()];
    });
  }

  *#lines(bytes: Buffer): Generator<JsonItem, void> {
    let from = 0;
    for (let to = bytes.indexOf(LF); to >= 0; to = bytes.indexOf(LF, from)) {
      let line = bytes.subarray(from, to);
      if (this.#partsLength > 0) {
        line = Buffer.concat([...this.#parts, line]);
        this.#parts = [];
        this.#partsLength = 0;
      }
      yield* this.#line(line);
      from = to + 1;
    }
    if (from === bytes.length) return;
    // Kept until more comes: a copy, so that a small rest does not hold a large chunk.
    const part = Buffer.from(bytes.subarray(from));
    this.#parts.push(part);
    this.#partsLength += part.length;
    if (this.#partsLength > this.#maxLength) throw this.#tooLong(`line ${this.#number + 1}`, this.#number + 1);
  }

  *#line(bytes: Buffer): Generator<JsonItem, void> {
    const number = ++this.#number;
    if (bytes.every((byte) => SPACE.has(byte))) return;
    const where = `line ${number}`;
    if (bytes.length > this.#maxLength) throw this.#tooLong(where, number);
    let value: unknown;
    try {
      value = parseJson(this.#fatal.decode(bytes));
    } catch (cause) {
      throw bad(where, number, cause);
    }
    yield { value, number, where, line: number };
  }

  *#array(bytes: Buffer): Generator<JsonItem, void> {
    for (let from = 0; from < bytes.length; from += PIECE) {
      const text = this.#decode(bytes.subarray(from, from + PIECE));
      // Cut behind every brace: an element ends with its piece then, and what is wrong in the next does not take it along.
      for (let at = 0; at < text.length;) {
        const brace = text.indexOf('}', at);
        const piece = text.slice(at, brace < 0 ? text.length : brace + 1);
        at += piece.length;
        yield* this.#elements(() => this.#values.write(piece));
        this.#elementLength = this.#values.between ? 0 : this.#elementLength + piece.length;
        if (this.#elementLength > this.#maxLength) throw this.#tooLong(`element ${this.#number}`, undefined);
      }
    }
  }

  #decode(bytes: Buffer): string {
    try {
      return this.#stream.decode(bytes, { stream: true });
    } catch (cause) {
      throw bad(`element ${this.#number}`, undefined, cause);
    }
  }

  *#elements(parse: () => unknown[]): Generator<JsonItem, void> {
    let found: unknown[];
    try {
      found = parse();
    } catch (cause) {
      throw bad(`element ${this.#number}`, undefined, cause);
    }
    for (const value of found) {
      const number = this.#number++;
      yield { value, number, where: `element ${number}`, line: undefined };
    }
  }

  #tooLong(where: string, line: number | undefined): McapStreamsError {
    const message = `${where} is longer than maxLineLength, ${this.#maxLength} bytes`;
    return new McapStreamsError('ENCODE_LINE_TOO_LONG', message, { line });
  }
}

function bad(where: string, line: number | undefined, cause: unknown): McapStreamsError {
  const why = cause instanceof Error ? cause.message : String(cause);
  return new McapStreamsError('ENCODE_BAD_JSON', `${where}: no JSON: ${why}`, { line, cause });
}
