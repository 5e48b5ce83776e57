/** What a recording holds, without its messages: from its summary in a few reads, else by scanning. */
import { pipeline } from 'node:stream/promises';
import { Readable } from 'node:stream';
import { McapStreamsError } from '../errors.js';
import { asBuffer, viewOf } from '../mcap/byte-queue.js';
import { OPCODE, RECORD_PREFIX } from '../mcap/opcodes.js';
import { readRange } from '../mcap/read-plan.js';
import { parseRecord } from '../mcap/records.js';
import type {
  AttachmentRecord,
  ChannelRecord,
  HeaderRecord,
  McapRecord,
  SchemaRecord,
  StatisticsRecord,
} from '../mcap/records.js';
import { OpenSource } from '../mcap/source.js';
import type { RecordingSource, SourceStats } from '../mcap/source.js';
import { readIndexedSummary } from '../mcap/summary.js';
import type { Summary } from '../mcap/summary.js';
import { checkOptions } from '../options.js';
import type { DamageReport } from './container-options.js';
import { McapRecordParser } from './mcap-record-parser.js';
import { openWhole } from './whole-file-compression.js';

/** One channel and what is counted of it. */
export interface TopicSummary {
  readonly channel: ChannelRecord;
  readonly schema: SchemaRecord | undefined;
  readonly topic: string;
  readonly schemaName: string;
  readonly messageCount: number;
  /** Messages a second over the recording; 0 where it has no length. */
  readonly frequency: number;
}

/** One kind of compression and what it did. */
export interface CompressionSummary {
  chunkCount: number;
  compressedBytes: number;
  uncompressedBytes: number;
}

export interface RecordingSummary {
  readonly header: HeaderRecord | undefined;
  /** As the file has it, or as counted. */
  readonly statistics: StatisticsRecord;
  readonly schemas: ReadonlyMap<number, SchemaRecord>;
  readonly channels: ReadonlyMap<number, ChannelRecord>;
  /** In the order of their channels' ids. */
  readonly topics: readonly TopicSummary[];
  readonly chunkIndexes: Summary['chunkIndexes'];
  /** By name of the compression; `` is none. */
  readonly compression: ReadonlyMap<string, CompressionSummary>;
  readonly attachments: readonly AttachmentSummary[];
  readonly metadata: readonly { readonly name: string }[];
  /** Whether there are messages, and so a first and a last time. */
  readonly messageStartTime: bigint | undefined;
  readonly messageEndTime: bigint | undefined;
  /** Whether the whole file had to be read. */
  readonly scanned: boolean;
  /** What was found wrong while scanning. */
  readonly damage: readonly DamageReport[];
  /** Bytes of the file. */
  readonly size: number;
  readonly source: SourceStats;
}

export interface AttachmentSummary {
  readonly name: string;
  readonly mediaType: string;
  readonly logTime: bigint;
  readonly createTime: bigint;
  /** Bytes of its data. */
  readonly dataSize: number;
}

export interface ReadSummaryOptions {
  /** Read the whole file even if it has a summary. Default false. */
  readonly scan?: boolean | undefined;
}

/**
 * Reads what a recording holds. Counts come from the summary where that accounts for the file, else from a scan that goes on
 * behind damage (`scanned: true`). Throws `MCAP_NOT_MCAP`.
 */
export async function readSummary(
  source: RecordingSource,
  options: ReadSummaryOptions = {},
): Promise<RecordingSummary> {
  checkOptions(options, ['scan'], 'readSummary');
  const opened = await openWhole(await OpenSource.open(source), new AbortController().signal);
  try {
    const indexed = options.scan === true ? undefined : await readIndexedSummary(opened);
    if (indexed?.statistics !== undefined && accounts(indexed, indexed.statistics)) {
      return fromIndexed(indexed, indexed.statistics, opened);
    }
    return await scan(opened);
  } finally {
    await opened.close();
  }
}

/** Whether the parts of a summary agree with each other, so that none of them has to be counted. */
function accounts(summary: Summary, statistics: StatisticsRecord): boolean {
  return (
    summary.chunkIndexes.length === statistics.chunkCount &&
    summary.attachmentIndexes.length === statistics.attachmentCount &&
    summary.metadataIndexes.length === statistics.metadataCount &&
    summary.channels.size === statistics.channelCount &&
    (statistics.messageCount === 0n || statistics.channelMessageCounts.size > 0)
  );
}

function fromIndexed(summary: Summary, statistics: StatisticsRecord, opened: OpenSource): RecordingSummary {
  const compression = new Map<string, CompressionSummary>();
  for (const index of summary.chunkIndexes) {
    count(compression, index.compression, Number(index.compressedSize), Number(index.uncompressedSize));
  }
  return finish(
    {
      header: summary.header,
      statistics,
      schemas: summary.schemas,
      channels: summary.channels,
      chunkIndexes: summary.chunkIndexes,
      compression,
      attachments: summary.attachmentIndexes.map(({ name, mediaType, logTime, createTime, dataSize }) => ({
        name,
        mediaType,
        logTime,
        createTime,
        dataSize: Number(dataSize),
      })),
      metadata: summary.metadataIndexes.map(({ name }) => ({ name })),
      scanned: false,
      damage: [],
    },
    opened,
  );
}

type Found = Omit<RecordingSummary, 'topics' | 'messageStartTime' | 'messageEndTime' | 'size' | 'source'>;

function finish(found: Found, opened: OpenSource): RecordingSummary {
  const { statistics } = found;
  const some = statistics.messageCount > 0n;
  const seconds = Number(statistics.messageEndTime - statistics.messageStartTime) / 1e9;
  const topics = [...found.channels.values()]
    .sort((a, b) => a.id - b.id)
    .map((channel): TopicSummary => {
      const schema = found.schemas.get(channel.schemaId);
      const messageCount = Number(statistics.channelMessageCounts.get(channel.id) ?? 0n);
      const frequency = seconds > 0 && messageCount > 1 ? (messageCount - 1) / seconds : 0;
      return { channel, schema, topic: channel.topic, schemaName: schema?.name ?? '', messageCount, frequency };
    });
  return {
    ...found,
    topics,
    messageStartTime: some ? statistics.messageStartTime : undefined,
    messageEndTime: some ? statistics.messageEndTime : undefined,
    size: opened.size,
    source: { ...opened.stats },
  };
}

function count(map: Map<string, CompressionSummary>, name: string, compressed: number, uncompressed: number): void {
  const sums = map.get(name) ?? { chunkCount: 0, compressedBytes: 0, uncompressedBytes: 0 };
  sums.chunkCount++;
  sums.compressedBytes += compressed;
  sums.uncompressedBytes += uncompressed;
  map.set(name, sums);
}

/** Counts what a stream of records holds. */
export class RecordCounter {
  header: HeaderRecord | undefined;
  readonly schemas: Map<number, SchemaRecord> = new Map<number, SchemaRecord>();
  readonly channels: Map<number, ChannelRecord> = new Map<number, ChannelRecord>();
  readonly compression: Map<string, CompressionSummary> = new Map<string, CompressionSummary>();
  readonly attachments: AttachmentSummary[] = [];
  readonly metadata: { name: string }[] = [];
  readonly #counts = new Map<number, bigint>();
  #messages = 0n;
  #start = 0n;
  #end = 0n;
  #chunks = 0;

  /** The records that it counts. */
  static readonly include = ['Header', 'Schema', 'Channel', 'Message', 'Chunk', 'Attachment', 'Metadata'] as const;

  add(record: McapRecord): void {
    switch (record.type) {
      case 'Header':
        this.header ??= record;
        break;
      case 'Schema':
        this.schemas.set(record.id, record);
        break;
      case 'Channel':
        this.channels.set(record.id, record);
        break;
      case 'Message':
        this.#counts.set(record.channelId, (this.#counts.get(record.channelId) ?? 0n) + 1n);
        if (this.#messages++ === 0n) this.#start = this.#end = record.logTime;
        if (record.logTime < this.#start) this.#start = record.logTime;
        if (record.logTime > this.#end) this.#end = record.logTime;
        break;
      case 'Chunk':
        this.#chunks++;
        count(this.compression, record.compression, record.records.length, Number(record.uncompressedSize));
        break;
      case 'Attachment': {
        const { name, mediaType, logTime, createTime } = record;
        const dataSize = 'dataLength' in record ? record.dataLength : record.data.length;
        this.attachments.push({ name, mediaType, logTime, createTime, dataSize });
        if (record.data instanceof Readable) record.data.destroy();
        break;
      }
      case 'Metadata':
        this.metadata.push({ name: record.name });
        break;
      default:
        break;
    }
  }

  get statistics(): StatisticsRecord {
    return {
      type: 'Statistics',
      messageCount: this.#messages,
      schemaCount: this.schemas.size,
      channelCount: this.channels.size,
      attachmentCount: this.attachments.length,
      metadataCount: this.metadata.length,
      chunkCount: this.#chunks,
      messageStartTime: this.#start,
      messageEndTime: this.#end,
      channelMessageCounts: this.#counts,
    };
  }
}

async function scan(opened: OpenSource): Promise<RecordingSummary> {
  const counter = new RecordCounter();
  const parser = new McapRecordParser({ include: RecordCounter.include, damage: 'skip', attachments: 'stream' });
  const bytes = Readable.from(bytesOf(opened), { objectMode: false });
  await pipeline(bytes, parser, async (records: AsyncIterable<McapRecord>) => {
    for await (const record of records) counter.add(record);
  });
  const { header, statistics, schemas, channels, compression, attachments, metadata } = counter;
  return finish(
    {
      header,
      statistics,
      schemas,
      channels,
      chunkIndexes: [],
      compression,
      attachments,
      metadata,
      scanned: true,
      damage: parser.stats.damage,
    },
    opened,
  );
}

async function* bytesOf(opened: OpenSource): AsyncGenerator<Uint8Array> {
  for await (const { bytes } of readRange(opened, 0, opened.size)) yield bytes;
}

type MetadataRecord = Extract<McapRecord, { type: 'Metadata' }>;

/** The first attachment of that name, with its data; `undefined` when there is none. */
export async function readAttachment(source: RecordingSource, name: string): Promise<AttachmentRecord | undefined> {
  return (await findRecord(source, 'Attachment', name)) as AttachmentRecord | undefined;
}

/** The metadata record of that name; where there are several, the last, as rosbag2 means it. */
export async function readMetadata(source: RecordingSource, name: string): Promise<MetadataRecord | undefined> {
  return (await findRecord(source, 'Metadata', name)) as MetadataRecord | undefined;
}

async function findRecord(
  source: RecordingSource,
  type: 'Attachment' | 'Metadata',
  name: string,
): Promise<McapRecord | undefined> {
  const opened = await openWhole(await OpenSource.open(source), new AbortController().signal);
  try {
    const summary = await readIndexedSummary(opened);
    const indexes = type === 'Attachment' ? summary?.attachmentIndexes : summary?.metadataIndexes;
    const statistics =
      type === 'Attachment' ? summary?.statistics?.attachmentCount : summary?.statistics?.metadataCount;
    if (indexes !== undefined && indexes.length === statistics) {
      const named = indexes.filter((index) => index.name === name);
      const index = type === 'Attachment' ? named[0] : named.at(-1);
      if (index === undefined) return undefined;
      const record = await readIndexed(opened, Number(index.offset), type);
      if (record !== undefined) return record;
    }
    return await searched(opened, type, name);
  } finally {
    await opened.close();
  }
}

/** The record that an index points to; `undefined` when another stands there. */
async function readIndexed(opened: OpenSource, offset: number, type: string): Promise<McapRecord | undefined> {
  const prefix = asBuffer(await opened.read(offset, RECORD_PREFIX));
  const opcode = OPCODE[type as 'Attachment'];
  if (prefix.length < RECORD_PREFIX || prefix[0] !== opcode) return undefined;
  const length = Number(viewOf(prefix).getBigUint64(1, true));
  if (offset + RECORD_PREFIX + length > opened.size) return undefined;
  const bytes = asBuffer(await opened.read(offset + RECORD_PREFIX, length));
  return parseRecord({ opcode, bytes, view: viewOf(bytes), start: 0, end: bytes.length, offset }, true);
}

async function searched(
  opened: OpenSource,
  type: 'Attachment' | 'Metadata',
  name: string,
): Promise<McapRecord | undefined> {
  let found: McapRecord | undefined;
  const parser = new McapRecordParser({ include: [type], damage: 'skip' });
  await pipeline(
    Readable.from(bytesOf(opened), { objectMode: false }),
    parser,
    async (records: AsyncIterable<McapRecord>) => {
      for await (const record of records) {
        if (record.type !== type || record.name !== name) continue;
        if (type === 'Metadata' || found === undefined) found = record;
      }
    },
  );
  if (found?.type !== 'Attachment' || !(found.data instanceof Readable)) return found;
  const parts: Buffer[] = [];
  for await (const part of found.data) parts.push(part as Buffer);
  const { logTime, createTime, mediaType } = found;
  return { type: 'Attachment', name, logTime, createTime, mediaType, data: Buffer.concat(parts) };
}

/** Tells faults of the container from others. */
export function isContainerFault(error: unknown): error is McapStreamsError {
  return error instanceof McapStreamsError && error.code.startsWith('MCAP_');
}
