import fc from 'fast-check';
import { McapIndexedReader } from '@mcap/core';
import test from 'ava';
import { crc32 } from 'node:zlib';
import type { McapRecord, McapRecordWriterOptions } from '../../lib/index.js';
import { decompressHandlers, readable, streamRead, writtenRecords } from '../helpers/written.js';

const bytes = (max: number): fc.Arbitrary<Uint8Array> => fc.uint8Array({ maxLength: max });
const time = fc.oneof(fc.bigInt({ min: 0n, max: 20n }), fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }));
const text = fc.string({ unit: 'grapheme', maxLength: 8 });
const map = fc.array(fc.tuple(text, text), { maxLength: 3 }).map((entries) => new Map(entries));
const uint32 = fc.integer({ min: 0, max: 2 ** 32 - 1 });

const CHANNELS = 4;

const body: fc.Arbitrary<McapRecord> = fc.oneof(
  {
    weight: 12,
    arbitrary: fc.record({
      type: fc.constant('Message' as const),
      channelId: fc.integer({ min: 0, max: CHANNELS - 1 }),
      sequence: uint32,
      logTime: time,
      publishTime: time,
      data: fc.oneof(bytes(40), fc.constant(new Uint8Array(700).fill(3))),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      type: fc.constant('Attachment' as const),
      name: text,
      mediaType: text,
      logTime: time,
      createTime: time,
      data: bytes(60),
    }),
  },
  { weight: 1, arbitrary: fc.record({ type: fc.constant('Metadata' as const), name: text, metadata: map }) },
  {
    weight: 1,
    arbitrary: fc.record({
      type: fc.constant('Unknown' as const),
      opcode: fc.integer({ min: 16, max: 255 }),
      data: bytes(20),
    }),
  },
);

const options: fc.Arbitrary<McapRecordWriterOptions> = fc.record({
  chunkSize: fc.constantFrom(1, 100, 500, 3000),
  useChunks: fc.boolean(),
  compression: fc.constantFrom('zstd', 'lz4', 'none'),
  threads: fc.constantFrom(0, 1),
  useMessageIndex: fc.boolean(),
  useSummaryOffsets: fc.boolean(),
  enableCrcs: fc.boolean(),
  maxIndexBytes: fc.constantFrom(0, 2 ** 20),
});

const recording = fc
  .tuple(fc.array(map, { minLength: CHANNELS, maxLength: CHANNELS }), fc.array(body, { maxLength: 60 }))
  .map(([metadata, records]): McapRecord[] => [
    { type: 'Header', profile: 'p', library: 'l' },
    { type: 'Schema', id: 9, name: 'p/msg/A', encoding: 'ros2msg', data: Buffer.from('uint8 x') },
    ...metadata.map((entries, id): McapRecord => ({
      type: 'Channel',
      id,
      schemaId: id === 0 ? 0 : 9,
      topic: `/t${id}`,
      messageEncoding: 'cdr',
      metadata: entries,
    })),
    ...records,
  ]);

function shown(record: object): string {
  const fields = Object.entries(record).map(([name, value]: [string, unknown]) => {
    if (value instanceof Map) return [name, [...(value as Map<string, string>)]];
    if (value instanceof Uint8Array) return [name, Buffer.from(value).toString('hex')];
    return [name, typeof value === 'bigint' ? String(value) : value];
  });
  return JSON.stringify(fields.sort());
}

const only = (records: readonly { type: string }[], type: string): string[] => [
  ...new Set(records.filter((record) => record.type === type).map(shown)),
];
const each = (records: readonly { type: string }[], type: string): string[] =>
  records.filter((record) => record.type === type).map(shown);

test('what is written is what @mcap/core reads, in any mix of records and options', async (t) => {
  await fc.assert(
    fc.asyncProperty(recording, options, async (records, chosen) => {
      const file = await writtenRecords(records, chosen);
      const read = streamRead(file);
      for (const type of ['Message', 'Attachment', 'Metadata', 'Unknown', 'Header']) {
        t.deepEqual(each(read, type), each(records, type), type);
      }
      for (const type of ['Schema', 'Channel']) t.deepEqual(only(read, type).sort(), only(records, type).sort(), type);
      const messages = records.flatMap((record) => (record.type === 'Message' ? [record] : []));
      const reader = await McapIndexedReader.Initialize({ readable: readable(file), decompressHandlers });
      const times = messages.map(({ logTime }) => logTime).sort((a, b) => (a < b ? -1 : a > b ? 1 : 0));
      const counts = new Map<number, bigint>();
      for (const { channelId } of messages) counts.set(channelId, (counts.get(channelId) ?? 0n) + 1n);
      t.like(reader.statistics, {
        messageCount: BigInt(messages.length),
        schemaCount: 1,
        channelCount: CHANNELS,
        attachmentCount: each(records, 'Attachment').length,
        metadataCount: each(records, 'Metadata').length,
        chunkCount: reader.chunkIndexes.length,
        messageStartTime: times[0] ?? 0n,
        messageEndTime: times.at(-1) ?? 0n,
      });
      t.deepEqual(new Map([...(reader.statistics?.channelMessageCounts ?? [])].sort()), new Map([...counts].sort()));
      const attachments = [];
      for await (const attachment of reader.readAttachments()) attachments.push(attachment);
      t.is(attachments.length, each(records, 'Attachment').length);
      // It does not read by time without message indexes.
      if (chosen.useChunks === true && chosen.useMessageIndex === true) {
        const inOrder = [];
        for await (const { logTime } of reader.readMessages()) inOrder.push(logTime);
        t.deepEqual(inOrder, times);
      }
      offsetsAreRight(file, chosen.enableCrcs === true);
    }),
    { numRuns: 300 },
  );
});

/** Footer, SummaryOffsets and the CRCs of sections, checked byte by byte. */
function offsetsAreRight(file: Buffer, withCrcs: boolean): void {
  const footer = file.length - 8 - 20;
  const summaryStart = Number(file.readBigUInt64LE(footer));
  const offsetStart = Number(file.readBigUInt64LE(footer + 8));
  const fail = (what: string): never => {
    throw new Error(what);
  };
  const crc = file.readUInt32LE(footer + 16);
  if (crc !== (withCrcs ? crc32(file.subarray(summaryStart, footer + 16)) : 0)) fail('summary CRC');
  const dataEnd = summaryStart - 13;
  if (file[dataEnd] !== 15) fail('DataEnd does not stand before the summary section');
  if (file.readUInt32LE(dataEnd + 9) !== (withCrcs ? crc32(file.subarray(0, dataEnd)) : 0)) fail('data section CRC');
  let at = offsetStart === 0 ? footer - 9 : offsetStart;
  for (; at < footer - 9; at += 9 + 17) {
    const group = file[at + 9] ?? 0;
    let start = Number(file.readBigUInt64LE(at + 10));
    const end = start + Number(file.readBigUInt64LE(at + 18));
    for (; start < end; start += 9 + Number(file.readBigUInt64LE(start + 1))) if (file[start] !== group) fail('group');
    if (start !== end) fail('length of a group');
  }
}
