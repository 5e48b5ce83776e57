/**
 * One side of a measurement, a process by itself: `node side.js own|peer JOB FILE [rounds] [threads]`. Prints JSON: ms of
 * each round, messages, peak RSS, CPU time, and a checksum over topics and times, or over text, that both sides have to
 * agree on.
 *
 * Jobs: `raw` records and `decode`; own ones are also `batch`, `staged` (McapRecordParser -> Ros2Decoder), `/topic` and
 * `/topic:field,field`, `file` (readRecording), `rewrite` (decode, encode, write),
 * `ndjson` of /Odometry and `stringify` (the same text by JSON.stringify).
 */
import { createReadStream } from 'node:fs';
import { createRequire } from 'node:module';
import { finished } from 'node:stream/promises';
import { crc32 } from 'node:zlib';
import type { DecodedMessage } from '../../lib/index.js';
import { loadPackage } from '../package.js';

interface Peer {
  MessageReader: new (definitions: unknown) => { readMessage(bytes: Uint8Array): unknown };
}
const require = createRequire(import.meta.url);
/** Both sides read files in pieces of this size, which suits both better than Node's 64 KiB. */
const PIECE = 512 * 1024;

const [side = '', job = '', file = '', rounds = '1', threads] = process.argv.slice(2);
let messages = 0;
let checksum = 0;
let kept: unknown;

function count(topicLength: number, logTime: bigint): void {
  messages++;
  checksum = (Math.imul(checksum, 31) + topicLength + Number(logTime & 0xffffffn)) | 0;
}

// Each side loads what it needs, and no more: the start of a process is part of the measure.
async function peer(): Promise<void> {
  const { default: zstd } = await import('@foxglove/wasm-zstd');
  const { default: lz4 } = await import('@foxglove/wasm-lz4');
  const { McapStreamReader } = await import('@mcap/core');
  await zstd.isLoaded;
  await lz4.isLoaded;
  const { MessageReader } = require('@foxglove/rosmsg2-serialization') as Peer;
  const { parse } = require('@foxglove/rosmsg') as { parse: (text: string, options: object) => unknown };
  const reader = new McapStreamReader({
    decompressHandlers: {
      zstd: (data, size) => zstd.decompress(data, Number(size)),
      lz4: (data, size) => lz4(data, Number(size)),
    },
  });
  const schemas = new Map<number, Uint8Array>();
  const channels = new Map<
    number,
    { topic: string; decoder: { readMessage(bytes: Uint8Array): unknown } | undefined }
  >();
  for await (const chunk of createReadStream(file, { highWaterMark: PIECE })) {
    reader.append(chunk as Buffer);
    for (let record = reader.nextRecord(); record !== undefined; record = reader.nextRecord()) {
      if (record.type === 'Schema') schemas.set(record.id, record.data);
      if (record.type === 'Channel' && !channels.has(record.id)) {
        const text = Buffer.from(schemas.get(record.schemaId) ?? []).toString();
        const decoder = job === 'raw' ? undefined : new MessageReader(parse(text, { ros2: true }));
        channels.set(record.id, { topic: record.topic, decoder });
      }
      if (record.type !== 'Message') continue;
      const channel = channels.get(record.channelId);
      kept = job === 'raw' ? record : channel?.decoder?.readMessage(record.data);
      count(channel?.topic.length ?? 0, record.logTime);
    }
  }
}

async function own(): Promise<void> {
  const { decodeStream, encodeStream, McapRecordParser, ndjson, readRecording, Ros2Decoder } = await loadPackage();
  const source = createReadStream(file, { highWaterMark: PIECE });
  const options = threads === undefined ? {} : { threads: Number(threads) };
  if (job === 'raw') {
    const parser = new McapRecordParser(options);
    const topics = new Map<number, string>();
    parser.on('data', (record: { type: string; id: number; topic: string; channelId: number; logTime: bigint }) => {
      if (record.type === 'Channel') topics.set(record.id, record.topic);
      if (record.type !== 'Message') return;
      kept = record;
      count(topics.get(record.channelId)?.length ?? 0, record.logTime);
    });
    await finish(source, parser);
    return;
  }
  if (job === 'batch') {
    const stage = decodeStream({ ...options, batch: 512 });
    stage.on('data', (batch: { topic: string; logTime: bigint; message: unknown }[]) => {
      for (const { topic, logTime, message } of batch) {
        kept = message;
        count(topic.length, logTime);
      }
    });
    await finish(source, stage);
    return;
  }
  if (job === 'ndjson' || job === 'stringify') {
    const lines = (text: Buffer | string): void => {
      const bytes = Buffer.from(text);
      checksum = crc32(bytes, checksum);
      for (let at = bytes.indexOf(10); at >= 0; at = bytes.indexOf(10, at + 1)) messages++;
    };
    const stage = decodeStream({ ...options, topics: ['/Odometry'], batch: 512 });
    if (job === 'ndjson') {
      const out = ndjson();
      out.on('data', lines);
      await finish(source, stage, out);
      return;
    }
    stage.on('data', (batch: DecodedMessage[]) => {
      const texts = batch.map(({ topic, schemaName, logTime, publishTime, sequence, message }) =>
        JSON.stringify({ topic, schemaName, logTime, publishTime, sequence, message }, form),
      );
      lines(`${texts.join('\n')}\n`);
    });
    await finish(source, stage);
    return;
  }
  if (job === 'rewrite') {
    const decoder = decodeStream({ ...options, batch: 512 });
    const encoder = encodeStream({ ...options, compression: 'zstd', compressionLevel: 1 });
    encoder.resume();
    await finish(source, decoder, encoder);
    ({ messages } = decoder.stats);
    return;
  }
  if (job === 'file') {
    const reader = readRecording(file, options);
    reader.on('data', ({ topic, logTime, message }: { topic: string; logTime: bigint; message: unknown }) => {
      kept = message;
      count(topic.length, logTime);
    });
    await finished(reader);
    return;
  }
  const stage = job === 'staged' ? new Ros2Decoder() : decodeStream({ ...options, ...selection() });
  stage.on('data', ({ topic, logTime, message }: { topic: string; logTime: bigint; message: unknown }) => {
    kept = message;
    count(topic.length, logTime);
  });
  await (job === 'staged' ? finish(source, new McapRecordParser(options), stage) : finish(source, stage));
}

/** `/topic` or `/topic:field,field`. */
function selection(): { topics?: string[]; fields?: string[] } {
  if (!job.startsWith('/')) return {};
  const [topic = '', fields] = job.split(':');
  return fields === undefined ? { topics: [topic] } : { topics: [topic], fields: fields.split(',') };
}

/** What JSON cannot hold, in the form that NDJSON has. */
function form(_key: string, value: unknown): unknown {
  if (typeof value === 'bigint') return value.toString();
  if (value instanceof Uint8Array) return Buffer.from(value.buffer, value.byteOffset, value.length).toString('base64');
  return ArrayBuffer.isView(value) ? Array.from(value as unknown as ArrayLike<unknown>) : value;
}

async function finish(source: NodeJS.ReadableStream, ...stages: NodeJS.ReadWriteStream[]): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    source.on('error', reject);
    let from = source;
    for (const stage of stages) {
      stage.on('error', reject);
      from = from.pipe(stage);
    }
    from.on('end', resolve);
  });
}

const times: number[] = [];
for (let n = 0; n < Number(rounds); n++) {
  messages = checksum = 0;
  const started = performance.now();
  await (side === 'peer' ? peer() : own());
  times.push(performance.now() - started);
}
const { maxRSS, userCPUTime, systemCPUTime } = process.resourceUsage();
const cpu = (userCPUTime + systemCPUTime) / 1000;
console.log(JSON.stringify({ times, messages, checksum, peak: maxRSS / 1024, cpu, kept: typeof kept }));
