/**
 * Chunks above 64 KiB that come in pieces: they are gathered and summed as they come, and lent to threads (lz4) or not (zstd). The files are laid out
 * byte by byte here, their CRCs are zlib's over the whole.
 */
import { crc32 } from 'node:zlib';
import zstd from '@foxglove/wasm-zstd';
import test from 'ava';
import fc from 'fast-check';
import { compressFrameSync } from 'lz4-napi';
import { McapRecordParser } from '../../lib/index.js';
import type { DamageReport, McapRecordParserOptions, MessageRecord } from '../../lib/index.js';
import * as mcap from '../helpers/mcap-bytes.js';
import { Random } from '../helpers/random.js';
import { collect, cutAt, pieces } from '../helpers/streams.js';

type Kind = 'none' | 'zstd' | 'lz4' | 'stored';
const KINDS: readonly Kind[] = ['none', 'zstd', 'lz4', 'stored'];

const made = new Map<string, Buffer>();

/** The payload of message `n`: bytes that are its own; zstd stores them, or takes half off. */
function payload(n: number, kind: Kind, length: number): Buffer {
  const values = kind === 'stored' ? 256 : 16;
  const key = `${n} ${values} ${length}`;
  let bytes = made.get(key);
  if (bytes === undefined) {
    const random = new Random(n + 1);
    bytes = Buffer.alloc(length);
    for (let at = 0; at < length; at++) bytes[at] = random.below(values);
    made.set(key, bytes);
  }
  return bytes;
}

const PAYLOAD = 20_000;

function chunk(from: number, to: number, kind: Kind, length = PAYLOAD): Buffer {
  const messages = [];
  for (let n = from; n < to; n++) messages.push(mcap.message(1, n, payload(n, kind, length)));
  const records = Buffer.concat(messages);
  const crc = crc32(records);
  if (kind === 'none') return mcap.chunk(records, { crc });
  const [compression, data] =
    kind === 'lz4' ? ['lz4', compressFrameSync(records)] : ['zstd', zstd.compress(records, 1)];
  return mcap.chunk(records, { crc, compression, data, size: records.length });
}

/** A whole file of these chunks, with the CRC of its data section. */
function file(...chunks: readonly Buffer[]): Buffer {
  const data = Buffer.concat([mcap.MAGIC, mcap.header(), mcap.schema(1), mcap.channel(1, 1), ...chunks]);
  return Buffer.concat([data, mcap.dataEnd(crc32(data)), mcap.footer(), mcap.MAGIC]);
}

function chunks(kind: Kind, count: number): Buffer[] {
  return Array.from({ length: count }, (_, n) => chunk(n * 15, n * 15 + 15, kind));
}

async function parse(input: Iterable<Uint8Array>, options: McapRecordParserOptions = {}) {
  const reports: DamageReport[] = [];
  const parser = new McapRecordParser({ onDamage: (report) => reports.push(report), ...options });
  const { got, error } = await collect(input, parser);
  const messages = got.filter((record) => record.type === 'Message');
  return { messages, error, reports };
}

/** Looked at in the end, when all memory that is used again has been. */
function wrong(messages: readonly MessageRecord[], kind: Kind, expected: readonly number[]): string | undefined {
  if (messages.length !== expected.length) return `${messages.length} messages, not ${expected.length}`;
  for (const [index, n] of expected.entries()) {
    const record = messages[index];
    if (record?.logTime !== BigInt(n)) return `message ${index} is not ${n}`;
    if (!payload(n, kind, record.data.length).equals(record.data)) return `the payload of message ${n} is another`;
  }
  return undefined;
}

function range(from: number, to: number): number[] {
  return Array.from({ length: to - from }, (_, n) => from + n);
}

await zstd.isLoaded;

for (const kind of KINDS) {
  const bytes = file(...chunks(kind, 20));

  test(`in any pieces the messages are whole and the CRCs hold: ${kind}`, async (t) => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.integer({ min: 0, max: bytes.length }), { maxLength: 40 }),
        fc.constantFrom(0, 1, 2),
        async (places, threads) => {
          const sorted = places.toSorted((a, b) => a - b);
          const { messages, error } = await parse(cutAt(bytes, sorted), { threads });
          if (error !== undefined) throw error;
          const fault = wrong(messages, kind, range(0, 300));
          if (fault !== undefined) throw new Error(fault);
        },
      ),
      { numRuns: 15, seed: 5 },
    );
    for (const size of [1000, 4095, 65_536, 262_144]) {
      for (const damage of ['throw', 'skip'] as const) {
        const { messages, error, reports } = await parse(pieces(bytes, size), { damage });
        t.is(error, undefined);
        t.deepEqual(reports, []);
        t.is(wrong(messages, kind, range(0, 300)), undefined);
      }
    }
  });

  test(`a bit that flipped is found, whatever the pieces: ${kind}`, async (t) => {
    const list = chunks(kind, 4);
    const second = list[1] ?? Buffer.alloc(0);
    const at = bytes.indexOf(second) + second.length - 100;
    for (const size of [4096, 50_000, 65_536, bytes.length]) {
      const inside = file(...list);
      inside[at] = (inside[at] ?? 0) ^ 4;
      const { error, messages } = await parse(pieces(inside, size));
      t.true(['MCAP_CHUNK_CRC_MISMATCH', 'MCAP_DECOMPRESSION_FAILED'].includes(error?.code ?? ''), error?.message);
      t.is(wrong(messages, kind, range(0, 15)), undefined);
      // The time of the chunk's first message is under the CRC of the data section alone.
      const outside = file(...list);
      const time = bytes.indexOf(second) + 9;
      outside[time] = (outside[time] ?? 0) ^ 4;
      const result = await parse(pieces(outside, size));
      t.is(result.error?.code, 'MCAP_DATA_CRC_MISMATCH');
      t.is(wrong(result.messages, kind, range(0, 60)), undefined);
      t.is((await parse(pieces(outside, size), { validateCrcs: false })).error, undefined);
    }
  });

  test(`a wrong length of a chunk loses that chunk alone: ${kind}`, async (t) => {
    const [first = Buffer.alloc(0), second = Buffer.alloc(0), ...rest] = chunks(kind, 6);
    for (const by of [1000, 100_000, -1000]) {
      const lying = Buffer.from(second);
      lying.writeBigUInt64LE(lying.readBigUInt64LE(1) + BigInt(by), 1);
      for (const size of [10_000, 65_536]) {
        const { messages, error, reports } = await parse(pieces(file(first, lying, ...rest), size), { damage: 'skip' });
        t.is(error, undefined);
        t.true(reports.length > 0);
        const times = messages.map(({ logTime }) => Number(logTime));
        const others = [...range(0, 15), ...range(30, 90)];
        t.deepEqual(
          times.filter((time) => time < 15 || time >= 30),
          others,
        );
        const sound = messages.filter(({ logTime }) => others.includes(Number(logTime)));
        t.is(wrong(sound, kind, others), undefined);
      }
    }
  });

  test(`of a file that is cut inside a chunk everything before is there: ${kind}`, async (t) => {
    const list = chunks(kind, 4);
    const whole = file(...list);
    const third = list[2] ?? Buffer.alloc(0);
    const cut = whole.subarray(0, whole.indexOf(third) + third.length - 10);
    for (const damage of ['throw', 'end'] as const) {
      const { messages, error } = await parse(pieces(cut, 65_536), { damage });
      t.is(error?.code, damage === 'throw' ? 'MCAP_TRUNCATED' : undefined);
      t.true(messages.length >= 30);
      t.is(wrong(messages.slice(0, 30), kind, range(0, 30)), undefined);
    }
  });
}

test('a chunk of 9 MiB in pieces is whole', async (t) => {
  for (const kind of ['none', 'zstd'] as const) {
    const bytes = file(chunk(0, 9, kind, 2 ** 20), chunk(9, 10, kind));
    const { messages, error } = await parse(pieces(bytes, 65_536));
    t.is(error, undefined);
    t.is(wrong(messages, kind, range(0, 10)), undefined);
  }
});
