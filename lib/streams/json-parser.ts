/**
 * JSON -> values on the tokens of stream-json, with every number exact: an integer beyond 2^53 is a bigint, which
 * `JSON.parse` would round.
 */
import type * as StreamJson from 'stream-json/core/parser.js';
import type { Token } from 'stream-json/core/parser.js';
import type * as StreamChain from 'stream-chain/core';
import { setOwn } from '../cdr/values.js';
import { lazily } from '../mcap/lazy.js';

const streamJson = lazily('stream-json/core/parser.js') as () => typeof StreamJson;
const streamChain = lazily('stream-chain/core') as () => typeof StreamChain;

/** Values inside one another. Messages stay below 64. */
const MAX_DEPTH = 512;

/** Sixteen digits may be more than a number holds. */
const LONG_NUMBER = /\d{16}/;

/** The value of a JSON text. Throws SyntaxError, or an Error of stream-json. */
export function parseJson(text: string): unknown {
  if (!LONG_NUMBER.test(text)) return JSON.parse(text) as unknown;
  const values = new JsonValues(0);
  const found = values.write(text);
  found.push(...values.end());
  if (found.length !== 1) throw new SyntaxError('the text ends before its value does');
  return found[0];
}

/** Puts values together from text that comes in pieces. Those at `depth` are handed out: 0 is the text's own value. */
export class JsonValues {
  readonly #parse = streamJson().jsonParser({ packValues: true, streamValues: false });
  readonly #depth: number;
  /** Arrays and objects that are open, and in objects the key that waits for its value. */
  readonly #open: (unknown[] | Record<string, unknown>)[] = [];
  readonly #keys: string[] = [];
  #found: unknown[] = [];

  constructor(depth: 0 | 1) {
    this.#depth = depth;
  }

  /** Whether nothing is open but what values are handed out of. */
  get between(): boolean {
    return this.#open.length <= this.#depth;
  }

  /** The values that end in this piece. */
  write(text: string): unknown[] {
    return this.#take(this.#parse(text));
  }

  end(): unknown[] {
    // `none` ends the text: that is how stream-chain flushes a stage, and its types do not say so.
    return this.#take(this.#parse(streamChain().none as unknown as string));
  }

  #take(result: ReturnType<ReturnType<typeof StreamJson.jsonParser>>): unknown[] {
    if (result !== streamChain().none) for (const token of (result as { values: Token[] }).values) this.#token(token);
    const found = this.#found;
    if (found.length > 0) this.#found = [];
    return found;
  }

  #token(token: Token): void {
    switch (token.name) {
      case 'startObject':
        this.#push({});
        return;
      case 'startArray':
        this.#push([]);
        return;
      case 'endObject':
      case 'endArray': {
        const value = this.#open.pop();
        this.#keys.pop();
        this.#value(value);
        return;
      }
      case 'keyValue':
        this.#keys[this.#keys.length - 1] = token.value;
        return;
      case 'numberValue':
        this.#value(exactNumber(token.value));
        return;
      case 'stringValue':
      case 'nullValue':
      case 'trueValue':
      case 'falseValue':
        this.#value(token.value);
        return;
      default:
        return;
    }
  }

  #push(container: unknown[] | Record<string, unknown>): void {
    if (this.#open.length >= MAX_DEPTH) throw new SyntaxError(`values are nested more than ${MAX_DEPTH} deep`);
    this.#open.push(container);
    this.#keys.push('');
  }

  #value(value: unknown): void {
    if (this.#open.length === this.#depth) {
      this.#found.push(value);
      return;
    }
    const container = this.#open.at(-1);
    if (container === undefined) return; // the array whose elements were handed out
    if (Array.isArray(container)) container.push(value);
    else setOwn(container, this.#keys.at(-1) ?? '', value);
  }
}

function exactNumber(text: string): number | bigint {
  const value = Number(text);
  return Number.isInteger(value) && !Number.isSafeInteger(value) && /^-?\d+$/.test(text) ? BigInt(text) : value;
}
