/**
 * The CRC of a section while its records pass, and of the records of uncompressed chunks, in one pass over the bytes: a chunk's
 * bytes are summed as they come, while they are in the processor's cache.
 */
import type { Span } from './byte-queue.js';
import { combineCrc32, crc32 } from './crc.js';
import { CHUNK_FIXED, RECORD_PREFIX } from './opcodes.js';

/** Where the records of an uncompressed chunk begin, its prefix included. */
const DATA_AT = RECORD_PREFIX + CHUNK_FIXED + 8;

/** CRCs over a Chunk, up to `upTo` from its first byte. */
interface ChunkSum {
  /** Where the Chunk stands in the file. */
  readonly offset: number;
  /** Whether its records are not compressed, and so summed by themselves. */
  readonly plain: boolean;
  /** The section's up to here; of a plain chunk, up to its records. */
  head: number;
  /** Of the records of a plain chunk. */
  data: number;
  upTo: number;
}

export class SectionSums {
  #crc = 0;
  #chunk: ChunkSum | undefined;

  /** The CRC of what has passed. */
  get crc(): number {
    return this.#crc;
  }

  /** Another section begins. */
  clear(): void {
    this.#crc = 0;
  }

  add(bytes: Uint8Array): void {
    this.#crc = crc32(bytes, this.#crc);
  }

  /** Sums up the Chunk of `count` bytes at `offset` as far as it is there: bytes `[from, to)` of the span. */
  addPart(span: Span, from: number, to: number, count: number, offset: number): void {
    this.#sum(span, from, to, count, offset);
  }

  /** The whole Chunk at `offset` passes; the CRC of its records where they are not compressed. */
  addChunk(span: Span, from: number, to: number, offset: number): number | undefined {
    const { plain, head, data } = this.#sum(span, from, to, to - from, offset);
    this.#chunk = undefined;
    this.#crc = plain ? combineCrc32(head, data, to - from - DATA_AT) : head;
    return plain ? data : undefined;
  }

  #sum({ bytes, view }: Span, from: number, to: number, count: number, offset: number): ChunkSum {
    let sum = this.#chunk;
    if (sum?.offset !== offset) {
      const plain =
        to - from >= DATA_AT &&
        view.getUint32(from + DATA_AT - 12, true) === 0 &&
        view.getBigUint64(from + DATA_AT - 8, true) === BigInt(count - DATA_AT);
      const upTo = plain ? DATA_AT : 0;
      const head = crc32(bytes.subarray(from, from + upTo), this.#crc);
      sum = { offset, plain, head, data: 0, upTo };
      this.#chunk = sum;
    }
    const part = bytes.subarray(from + sum.upTo, to);
    if (sum.plain) sum.data = crc32(part, sum.data);
    else sum.head = crc32(part, sum.head);
    sum.upTo = to - from;
    return sum;
  }
}
