/** Decoded messages from a recording that can be read at any place: a file, or whatever tells its size and reads a range. */
import { statSync } from 'node:fs';
import type { ChunkQuery } from '../mcap/chunk-selection.js';
import { MAGIC } from '../mcap/opcodes.js';
import { planOf, readPlan, readRange } from '../mcap/read-plan.js';
import type { LocatedBytes, ReadPlan } from '../mcap/read-plan.js';
import { OpenSource } from '../mcap/source.js';
import type { RecordingSource, SourceStats } from '../mcap/source.js';
import { readIndexedSummary } from '../mcap/summary.js';
import type { Summary } from '../mcap/summary.js';
import { OptionError } from '../errors.js';
import { checkChoice, checkOptions } from '../options.js';
import { bagFiles } from './bag-folder.js';
import { BatchReadable } from './batch-readable.js';
import { CONTAINER_OPTIONS, containerSettings, emptyStats, wholeNumber } from './container-options.js';
import type { ContainerOptions, ContainerStats } from './container-options.js';
import { DecodeHandler } from './decode-stream.js';
import { BATCH, batchesOf } from './located-core.js';
import { inLogTimeOrder } from './log-time-order.js';
import type { LogTimeOptions } from './log-time-order.js';
import { DECODE_OPTIONS, MessageDecoder } from './message-decoder.js';
import type { DecodedMessage, DecodeOptions, DecodeStats } from './message-decoder.js';
import type { RawMessage } from './raw-message.js';
import { STREAM_OPTIONS, readableMark } from './stream-options.js';
import { mergeSorted } from './sorted-runs.js';
import type { StreamOptions } from './stream-options.js';
import { openWhole } from './whole-file-compression.js';

export interface ReadRecordingOptions
  extends ContainerOptions, DecodeOptions, Omit<StreamOptions, 'writableHighWaterMark'> {
  /** `file`: as the messages stand in the file. `logTime`: by log time, equal times as in the file. Default `file`. */
  readonly order?: 'file' | 'logTime' | undefined;
  /** The last message first, by log time. Default false. */
  readonly reverse?: boolean | undefined;
  /** Stop after so many messages: nothing more is read. Default: all. */
  readonly limit?: number | undefined;
  /** Deliver arrays of messages in place of single ones, of up to so many. */
  readonly batch?: number | undefined;
}

const OPTIONS = [
  ...CONTAINER_OPTIONS,
  ...DECODE_OPTIONS,
  ...STREAM_OPTIONS,
  'order',
  'reverse',
  'limit',
  'batch',
] as const;

/** What `readRecording` gives: a Readable of messages, or of arrays of them. */
export class RecordingReader<Out = DecodedMessage> extends BatchReadable<DecodedMessage, Out> {
  readonly #stats: { container: ContainerStats; source: SourceStats; decoder: DecodeStats };

  constructor(source: RecordingSource, options: ReadRecordingOptions = {}) {
    checkOptions(options, OPTIONS, 'readRecording');
    checkChoice(options.order, ['file', 'logTime'], 'order');
    checkChoice(options.reverse, [true, false], 'reverse');
    if (options.reverse === true && options.order === 'file') {
      throw new OptionError('OPTION_INVALID', "option reverse goes with order: 'logTime'");
    }
    const batch = wholeNumber(options.batch, 'batch', 1);
    const limit = wholeNumber(options.limit, 'limit', 0) ?? Infinity;
    const decoder = new MessageDecoder(options, containerSettings(options).maxChannels);
    const stats = {
      container: emptyStats(),
      source: { bytesRead: 0, reads: 0 },
      decoder: decoder.stats,
    };
    super((signal) => messages(source, options, decoder, stats, Math.max(1, Math.min(batch ?? BATCH, limit)), signal), {
      inBatches: batch !== undefined,
      limit,
      highWaterMark: readableMark(options, 'objects'),
      signal: options.signal,
    });
    this.#stats = stats;
  }

  /** What has been read and decoded so far: also `reads` and `bytesRead` of the source. */
  get stats(): ContainerStats & DecodeStats & SourceStats {
    return { ...this.#stats.container, ...this.#stats.source, ...this.#stats.decoder };
  }
}

/**
 * A Readable of the messages of a recording. It owns its source and closes it in every ending: end, error, break, abort.
 *
 * With a summary, only the chunks that hold something selected are read; without one, or with one that does not account for
 * the whole file, everything is: no message is lost by it. A path may name a rosbag2 folder: its files are read in order;
 * and a recording that is compressed as a whole (`.mcap.zstd`).
 *
 *     for await (const { message } of readRecording<Imu>('drive.mcap', { topics: '/imu', limit: 10 })) ...
 */
export function readRecording<T = unknown>(
  source: RecordingSource,
  options: ReadRecordingOptions & { batch: number },
): RecordingReader<DecodedMessage<T>[]>;
export function readRecording<T = unknown>(
  source: RecordingSource,
  options?: ReadRecordingOptions,
): RecordingReader<DecodedMessage<T>>;
export function readRecording(source: RecordingSource, options?: ReadRecordingOptions): RecordingReader<unknown> {
  return new RecordingReader<unknown>(source, options);
}

/** Where what was read is counted. */
export interface Progress {
  readonly container: ContainerStats;
  readonly source: SourceStats;
}

async function* messages(
  source: RecordingSource,
  options: ReadRecordingOptions,
  decoder: MessageDecoder,
  progress: Progress,
  batch: number,
  signal: AbortSignal,
): AsyncGenerator<DecodedMessage[]> {
  if (isByTime(options)) {
    for await (const raw of rawInLogTimeOrder(source, options, decoder.selected, progress, signal)) {
      yield* decodeBatch(raw, decoder, batch);
    }
    return;
  }
  for (const file of await filesOf(source)) {
    const opened = await openWhole(await OpenSource.open(file), signal);
    try {
      decoder.forget();
      const summary = await readIndexedSummary(opened);
      if (summary !== undefined) decoder.preload(summary.schemas.values(), summary.channels.values());
      const plan = summary && planOf(summary, decoder.query);
      const handler = new DecodeHandler(decoder);
      const reading = { container: options, signal, stats: progress.container };
      if (plan === undefined || summary === undefined) {
        yield* batchesOf(handler, readRange(opened, 0, opened.size), reading, 'whole', batch);
      } else {
        progress.container.chunksSkipped += plan.chunksSkipped;
        yield* batchesOf(handler, planned(opened, summary, plan), reading, 'partial', batch);
      }
    } finally {
      await finish(opened, progress);
    }
  }
}

function* decodeBatch(raw: readonly RawMessage[], decoder: MessageDecoder, batch: number): Generator<DecodedMessage[]> {
  for (let at = 0; at < raw.length; at += batch) {
    const decoded: DecodedMessage[] = [];
    try {
      for (const one of raw.slice(at, at + batch)) {
        const message = decoder.decodeRaw(one);
        if (message !== undefined) decoded.push(message);
      }
    } catch (error) {
      // What came before it goes out first.
      if (decoded.length > 0) yield decoded;
      throw error;
    }
    if (decoded.length > 0) yield decoded;
  }
}

/** Undecoded messages of a file, a folder or any other source, by log time. */
export async function* rawInLogTimeOrder(
  source: RecordingSource,
  options: ReadRecordingOptions,
  selected: ChunkQuery,
  progress: Progress,
  signal: AbortSignal,
): AsyncGenerator<RawMessage[]> {
  const files = await filesOf(source);
  const reverse = options.reverse ?? false;
  const sorted = files.map((file) =>
    sortedFile(file, { container: options, selected, reverse, signal, stats: progress.container }, progress),
  );
  const [only] = sorted;
  if (sorted.length === 1 && only !== undefined) yield* only;
  else yield* mergeSorted(sorted, reverse);
}

async function* sortedFile(
  file: RecordingSource,
  options: LogTimeOptions,
  progress: Progress,
): AsyncGenerator<RawMessage[]> {
  const opened = await openWhole(await OpenSource.open(file), options.signal);
  try {
    yield* inLogTimeOrder(opened, await readIndexedSummary(opened), options);
  } finally {
    await finish(opened, progress);
  }
}

async function* planned(source: OpenSource, summary: Summary, plan: ReadPlan): AsyncGenerator<LocatedBytes> {
  yield { offset: 0, bytes: await source.read(0, Math.max(summary.dataStart, MAGIC.length)) };
  yield* readPlan(source, plan, summary.dataStart, summary.dataEnd);
}

/** The files of a bag folder, or the source itself. */
export async function filesOf(source: RecordingSource): Promise<RecordingSource[]> {
  if (typeof source !== 'string') return [source];
  const isFolder = statSync(source, { throwIfNoEntry: false })?.isDirectory() ?? false;
  return isFolder ? bagFiles(source) : [source];
}

async function finish(opened: OpenSource, progress: Progress): Promise<void> {
  progress.source.bytesRead += opened.stats.bytesRead;
  progress.source.reads += opened.stats.reads;
  progress.container.bytes = progress.source.bytesRead;
  await opened.close();
}

function isByTime({ order, reverse }: ReadRecordingOptions): boolean {
  return order === 'logTime' || reverse === true;
}
