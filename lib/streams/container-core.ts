/**
 * The core of every stage that reads MCAP bytes: it frames records, opens chunks, and hands each record to a handler.
 * What the handler makes of a record is one output, or none.
 *
 * A job is a chunk, or a run of records outside chunks. Records are parsed when it is their turn, so that an error
 * stands exactly behind the outputs that came before it.
 */
import { McapStreamsError } from '../errors.js';
import { ChunkRecords, openChunk } from '../mcap/chunk-reader.js';
import { builtInDecompressors } from '../mcap/compression.js';
import { OPCODE } from '../mcap/opcodes.js';
import type { RecordContent } from '../mcap/records.js';
import { parseChunk } from '../mcap/records.js';
import { RecordReader } from '../mcap/record-reader.js';
import { OptionError } from '../errors.js';
import { checkChoice } from '../options.js';
import type { Failure, Job, Producer, PullCore } from './pull-transform.js';

/** What was lost at one place of a damaged recording. */
export interface DamageReport {
  readonly code: McapStreamsError['code'];
  /** Byte offset in the file. */
  readonly offset: number;
  /** The error that would have been thrown. */
  readonly error: McapStreamsError;
}

export interface ContainerOptions {
  /**
   * What a damaged recording does. `throw`: an error, when everything before it has been read out of this stage.
   * `end`: a clean end at the damage, so that later stages flush. Default `throw`. An input that is not an MCAP at all
   * is always an error.
   */
  readonly damage?: 'throw' | 'end' | undefined;
  /** Called for damage that is not thrown. */
  readonly onDamage?: ((report: DamageReport) => void) | undefined;
  /** Whether CRCs are verified; 0 in the file means that there is none. Default true. */
  readonly validateCrcs?: boolean | undefined;
  /** Longest record that is read into memory, bytes. Default 1 GiB. */
  readonly maxRecordLength?: number | undefined;
  /** Largest chunk after decompression, bytes. Default 1 GiB. */
  readonly maxChunkSize?: number | undefined;
  /** Most channels. Default 65,535, all that the format can tell apart. */
  readonly maxChannels?: number | undefined;
}

export const CONTAINER_OPTIONS = [
  'damage',
  'onDamage',
  'validateCrcs',
  'maxRecordLength',
  'maxChunkSize',
  'maxChannels',
] as const;

const GIB = 2 ** 30;

interface ContainerSettings {
  readonly damage: 'throw' | 'end';
  readonly validateCrcs: boolean;
  readonly maxRecordLength: number;
  readonly maxChunkSize: number;
  readonly maxChannels: number;
}

/** The options with their defaults. Throws OptionError. */
export function containerSettings(options: ContainerOptions): ContainerSettings {
  checkChoice(options.damage, ['throw', 'end'], 'damage');
  checkChoice(options.validateCrcs, [true, false], 'validateCrcs');
  return {
    damage: options.damage ?? 'throw',
    validateCrcs: options.validateCrcs ?? true,
    maxRecordLength: positive(options.maxRecordLength, 'maxRecordLength') ?? GIB,
    maxChunkSize: positive(options.maxChunkSize, 'maxChunkSize') ?? GIB,
    maxChannels: positive(options.maxChannels, 'maxChannels') ?? 0xffff,
  };
}

/** Throws OptionError unless `value` is undefined or a whole number from 1. */
export function positive(value: number | undefined, option: string): number | undefined {
  if (value === undefined || (Number.isSafeInteger(value) && value > 0)) return value;
  throw new OptionError('OPTION_INVALID', `option ${option} takes a whole number from 1, not ${String(value)}`);
}

/** What a stage has read so far. */
export interface ContainerStats {
  /** Bytes of the input. */
  bytes: number;
  /** Records that reached the handler, those inside chunks included. */
  records: number;
  /** Chunks that were opened. */
  chunksRead: number;
  /** Bytes of those chunks after decompression. */
  bytesDecompressed: number;
  readonly damage: DamageReport[];
}

export interface RecordHandler<Out> {
  /** Whether records of this opcode are to be handed over; others are passed over without being kept. */
  wants(opcode: number): boolean;
  /** The output for one record, or none. The record is valid during the call only. */
  handle(record: RecordContent): Out | undefined;
}

export class ContainerCore<Out> implements PullCore<Uint8Array, Out> {
  readonly stats: ContainerStats = { bytes: 0, records: 0, chunksRead: 0, bytesDecompressed: 0, damage: [] };
  readonly #handler: RecordHandler<Out>;
  readonly #reader: RecordReader;
  readonly #settings: ContainerSettings;
  readonly #onDamage: ContainerOptions['onDamage'];
  /** The record that ended a run and begins the next job. */
  #next: RecordContent | undefined;
  #fault: { error: unknown } | undefined;

  constructor(handler: RecordHandler<Out>, options: ContainerOptions) {
    this.#handler = handler;
    this.#settings = containerSettings(options);
    this.#onDamage = options.onDamage;
    this.#reader = new RecordReader({
      maxRecordLength: this.#settings.maxRecordLength,
      validateCrcs: this.#settings.validateCrcs,
      wants: (opcode) => opcode === OPCODE.Chunk || handler.wants(opcode),
    });
  }

  write(bytes: Uint8Array): void {
    this.stats.bytes += bytes.length;
    this.#reader.append(bytes);
  }

  end(): void {
    this.#reader.end();
  }

  pull(): Job<Out> | undefined {
    if (this.#fault !== undefined) throw this.#fault.error;
    const run: RecordContent[] = [];
    let length = 0;
    try {
      while (length < RUN_BYTES) {
        const record = this.#next ?? this.#reader.next();
        this.#next = undefined;
        if (record === undefined) break;
        if (record.opcode === OPCODE.Chunk) {
          if (run.length === 0) return this.#chunkJob(record);
          this.#next = record;
          break;
        }
        run.push(record);
        length += record.end - record.start;
      }
    } catch (error) {
      if (run.length === 0) throw error;
      this.#fault = { error };
    }
    if (run.length === 0) return undefined;
    return { cost: length, ahead: false, start: () => new RunProducer(run, this.#handler, this.stats) };
  }

  failed(error: unknown): Failure {
    if (!(error instanceof McapStreamsError) || !isDamage(error)) return 'throw';
    if (this.#settings.damage === 'throw') return 'throw';
    const report = { code: error.code, offset: error.offset ?? this.#reader.offset, error };
    this.stats.damage.push(report);
    this.#onDamage?.(report);
    return 'end';
  }

  #chunkJob(record: RecordContent): Job<Out> {
    return {
      cost: record.end - record.start,
      ahead: false,
      start: () => {
        const chunk = parseChunk(record);
        const before = this.#handler.wants(OPCODE.Chunk) ? this.#handler.handle(record) : undefined;
        const opened = openChunk(chunk, record.offset, builtInDecompressors(), this.#settings);
        const produce = (records: ChunkRecords): Producer<Out> => {
          this.stats.chunksRead++;
          this.stats.bytesDecompressed += records.bytes.length;
          const producer = new ChunkProducer(records, this.#handler, this.stats);
          return before === undefined ? producer : new After(before, producer);
        };
        return opened instanceof Promise ? opened.then(produce) : produce(opened);
      },
    };
  }
}

/** Enough records outside chunks for one job. */
const RUN_BYTES = 65536;

/** Whether the policy `damage` answers for an error: faults of the container in an input that is an MCAP. */
function isDamage(error: McapStreamsError): boolean {
  if (!error.code.startsWith('MCAP_')) return false;
  return (
    error.code !== 'MCAP_NOT_MCAP' &&
    error.code !== 'MCAP_UNSUPPORTED_VERSION' &&
    error.code !== 'MCAP_UNSUPPORTED_ENCODING'
  );
}

class RunProducer<Out> implements Producer<Out> {
  readonly #run: readonly RecordContent[];
  readonly #handler: RecordHandler<Out>;
  readonly #stats: ContainerStats;
  #at = 0;

  constructor(run: readonly RecordContent[], handler: RecordHandler<Out>, stats: ContainerStats) {
    this.#run = run;
    this.#handler = handler;
    this.#stats = stats;
  }

  next(): Out | undefined {
    for (;;) {
      const record = this.#run[this.#at++];
      if (record === undefined) return undefined;
      this.#stats.records++;
      const output = this.#handler.handle(record);
      if (output !== undefined) return output;
    }
  }
}

class ChunkProducer<Out> implements Producer<Out> {
  readonly #records: ChunkRecords;
  readonly #handler: RecordHandler<Out>;
  readonly #stats: ContainerStats;

  constructor(records: ChunkRecords, handler: RecordHandler<Out>, stats: ContainerStats) {
    this.#records = records;
    this.#handler = handler;
    this.#stats = stats;
  }

  next(): Out | undefined {
    const records = this.#records;
    while (records.advance()) {
      this.#stats.records++;
      if (!this.#handler.wants(records.opcode)) continue;
      const output = this.#handler.handle(records);
      if (output !== undefined) return output;
    }
    return undefined;
  }
}

/** One output, then those of a producer. */
class After<Out> implements Producer<Out> {
  #first: Out | undefined;
  readonly #rest: Producer<Out>;

  constructor(first: Out, rest: Producer<Out>) {
    this.#first = first;
    this.#rest = rest;
  }

  next(): Out | undefined {
    const first = this.#first;
    if (first === undefined) return this.#rest.next();
    this.#first = undefined;
    return first;
  }
}
