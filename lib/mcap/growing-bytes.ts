/** Memory that records are written into: it grows and is used again. */

/**
 * What a writer needs of such memory; the codec's EncodeBuffer is one, so that a message is encoded straight into its
 * chunk. `grow` replaces `u8` and `view` and keeps what was written before `used`: whoever holds one of them reads it
 * again after every call that may grow.
 */
export interface GrowingBytes {
  u8: Uint8Array;
  view: DataView;
  capacity: number;
  /** Makes `needed` bytes available; the first `used` keep their content. */
  grow(used: number, needed: number): void;
}

/** Longest memory: positions stay small integers. Bytes. */
const MAX_CAPACITY = 2 ** 31 - 1;

/** Memory for a writer that encodes nothing itself. */
export class ByteBuffer implements GrowingBytes {
  u8: Uint8Array;
  view: DataView;
  capacity: number;

  constructor(size: number) {
    this.u8 = Buffer.allocUnsafeSlow(size);
    this.view = new DataView(this.u8.buffer);
    this.capacity = size;
  }

  grow(used: number, needed: number): void {
    if (needed <= this.capacity) return;
    if (needed > MAX_CAPACITY) throw new RangeError(`${needed} bytes do not fit in one piece of memory`);
    const u8 = Buffer.allocUnsafeSlow(Math.min(MAX_CAPACITY, Math.max(needed, this.capacity * 2)));
    u8.set(this.u8.subarray(0, used));
    this.u8 = u8;
    this.view = new DataView(u8.buffer);
    this.capacity = u8.length;
  }
}

/** Puts memory that was lent to another thread back in place. */
export function restore(buffer: GrowingBytes, memory: ArrayBufferLike): void {
  buffer.u8 = new Uint8Array(memory);
  buffer.view = new DataView(memory);
  buffer.capacity = memory.byteLength;
}

/** Writes a whole number below 2^53 as uint64, without a bigint. */
export function putU64(view: DataView, at: number, value: number): void {
  view.setUint32(at, value >>> 0, true);
  view.setUint32(at + 4, Math.floor(value / 2 ** 32), true);
}
