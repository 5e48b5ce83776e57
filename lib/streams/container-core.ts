/**
 * The core of every stage that reads MCAP bytes: it frames records, opens chunks, ahead and on other threads where that
 * pays, passes over chunks that hold nothing selected, and hands each record to a handler. What the handler makes of a
 * record is one output, or none.
 *
 * A job is a chunk, or a run of records outside chunks. Records are parsed when it is their turn, so that an error or a
 * report of damage stands exactly behind the outputs that came before it.
 */
import { McapStreamsError } from '../errors.js';
import type { ChunkOpener, ChunkRecords } from '../mcap/chunk-reader.js';
import { openChunk } from '../mcap/chunk-reader.js';
import { ChunkSelection } from '../mcap/chunk-selection.js';
import type { ChunkQuery } from '../mcap/chunk-selection.js';
import { decompressorsWith } from '../mcap/compression.js';
import { helpThreads } from '../mcap/compression-pool.js';
import { GatherRooms } from '../mcap/gather-rooms.js';
import { OPCODE } from '../mcap/opcodes.js';
import { parseChunk, parseCutChunk } from '../mcap/records.js';
import type { ChunkHeader, RecordContent } from '../mcap/records.js';
import { RecordReader } from '../mcap/record-reader.js';
import type { AttachmentPart, ReaderItem } from '../mcap/record-reader.js';
import { keepFreedMemory } from '../mcap/freed-memory.js';
import { FEW_SMALL, isNative } from '../mcap/native-zstd.js';
import { isStored } from '../mcap/zstd-frame.js';
import { wholeBlocks } from '../mcap/salvage.js';
import { containerSettings, emptyStats } from './container-options.js';
import type { ContainerOptions, ContainerSettings, ContainerStats, DamageReport } from './container-options.js';
import { ChunkProducer, CutChunkProducer, DefinitionsProducer, EMPTY, RunProducer, Sequence } from './producers.js';
import type { Failure, Job, Producer, PullCore } from './pull-transform.js';

export interface RecordHandler<Out> {
  /** Whether records of this opcode are to be handed over; others are passed over without being kept. */
  wants(opcode: number): boolean;
  /** The output for one record, or none. The record is valid during the call only. */
  handle(record: RecordContent): Out | undefined;
  /** What is selected, where chunks may be passed over. */
  readonly query?: ChunkQuery | undefined;
  /** Attachments longer than this are handed over in parts, bytes. */
  readonly splitAttachmentsFrom?: number | undefined;
  /** Takes a part of an attachment; a promise is fulfilled when the next one may come. */
  part?(part: AttachmentPart): Producer<Out> | Promise<Producer<Out>>;
  /** The stage is over; `error` when the input was cut or wrong. */
  close?(error: McapStreamsError | undefined): void;
}

/** Enough records outside chunks for one job. */
const RUN_BYTES = 65536;
/** So much is decompressed here before threads of ours are asked: a short recording does not wait for their start. */
const INLINE_BYTES = 2 * 2 ** 20;
/** Smaller chunks are not worth the way to another thread and back. */
const SMALL_CHUNK = 32768;

interface HeldChunk {
  readonly record: RecordContent;
  readonly header: ChunkHeader;
  /** Channels of the MessageIndex records behind it. */
  readonly channelIds: number[];
}

export class ContainerCore<Out> implements PullCore<Uint8Array, Out> {
  readonly stats: ContainerStats;
  /** For PullTransform: chunks decompressed ahead at once, and the bound on their bytes. */
  readonly maxJobs: number;
  readonly maxCost: number;
  readonly #handler: RecordHandler<Out>;
  readonly #reader: RecordReader;
  readonly #settings: ContainerSettings;
  readonly #opener: ChunkOpener;
  readonly #onDamage: ContainerOptions['onDamage'];
  readonly #selection: ChunkSelection | undefined;
  /** Compressed chunks are gathered here: nobody sees them once they have been opened. */
  readonly #rooms: GatherRooms | undefined;
  /** The item that ended a run, or a chunk's indexes, and begins the next job. */
  #next: ReaderItem | undefined;
  #fault: { error: unknown } | undefined;
  #ended = false;
  /** A chunk whose indexes are awaited. */
  #held: HeldChunk | undefined;
  /** The chunk that was passed over last: it may hold definitions of channels whose messages come later. */
  #skipped: HeldChunk | undefined;
  /** Fulfilled when the definitions of all chunks opened so far are known to the selection. */
  #learned: Promise<void> | undefined;
  #bytesOpened = 0;
  /** Chunks below SMALL_CHUNK. */
  #smallChunks = 0;
  /** What an error lost, where that is more than a record. */
  readonly #losses = new WeakMap<object, { bytes: number; chunks: number }>();
  readonly #unknownChannels = new Map<number, { messages: number }>();

  /** @param stats where it counts on */
  constructor(handler: RecordHandler<Out>, options: ContainerOptions, stats: ContainerStats = emptyStats()) {
    this.stats = stats;
    keepFreedMemory();
    const settings = containerSettings(options);
    this.#handler = handler;
    this.#settings = settings;
    this.#onDamage = options.onDamage;
    this.#selection = handler.query && new ChunkSelection(handler.query);
    // Two for a thread, one that is read out, one that this thread can help with when it would wait.
    this.maxJobs = settings.threads === 0 ? 2 : settings.threads + 3;
    this.maxCost = settings.maxBufferedBytes;
    const selecting = handler.query !== undefined;
    const rooms = handler.wants(OPCODE.Chunk) ? undefined : new GatherRooms(this.maxJobs);
    this.#rooms = rooms;
    const decompressors = decompressorsWith(options.compression);
    this.#opener = { ...settings, decompressors, rooms };
    this.#reader = new RecordReader({
      maxRecordLength: settings.maxRecordLength,
      validateCrcs: settings.validateCrcs,
      wants: (opcode) =>
        opcode === OPCODE.Chunk || (selecting && opcode === OPCODE.MessageIndex) || handler.wants(opcode),
      splitAttachmentsFrom: handler.splitAttachmentsFrom,
      recover: settings.damage === 'skip',
      // A user's own decompressor may keep what it is given.
      roomFor:
        rooms && ((compression, length) => (decompressors.isThreaded(compression) ? rooms.take(length) : undefined)),
    });
  }

  write(bytes: Uint8Array): void {
    this.stats.bytes += bytes.length;
    this.#reader.append(bytes);
  }

  end(): void {
    this.#ended = true;
    this.#reader.end();
  }

  /** The bytes that come next stand there, where a record begins. */
  seek(offset: number): void {
    this.#reader.seek(offset);
  }

  /** The rest of the file is not read. */
  finish(ragged: boolean): void {
    this.#reader.finish(ragged);
  }

  /** The reader waits for a chunk that another thread has: one that no thread has yet can be done here. */
  idle(): void {
    helpThreads();
  }

  close(): void {
    this.#handler.close?.(undefined);
  }

  pull(): Job<Out> | undefined {
    if (this.#fault !== undefined) throw this.#fault.error;
    const run: RecordContent[] = [];
    let length = 0;
    try {
      while (length < RUN_BYTES) {
        const item = this.#next ?? this.#reader.next();
        this.#next = undefined;
        if (item === undefined) {
          if (this.#ended && this.#held !== undefined) return this.#releaseHeld();
          break;
        }
        if (this.#held !== undefined) {
          const job = this.#afterHeld(this.#held, item);
          if (job !== undefined) return job;
          continue;
        }
        if ('opcode' in item && item.opcode !== OPCODE.Chunk) {
          this.#selection?.learn(item);
          run.push(item);
          length += item.end - item.start;
          continue;
        }
        if (run.length > 0) {
          this.#next = item;
          break;
        }
        const job = this.#itemJob(item);
        if (job !== undefined) return job;
      }
    } catch (error) {
      if (run.length === 0 && this.#held === undefined) throw error;
      this.#fault = { error };
      if (this.#held !== undefined) return this.#releaseHeld();
    }
    if (run.length === 0) return undefined;
    return {
      cost: length,
      ahead: false,
      start: () => new RunProducer(run, this.#handler, this),
    };
  }

  failed(error: unknown): Failure {
    const { damage } = this.#settings;
    if (!(error instanceof McapStreamsError) || !isDamage(error)) return 'throw';
    if (damage === 'throw') {
      this.#handler.close?.(error);
      return 'throw';
    }
    this.report(error);
    return damage;
  }

  /** Whether the handling of the records goes on behind an error; then it has been reported. */
  recovered(error: unknown, bytes = 0): boolean {
    if (this.#settings.damage !== 'skip' || !(error instanceof McapStreamsError) || !isDamage(error)) return false;
    this.report(error, bytes);
    return true;
  }

  get maxRecordLength(): number {
    return this.#settings.maxRecordLength;
  }

  /** What the error says of a channel that may be defined in a chunk that was passed over. */
  explain(error: unknown): unknown {
    if (!(error instanceof McapStreamsError) || error.code !== 'MCAP_UNKNOWN_CHANNEL') return error;
    if (this.stats.chunksSkipped === 0) return error;
    const hint = 'a chunk that was passed over may define it: the option eagerDefinitions: true reads all chunks';
    return error.with({}, `${error.message}; ${hint}`);
  }

  private report(error: McapStreamsError, bytes = 0): void {
    const loss = this.#losses.get(error);
    const report: DamageReport & { messages: number } = {
      code: error.code,
      offset: error.offset ?? this.#reader.offset,
      bytes: loss?.bytes ?? bytes,
      chunks: loss?.chunks ?? 0,
      messages: 0,
      error,
    };
    if (error.code === 'MCAP_UNKNOWN_CHANNEL' && error.channelId !== undefined) {
      const known = this.#unknownChannels.get(error.channelId);
      if (known !== undefined) {
        known.messages++;
        return;
      }
      report.messages = 1;
      this.#unknownChannels.set(error.channelId, report);
    }
    this.stats.damage.push(report);
    this.#onDamage?.(report);
    if (error.code === 'MCAP_TRUNCATED') this.#handler.close?.(error);
  }

  #itemJob(item: ReaderItem): Job<Out> | undefined {
    if ('damage' in item) {
      const { damage, bytes } = item;
      return instantJob(() => {
        this.report(damage, bytes);
        return EMPTY;
      });
    }
    if ('cutChunk' in item) {
      return this.#settings.damage === 'throw' ? undefined : instantJob(() => this.#salvage(item.cutChunk));
    }
    if ('part' in item) {
      return {
        cost: item.part.length,
        ahead: false,
        start: () => this.#handler.part?.(item) ?? EMPTY,
      };
    }
    let header: ChunkHeader;
    try {
      header = parseChunk(item);
    } catch (error) {
      return instantJob(() => {
        throw error;
      });
    }
    const chunk = { record: item, header, channelIds: [] };
    if (this.#selection === undefined) return this.#chunkJob(chunk);
    this.#held = chunk;
    return undefined;
  }

  /** What follows a chunk that is held: its indexes, or something else and so the end of them. */
  #afterHeld(held: HeldChunk, item: ReaderItem): Job<Out> | undefined {
    if (!('opcode' in item) || item.opcode !== OPCODE.MessageIndex) {
      this.#next = item;
      return this.#releaseHeld();
    }
    if (item.end - item.start < 2) return undefined;
    held.channelIds.push(item.view.getUint16(item.start, true));
    if (this.#selection?.decide(held.header, held.channelIds.slice(-1)) === 'read') return this.#releaseHeld();
    return undefined;
  }

  #releaseHeld(): Job<Out> | undefined {
    const held = this.#held;
    this.#held = undefined;
    return held && this.#chunkJob(held);
  }

  #chunkJob(chunk: HeldChunk): Job<Out> {
    const { record, header } = chunk;
    const compressed = record.end - record.start;
    const size = Math.min(Number(header.uncompressedSize), this.#settings.maxChunkSize);
    const small = size < SMALL_CHUNK;
    const threaded =
      this.#settings.threads > 0 &&
      (!small || this.#smallChunks < FEW_SMALL) &&
      this.#opener.decompressors.isThreaded(header.compression) &&
      ((!small && this.#bytesOpened >= INLINE_BYTES) || isNative(header.compression, header.records, size)) &&
      !isStored(header.records, size);
    this.#bytesOpened += size;
    if (small) this.#smallChunks++;
    return {
      cost: compressed + size,
      ahead: threaded,
      start: () => {
        if (this.#selection === undefined) return this.#open(chunk, threaded);
        return this.#decide(this.#selection, chunk, threaded);
      },
    };
  }

  /** Passes over a chunk, or opens it; waits for the definitions of earlier chunks where that decides. */
  #decide(selection: ChunkSelection, chunk: HeldChunk, threaded: boolean): Producer<Out> | Promise<Producer<Out>> {
    const act = (): Producer<Out> | Promise<Producer<Out>> => {
      const decision = selection.decide(chunk.header, chunk.channelIds);
      if (decision === 'skip') {
        this.stats.chunksSkipped++;
        this.#skipped = chunk;
        return EMPTY;
      }
      const before = this.#skipped;
      // A channel that this chunk does not define may be defined at the end of the one passed over before.
      const producer = this.#open(chunk, threaded, (records) => (selection.learnFrom(records) ? before : undefined));
      if (producer instanceof Promise) {
        this.#learned = producer.then(
          () => undefined,
          () => undefined,
        );
      }
      return producer;
    };
    const undecided = selection.decide(chunk.header, chunk.channelIds) !== 'read';
    return undecided && this.#learned !== undefined ? this.#learned.then(act) : act();
  }

  /** @param inspect told the opened chunk; may name one whose definitions are to be read first */
  #open(
    chunk: HeldChunk,
    threaded: boolean,
    inspect?: (records: ChunkRecords) => HeldChunk | undefined,
  ): Producer<Out> | Promise<Producer<Out>> {
    const { record, header } = chunk;
    const produce = (records: ChunkRecords): Producer<Out> | Promise<Producer<Out>> => {
      this.#rooms?.release(record.bytes);
      this.stats.chunksRead++;
      this.stats.bytesDecompressed += records.bytes.length;
      const earlier = inspect?.(records);
      const producer: Producer<Out> = new ChunkProducer(records, this.#handler, this);
      if (this.#handler.wants(OPCODE.Chunk)) {
        return new Sequence([new RunProducer([record], this.#handler, this), producer]);
      }
      return earlier === undefined ? producer : this.#withDefinitions(earlier, producer);
    };
    const lost = (error: unknown): never => {
      this.#rooms?.release(record.bytes);
      if (typeof error === 'object' && error !== null) {
        this.#losses.set(error, { bytes: record.end - record.start, chunks: 1 });
      }
      throw error;
    };
    let opened: ChunkRecords | Promise<ChunkRecords>;
    try {
      opened = openChunk(header, record.offset, this.#opener, threaded, record.dataCrc);
    } catch (error) {
      return lost(error);
    }
    return opened instanceof Promise ? opened.then(produce, lost) : produce(opened);
  }

  #withDefinitions(earlier: HeldChunk, producer: Producer<Out>): Producer<Out> | Promise<Producer<Out>> {
    const before = (records: ChunkRecords): Producer<Out> => {
      this.stats.chunksRead++;
      this.stats.bytesDecompressed += records.bytes.length;
      this.#selection?.learnFrom(records);
      return new Sequence([new DefinitionsProducer(records, this.#handler, this), producer]);
    };
    const opened = openChunk(earlier.header, earlier.record.offset, this.#opener, false);
    return opened instanceof Promise ? opened.then(before) : before(opened);
  }

  /** The whole records at the beginning of a chunk that the file's end has cut. Its CRC cannot be verified. */
  #salvage(record: RecordContent): Producer<Out> | Promise<Producer<Out>> {
    const header = parseCutChunk(record);
    if (header === undefined || header.uncompressedSize > BigInt(this.#settings.maxChunkSize)) return EMPTY;
    const compressed = wholeBlocks(header.compression, header.records);
    const decompress = this.#opener.decompressors.find(header.compression);
    if (compressed === undefined || decompress === undefined) return EMPTY;
    const produce = (bytes: Uint8Array): Producer<Out> =>
      new CutChunkProducer(bytes, record.offset, this.#handler, this);
    try {
      const bytes = decompress(compressed, Number(header.uncompressedSize));
      return bytes instanceof Promise ? bytes.then(produce, () => EMPTY) : produce(bytes);
    } catch {
      return EMPTY; // nothing of it can be had; that the file is cut is told next
    }
  }
}

function instantJob<Out>(start: () => Producer<Out> | Promise<Producer<Out>>): Job<Out> {
  return { cost: 0, ahead: false, start };
}

/** Whether the policy `damage` answers for an error: faults of the container in an input that is an MCAP. */
function isDamage(error: McapStreamsError): boolean {
  if (!error.code.startsWith('MCAP_')) return false;
  return (
    error.code !== 'MCAP_NOT_MCAP' &&
    error.code !== 'MCAP_UNSUPPORTED_VERSION' &&
    error.code !== 'MCAP_UNSUPPORTED_ENCODING'
  );
}
