import { compressFrameSync } from 'lz4-napi';
import zstd from '@foxglove/wasm-zstd';
import test from 'ava';
import { McapRecordParser } from '../../lib/index.js';
import type { DamageReport, McapRecord, McapRecordParserOptions } from '../../lib/index.js';
import * as mcap from '../helpers/mcap-bytes.js';
import { collect, pieces } from '../helpers/streams.js';
import { Random } from '../helpers/random.js';

const definitions = Buffer.concat([mcap.schema(1), mcap.channel(1, 1)]);

function chunkOf(from: number, to: number, fields?: mcap.ChunkFields): Buffer {
  const messages = Array.from({ length: to - from }, (_, n) => mcap.message(1, from + n));
  return mcap.chunk(Buffer.concat(messages), fields);
}

function index(channelId: number): Buffer {
  return mcap.record(7, mcap.u16(channelId), mcap.prefixed(Buffer.concat([mcap.u64(1), mcap.u64(0)])));
}

/** A record with another length in its prefix. */
function lying(record: Buffer, length: number | bigint): Buffer {
  const copy = Buffer.from(record);
  copy.writeBigUInt64LE(BigInt(length), 1);
  return copy;
}

async function skip(bytes: Uint8Array | Iterable<Uint8Array>, options: McapRecordParserOptions = {}) {
  const reports: DamageReport[] = [];
  const parser = new McapRecordParser({ damage: 'skip', onDamage: (report) => reports.push(report), ...options });
  const { got, error } = await collect(bytes, parser);
  return { got, error, reports, times: times(got) };
}

function times(records: readonly McapRecord[]): number[] {
  return records.flatMap((record) => (record.type === 'Message' ? [Number(record.logTime)] : []));
}

function range(from: number, to: number): number[] {
  return Array.from({ length: to - from }, (_, n) => from + n);
}

const before = [definitions, chunkOf(0, 10), index(1)];
const after = [chunkOf(20, 30), index(1), chunkOf(30, 40), index(1)];

for (const [title, length] of [
  ['a little too long', (right: number) => right + 100],
  ['too long by a megabyte', (right: number) => right + 1_000_000],
  ['too long by 400 MB', (right: number) => right + 400_000_000],
  ['above every limit', () => 2n ** 60n],
  ['too short', (right: number) => Math.max(1, right - 50)],
  ['nothing', () => 0],
] as [string, (right: number) => number | bigint][]) {
  for (const [kind, record] of [
    ['a chunk', chunkOf(10, 20)],
    [
      'a compressed chunk',
      chunkOf(10, 20, { compression: 'lz4', data: compressFrameSync(Buffer.alloc(300, 7)), size: 300 }),
    ],
    ['a schema', mcap.schema(2, { data: 'uint8 something_else' })],
    ['a channel', mcap.channel(2, 1, { topic: '/other' })],
    ['a message index', index(1)],
    ['metadata', mcap.metadata('robot', [['serial', '42']])],
    ['a message', mcap.message(1, 15, Buffer.alloc(60, 1))],
    ['an attachment', mcap.attachment('a', Buffer.alloc(200, 1))],
  ] as [string, Buffer][]) {
    test(`${kind} whose length is ${title} loses itself only`, async (t) => {
      const wrong = lying(record, length(record.length - 9));
      const bytes = mcap.file(...before, wrong, ...after);
      for (const input of [bytes, pieces(bytes, 61)]) {
        for (const options of [{}, { attachments: 'skip' }] as const) {
          const { error, times: got, reports } = await skip(input === bytes ? bytes : pieces(bytes, 61), options);
          t.is(error, undefined);
          t.deepEqual(
            got.filter((time) => time < 10 || time >= 20),
            [...range(0, 10), ...range(20, 40)],
          );
          t.true(reports.length >= 1);
        }
      }
    });
  }
}

test('zeroed blocks and noise between records are passed over, and their bytes are told', async (t) => {
  const random = new Random(7);
  const noise = Buffer.from(Array.from({ length: 5000 }, () => random.below(256)));
  for (const gap of [Buffer.alloc(4096), noise, Buffer.from('text '.repeat(500)), Buffer.alloc(3, 0xff)]) {
    const bytes = mcap.file(...before, gap, ...after);
    const { error, times: got, reports } = await skip(pieces(bytes, 1000));
    t.is(error, undefined);
    t.deepEqual(got, [...range(0, 10), ...range(20, 40)]);
    t.deepEqual(
      reports.map(({ bytes: lost }) => lost),
      [gap.length],
      JSON.stringify(reports),
    );
    t.is(reports[0]?.offset, mcap.open(...before).length);
  }
});

test('a chunk with a wrong CRC is dropped whole and told with its bytes', async (t) => {
  const bad = chunkOf(10, 20, { crc: 1 });
  const { times: got, reports } = await skip(mcap.file(...before, bad, ...after));
  t.deepEqual(got, [...range(0, 10), ...range(20, 40)]);
  t.like(reports, [{ code: 'MCAP_CHUNK_CRC_MISMATCH', chunks: 1, bytes: bad.length - 9 }]);
  t.is(reports.length, 1);
});

test('in a chunk without a CRC the records behind a wrong one come out', async (t) => {
  const records = [...range(10, 13).map((time) => mcap.message(1, time)), lying(mcap.message(1, 13), 9999)];
  records.push(...range(14, 20).map((time) => mcap.message(1, time)));
  const { times: got, reports } = await skip(
    mcap.file(...before, mcap.chunk(Buffer.concat(records), { crc: 0 }), ...after),
  );
  t.deepEqual(got, [...range(0, 13), ...range(14, 40)]);
  t.like(reports, [{ code: 'MCAP_BAD_RECORD' }]);
});

test('messages on a channel without a definition are counted, one report a channel', async (t) => {
  const orphans = [5, 5, 6, 5].map((id, n) => mcap.message(id, 10 + n));
  const { times: got, reports } = await skip(mcap.file(...before, mcap.chunk(Buffer.concat(orphans)), ...after));
  t.deepEqual(got, [...range(0, 10), ...range(20, 40)]);
  t.deepEqual(
    reports.map(({ code, messages }) => [code, messages]),
    [
      ['MCAP_UNKNOWN_CHANNEL', 3],
      ['MCAP_UNKNOWN_CHANNEL', 1],
    ],
  );
});

test('wrong CRCs of sections, a missing DataEnd, Header or magic are told, and everything comes out', async (t) => {
  const records = Buffer.concat([...before, ...after]);
  const all = [...range(0, 10), ...range(20, 40)];
  const cases: [string, Buffer][] = [
    ['MCAP_DATA_CRC_MISMATCH', Buffer.concat([mcap.open(records), mcap.dataEnd(1), mcap.footer(), mcap.MAGIC])],
    ['MCAP_SUMMARY_CRC_MISMATCH', Buffer.concat([mcap.open(records), mcap.dataEnd(), mcap.footer(0, 1), mcap.MAGIC])],
    ['MCAP_MISSING_DATA_END', Buffer.concat([mcap.open(records), mcap.footer(), mcap.MAGIC])],
    ['MCAP_MISSING_DATA_END', Buffer.concat([mcap.open(records), mcap.MAGIC])],
    ['MCAP_MISSING_FOOTER', Buffer.concat([mcap.open(records), mcap.dataEnd(), mcap.MAGIC])],
    ['MCAP_MISSING_HEADER', Buffer.concat([mcap.MAGIC, records, mcap.dataEnd(), mcap.footer(), mcap.MAGIC])],
    ['MCAP_BAD_END_MAGIC', Buffer.concat([mcap.open(records), mcap.dataEnd(), mcap.footer(), Buffer.from('xxxxxxxx')])],
    ['MCAP_TRUNCATED', Buffer.concat([mcap.open(records), mcap.dataEnd(), mcap.footer()])],
    ['MCAP_TRUNCATED', mcap.open(records)],
    ['MCAP_TRAILING_DATA', Buffer.concat([mcap.file(records), Buffer.from('junk')])],
    ['MCAP_UNEXPECTED_RECORD', mcap.file(mcap.header(), records)],
    ['MCAP_UNEXPECTED_RECORD', mcap.file(mcap.dataEnd(), records)],
    ['MCAP_CHANNEL_REDEFINED', mcap.file(records, mcap.channel(1, 1, { topic: '/other' }))],
  ];
  for (const [code, bytes] of cases) {
    const { error, times: got, reports } = await skip(bytes);
    t.is(error, undefined);
    t.deepEqual(got, all, code);
    t.deepEqual([...new Set(reports.map((report) => report.code))], [code] as never);
  }
});

/** Messages that zstd and lz4 put into several blocks. */
function noisyChunk(compression: string, count: number): { chunk: Buffer; whole: number[] } {
  const random = new Random(3);
  const data = () => Buffer.from(Array.from({ length: 1000 }, () => random.below(256)));
  const records = Buffer.concat(range(10, 10 + count).map((time) => mcap.message(1, time, data())));
  const compressed = {
    zstd: zstd.compress,
    lz4: (bytes: Buffer) => compressFrameSync(bytes),
    '': (bytes: Buffer) => bytes,
  }[compression];
  return {
    chunk: mcap.chunk(records, { compression, data: compressed?.(records) ?? records }),
    whole: range(10, 10 + count),
  };
}

for (const compression of ['zstd', 'lz4', '']) {
  test(`a file cut inside a chunk gives the whole records of its whole blocks (${compression || 'none'})`, async (t) => {
    await zstd.isLoaded;
    const { chunk, whole } = noisyChunk(compression, compression === 'lz4' ? 9000 : 500);
    const start = mcap.open(...before).length;
    const bytes = mcap.open(...before, chunk);
    for (const part of [0.05, 0.3, 0.5, 0.9, 0.999]) {
      const { error, times: got, reports } = await skip(bytes.subarray(0, start + Math.floor(chunk.length * part)));
      t.is(error, undefined);
      t.deepEqual(got.slice(0, 10), range(0, 10));
      const salvaged = got.slice(10);
      t.deepEqual(salvaged, whole.slice(0, salvaged.length));
      // Blocks have up to 128 KiB (zstd) and 4 MiB or less (lz4): what stands before the last is whole.
      const most =
        Math.floor((whole.length * part * 1000) / 1031) -
        (compression === 'zstd' ? 140 : compression === 'lz4' ? 4300 : 2);
      t.true(salvaged.length >= most, `${salvaged.length} of ${most} at ${part}`);
      t.like(reports, [{ code: 'MCAP_TRUNCATED' }]);
    }
  });
}

test('a file cut at any byte under "skip" and "end" gives every whole record, also those of the cut chunk', async (t) => {
  const records = range(10, 16).map((time) => mcap.message(1, time));
  const first = mcap.open(...before);
  const chunk = mcap.chunk(Buffer.concat(records));
  const bytes = Buffer.concat([first, chunk]);
  const fields = chunk.length - Buffer.concat(records).length;
  for (let length = first.length + 1; length < bytes.length; length++) {
    const whole = Math.max(0, Math.floor((length - first.length - fields) / (records[0]?.length ?? 1)));
    for (const damage of ['skip', 'end'] as const) {
      const { error, times: got } = await skip(bytes.subarray(0, length), { damage });
      t.is(error, undefined);
      t.deepEqual(got, [...range(0, 10), ...range(10, 10 + whole)], `at ${length}`);
    }
  }
});
