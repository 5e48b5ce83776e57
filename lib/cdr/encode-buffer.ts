/** The memory that values are encoded into: one buffer that grows and is used again, or a target of fixed size. */
import { McapStreamsError } from '../errors.js';
import { scratchMemory } from './text.js';

/** Above this a message fits into no chunk, and positions would leave the range of small integers. */
const MAX_CAPACITY = 2 ** 31 - 1;

/**
 * Bytes to encode into. `capacity` is the end of what may be written. `grow` replaces `u8` and `view` and keeps what was
 * written before `used`, so whoever holds one of them reads it again after every call that may grow.
 */
export class EncodeBuffer {
  u8: Uint8Array;
  view: DataView;
  capacity: number;
  /** The value that is being encoded, and who says what is wrong with it. */
  root: unknown = undefined;
  explain: (root: unknown, buffer: EncodeBuffer) => never = noValue;
  readonly #fixed: boolean;
  #iterated: Map<object, unknown[]> | undefined;

  constructor(memory: number | Uint8Array = 4096) {
    this.#fixed = typeof memory !== 'number';
    this.u8 = typeof memory === 'number' ? new Uint8Array(scratchMemory(memory)) : memory;
    this.view = new DataView(this.u8.buffer, this.u8.byteOffset, this.u8.byteLength);
    this.capacity = this.u8.byteLength;
  }

  /** Makes `needed` bytes available; the first `used` keep their content. Throws ENCODE_NO_SPACE where it cannot. */
  grow(used: number, needed: number): void {
    if (needed <= this.capacity) return;
    if (this.#fixed || needed > MAX_CAPACITY) {
      const message = `the message needs ${needed} bytes or more, the target has ${this.#fixed ? this.capacity : MAX_CAPACITY}`;
      throw new McapStreamsError('ENCODE_NO_SPACE', message);
    }
    const u8 = new Uint8Array(scratchMemory(Math.min(MAX_CAPACITY, Math.max(needed, this.capacity * 2))));
    u8.set(this.u8.subarray(0, used));
    this.u8 = u8;
    this.view = new DataView(u8.buffer);
    this.capacity = u8.byteLength;
  }

  /** Readies the buffer for the value `root`. */
  begin(root: unknown, explain: (root: unknown, buffer: EncodeBuffer) => never): void {
    this.root = root;
    this.explain = explain;
  }

  /** Forgets the value: the buffer lives on, the value should not. */
  done(): void {
    this.root = undefined;
    this.#iterated = undefined;
  }

  /** Throws the error that says what is wrong with the value. */
  fail(): never {
    return this.explain(this.root, this);
  }

  /** The elements of an iterable, which is run once only, also when the value is looked at again for an error. */
  collect(iterable: Iterable<unknown>): unknown[] {
    this.#iterated ??= new Map();
    let items = this.#iterated.get(iterable);
    if (items === undefined) this.#iterated.set(iterable, (items = Array.from(iterable)));
    return items;
  }
}

function noValue(): never {
  throw new Error('the buffer holds no value');
}
