/** A Readable over batches that an async generator makes: objects one by one or in arrays, with limit, abort and errors. */
import { Readable } from 'node:stream';
import { abortWith } from './abort.js';
import type { OutputIterator } from './pull-transform.js';

/** What Node's types leave open. */
type Open = ReturnType<Readable['read']>;

export interface BatchReadableOptions {
  /** Deliver arrays as they come, in place of single objects. */
  readonly inBatches: boolean;
  /** Objects in all. */
  readonly limit: number;
  readonly highWaterMark?: number | undefined;
  readonly signal?: AbortSignal | undefined;
}

/**
 * Reads from `make(signal)` when it is read itself. When the stream is over, in whatever way, the generator's signal is
 * aborted and its `finally` runs. An error waits until everything before it has been read out.
 */
export class BatchReadable<Item, Out = Item> extends Readable {
  readonly #controller = new AbortController();
  readonly #batches: AsyncGenerator<Item[]>;
  readonly #inBatches: boolean;
  #left: number;
  #batch: Item[] = [];
  #at = 0;
  #reading = false;
  #error: Error | undefined;

  constructor(make: (signal: AbortSignal) => AsyncGenerator<Item[]>, options: BatchReadableOptions) {
    const { inBatches, highWaterMark = inBatches ? 1 : 16 } = options;
    super({ objectMode: true, highWaterMark });
    this.#batches = make(this.#controller.signal);
    this.#inBatches = inBatches;
    this.#left = options.limit;
    if (options.signal !== undefined) abortWith(options.signal, this);
  }

  override [Symbol.asyncIterator](): OutputIterator<Out> {
    return super[Symbol.asyncIterator]() as unknown as OutputIterator<Out>;
  }

  override read(size?: number): Open {
    const output: unknown = super.read(size);
    if (this.#error !== undefined && this.readableLength === 0) this.destroy(this.#error);
    return output;
  }

  override _read(): void {
    if (this.#reading || this.#error !== undefined) return;
    if (this.#pushHeld()) return;
    this.#reading = true;
    this.#batches.next().then(
      ({ done, value }) => {
        this.#reading = false;
        if (this.destroyed) return;
        if (done === true) {
          this.push(null);
          return;
        }
        this.#batch = value;
        this.#at = 0;
        this._read();
      },
      (error: unknown) => {
        this.#reading = false;
        this.#error = error instanceof Error ? error : new Error(String(error), { cause: error });
        if (this.readableLength === 0) this.destroy(this.#error);
      },
    );
  }

  override _destroy(error: Error | null, callback: (error?: Error | null) => void): void {
    this.#controller.abort();
    const closed = this.#batches.return(undefined);
    const done = (): void => {
      callback(error);
    };
    // A read that is under way may never come back: then nobody waits for the end of it.
    if (this.#reading) {
      closed.catch(() => undefined);
      done();
    } else closed.then(done, done);
  }

  /** Whether the reader has enough for now, or the limit is reached. */
  #pushHeld(): boolean {
    if (this.#left <= 0) {
      this.#finish();
      return true;
    }
    if (this.#inBatches) {
      if (this.#at >= this.#batch.length) return false;
      const batch = this.#batch.slice(0, this.#left);
      this.#at = this.#batch.length;
      this.#left -= batch.length;
      this.push(batch);
      if (this.#left <= 0) this.#finish();
      return true;
    }
    while (this.#at < this.#batch.length) {
      const item = this.#batch[this.#at++];
      const more = this.push(item);
      if (--this.#left <= 0) {
        this.#finish();
        return true;
      }
      if (!more) return true;
    }
    return false;
  }

  #finish(): void {
    this.push(null);
    // The source is let go at once, not when the last object has been read.
    this.#controller.abort();
    this.#batches.return(undefined).catch(() => undefined);
  }
}
