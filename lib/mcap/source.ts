/** The one seam to random-access input: a file, or whatever can tell its size and read a range (HTTP, S3, memory). */
import { open } from 'node:fs/promises';
import type { FileHandle } from 'node:fs/promises';

/** Concurrent reads are allowed and used; none is assumed to be cheap. */
export interface RandomAccess {
  /** Bytes in all. */
  size(): Promise<number | bigint>;
  /** Exactly `length` bytes from `offset` on; fewer only where the input ends. */
  read(offset: number, length: number): Promise<Uint8Array>;
  /** Called once, when nothing more is read. */
  close?(): Promise<void>;
}

/** What recordings are read from. A path is opened and closed, a FileHandle is closed as well. */
export type RecordingSource = string | FileHandle | RandomAccess;

/** How much of a source has been read. */
export interface SourceStats {
  bytesRead: number;
  reads: number;
}

/** Reads of files: larger ones are no faster, and hold more memory. */
const FILE_READ = 2 ** 20;
/** Reads of others: each may be a request that takes its time. */
const REQUEST = 4 * 2 ** 20;

/** A source with its size, that counts what is read. */
export class OpenSource {
  readonly size: number;
  /** So many bytes are asked for at most, where it is read from end to end. */
  readonly largestRead: number;
  readonly stats: SourceStats = { bytesRead: 0, reads: 0 };
  readonly #access: RandomAccess;
  #closed = false;

  private constructor(access: RandomAccess, size: number, largestRead: number) {
    this.#access = access;
    this.size = size;
    this.largestRead = largestRead;
  }

  static async open(source: RecordingSource): Promise<OpenSource> {
    const file = typeof source === 'string' ? await open(source, 'r') : source;
    const isFile = 'fd' in file;
    const access = isFile ? fileAccess(file) : file;
    try {
      return new OpenSource(access, Number(await access.size()), isFile ? FILE_READ : REQUEST);
    } catch (error) {
      await access.close?.();
      throw error;
    }
  }

  /** Bytes `[offset, offset + length)`, fewer where the source ends. */
  async read(offset: number, length: number): Promise<Uint8Array> {
    const count = Math.min(length, this.size - offset);
    if (count <= 0) return new Uint8Array(0);
    const bytes = await this.#access.read(offset, count);
    this.stats.reads++;
    this.stats.bytesRead += bytes.length;
    return bytes;
  }

  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    await this.#access.close?.();
  }
}

function fileAccess(file: FileHandle): RandomAccess {
  return {
    async size() {
      return (await file.stat()).size;
    },
    async read(offset, length) {
      const bytes = Buffer.allocUnsafeSlow(length);
      let filled = 0;
      while (filled < length) {
        const { bytesRead } = await file.read(bytes, filled, length - filled, offset + filled);
        if (bytesRead === 0) break;
        filled += bytesRead;
      }
      return filled === length ? bytes : bytes.subarray(0, filled);
    },
    close: () => file.close(),
  };
}
