/**
 * Messages of one recording in log-time order, forward or reverse.
 *
 * With chunk indexes that account for all messages, chunks are opened when their time comes and put together where they
 * overlap; where the chunks that overlap are more than the budget, the next is written to a temporary file, sorted, and read
 * back piece by piece. Without them the recording is read once into sorted runs of half the budget.
 */
import { McapStreamsError } from '../errors.js';
import { ChannelTable, unknownChannel } from '../mcap/channel-table.js';
import type { ChunkRecords } from '../mcap/chunk-reader.js';
import { openChunk } from '../mcap/chunk-reader.js';
import type { ChunkQuery } from '../mcap/chunk-selection.js';
import { decompressorsWith } from '../mcap/compression.js';
import { asBuffer, viewOf } from '../mcap/byte-queue.js';
import { OPCODE, RECORD_PREFIX } from '../mcap/opcodes.js';
import { planOf, readRange } from '../mcap/read-plan.js';
import type { ReadPlan } from '../mcap/read-plan.js';
import { badRecord, MESSAGE_FIXED_LENGTH, parseChannel, parseChunk, parseSchema } from '../mcap/records.js';
import type { RecordContent } from '../mcap/records.js';
import type { OpenSource } from '../mcap/source.js';
import type { ChunkIndexRecord, Summary } from '../mcap/summary.js';
import type { RecordHandler } from './container-core.js';
import type { ContainerSettings } from './container-options.js';
import { containerSettings } from './container-options.js';
import { BATCH, batchesOf } from './located-core.js';
import type { Reading } from './located-core.js';
import { rawMessage } from './raw-message.js';
import type { RawMessage } from './raw-message.js';
import { drain, MemoryRun, RunHeap, sortMessages, SpilledRun, timeOrder } from './sorted-runs.js';

/** Takes definitions in, and gives the messages that are selected. */
export class RawHandler implements RecordHandler<RawMessage> {
  readonly query: ChunkQuery | undefined;
  readonly #table: ChannelTable;
  readonly #selected: ChunkQuery;
  /** By channel id. */
  readonly #wanted: (boolean | undefined)[] = [];

  constructor(selected: ChunkQuery, skipChunks: boolean, maxChannels: number) {
    this.#selected = selected;
    this.query = skipChunks ? selected : undefined;
    this.#table = new ChannelTable(maxChannels);
  }

  preload(summary: Summary): void {
    for (const schema of summary.schemas.values()) this.#table.addSchema(schema);
    for (const channel of summary.channels.values()) this.#table.addChannel(channel);
  }

  wants(opcode: number): boolean {
    return opcode === OPCODE.Message || opcode === OPCODE.Schema || opcode === OPCODE.Channel;
  }

  handle(record: RecordContent): RawMessage | undefined {
    if (record.opcode === OPCODE.Schema) this.#table.addSchema(parseSchema(record), record.offset);
    else if (record.opcode === OPCODE.Channel) this.#table.addChannel(parseChannel(record), record.offset);
    else if (record.opcode === OPCODE.Message) return this.#message(record);
    return undefined;
  }

  #message(record: RecordContent): RawMessage | undefined {
    const { view, start, end } = record;
    if (end - start < MESSAGE_FIXED_LENGTH) throw badRecord(record, 'it is shorter than its fixed part');
    const id = view.getUint16(start, true);
    const channel = this.#table.channels.get(id);
    if (channel === undefined) throw unknownChannel(id, record.offset);
    const schema = this.#table.schemas.get(channel.schemaId);
    const { filter, startTime, endTime } = this.#selected;
    if (!(this.#wanted[id] ??= filter(channel, schema))) return undefined;
    const logTime = view.getBigUint64(start + 6, true);
    if (logTime < startTime || (endTime !== undefined && logTime >= endTime)) return undefined;
    return rawMessage(record, channel, schema);
  }
}

export interface LogTimeOptions extends Reading {
  readonly selected: ChunkQuery;
  readonly reverse: boolean;
}

/** Batches of messages in order. Everything that it opened is closed in every ending. */
export async function* inLogTimeOrder(
  source: OpenSource,
  summary: Summary | undefined,
  options: LogTimeOptions,
): AsyncGenerator<RawMessage[]> {
  const plan = summary && knowsChannels(summary) ? planOf(summary, options.selected) : undefined;
  const indexed = plan !== undefined && summary !== undefined ? await chunksOf(source, plan) : undefined;
  if (indexed === undefined || summary === undefined) {
    yield* scanned(source, summary, options);
    return;
  }
  options.stats.chunksSkipped += plan?.chunksSkipped ?? 0;
  yield* new ChunkMerge(source, summary, indexed.chunks, indexed.definitions, options).run();
}

/** Whether chunks can be opened in any order, without the definitions of those before them. */
function knowsChannels({ statistics, channels, chunkIndexes }: Summary): boolean {
  if (statistics?.channelCount !== channels.size) return false;
  return chunkIndexes.every(({ messageIndexOffsets }) =>
    [...messageIndexOffsets.keys()].every((id) => channels.has(id)),
  );
}

/** The chunks of a plan, when no message stands outside of them; with the definitions that do. */
async function chunksOf(
  source: OpenSource,
  { segments }: ReadPlan,
): Promise<{ chunks: ChunkIndexRecord[]; definitions: RecordContent[] } | undefined> {
  const chunks: ChunkIndexRecord[] = [];
  const definitions: RecordContent[] = [];
  for (const { start, end, chunk } of segments) {
    if (chunk !== undefined) {
      chunks.push(chunk);
      continue;
    }
    if (end - start > 2 ** 20) return undefined;
    const bytes = asBuffer(await source.read(start, end - start));
    const view = viewOf(bytes);
    for (let at = 0; at < bytes.length;) {
      if (at + RECORD_PREFIX > bytes.length) return undefined;
      const opcode = view.getUint8(at);
      const next = at + RECORD_PREFIX + Number(view.getBigUint64(at + 1, true));
      if (next > bytes.length || opcode === 0 || opcode === OPCODE.Message || opcode === OPCODE.Chunk) return undefined;
      if (opcode === OPCODE.Schema || opcode === OPCODE.Channel) {
        definitions.push({ opcode, bytes, view, start: at + RECORD_PREFIX, end: next, offset: start + at });
      }
      at = next;
    }
  }
  return { chunks, definitions };
}

class ChunkMerge {
  readonly #source: OpenSource;
  readonly #chunks: readonly ChunkIndexRecord[];
  readonly #options: LogTimeOptions;
  readonly #settings: ContainerSettings;
  readonly #handler: RawHandler;
  readonly #heap: RunHeap;
  readonly #spilled = new Set<SpilledRun>();
  /** Bytes of the opened chunks that are held. */
  #held = 0;

  constructor(
    source: OpenSource,
    summary: Summary,
    chunks: readonly ChunkIndexRecord[],
    definitions: readonly RecordContent[],
    options: LogTimeOptions,
  ) {
    const order = timeOrder(options.reverse);
    this.#source = source;
    this.#options = options;
    this.#settings = containerSettings(options.container);
    this.#handler = new RawHandler(options.selected, false, this.#settings.maxChannels);
    this.#handler.preload(summary);
    for (const record of definitions) this.#handler.handle(record);
    this.#heap = new RunHeap(order);
    this.#chunks = chunks.toSorted((a, b) => order(this.#first(a), this.#first(b)));
  }

  /** The time from which on a chunk may have messages. */
  #first(chunk: ChunkIndexRecord): bigint {
    return this.#options.reverse ? chunk.messageEndTime : chunk.messageStartTime;
  }

  async *run(): AsyncGenerator<RawMessage[]> {
    const order = timeOrder(this.#options.reverse);
    let next = 0;
    let batch: RawMessage[] = [];
    try {
      for (;;) {
        const head = this.#heap.first?.head;
        const chunk = this.#chunks[next];
        if (chunk !== undefined && (head === undefined || order(this.#first(chunk), head.logTime) <= 0)) {
          next++;
          if (await this.#open(chunk)) continue;
          break;
        }
        const run = this.#heap.first;
        if (run?.head === undefined) break;
        batch.push(run.head);
        const wait = run.advance();
        if (wait !== undefined) await wait;
        this.#heap.settle();
        if (batch.length < BATCH) continue;
        yield batch;
        batch = [];
      }
      if (batch.length > 0) yield batch;
    } finally {
      for (const run of this.#spilled) await run.close();
    }
  }

  /** @returns whether to go on */
  async #open(chunk: ChunkIndexRecord): Promise<boolean> {
    const number = this.#options.reverse ? -Number(chunk.chunkStartOffset) : Number(chunk.chunkStartOffset);
    let messages: RawMessage[];
    try {
      messages = await this.#read(chunk);
    } catch (error) {
      const { damage } = this.#settings;
      if (!(error instanceof McapStreamsError) || !error.code.startsWith('MCAP_') || damage === 'throw') throw error;
      const report = {
        code: error.code,
        offset: error.offset ?? Number(chunk.chunkStartOffset),
        bytes: Number(chunk.chunkLength) - RECORD_PREFIX,
        chunks: 1,
        messages: 0,
        error,
      };
      this.#options.stats.damage.push(report);
      this.#options.container.onDamage?.(report);
      return damage === 'skip';
    }
    const order = timeOrder(this.#options.reverse);
    const sorted = sortMessages(messages, order, this.#options.reverse);
    const size = Number(chunk.uncompressedSize);
    if (this.#held > 0 && this.#held + size > this.#settings.maxBufferedBytes) {
      const run = await SpilledRun.write(sorted);
      this.#spilled.add(run);
      this.#heap.add(run, number);
    } else {
      this.#held += size;
      this.#heap.add(new MemoryRun(sorted, () => (this.#held -= size)), number);
    }
    return true;
  }

  async #read(chunk: ChunkIndexRecord): Promise<RawMessage[]> {
    const offset = Number(chunk.chunkStartOffset);
    const bytes = asBuffer(await this.#source.read(offset, Number(chunk.chunkLength)));
    const record = {
      opcode: OPCODE.Chunk,
      bytes,
      view: viewOf(bytes),
      start: RECORD_PREFIX,
      end: bytes.length,
      offset,
    };
    if (bytes.length !== Number(chunk.chunkLength) || bytes[0] !== OPCODE.Chunk) {
      throw new McapStreamsError('MCAP_BAD_INDEX', `no chunk stands at byte ${offset}, where the chunk index says`, {
        offset,
      });
    }
    const opener = { ...this.#settings, decompressors: decompressorsWith(this.#options.container.compression) };
    const records: ChunkRecords = await openChunk(parseChunk(record), offset, opener, false);
    const { stats } = this.#options;
    stats.chunksRead++;
    stats.bytesDecompressed += records.bytes.length;
    const messages: RawMessage[] = [];
    while (records.advance()) {
      stats.records++;
      const message = this.#handler.handle(records);
      if (message !== undefined) messages.push(message);
    }
    return messages;
  }
}

async function* scanned(
  source: OpenSource,
  summary: Summary | undefined,
  options: LogTimeOptions,
): AsyncGenerator<RawMessage[]> {
  const settings = containerSettings(options.container);
  const handler = new RawHandler(options.selected, false, settings.maxChannels);
  if (summary !== undefined) handler.preload(summary);
  const order = timeOrder(options.reverse);
  const runs: (MemoryRun | SpilledRun)[] = [];
  const most = settings.maxBufferedBytes / 2;
  let held: RawMessage[] = [];
  let size = 0;
  try {
    for await (const batch of batchesOf(handler, readRange(source, 0, source.size), options, 'whole')) {
      for (const message of batch) {
        held.push(message);
        size += message.data.length + MESSAGE_COST;
      }
      if (size < most) continue;
      runs.push(await SpilledRun.write(sortMessages(held, order, options.reverse)));
      held = [];
      size = 0;
    }
    runs.push(new MemoryRun(sortMessages(held, order, options.reverse), () => undefined));
    const heap = new RunHeap(order);
    runs.forEach((run, n) => {
      heap.add(run, options.reverse ? -n : n);
    });
    yield* drain(heap);
  } finally {
    for (const run of runs) await run.close();
  }
}

/** What a message takes in memory beside its data, bytes, roughly. */
const MESSAGE_COST = 200;
