/** What `info` prints, as text and as JSON. */
import { McapStreamsError } from '../errors.js';
import { parseBagMetadata } from '../mcap/rosbag2.js';
import type { BagMetadata } from '../mcap/rosbag2.js';
import type { RecordingSummary } from '../streams/read-summary.js';
import { formatDuration, formatTime } from '../time.js';
import { formatBytes, table } from './table.js';

export interface Surveyed {
  readonly name: string;
  readonly summary: Pick<
    RecordingSummary,
    'header' | 'statistics' | 'schemas' | 'channels' | 'compression' | 'attachments' | 'metadata' | 'size'
  >;
  readonly counted: Counted;
  /** Payload bytes by channel; undefined where nothing was read but the summary. */
  readonly topicBytes: ReadonlyMap<number, number> | undefined;
  /** The metadata record of rosbag2. */
  readonly bag: ReadonlyMap<string, string> | undefined;
  readonly damage: readonly Damage[];
}

/** Where the counts come from. */
export type Counted = 'summary' | 'scan' | 'scan: the summary is missing';

export interface Damage {
  readonly code: string;
  readonly offset: number;
  readonly message: string;
}

export interface InfoReport {
  readonly file: string;
  readonly profile: string;
  readonly library: string;
  readonly bytes: number;
  readonly counted: 'summary' | 'scan';
  readonly summaryMissing: boolean;
  readonly messageCount: number;
  /** ns */
  readonly startTime: string | null;
  readonly endTime: string | null;
  readonly duration: string | null;
  readonly topics: readonly TopicReport[];
  readonly compression: Readonly<Record<string, CompressionReport>>;
  readonly attachmentCount: number;
  readonly metadataCount: number;
  readonly attachments: readonly {
    readonly name: string;
    readonly mediaType: string;
    readonly bytes: number;
    readonly logTime: string;
    readonly createTime: string;
  }[];
  readonly metadata: readonly string[];
  /** What the metadata record `rosbag2` says, decoded. */
  readonly rosbag2: BagMetadata | null;
  readonly damage: readonly Damage[];
}

export interface TopicReport {
  readonly id: number;
  readonly topic: string;
  readonly schemaName: string;
  readonly schemaEncoding: string;
  readonly messageEncoding: string;
  readonly messageCount: number;
  readonly hz: number;
  /** Of its payloads; null where the summary alone was read, which does not say it. */
  readonly bytes: number | null;
}

export interface CompressionReport {
  readonly chunkCount: number;
  readonly compressedBytes: number;
  readonly uncompressedBytes: number;
  /** Compressed by uncompressed; null where there is nothing. */
  readonly ratio: number | null;
}

export function describe({ name, summary, counted, topicBytes, bag, damage }: Surveyed): InfoReport {
  const { header, statistics, channels, schemas, compression, attachments, metadata, size } = summary;
  const some = statistics.messageCount > 0n;
  const { messageStartTime: start, messageEndTime: end } = statistics;
  const seconds = some ? Number(end - start) / 1e9 : 0;
  return {
    file: name,
    profile: header?.profile ?? '',
    library: header?.library ?? '',
    bytes: size,
    counted: counted === 'summary' ? 'summary' : 'scan',
    summaryMissing: counted === 'scan: the summary is missing',
    messageCount: Number(statistics.messageCount),
    startTime: some ? String(start) : null,
    endTime: some ? String(end) : null,
    duration: some ? String(end - start) : null,
    topics: [...channels.values()].map((channel) => {
      const schema = schemas.get(channel.schemaId);
      const messageCount = Number(statistics.channelMessageCounts.get(channel.id) ?? 0n);
      return {
        id: channel.id,
        topic: channel.topic,
        schemaName: schema?.name ?? '',
        schemaEncoding: schema?.encoding ?? '',
        messageEncoding: channel.messageEncoding,
        messageCount,
        hz: seconds > 0 && messageCount > 1 ? (messageCount - 1) / seconds : 0,
        bytes: topicBytes === undefined ? null : (topicBytes.get(channel.id) ?? 0),
      };
    }),
    compression: Object.fromEntries(
      [...compression].map(([key, counts]) => [
        key === '' ? 'none' : key,
        {
          ...counts,
          ratio: counts.uncompressedBytes > 0 ? counts.compressedBytes / counts.uncompressedBytes : null,
        },
      ]),
    ),
    attachmentCount: attachments.length,
    metadataCount: metadata.length,
    attachments: attachments.map((attachment) => ({
      name: attachment.name,
      mediaType: attachment.mediaType,
      bytes: attachment.dataSize,
      logTime: String(attachment.logTime),
      createTime: String(attachment.createTime),
    })),
    metadata: metadata.map((record) => record.name),
    rosbag2: bagMetadata(bag),
    damage,
  };
}

/** rosbag2 puts the text of its metadata.yaml under one key. */
function bagMetadata(bag: ReadonlyMap<string, string> | undefined): BagMetadata | null {
  const text = bag?.get('serialized_metadata');
  if (text === undefined) return null;
  try {
    return parseBagMetadata(text);
  } catch (error) {
    if (error instanceof McapStreamsError) return null;
    throw error;
  }
}

export function reportJson(report: InfoReport): string {
  return `${JSON.stringify(report)}\n`;
}

export function reportText(report: InfoReport): string {
  const { startTime, endTime, duration } = report;
  const rows: string[][] = [
    ['file:', `${report.file}, ${formatBytes(report.bytes)}`],
    ['profile:', report.profile],
    ['library:', report.library],
    ['counted:', countedText(report)],
    ['messages:', String(report.messageCount)],
  ];
  if (startTime !== null && endTime !== null && duration !== null) {
    rows.push(
      ['start:', `${formatTime(BigInt(startTime))} (${startTime})`],
      ['end:', `${formatTime(BigInt(endTime))} (${endTime})`],
      ['duration:', formatDuration(BigInt(duration))],
    );
  }
  for (const [name, { chunkCount, compressedBytes, uncompressedBytes, ratio }] of Object.entries(report.compression)) {
    const share = ratio === null ? '' : ` (${(ratio * 100).toFixed(1)} %)`;
    const sizes = `${formatBytes(uncompressedBytes)} in ${formatBytes(compressedBytes)}${share}`;
    rows.push(['chunks:', `${chunkCount} ${name}, ${sizes}`]);
  }
  if (Object.keys(report.compression).length === 0) rows.push(['chunks:', 'none']);
  rows.push(['attachments:', String(report.attachmentCount)], ['metadata:', String(report.metadataCount)]);
  for (const { code, offset, message } of report.damage) rows.push(['damage:', `${code} at ${offset}: ${message}`]);
  const topics = [...report.topics].sort((a, b) => (a.topic < b.topic ? -1 : 1));
  const list = table([
    ['topic', 'type', 'encoding', 'count', 'Hz', 'bytes'],
    ...topics.map((topic) => [
      topic.topic,
      topic.schemaName === '' ? '(no schema)' : topic.schemaName,
      topic.schemaEncoding === '' ? topic.messageEncoding : `${topic.messageEncoding}/${topic.schemaEncoding}`,
      topic.messageCount,
      topic.hz.toFixed(2),
      topic.bytes === null ? '- (--scan)' : formatBytes(topic.bytes),
    ]),
  ]);
  return `${table(rows)}\n\n${list}\n${attachmentText(report)}${metadataText(report)}`;
}

function countedText({ counted, summaryMissing }: InfoReport): string {
  if (counted === 'summary') return 'from the summary';
  return summaryMissing ? 'by reading everything: the summary is missing' : 'by reading everything';
}

function attachmentText({ attachments }: InfoReport): string {
  if (attachments.length === 0) return '';
  const list = table([
    ['attachment', 'media type', 'bytes', 'log time'],
    ...attachments.map(({ name, mediaType, bytes, logTime }) => [
      name,
      mediaType,
      formatBytes(bytes),
      formatTime(BigInt(logTime)),
    ]),
  ]);
  return `\n${list}\n`;
}

function metadataText({ metadata, rosbag2 }: InfoReport): string {
  if (metadata.length === 0) return '';
  const names = `\nmetadata: ${metadata.join(', ')}\n`;
  if (rosbag2 === null) return names;
  const { version, storageIdentifier, messageCount, compressionFormat, compressionMode, relativeFilePaths } = rosbag2;
  const rows = [
    ['  version:', String(version)],
    ['  storage:', storageIdentifier],
    ['  messages:', String(messageCount)],
    ['  files:', relativeFilePaths.join(', ')],
    ['  compression:', compressionMode === '' ? 'none' : `${compressionMode} ${compressionFormat}`],
  ];
  return `${names}rosbag2:\n${table(rows)}\n`;
}
