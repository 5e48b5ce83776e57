/** An attachment whose data is a Readable -> jobs that write it piece by piece, in its place in the file. */
import { checkData } from '../mcap/record-checks.js';
import type { AttachmentPart } from '../mcap/writer-parts.js';
import type { Job, Producer } from './pull-transform.js';

/** Bytes that one job reads. */
const PIECE = 2 ** 18;

export class AttachmentReader {
  readonly #part: AttachmentPart;
  readonly #data: AsyncIterator<unknown, undefined>;
  /** Bytes for which no job has been cut yet. */
  #left: number;
  #step: 'head' | 'data' | 'done' = 'head';
  /** What was read and belongs to the next job. */
  #rest: Uint8Array = new Uint8Array(0);
  #read = false;

  constructor(part: AttachmentPart) {
    this.#part = part;
    this.#left = part.record.dataLength;
    const { data } = part.record;
    // It may fail before anybody reads it; whoever reads it then gets the error.
    data.on('error', () => undefined);
    this.#data = data[Symbol.asyncIterator]() as AsyncIterator<unknown, undefined>;
  }

  /** The next piece of work, or `undefined` when there is none left. */
  nextJob(): Job<Uint8Array> | undefined {
    if (this.#step === 'done') return undefined;
    if (this.#step === 'head') {
      this.#step = 'data';
      return job(() => list([this.#part.head()]));
    }
    const count = Math.min(PIECE, this.#left);
    if (count === 0) {
      this.#step = 'done';
      return job(() => this.#end());
    }
    this.#left -= count;
    return job(() => this.#readData(count));
  }

  close(): void {
    if (!this.#read) this.#part.record.data.destroy();
  }

  async #readData(count: number): Promise<Producer<Uint8Array>> {
    const pieces: Uint8Array[] = [];
    for (let left = count; left > 0;) {
      if (this.#rest.length === 0 && !(await this.#more())) break;
      const piece = this.#rest.subarray(0, left);
      this.#rest = this.#rest.subarray(piece.length);
      left -= piece.length;
      if (piece.length > 0) pieces.push(this.#part.data(piece));
    }
    return list(pieces);
  }

  /** Whether there was more data. */
  async #more(): Promise<boolean> {
    const { done, value } = await this.#data.next();
    if (done === true) return false;
    checkData(value, `the data of attachment ${this.#part.record.name}`);
    this.#rest = value;
    return true;
  }

  async #end(): Promise<Producer<Uint8Array>> {
    while (this.#rest.length === 0 && (await this.#more()));
    this.#part.data(this.#rest);
    this.#read = true;
    return list([this.#part.tail()]);
  }
}

function job(start: () => Producer<Uint8Array> | Promise<Producer<Uint8Array>>): Job<Uint8Array> {
  return { cost: 0, ahead: false, start };
}

function list(pieces: readonly Uint8Array[]): Producer<Uint8Array> {
  let at = 0;
  return { next: () => pieces[at++] };
}
