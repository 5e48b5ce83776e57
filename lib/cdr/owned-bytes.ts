/**
 * Memory for encoded messages that belong to the caller. Small messages are encoded straight into a slab and handed out
 * as views of it, as Node does with small Buffers: no copy. Large ones get memory of their own, by the size of the one
 * before, and are copied only where that was far off.
 */
import { EncodeBuffer } from './encode-buffer.js';
import type { Encode } from './encode-interpreter.js';

const SLAB_SIZE = 32 * 1024;
/** Messages up to this size stay in the slab. */
const SLAB_MAX = 4096;

/** What all codecs share; taken out while in use, so that an encode inside of an encode (a getter) gets its own. */
let slab: EncodeBuffer | undefined;
let slabUsed = 0;

export class OwnedBytes {
  /** Size of the last message: the next one is probably as large. */
  #last = 0;

  encode(encode: Encode, value: unknown): Uint8Array {
    const bytes = this.#last > SLAB_MAX ? this.#large(encode, value) : this.#small(encode, value);
    this.#last = bytes.byteLength;
    return bytes;
  }

  #small(encode: Encode, value: unknown): Uint8Array {
    let buffer = slab;
    let start = (slabUsed + 7) & ~7;
    if (buffer === undefined || start + 512 > SLAB_SIZE) {
      buffer = new EncodeBuffer(SLAB_SIZE);
      start = 0;
    }
    slab = undefined;
    const end = encode(buffer, value, start);
    const size = end - start;
    const outgrown = buffer.capacity > SLAB_SIZE;
    if (size > SLAB_MAX || outgrown) {
      if (!outgrown) {
        slab = buffer;
        slabUsed = start;
      }
      return buffer.u8.slice(start, end);
    }
    slab = buffer;
    slabUsed = end;
    return new Uint8Array(buffer.u8.buffer, start, size);
  }

  #large(encode: Encode, value: unknown): Uint8Array {
    // A little more than the last one took: messages of one type are of similar size.
    const buffer = new EncodeBuffer(this.#last + (this.#last >> 3));
    const end = encode(buffer, value, 0);
    return end * 4 < buffer.capacity * 3 ? buffer.u8.slice(0, end) : buffer.u8.subarray(0, end);
  }
}
