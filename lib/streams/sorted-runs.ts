/**
 * Runs of messages in log-time order, in memory or in temporary files, and the k-way merge over them. Messages of one time
 * keep the order of their runs, and in a run the order of the file.
 */
import { mkdtemp, open, rm } from 'node:fs/promises';
import type { FileHandle } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ChannelRecord, SchemaRecord } from '../mcap/records.js';
import type { RawMessage } from './raw-message.js';

/** Messages of a batch. */
const BATCH = 512;

/** A run that is read from its first message to its last. */
export interface Run {
  /** The next message, without taking it. */
  readonly head: RawMessage | undefined;
  /** Takes it; a promise where the next one has to be read first. */
  advance(): Promise<void> | undefined;
  close(): Promise<void>;
}

/** Negative: `a` comes first. */
export type Order = (a: bigint, b: bigint) => number;

export function timeOrder(reverse: boolean): Order {
  return reverse ? (a, b) => (a > b ? -1 : a < b ? 1 : 0) : (a, b) => (a < b ? -1 : a > b ? 1 : 0);
}

/** Sorts in place. In reverse order messages of one time come last first, so that the whole is the exact reverse. */
export function sortMessages(messages: RawMessage[], order: Order, reverse: boolean): RawMessage[] {
  if (reverse) messages.reverse();
  for (let n = 1; n < messages.length; n++) {
    const a = messages[n - 1];
    const b = messages[n];
    if (a !== undefined && b !== undefined && order(a.logTime, b.logTime) > 0) {
      return messages.sort((left, right) => order(left.logTime, right.logTime));
    }
  }
  return messages;
}

export class MemoryRun implements Run {
  readonly #messages: readonly RawMessage[];
  #at = 0;
  readonly #released: () => void;

  /** @param released called when the last message has been taken */
  constructor(messages: readonly RawMessage[], released: () => void) {
    this.#messages = messages;
    this.#released = released;
    if (messages.length === 0) released();
  }

  get head(): RawMessage | undefined {
    return this.#messages[this.#at];
  }

  advance(): undefined {
    if (++this.#at === this.#messages.length) this.#released();
  }

  close(): Promise<void> {
    return Promise.resolve();
  }
}

/** Channel number, sequence, log time, publish time, length of the data. */
const ENTRY = 4 + 4 + 8 + 8 + 4;
const BLOCK = 2 ** 18;

interface Definitions {
  readonly channel: ChannelRecord;
  readonly schema: SchemaRecord | undefined;
}

/** A run in a temporary file, which is gone from its folder as soon as it is open. */
export class SpilledRun implements Run {
  readonly #file: FileHandle;
  readonly #definitions: readonly Definitions[];
  readonly #length: number;
  #position = 0;
  #block = Buffer.alloc(0);
  #at = 0;
  head: RawMessage | undefined;

  private constructor(file: FileHandle, definitions: readonly Definitions[], length: number) {
    this.#file = file;
    this.#definitions = definitions;
    this.#length = length;
  }

  static async write(messages: readonly RawMessage[]): Promise<SpilledRun> {
    const folder = await mkdtemp(join(tmpdir(), 'mcap-sort-'));
    let file: FileHandle | undefined;
    try {
      file = await open(join(folder, 'run'), 'wx+', 0o600);
      await rm(folder, { recursive: true, force: true });
      const numbers = new Map<ChannelRecord, number>();
      const definitions: Definitions[] = [];
      let length = 0;
      let parts: Uint8Array[] = [];
      let held = 0;
      const flush = async (): Promise<void> => {
        const bytes = Buffer.concat(parts);
        for (let at = 0; at < bytes.length;) at += (await file?.write(bytes, at))?.bytesWritten ?? 0;
        length += bytes.length;
        parts = [];
        held = 0;
      };
      for (const { channel, schema, sequence, logTime, publishTime, data } of messages) {
        let number = numbers.get(channel);
        if (number === undefined) {
          number = definitions.push({ channel, schema }) - 1;
          numbers.set(channel, number);
        }
        const entry = Buffer.alloc(ENTRY);
        entry.writeUInt32LE(number);
        entry.writeUInt32LE(sequence, 4);
        entry.writeBigUInt64LE(logTime, 8);
        entry.writeBigUInt64LE(publishTime, 16);
        entry.writeUInt32LE(data.length, 24);
        parts.push(entry, data);
        held += ENTRY + data.length;
        if (held >= BLOCK) await flush();
      }
      await flush();
      const run = new SpilledRun(file, definitions, length);
      await run.advance();
      return run;
    } catch (error) {
      await file?.close();
      await rm(folder, { recursive: true, force: true });
      throw error;
    }
  }

  advance(): Promise<void> | undefined {
    if (this.#take()) return undefined;
    return this.#fill();
  }

  async close(): Promise<void> {
    await this.#file.close();
  }

  /** Whether the next message, or the end, was to be had without reading. */
  #take(): boolean {
    const left = this.#block.length - this.#at;
    if (left < ENTRY) {
      if (left > 0 || this.#position < this.#length) return false;
      this.head = undefined;
      return true;
    }
    const block = this.#block;
    const at = this.#at;
    const length = block.readUInt32LE(at + 24);
    if (left < ENTRY + length) return false;
    const known = this.#definitions[block.readUInt32LE(at)];
    if (known === undefined) throw new RangeError('a temporary file was changed');
    this.head = {
      ...known,
      sequence: block.readUInt32LE(at + 4),
      logTime: block.readBigUInt64LE(at + 8),
      publishTime: block.readBigUInt64LE(at + 16),
      data: block.subarray(at + ENTRY, at + ENTRY + length),
    };
    this.#at = at + ENTRY + length;
    return true;
  }

  async #fill(): Promise<void> {
    while (!this.#take()) {
      const rest = this.#block.subarray(this.#at);
      const next = Buffer.allocUnsafeSlow(Math.min(Math.max(BLOCK, rest.length), this.#length - this.#position));
      const { bytesRead } = await this.#file.read(next, 0, next.length, this.#position);
      if (bytesRead === 0) throw new RangeError('a temporary file was cut');
      this.#position += bytesRead;
      this.#block = Buffer.concat([rest, next.subarray(0, bytesRead)]);
      this.#at = 0;
    }
  }
}

/** A heap of runs by their next message. */
export class RunHeap {
  readonly #heap: { run: Run; number: number }[] = [];
  readonly #order: Order;

  constructor(order: Order) {
    this.#order = order;
  }

  get first(): Run | undefined {
    return this.#heap[0]?.run;
  }

  /** @param number the place of the run among its kind, for messages of one time */
  add(run: Run, number: number): void {
    if (run.head === undefined) return;
    this.#heap.push({ run, number });
    let at = this.#heap.length - 1;
    while (at > 0) {
      const parent = (at - 1) >> 1;
      if (!this.#before(at, parent)) break;
      this.#swap(at, parent);
      at = parent;
    }
  }

  /** To be called when the first run has advanced: it goes where it now belongs, or away. */
  settle(): void {
    const last = this.#heap.length - 1;
    if (this.first?.head === undefined) {
      this.#swap(0, last);
      this.#heap.pop();
    }
    for (let at = 0; ;) {
      let least = at;
      for (const child of [2 * at + 1, 2 * at + 2]) {
        if (child < this.#heap.length && this.#before(child, least)) least = child;
      }
      if (least === at) return;
      this.#swap(at, least);
      at = least;
    }
  }

  #before(a: number, b: number): boolean {
    const left = this.#heap[a];
    const right = this.#heap[b];
    if (left?.run.head === undefined || right?.run.head === undefined) return false;
    const order = this.#order(left.run.head.logTime, right.run.head.logTime);
    return order < 0 || (order === 0 && left.number < right.number);
  }

  #swap(a: number, b: number): void {
    const left = this.#heap[a];
    const right = this.#heap[b];
    if (left === undefined || right === undefined) return;
    this.#heap[a] = right;
    this.#heap[b] = left;
  }
}

/** All messages of the runs of a heap, in batches. */
export async function* drain(heap: RunHeap): AsyncGenerator<RawMessage[]> {
  let batch: RawMessage[] = [];
  for (let run = heap.first; run?.head !== undefined; run = heap.first) {
    batch.push(run.head);
    const wait = run.advance();
    if (wait !== undefined) await wait;
    heap.settle();
    if (batch.length < BATCH) continue;
    yield batch;
    batch = [];
  }
  if (batch.length > 0) yield batch;
}

/** Batches of a generator as a run. */
export class StreamRun implements Run {
  readonly #batches: AsyncGenerator<RawMessage[]>;
  #batch: RawMessage[] = [];
  #at = 0;

  private constructor(batches: AsyncGenerator<RawMessage[]>) {
    this.#batches = batches;
  }

  static async start(batches: AsyncGenerator<RawMessage[]>): Promise<StreamRun> {
    const run = new StreamRun(batches);
    await run.#next();
    return run;
  }

  get head(): RawMessage | undefined {
    return this.#batch[this.#at];
  }

  advance(): Promise<void> | undefined {
    return ++this.#at < this.#batch.length ? undefined : this.#next();
  }

  async close(): Promise<void> {
    await this.#batches.return(undefined);
  }

  async #next(): Promise<void> {
    do {
      const result: IteratorResult<RawMessage[], unknown> = await this.#batches.next();
      this.#batch = result.done === true ? [] : result.value;
      this.#at = 0;
      if (result.done === true) return;
    } while (this.#batch.length === 0);
  }
}

/** Messages of several sources, each in order, in one order. They are closed in every ending. */
export async function* mergeSorted(
  sources: readonly AsyncGenerator<RawMessage[]>[],
  reverse: boolean,
): AsyncGenerator<RawMessage[]> {
  const heap = new RunHeap(timeOrder(reverse));
  try {
    for (const [n, source] of sources.entries()) heap.add(await StreamRun.start(source), reverse ? -n : n);
    yield* drain(heap);
  } finally {
    for (const source of sources) await source.return(undefined);
  }
}
