import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import test from 'ava';
import { decompress } from 'fzstd';
import type { ExecutionContext } from 'ava';
import { compileCodec, McapRecordParser, McapRecordWriter, Ros2Decoder, Ros2Encoder } from '../../lib/index.js';
import type { McapRecord, McapRecordType, McapRecordWriterOptions, SchemaRecord } from '../../lib/index.js';
import { ROOT, readShared, sharedFiles, sharedTest } from '../helpers/shared.js';
import { indexRead, streamRead, written } from '../helpers/written.js';

/** Records that a writer makes itself. */
const DERIVED = new Set<string>([
  'MessageIndex',
  'ChunkIndex',
  'AttachmentIndex',
  'MetadataIndex',
  'Statistics',
  'SummaryOffset',
  'DataEnd',
  'Footer',
  'Chunk',
]);

interface Content {
  header: unknown;
  schemas: Map<number, unknown>;
  channels: Map<number, unknown>;
  messages: string[];
  others: unknown[];
}

/** What a recording says, without how. */
function contentOf(
  records: Iterable<{ type: string }>,
  payload = (_: number, data: Uint8Array): Uint8Array => data,
): Content {
  const content: Content = { header: undefined, schemas: new Map(), channels: new Map(), messages: [], others: [] };
  for (const record of records as Iterable<McapRecord>) {
    if (DERIVED.has(record.type)) continue;
    switch (record.type) {
      case 'Header':
        content.header = record;
        break;
      case 'Schema':
        content.schemas.set(record.id, { ...record, data: Buffer.from(record.data).toString('latin1') });
        break;
      case 'Channel':
        content.channels.set(record.id, { ...record, metadata: [...record.metadata] });
        break;
      case 'Message': {
        const { channelId, sequence, logTime, publishTime, data } = record;
        const hash = createHash('sha256').update(payload(channelId, data)).digest('hex');
        content.messages.push(`${channelId} ${sequence} ${logTime} ${publishTime} ${data.length > 0} ${hash}`);
        break;
      }
      default:
        content.others.push(record);
    }
  }
  return content;
}

async function parsed(bytes: Uint8Array, include?: McapRecordType[]): Promise<McapRecord[]> {
  const records: McapRecord[] = [];
  await pipeline(Readable.from([bytes]), new McapRecordParser({ damage: 'end', include }), async (source) => {
    for await (const record of source) records.push(record);
  });
  return records;
}

function recordings(): { name: string; bytes: Buffer }[] {
  const own = ['imu-zstd', 'robot-lz4', 'sensors-none', 'status-unchunked', 'primitives-zstd'].map((name) => ({
    name,
    bytes: readFileSync(join(ROOT, 'fixtures/recordings', `${name}.mcap`)),
  }));
  const shared = sharedFiles('recordings', '.mcap').map((name) => ({ name, bytes: readShared('recordings', name) }));
  const isMcap = ({ bytes }: { bytes: Buffer }): boolean => bytes.subarray(0, 8).toString('hex') === '894d434150300d0a';
  return [...own, ...shared].filter(isMcap);
}

async function passes(
  t: ExecutionContext,
  name: string,
  bytes: Buffer,
  options: McapRecordWriterOptions,
): Promise<void> {
  const records = await parsed(bytes);
  const out = await written(records, new McapRecordWriter(options));
  const before = contentOf(records);
  t.deepEqual(contentOf(await parsed(out)), before, name);
  t.deepEqual(contentOf(streamRead(out)), before, name);
  const { reader, messages } = await indexRead(out);
  t.is(messages.length, before.messages.length, name);
  t.is(reader.statistics?.messageCount, BigInt(before.messages.length), name);
  t.is(reader.channelsById.size, before.channels.size, name);
  t.is(reader.schemasById.size, before.schemas.size, name);
}

for (const options of [{}, { compression: 'lz4' }, { chunkSize: 10_000, compression: 'none' }] as const) {
  test(`every recording passes through parser and writer without a loss: ${JSON.stringify(options)}`, async (t) => {
    t.timeout(120_000);
    for (const { name, bytes } of recordings()) await passes(t, name, bytes, options);
  });
}

test('an unchunked copy of every recording says the same', async (t) => {
  t.timeout(120_000);
  for (const { name, bytes } of recordings()) {
    const records = await parsed(bytes);
    const out = await written(records, new McapRecordWriter({ useChunks: false }));
    t.deepEqual(contentOf(streamRead(out)), contentOf(records), name);
  }
});

/** A payload of rosbag2's MESSAGE compression mode is decompressed on the way. */
function isZstd(data: Uint8Array): boolean {
  return Buffer.from(data.subarray(0, 4)).toString('hex') === '28b52ffd';
}

/** Payloads as they are after decoding and encoding; undecoded ones as they are. */
function normalizer(records: readonly McapRecord[]): (channelId: number, data: Uint8Array) => Uint8Array {
  const schemas = new Map<number, SchemaRecord>();
  const channels = new Map<number, SchemaRecord | undefined>();
  for (const record of records) {
    if (record.type === 'Schema') schemas.set(record.id, record);
    if (record.type === 'Channel' && record.messageEncoding === 'cdr')
      channels.set(record.id, schemas.get(record.schemaId));
  }
  return (channelId, data) => {
    const schema = channels.get(channelId);
    if (schema === undefined) return data;
    try {
      const codec = compileCodec(schema);
      return codec.encode(codec.decode(isZstd(data) ? decompress(data) : data));
    } catch {
      return data;
    }
  };
}

test('every recording passes through decoder and encoder without a loss', async (t) => {
  t.timeout(120_000);
  for (const { name, bytes } of recordings()) {
    const records = await parsed(bytes);
    const out: Buffer[] = [];
    await pipeline(
      Readable.from(records),
      new Ros2Decoder({ passRecords: true, undecodable: 'raw', unsupported: 'raw' }),
      new Ros2Encoder(),
      new McapRecordWriter(),
      async (source) => {
        for await (const part of source as AsyncIterable<Buffer>) out.push(part);
      },
    );
    const after = contentOf(streamRead(Buffer.concat(out)));
    t.deepEqual(after, contentOf(records, normalizer(records)), name);
  }
});

const CHUNKS: McapRecordType[][] = [
  ['Header', 'Schema', 'Channel', 'Message', 'Chunk', 'MessageIndex', 'Attachment', 'Metadata', 'Unknown', 'DataEnd'],
  [
    'Header',
    'Schema',
    'Channel',
    'Chunk',
    'MessageIndex',
    'Attachment',
    'Metadata',
    'Unknown',
    'DataEnd',
    'Statistics',
  ],
];

/** The outer records of a file, as bytes. */
function frames(bytes: Buffer): { opcode: number; bytes: string }[] {
  const found = [];
  for (let at = 8; at + 9 <= bytes.length - 8;) {
    const length = Number(bytes.readBigUInt64LE(at + 1));
    found.push({ opcode: bytes[at] ?? 0, bytes: bytes.subarray(at, at + 9 + length).toString('hex') });
    at += 9 + length;
  }
  return found;
}

for (const [index, include] of CHUNKS.entries()) {
  test(`chunks and their indexes pass unchanged with chunks: 'raw', ${index === 0 ? 'messages included' : 'without messages'}`, async (t) => {
    t.timeout(120_000);
    for (const { name, bytes } of recordings()) {
      const all = await parsed(bytes);
      // What is cut or flawed is the parser's affair, and a chunk without indexes cannot be counted without its messages.
      if (all.at(-1)?.type !== 'Footer') continue;
      const hasIndexes = all.some(({ type }) => type === 'MessageIndex');
      if (index === 1 && !hasIndexes) continue;
      const out = await written(await parsed(bytes, include), new McapRecordWriter({ chunks: 'raw' }));
      // Messages outside chunks are gathered in one.
      if (!frames(bytes).some(({ opcode }) => opcode === 6)) continue;
      const isChunk = ({ opcode }: { opcode: number }): boolean => opcode === 6 || opcode === 7;
      t.deepEqual(frames(out).filter(isChunk), frames(bytes).filter(isChunk), name);
      if (index === 0) t.deepEqual(contentOf(streamRead(out)), contentOf(all), name);
      const { reader } = await indexRead(out);
      const counted = contentOf(streamRead(out));
      t.is(reader.statistics?.messageCount, BigInt(counted.messages.length), name);
    }
  });
}

sharedTest('the recordings are there', (t) => {
  t.true(recordings().length > 20);
});
