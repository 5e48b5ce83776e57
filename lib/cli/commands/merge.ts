/** `mcap-ros2 merge`: several recordings as one, by log time. Also how `convert` sorts one. */
import type { Writable } from 'node:stream';
import { channelFilter } from '../../mcap/filter.js';
import type { ChannelRecord, McapRecord, SchemaRecord } from '../../mcap/records.js';
import { emptyStats } from '../../streams/container-options.js';
import { rawInLogTimeOrder } from '../../streams/read-recording.js';
import { readSummary } from '../../streams/read-summary.js';
import type { RecordingSummary } from '../../streams/read-summary.js';
import { mergeSorted } from '../../streams/sorted-runs.js';
import type { CompressionOptions } from '../compression.js';
import { IdMapper } from '../id-mapper.js';
import { inputFiles, withPaths } from '../input.js';
import type { Input } from '../input.js';
import { withOutput } from '../output-file.js';
import type { OutputOptions } from '../output-file.js';
import { EXIT, note, UsageError } from '../output.js';
import type { ExitCode } from '../output.js';
import { DamageLog, recordsOf, writeRecords } from '../records.js';

export interface MergeOptions extends OutputOptions, CompressionOptions {}

/** Bytes of messages that are in memory at once; what is above goes to temporary files. */
const BUDGET = 64 * 2 ** 20;

export async function merge(paths: readonly string[], options: MergeOptions): Promise<ExitCode> {
  const inputs = await inputFiles(paths);
  if (inputs.length < 2) throw new UsageError('merge takes two recordings or more, or a bag folder of several files');
  return mergeInputs(inputs, options);
}

/** Writes inputs as one recording in log-time order. */
export async function mergeInputs(inputs: readonly Input[], options: MergeOptions): Promise<ExitCode> {
  const damage = new DamageLog();
  const counts = { messages: 0 };
  await withOutput(options, inputs, 'binary', (stream) =>
    withPaths(inputs, (files) => mergeFiles(inputs, files, options, stream, damage, counts)),
  );
  note(`wrote ${counts.messages} messages of ${inputs.length} recordings by log time`);
  return damage.found ? EXIT.dataLoss : EXIT.whole;
}

async function mergeFiles(
  inputs: readonly Input[],
  files: readonly string[],
  { compression, compressionLevel, chunkSize }: MergeOptions,
  stream: Writable,
  damage: DamageLog,
  counts: { messages: number },
): Promise<void> {
  const parts: Part[] = [];
  for (const [n, path] of files.entries()) {
    parts.push({ name: inputs[n]?.name ?? path, path, summary: await readSummary(path) });
  }
  const [first] = parts;
  await writeRecords(merged(parts, damage, counts), stream, {
    compression: compression ?? (compressionLevel === undefined ? compressionName(first?.summary) : undefined),
    compressionLevel,
    chunkSize,
  });
}

interface Part {
  readonly name: string;
  readonly path: string;
  readonly summary: RecordingSummary;
}

function compressionName(summary: RecordingSummary | undefined): 'zstd' | 'lz4' | 'none' | undefined {
  const [name] = summary?.compression.keys() ?? [];
  return name === 'lz4' || name === 'zstd' || name === 'none' ? name : name === '' ? 'none' : undefined;
}

async function* merged(
  parts: readonly Part[],
  damage: DamageLog,
  counts: { messages: number },
): AsyncGenerator<McapRecord> {
  const profiles = new Set(parts.map(({ summary }) => summary.header?.profile ?? ''));
  const libraries = new Set(parts.map(({ summary }) => summary.header?.library ?? ''));
  const [profile = ''] = profiles;
  const [library = ''] = libraries;
  yield {
    type: 'Header',
    profile: profiles.size === 1 ? profile : '',
    library: libraries.size === 1 ? library : '',
  };
  const mapper = new IdMapper();
  const ids = new ChannelIds(mapper);
  for (const part of parts) {
    mapper.nextInput();
    ids.nextInput();
    // Channels without messages are kept, too.
    for (const channel of part.summary.channels.values()) {
      yield* ids.add(channel, part.summary.schemas.get(channel.schemaId));
    }
    yield* extras(part);
  }
  const query = { filter: channelFilter({}), startTime: 0n, endTime: undefined };
  const budget = Math.max(1, Math.floor(BUDGET / parts.length));
  const sources = parts.map((part) =>
    rawInLogTimeOrder(
      part.path,
      { damage: 'skip', onDamage: damage.report(part.name), maxBufferedBytes: budget },
      query,
      { container: emptyStats(), source: { bytesRead: 0, reads: 0 } },
      new AbortController().signal,
    ),
  );
  for await (const batch of mergeSorted(sources, false)) {
    for (const { channel, schema, sequence, logTime, publishTime, data } of batch) {
      let channelId = ids.of(channel, schema);
      if (channelId === undefined) {
        // Its definition stands where no summary told of it.
        mapper.nextInput();
        yield* ids.add(channel, schema);
        channelId = ids.of(channel, schema) ?? channel.id;
      }
      counts.messages++;
      yield { type: 'Message', channelId, sequence, logTime, publishTime, data };
    }
  }
}

/** Ids in the output by channel record and by content. */
class ChannelIds {
  readonly #mapper: IdMapper;
  readonly #byRecord = new Map<ChannelRecord, number>();
  readonly #byContent = new Map<string, number>();

  constructor(mapper: IdMapper) {
    this.#mapper = mapper;
  }

  nextInput(): void {
    this.#byRecord.clear();
  }

  add(channel: ChannelRecord, schema: SchemaRecord | undefined): McapRecord[] {
    const added: McapRecord[] = [];
    if (schema !== undefined && schema.id !== 0) {
      const mapped = this.#mapper.schema(schema);
      if (mapped.added) added.push(mapped.record);
    }
    const content = contentOf(channel, schema);
    if (this.#byContent.has(content)) return added;
    const mapped = this.#mapper.channel(schema === undefined ? { ...channel, schemaId: 0 } : channel);
    if (mapped.added) added.push(mapped.record);
    this.#byContent.set(content, mapped.record.id);
    return added;
  }

  of(channel: ChannelRecord, schema: SchemaRecord | undefined): number | undefined {
    let id = this.#byRecord.get(channel);
    if (id === undefined) {
      id = this.#byContent.get(contentOf(channel, schema));
      if (id !== undefined) this.#byRecord.set(channel, id);
    }
    return id;
  }
}

function contentOf({ topic, messageEncoding, metadata }: ChannelRecord, schema: SchemaRecord | undefined): string {
  const entries = [...metadata].sort(([a], [b]) => (a < b ? -1 : 1));
  const type = schema && [schema.name, schema.encoding, Buffer.from(schema.data).toString('latin1')];
  return JSON.stringify([topic, messageEncoding, entries, type ?? null]);
}

/** Attachments and metadata, where there are any. */
async function* extras({ name, path, summary }: Part): AsyncGenerator<McapRecord> {
  if (!summary.scanned && summary.attachments.length === 0 && summary.metadata.length === 0) return;
  // What is damaged is said by the pass over the messages.
  const quiet = new DamageLog(false);
  const records = recordsOf({ name, path }, quiet, {
    include: ['Attachment', 'Metadata', 'DataEnd'],
    progress: false,
  });
  for await (const record of records) {
    if (record.type === 'DataEnd') return;
    if (record.type === 'Attachment' || record.type === 'Metadata') yield record;
  }
}
