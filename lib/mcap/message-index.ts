/**
 * The message index of one channel in the open chunk (MCAP specification, "Message Index"), kept as the bytes that are
 * written in the end: 16 a message, no objects. The memory is used again for the next chunk.
 */
import { ByteBuffer } from './growing-bytes.js';

/** An entry: log time and offset, both uint64. */
const ENTRY = 16;

export class ChannelIndex {
  readonly #buffer = new ByteBuffer(16 * ENTRY);
  #length = 0;

  get isEmpty(): boolean {
    return this.#length === 0;
  }

  /** Bytes of the entries. */
  get length(): number {
    return this.#length;
  }

  /** @param offset of the Message record in the uncompressed chunk */
  add(logTime: bigint, offset: number): void {
    const at = this.#length;
    const buffer = this.#buffer;
    if (at + ENTRY > buffer.capacity) buffer.grow(at, at + ENTRY);
    const { view } = buffer;
    view.setBigUint64(at, logTime, true);
    view.setUint32(at + 8, offset, true);
    view.setUint32(at + 12, 0, true);
    this.#length = at + ENTRY;
  }

  /** The entries in the order they came, as the reference writers have them; valid until the next `add` or `clear`. */
  entries(): Uint8Array {
    return this.#buffer.u8.subarray(0, this.#length);
  }

  clear(): void {
    this.#length = 0;
  }
}
