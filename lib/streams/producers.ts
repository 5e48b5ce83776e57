/** What jobs of the container core yield: a handler's outputs for the records of a run or of a chunk. */
import { asBuffer } from '../mcap/byte-queue.js';
import { ChunkRecords } from '../mcap/chunk-reader.js';
import { OPCODE } from '../mcap/opcodes.js';
import type { RecordContent } from '../mcap/records.js';
import type { RecordHandler } from './container-core.js';
import type { ContainerStats } from './container-options.js';
import type { Producer } from './pull-transform.js';

/** What a producer asks of the core it belongs to. */
export interface Recovery {
  readonly stats: ContainerStats;
  readonly maxRecordLength: number;
  /** Whether an error has been reported and the next record is to be tried. */
  recovered(error: unknown, bytes?: number): boolean;
  /** The error with what the core knows of its reason. */
  explain(error: unknown): unknown;
}

export const EMPTY: Producer<never> = { next: () => undefined };

export class RunProducer<Out> implements Producer<Out> {
  readonly #run: readonly RecordContent[];
  readonly #handler: RecordHandler<Out>;
  readonly #recovery: Recovery;
  #at = 0;

  constructor(run: readonly RecordContent[], handler: RecordHandler<Out>, recovery: Recovery) {
    this.#run = run;
    this.#handler = handler;
    this.#recovery = recovery;
  }

  next(): Out | undefined {
    for (;;) {
      const record = this.#run[this.#at++];
      if (record === undefined) return undefined;
      this.#recovery.stats.records++;
      if (!this.#handler.wants(record.opcode)) continue;
      try {
        const output = this.#handler.handle(record);
        if (output !== undefined) return output;
      } catch (error) {
        const explained = this.#recovery.explain(error);
        if (!this.#recovery.recovered(explained)) throw explained;
      }
    }
  }
}

export class ChunkProducer<Out> implements Producer<Out> {
  readonly #records: ChunkRecords;
  readonly #handler: RecordHandler<Out>;
  readonly #recovery: Recovery;

  constructor(records: ChunkRecords, handler: RecordHandler<Out>, recovery: Recovery) {
    this.#records = records;
    this.#handler = handler;
    this.#recovery = recovery;
  }

  next(): Out | undefined {
    const records = this.#records;
    for (;;) {
      try {
        if (!records.advance()) return undefined;
      } catch (error) {
        this.#resync(error);
        continue;
      }
      this.#recovery.stats.records++;
      if (!this.#handler.wants(records.opcode)) continue;
      try {
        const output = this.#handler.handle(records);
        if (output !== undefined) return output;
      } catch (error) {
        const explained = this.#recovery.explain(error);
        if (!this.#recovery.recovered(explained)) throw explained;
      }
    }
  }

  /** Goes on behind a record that is no record, if the policy says so. */
  #resync(error: unknown): void {
    const bytes = this.#records.resync(this.#recovery.maxRecordLength);
    if (!this.#recovery.recovered(error, bytes)) throw error;
  }
}

/** The definitions of a chunk whose messages are not asked for. */
export class DefinitionsProducer<Out> implements Producer<Out> {
  readonly #records: ChunkRecords;
  readonly #handler: RecordHandler<Out>;
  readonly #recovery: Recovery;

  constructor(records: ChunkRecords, handler: RecordHandler<Out>, recovery: Recovery) {
    this.#records = records;
    this.#handler = handler;
    this.#recovery = recovery;
  }

  next(): Out | undefined {
    while (this.#records.advance()) {
      this.#recovery.stats.records++;
      const { opcode } = this.#records;
      if (opcode !== OPCODE.Schema && opcode !== OPCODE.Channel) continue;
      const output = this.#handler.handle(this.#records);
      if (output !== undefined) return output;
    }
    return undefined;
  }
}

/** The whole records at the beginning of a cut chunk: the first one that is not whole is its end. */
export class CutChunkProducer<Out> implements Producer<Out> {
  readonly #records: ChunkRecords;
  readonly #inner: ChunkProducer<Out>;

  constructor(bytes: Uint8Array, offset: number, handler: RecordHandler<Out>, recovery: Recovery) {
    const buffer = asBuffer(bytes);
    this.#records = new ChunkRecords(buffer.subarray(0, wholeLength(buffer)), offset);
    this.#inner = new ChunkProducer(this.#records, handler, recovery);
  }

  next(): Out | undefined {
    return this.#inner.next();
  }
}

/** Bytes of the records that are whole. */
function wholeLength(bytes: Buffer): number {
  let at = 0;
  for (;;) {
    if (at + 9 > bytes.length) return at;
    const length = bytes.readUInt32LE(at + 1) + bytes.readUInt32LE(at + 5) * 2 ** 32;
    if (bytes[at] === 0 || at + 9 + length > bytes.length) return at;
    at += 9 + length;
  }
}

/** One producer after the other. */
export class Sequence<Out> implements Producer<Out> {
  readonly #producers: Producer<Out>[];

  constructor(producers: Producer<Out>[]) {
    this.#producers = producers;
  }

  next(): Out | undefined {
    for (;;) {
      const [first] = this.#producers;
      if (first === undefined) return undefined;
      const output = first.next();
      if (output !== undefined) return output;
      this.#producers.shift();
    }
  }
}
