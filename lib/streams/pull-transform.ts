/**
 * The one backpressure primitive: every stage of this package is a PullTransform around a synchronous core.
 *
 * Node's own Transform ignores backpressure when one input becomes many outputs, and again while it flushes: `push()`
 * only answers, nobody waits. Here the stage pulls. A core cuts its input into jobs, each job yields outputs one at a
 * time, and the stage takes the next one only while the readable side wants more; the write callback is held until
 * the window of jobs has room again. Jobs may be asynchronous (decompression on another thread): up to `maxJobs` of
 * them run ahead, the oldest is read out first, so that outputs keep the order of their inputs.
 *
 * What it promises:
 * - `readableLength` never passes the highWaterMark by more than one, also during the flush.
 * - Nothing throws out of it: a core's error, and that of a user's callback inside the core, destroys the stage.
 * - An error waits until every output before it has been read out of this stage.
 * - `end` (a core's policy) closes the readable side cleanly and swallows the rest of the input, so that a pipeline
 *   resolves and later stages flush.
 */
import { Transform } from 'node:stream';
import { abortWith } from './abort.js';

/** Yields the outputs of one job, one a call; `undefined` when there are no more. It is not called again after that. */
export interface Producer<Out> {
  next(): Out | undefined;
}

/** A piece of work cut from the input. */
export interface Job<Out> {
  /** Bytes that it holds or will hold; the sum over the jobs held stays within `maxCost` (one job always fits). */
  readonly cost: number;
  /** Whether it is started as soon as it is cut (asynchronous work), or only when it is its turn. */
  readonly ahead: boolean;
  start(): Producer<Out> | Promise<Producer<Out>>;
}

/** What a stage does about an error of its core. */
export type Failure = 'throw' | 'end' | 'skip';

/** The synchronous heart of a stage. All of its methods may throw; an error stands at its place in the order. */
export interface PullCore<In, Out> {
  /** Takes one input. Called only when `pull()` has said that it needs more. */
  write(input: In): void;
  /** No more input comes. */
  end(): void;
  /** Cuts the next job, or says `undefined`: it needs more input, or after `end()` there is none left. */
  pull(): Job<Out> | undefined;
  /** Asked for each error, in order: `skip` drops the job that failed and goes on with the next. */
  failed(error: unknown): Failure;
  /** The reader waits for asynchronous work of the oldest job: some of what waits may be done at once. */
  idle?(): void;
  /** The stage is over, in whatever way. */
  close?(): void;
}

export interface PullTransformOptions {
  readonly writableObjectMode?: boolean | undefined;
  readonly readableObjectMode?: boolean | undefined;
  readonly writableHighWaterMark?: number | undefined;
  readonly readableHighWaterMark?: number | undefined;
  /** Jobs that run ahead at once, the one that is read out included; between two of them one more may stand. Default 1. */
  readonly maxJobs?: number | undefined;
  /** Bound on the summed cost of the jobs held. Default: none. */
  readonly maxCost?: number | undefined;
  /** Destroys the stage at once, also while the source stalls. */
  readonly signal?: AbortSignal | undefined;
}

type Callback = (error?: Error | null) => void;

/** What Node's types leave open. */
type Open = ReturnType<Transform['read']>;

/**
 * Gives `Out` in `for await`. Node's types let a pipeline take only streams of strings and Buffers as stages; a result
 * whose `done` is left open passes for one of theirs, so that a typed stage is a stage for the compiler too.
 */
export interface OutputIterator<Out> {
  next(): Promise<{ done: Open; value: Out }>;
  return(): Promise<{ done: Open; value: Out }>;
  [Symbol.asyncIterator](): OutputIterator<Out>;
}

const NOTHING = Symbol('nothing');

/** From here on it pays to let the source go on before an input is worked on. Bytes. */
const LARGE_INPUT = 32768;

/** A job in the window. */
class Slot<Out> {
  readonly job: Job<Out>;
  started = false;
  producer: Producer<Out> | undefined;
  error: unknown;
  failed = false;

  constructor(job: Job<Out>) {
    this.job = job;
  }
}

export class PullTransform<In, Out> extends Transform {
  readonly #core: PullCore<In, Out>;
  readonly #maxJobs: number;
  readonly #maxCost: number;
  readonly #window: Slot<Out>[] = [];
  #cost = 0;
  /** Jobs in the window that run ahead. */
  #ahead = 0;
  /** A job that was cut and does not fit yet. */
  #spare: Job<Out> | undefined;
  /** What was written and not yet handed over to the core. */
  #input: In | typeof NOTHING = NOTHING;
  /** The callback of the write, or of the flush, that waits for room. */
  #held: Callback | undefined;
  #flushing = false;
  /** The core has given its last job. */
  #exhausted = false;
  /** The readable side wants more: the last push said so, or `_read` has been called since. */
  #wanted = false;
  #pumping = false;
  /** The readable side has been ended before the input: what still comes is swallowed. */
  #over = false;
  #error: Error | undefined;

  constructor(core: PullCore<In, Out>, options: PullTransformOptions = {}) {
    super({
      writableObjectMode: options.writableObjectMode ?? false,
      readableObjectMode: options.readableObjectMode ?? false,
      ...(options.writableHighWaterMark === undefined ? {} : { writableHighWaterMark: options.writableHighWaterMark }),
      ...(options.readableHighWaterMark === undefined ? {} : { readableHighWaterMark: options.readableHighWaterMark }),
    });
    this.#core = core;
    this.#maxJobs = options.maxJobs ?? 1;
    this.#maxCost = options.maxCost ?? Infinity;
    if (options.signal !== undefined) abortWith(options.signal, this);
  }

  override [Symbol.asyncIterator](): OutputIterator<Out> {
    return super[Symbol.asyncIterator]() as unknown as OutputIterator<Out>;
  }

  /** Node calls this for every output that leaves the stage: the place to see that all of them have left. */
  override read(size?: number): Open {
    const output: unknown = super.read(size);
    if (this.#error !== undefined && this.readableLength === 0) this.#raise();
    return output;
  }

  override _write(input: In, _encoding: BufferEncoding, callback: Callback): void {
    if (this.#over || this.#error !== undefined) {
      // After an early end the rest is swallowed; before an error is out the callback is held for it.
      if (this.#over) callback();
      else this.#held = callback;
      return;
    }
    this.#held = callback;
    this.#input = input;
    if (input instanceof Uint8Array && input.length >= LARGE_INPUT) this.#pumpLater();
    else this.#pump();
  }

  /** A Readable asks for more in the next tick. That first: it reads while this is worked on. */
  #pumpLater(): void {
    process.nextTick(() => {
      process.nextTick(() => {
        this.#pump();
      });
    });
  }

  /** Hands over to the core what was written. */
  #take(): void {
    const input = this.#input;
    if (input === NOTHING) return;
    this.#input = NOTHING;
    this.#core.write(input);
  }

  override _flush(callback: Callback): void {
    if (this.#over) {
      callback();
      return;
    }
    this.#flushing = true;
    this.#held = callback;
    if (this.#error !== undefined) return;
    try {
      this.#core.end();
    } catch (error) {
      this.#queueFailure(error);
    }
    this.#pump();
  }

  override _read(): void {
    this.#wanted = true;
    this.#pump();
  }

  override _destroy(error: Error | null, callback: Callback): void {
    this.#window.length = 0;
    this.#spare = undefined;
    this.#exhausted = true;
    try {
      this.#core.close?.();
    } catch (closeError) {
      callback(error ?? toError(closeError));
      return;
    }
    callback(error);
  }

  /** For a core that has a job for other reasons than its input, a timer's say: asks it again. */
  protected wake(): void {
    this.#pump();
  }

  /** Runs until the reader has enough, or input or asynchronous work is missing. Never re-entered. */
  #pump(): void {
    if (this.#pumping) return;
    this.#pumping = true;
    while (this.#step());
    this.#pumping = false;
  }

  #step(): boolean {
    if (this.destroyed || this.#over || this.#error !== undefined) return false;
    this.#fill();
    // Asked before it is taken: V8 gives up what it compiled for a read beyond an array's end.
    const head = this.#window.length === 0 ? undefined : this.#window[0];
    if (head === undefined) {
      if (this.#exhausted && this.#flushing) this.#release();
      return false;
    }
    if (!head.started) this.#start(head);
    if (head.failed) return this.#fail(head.error);
    const { producer } = head;
    if (producer === undefined) {
      if (this.#wanted) this.#core.idle?.();
      return false; // its promise pumps again
    }
    try {
      while (this.#wanted) {
        const output = producer.next();
        if (output === undefined) {
          this.#drop();
          return true;
        }
        this.#wanted = this.push(output);
        if (this.#isGone()) return false; // whoever got it may have destroyed the stage
      }
    } catch (error) {
      return this.#fail(error);
    }
    return false;
  }

  /** Cuts jobs until the window is full, letting in as much input as that takes. */
  #fill(): void {
    // A core without look-ahead may be its own job: it is asked for the next one only when that is done.
    const lookAhead = this.#maxJobs > 1;
    while (
      !this.destroyed &&
      !this.#exhausted &&
      (this.#window.length === 0 || (lookAhead && this.#ahead < this.#maxJobs))
    ) {
      try {
        this.#take();
        this.#spare ??= this.#core.pull();
      } catch (error) {
        this.#queueFailure(error);
        return;
      }
      const job = this.#spare;
      if (job === undefined) {
        if (this.#flushing) {
          this.#exhausted = true;
          return;
        }
        if (this.#held === undefined) return;
        this.#release(); // may write the next input at once
        continue;
      }
      const last = this.#window.at(-1);
      if (last !== undefined) {
        // What does not run ahead gains nothing by being held, but for reaching what does behind it.
        if (!job.ahead && !last.job.ahead) return;
        if (this.#cost + job.cost > this.#maxCost) return;
      }
      this.#spare = undefined;
      const slot = new Slot(job);
      this.#window.push(slot);
      this.#cost += job.cost;
      if (!job.ahead) continue;
      this.#ahead++;
      this.#start(slot);
    }
  }

  #start(slot: Slot<Out>): void {
    slot.started = true;
    try {
      const result = slot.job.start();
      if (!(result instanceof Promise)) {
        slot.producer = result;
        return;
      }
      result.then(
        (producer) => {
          slot.producer = producer;
          this.#pump();
        },
        (error: unknown) => {
          slot.failed = true;
          slot.error = error;
          this.#pump();
        },
      );
    } catch (error) {
      slot.failed = true;
      slot.error = error;
    }
  }

  #drop(): void {
    const slot = this.#window.shift();
    if (slot === undefined) return;
    this.#cost -= slot.job.cost;
    if (slot.job.ahead) this.#ahead--;
  }

  /** An error of the cutting: it stands behind all jobs cut so far, and nothing is cut after it. */
  #queueFailure(error: unknown): void {
    const slot = new Slot<Out>(NO_JOB);
    slot.started = true;
    slot.failed = true;
    slot.error = error;
    this.#window.push(slot);
    this.#exhausted = true;
  }

  #fail(error: unknown): boolean {
    let failure: Failure;
    let reason = error;
    try {
      failure = this.#core.failed(error);
    } catch (callbackError) {
      failure = 'throw';
      reason = callbackError;
    }
    this.#drop();
    if (failure === 'skip') {
      if (this.#window.length === 0 && this.#exhausted && !this.#flushing) this.#endEarly();
      return true;
    }
    this.#window.length = 0;
    this.#spare = undefined;
    this.#exhausted = true;
    if (failure === 'end') this.#endEarly();
    else {
      this.#error = toError(reason);
      if (this.readableLength === 0) this.#raise();
    }
    return false;
  }

  #isGone(): boolean {
    return this.destroyed;
  }

  #endEarly(): void {
    this.#over = true;
    this.push(null);
    this.#release();
  }

  #release(): void {
    const held = this.#held;
    this.#held = undefined;
    held?.();
  }

  #raise(): void {
    const error = this.#error;
    const held = this.#held;
    this.#held = undefined;
    if (held === undefined) this.destroy(error);
    else held(error);
  }
}

const NO_JOB: Job<never> = {
  cost: 0,
  ahead: false,
  start: () => ({ next: () => undefined }),
};

function toError(reason: unknown): Error {
  return reason instanceof Error ? reason : new Error(String(reason), { cause: reason });
}
