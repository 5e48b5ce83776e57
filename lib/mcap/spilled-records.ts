/**
 * Records that are written at the end of a file (its indexes), kept as the bytes that they will be. What is above a
 * limit goes to a temporary file, so that memory does not grow with the recording's length.
 */
import { closeSync, mkdtempSync, openSync, readSync, rmSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const BLOCK = 2 ** 20;
const FIRST_BLOCK = 4096;

export class SpilledRecords {
  /** Bytes of all records. */
  length = 0;
  readonly #limit: number;
  readonly #full: Uint8Array[] = [];
  #block = Buffer.allocUnsafeSlow(FIRST_BLOCK);
  #used = 0;
  /** Bytes in memory. */
  #held = 0;
  #file: number | undefined;
  /** Bytes in the file. */
  #spilled = 0;

  /** @param limit bytes that are kept in memory */
  constructor(limit: number) {
    this.#limit = limit;
  }

  /** Takes whole records; the bytes are copied. */
  append(records: Uint8Array): void {
    this.length += records.length;
    this.#held += records.length;
    if (this.#used + records.length > this.#block.length) this.#nextBlock(records.length);
    this.#block.set(records, this.#used);
    this.#used += records.length;
    if (this.#file === undefined && this.#held > this.#limit) this.#spill();
  }

  /** All records in order, in pieces that end where a record ends. A piece is the taker's own. */
  *pieces(): Generator<Uint8Array, void, undefined> {
    for (let at = 0; at < this.#spilled;) {
      const piece = this.#read(at);
      at += piece.length;
      yield piece;
    }
    yield* this.#full;
    if (this.#used > 0) yield this.#block.subarray(0, this.#used);
  }

  /** Gives memory and file back. */
  close(): void {
    this.#full.length = 0;
    this.#used = 0;
    if (this.#file !== undefined) closeSync(this.#file);
    this.#file = undefined;
  }

  /** Makes room for `count` bytes. Once there is a file, a full block goes there and is used again. */
  #nextBlock(count: number): void {
    if (this.#file !== undefined) this.#spill();
    else if (this.#used > 0) this.#full.push(this.#block.subarray(0, this.#used));
    this.#used = 0;
    if (this.#file !== undefined && count <= this.#block.length) return;
    const size = Math.min(BLOCK, Math.max(this.#block.length * 2, FIRST_BLOCK));
    this.#block = Buffer.allocUnsafeSlow(Math.max(size, count));
  }

  #spill(): void {
    this.#file ??= temporaryFile();
    for (const block of this.#full) this.#write(this.#file, block);
    this.#write(this.#file, this.#block.subarray(0, this.#used));
    this.#full.length = 0;
    this.#used = 0;
    this.#held = 0;
  }

  #write(file: number, bytes: Uint8Array): void {
    for (let at = 0; at < bytes.length;) at += writeSync(file, bytes, at, bytes.length - at, this.#spilled + at);
    this.#spilled += bytes.length;
  }

  /** Whole records from `at` on, about a block of them. */
  #read(at: number): Uint8Array {
    const file = this.#file;
    if (file === undefined) throw new Error('the temporary file is closed');
    for (let size = Math.min(BLOCK, this.#spilled - at); ;) {
      const bytes = Buffer.allocUnsafeSlow(size);
      for (let got = 0; got < size;) {
        const count = readSync(file, bytes, got, size - got, at + got);
        if (count === 0) throw new Error('the temporary file has lost its end');
        got += count;
      }
      const whole = wholeRecords(bytes);
      if (whole > 0) return bytes.subarray(0, whole);
      size = Math.min(size * 2, this.#spilled - at);
    }
  }
}

function wholeRecords(bytes: Buffer): number {
  let at = 0;
  while (at + 9 <= bytes.length) {
    const end = at + 9 + bytes.readUInt32LE(at + 1) + bytes.readUInt32LE(at + 5) * 2 ** 32;
    if (end > bytes.length) break;
    at = end;
  }
  return at;
}

/** Open, and gone from its folder: nothing is left behind however the process ends. */
function temporaryFile(): number {
  const folder = mkdtempSync(join(tmpdir(), 'mcap-index-'));
  try {
    return openSync(join(folder, 'index'), 'wx+', 0o600);
  } finally {
    rmSync(folder, { recursive: true });
  }
}
