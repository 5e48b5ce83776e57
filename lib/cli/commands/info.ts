/** `mcap-ros2 info`: what a recording holds, counted by reading it. */
import { pipeline } from 'node:stream/promises';
import { McapStreamsError } from '../../errors.js';
import type { ChannelRecord, HeaderRecord, McapRecord, SchemaRecord } from '../../mcap/records.js';
import { McapRecordParser } from '../../streams/mcap-record-parser.js';
import { formatDuration, formatTime } from '../../time.js';
import { inputName, openInput } from '../input.js';
import { EXIT, StdoutWriter, warn } from '../output.js';
import type { ExitCode } from '../output.js';
import { formatBytes, table } from '../table.js';

interface ChannelInfo {
  readonly id: number;
  readonly topic: string;
  readonly schemaName: string;
  readonly schemaEncoding: string;
  readonly messageEncoding: string;
  messageCount: number;
}

interface CompressionInfo {
  chunkCount: number;
  compressedBytes: bigint;
  uncompressedBytes: bigint;
}

/** Gathers what `info` shows. */
class Survey {
  header: HeaderRecord | undefined;
  readonly channels = new Map<number, ChannelInfo>();
  readonly schemas = new Map<number, SchemaRecord>();
  readonly compression = new Map<string, CompressionInfo>();
  messageCount = 0;
  attachmentCount = 0;
  metadataCount = 0;
  start: bigint | undefined;
  end: bigint | undefined;

  add(record: McapRecord): void {
    switch (record.type) {
      case 'Header':
        this.header = record;
        break;
      case 'Schema':
        this.schemas.set(record.id, record);
        break;
      case 'Channel':
        this.#addChannel(record);
        break;
      case 'Message': {
        const channel = this.channels.get(record.channelId);
        if (channel !== undefined) channel.messageCount++;
        this.messageCount++;
        const { logTime } = record;
        if (this.start === undefined || logTime < this.start) this.start = logTime;
        if (this.end === undefined || logTime > this.end) this.end = logTime;
        break;
      }
      case 'Chunk': {
        const name = record.compression === '' ? 'none' : record.compression;
        const info = this.compression.get(name) ?? { chunkCount: 0, compressedBytes: 0n, uncompressedBytes: 0n };
        info.chunkCount++;
        info.compressedBytes += BigInt(record.records.length);
        info.uncompressedBytes += record.uncompressedSize;
        this.compression.set(name, info);
        break;
      }
      case 'Attachment':
        this.attachmentCount++;
        break;
      case 'Metadata':
        this.metadataCount++;
        break;
      default:
        break;
    }
  }

  #addChannel(record: ChannelRecord): void {
    if (this.channels.has(record.id)) return;
    const schema = this.schemas.get(record.schemaId);
    this.channels.set(record.id, {
      id: record.id,
      topic: record.topic,
      schemaName: schema?.name ?? '',
      schemaEncoding: schema?.encoding ?? '',
      messageEncoding: record.messageEncoding,
      messageCount: 0,
    });
  }

  /** Rate over the whole recording; 0 where it has no length. */
  hz(channel: ChannelInfo): number {
    const seconds = Number((this.end ?? 0n) - (this.start ?? 0n)) / 1e9;
    return seconds > 0 && channel.messageCount > 1 ? (channel.messageCount - 1) / seconds : 0;
  }
}

export async function info(path: string | undefined, options: { json?: boolean }): Promise<ExitCode> {
  const name = inputName(path);
  const survey = new Survey();
  const parser = new McapRecordParser({
    include: ['Header', 'Schema', 'Channel', 'Message', 'Chunk', 'Attachment', 'Metadata'],
    damage: 'end',
  });
  try {
    await pipeline(openInput(path), parser, async (records: AsyncIterable<McapRecord>) => {
      for await (const record of records) survey.add(record);
    });
  } catch (error) {
    if (!(error instanceof McapStreamsError)) throw error;
    warn(`${name}: ${error.message}`);
    return EXIT.failure;
  }
  const damage = parser.stats.damage.map(({ code, offset, error }) => ({ code, offset, message: error.message }));
  for (const { message } of damage) warn(`${name}: ${message}`);
  const out = new StdoutWriter();
  await out.write(
    options.json === true ? asJson(survey, parser.stats.bytes, damage) : asText(survey, name, parser.stats.bytes),
  );
  await out.finish();
  return damage.length > 0 ? EXIT.dataLoss : EXIT.whole;
}

function asJson(survey: Survey, bytes: number, damage: readonly object[]): string {
  const { start, end } = survey;
  const report = {
    profile: survey.header?.profile ?? '',
    library: survey.header?.library ?? '',
    bytes,
    messageCount: survey.messageCount,
    startTime: start === undefined ? null : String(start),
    endTime: end === undefined ? null : String(end),
    duration: start === undefined || end === undefined ? null : String(end - start),
    topics: [...survey.channels.values()].map((channel) => ({ ...channel, hz: survey.hz(channel) })),
    compression: Object.fromEntries(
      [...survey.compression].map(([name, counts]) => [
        name,
        {
          chunkCount: counts.chunkCount,
          compressedBytes: Number(counts.compressedBytes),
          uncompressedBytes: Number(counts.uncompressedBytes),
        },
      ]),
    ),
    attachmentCount: survey.attachmentCount,
    metadataCount: survey.metadataCount,
    damage,
  };
  return `${JSON.stringify(report)}\n`;
}

function asText(survey: Survey, name: string, bytes: number): string {
  const { start, end, header } = survey;
  const rows: string[][] = [
    ['file:', `${name}, ${formatBytes(bytes)}`],
    ['profile:', header?.profile ?? ''],
    ['library:', header?.library ?? ''],
    ['messages:', String(survey.messageCount)],
  ];
  if (start !== undefined && end !== undefined) {
    rows.push(
      ['start:', `${formatTime(start)} (${start})`],
      ['end:', `${formatTime(end)} (${end})`],
      ['duration:', formatDuration(end - start)],
    );
  }
  for (const [compression, { chunkCount, compressedBytes, uncompressedBytes }] of survey.compression) {
    const ratio =
      uncompressedBytes > 0n ? ` (${((Number(compressedBytes) / Number(uncompressedBytes)) * 100).toFixed(1)} %)` : '';
    const sizes = `${formatBytes(uncompressedBytes)} in ${formatBytes(compressedBytes)}${ratio}`;
    rows.push(['chunks:', `${chunkCount} ${compression}, ${sizes}`]);
  }
  if (survey.compression.size === 0) rows.push(['chunks:', 'none']);
  rows.push(['attachments:', String(survey.attachmentCount)], ['metadata:', String(survey.metadataCount)]);
  const channels = [...survey.channels.values()].sort((a, b) => (a.topic < b.topic ? -1 : 1));
  const list = table([
    ['topic', 'type', 'encoding', 'count', 'Hz'],
    ...channels.map((channel) => [
      channel.topic,
      channel.schemaName === '' ? '(no schema)' : channel.schemaName,
      channel.schemaEncoding === '' ? channel.messageEncoding : `${channel.messageEncoding}/${channel.schemaEncoding}`,
      channel.messageCount,
      survey.hz(channel).toFixed(2),
    ]),
  ]);
  return `${table(rows)}\n\n${list}\n`;
}
