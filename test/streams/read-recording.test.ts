import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import zstd from '@foxglove/wasm-zstd';
import test from 'ava';
import {
  decodeStream,
  mergeRecordings,
  readAttachment,
  readMetadata,
  readRecording,
  readSummary,
} from '../../lib/index.js';
import type { DecodedMessage, ReadRecordingOptions } from '../../lib/index.js';
import { Random } from '../helpers/random.js';
import { readShared, ROOT, sharedFiles, sharedPath, sharedTest } from '../helpers/shared.js';
import { memorySource, writeMcap } from '../helpers/write-mcap.js';
import type { WrittenMessage } from '../helpers/write-mcap.js';

interface N {
  n: number;
}

async function numbers(source: AsyncIterable<DecodedMessage<N>>): Promise<number[]> {
  const got: number[] = [];
  for await (const { message } of source) got.push(message.n);
  return got;
}

async function read(bytes: Uint8Array, options?: ReadRecordingOptions): Promise<number[]> {
  return numbers(readRecording<N>(memorySource(bytes), options));
}

/** Times in disorder, in chunks of a few messages that overlap each other; `n` is the place in the file. */
const DISORDER: WrittenMessage[] = [50, 10, 40, 20, 30, 5, 60, 0, 50, 10, 2n ** 64n - 1n, 0, 70, 65, 66, 1].map(
  (logTime, n) => ({ topic: n % 3 === 0 ? '/a' : '/b', logTime, n }),
);

/** What a stable sort by time makes of it. */
function sorted(messages: readonly WrittenMessage[]): number[] {
  return messages
    .toSorted((a, b) => (BigInt(a.logTime) < BigInt(b.logTime) ? -1 : BigInt(a.logTime) > BigInt(b.logTime) ? 1 : 0))
    .map(({ n }) => n);
}

const LAYOUTS: [string, Parameters<typeof writeMcap>[1]][] = [
  ['chunks of one message', { chunkSize: 1 }],
  ['chunks of a few messages', { chunkSize: 120 }],
  ['one chunk', {}],
  ['no chunks', { useChunks: false }],
  ['no chunk index', { chunkSize: 120, useChunkIndex: false }],
  ['no message index', { chunkSize: 120, useMessageIndex: false }],
  ['no statistics', { chunkSize: 120, useStatistics: false }],
  ['no channels in the summary', { chunkSize: 120, repeatChannels: false, repeatSchemas: false }],
  ['channels without their schemas in the summary', { chunkSize: 120, repeatSchemas: false }],
  ['no summary offsets', { chunkSize: 120, useSummaryOffsets: false }],
];

for (const [title, layout] of LAYOUTS) {
  test(`${title}: file order, log-time order and reverse`, async (t) => {
    const bytes = await writeMcap(DISORDER, layout);
    t.deepEqual(
      await read(bytes),
      DISORDER.map(({ n }) => n),
    );
    const byTime = sorted(DISORDER);
    t.deepEqual(await read(bytes, { order: 'logTime' }), byTime);
    t.deepEqual(await read(bytes, { reverse: true }), byTime.toReversed());
    // With a budget of nothing every run goes to a temporary file.
    t.deepEqual(await read(bytes, { order: 'logTime', maxBufferedBytes: 1 }), byTime);
    t.deepEqual(await read(bytes, { reverse: true, maxBufferedBytes: 1 }), byTime.toReversed());
  });

  test(`${title}: selections and limit`, async (t) => {
    const bytes = await writeMcap(DISORDER, layout);
    const inRange = DISORDER.filter(({ logTime }) => logTime >= 10 && logTime < 50);
    for (const order of ['file', 'logTime'] as const) {
      const expected = (messages: readonly WrittenMessage[]) =>
        order === 'file' ? messages.map(({ n }) => n) : sorted(messages);
      t.deepEqual(await read(bytes, { order, topics: '/a' }), expected(DISORDER.filter(({ topic }) => topic === '/a')));
      t.deepEqual(await read(bytes, { order, startTime: 10n, endTime: 50n }), expected(inRange));
      t.deepEqual(await read(bytes, { order, limit: 3 }), expected(DISORDER).slice(0, 3));
      t.deepEqual(await read(bytes, { order, limit: 0 }), []);
      t.deepEqual(await read(bytes, { order, schemaNames: ['p/msg/N'] }), expected(DISORDER));
      t.deepEqual(await read(bytes, { order, topics: '/none' }), []);
      t.deepEqual(await read(bytes, { order, startTime: 61n, endTime: 64n }), []);
      t.deepEqual(await read(bytes, { order, startTime: 50n, endTime: 10n }), []);
    }
  });
}

test('batches, fields and the types of messages', async (t) => {
  const bytes = await writeMcap(DISORDER, { chunkSize: 120 });
  const batches: DecodedMessage<N>[][] = [];
  for await (const batch of readRecording<N>(memorySource(bytes), { batch: 5, limit: 8 })) batches.push(batch);
  t.true(batches.every((batch) => batch.length <= 5));
  t.deepEqual(
    batches.flat().map(({ message }) => message.n),
    [0, 1, 2, 3, 4, 5, 6, 7],
  );
  for await (const { partial } of readRecording(memorySource(bytes), { fields: ['n'], order: 'logTime' }))
    t.true(partial);
});

test('the source is closed in every ending', async (t) => {
  const bytes = await writeMcap(DISORDER, { chunkSize: 120 });
  for (const order of ['file', 'logTime'] as const) {
    const whole = memorySource(bytes);
    await numbers(readRecording<N>(whole, { order }));
    t.is(whole.seen.closed, 1);
    const limited = memorySource(bytes);
    await numbers(readRecording<N>(limited, { order, limit: 2 }));
    t.is(limited.seen.closed, 1);
    const broken = memorySource(bytes);
    for await (const { message } of readRecording<N>(broken, { order })) if (message.n >= 0) break;
    await delay(5);
    t.is(broken.seen.closed, 1);
    const failing = { ...memorySource(bytes), read: () => Promise.reject(new Error('no disk')) };
    let closed = 0;
    failing.close = () => {
      closed++;
      return Promise.resolve();
    };
    await t.throwsAsync(numbers(readRecording<N>(failing, { order })), { message: 'no disk' });
    t.is(closed, 1);
    const aborted = memorySource(bytes);
    const controller = new AbortController();
    const reading = numbers(readRecording<N>(aborted, { order, signal: controller.signal }));
    controller.abort(new Error('enough'));
    const error = await t.throwsAsync(reading, { name: 'AbortError' });
    t.is((error.cause as Error).message, 'enough');
    await delay(5);
    t.true(aborted.seen.closed <= 1);
  }
  const file = await open(join(ROOT, 'fixtures/recordings/imu-zstd.mcap'));
  for await (const { topic } of readRecording(file)) if (topic === '/fix') break;
  await delay(5);
  t.is(file.fd, -1);
});

test('an abort ends it at once while a read is under way', async (t) => {
  const stalled = { size: () => Promise.resolve(1000), read: () => new Promise<Uint8Array>(() => undefined) };
  const controller = new AbortController();
  setTimeout(() => {
    controller.abort();
  }, 10);
  const reader = readRecording(stalled, { signal: controller.signal });
  const error = await new Promise<Error>((resolve) => reader.on('error', resolve).resume());
  t.is(error.name, 'AbortError');
});

test.serial('temporary files are gone in every ending', async (t) => {
  const mine = () => readdirSync(tmpdir()).filter((name) => name.startsWith('mcap-sort-'));
  const before = mine();
  const bytes = await writeMcap(DISORDER, { useChunks: false });
  for await (const { message } of readRecording<N>(memorySource(bytes), { order: 'logTime', maxBufferedBytes: 1 })) {
    if (message.n > 3) break;
  }
  t.deepEqual(mine(), before);
});

test('an error stands behind everything before it, and the policies hold', async (t) => {
  const bytes = await writeMcap(DISORDER, { chunkSize: 120 });
  // The last chunk is spoilt: its CRC is wrong.
  const at = bytes.lastIndexOf(Buffer.from([7, 0, 0, 0, 0, 0, 0, 0]));
  t.true(at > 0);
  const spoilt = Buffer.from(bytes);
  const last = spoilt.lastIndexOf(Buffer.from([0, 1, 0, 0, 15, 0, 0, 0]));
  spoilt[last + 4] = 99;
  for (const order of ['file', 'logTime'] as const) {
    const got: number[] = [];
    await t.throwsAsync(
      async () => {
        for await (const { message } of readRecording<N>(memorySource(spoilt), { order })) got.push(message.n);
      },
      { code: 'MCAP_CHUNK_CRC_MISMATCH' },
    );
    if (order === 'file') t.true(got.length >= 12);
    const skipped = await read(spoilt, { order, damage: 'skip' });
    t.true(skipped.length >= 12 && skipped.length < DISORDER.length);
  }
});

test('a wrong option is a TypeError', (t) => {
  const source = memorySource(new Uint8Array(0));
  t.throws(() => readRecording(source, { orders: 'file' } as never), { instanceOf: TypeError, message: /order/ });
  t.throws(() => readRecording(source, { order: 'file', reverse: true }), {
    instanceOf: TypeError,
    message: /logTime/,
  });
  t.throws(() => readRecording(source, { limit: -1 }), { instanceOf: TypeError });
});

test('one sparse topic of a large recording costs little more than its chunks', async (t) => {
  // 200 chunks of 64 kB; three of them hold /rare.
  const messages = Array.from({ length: 3200 }, (_, n) => ({
    topic: [100, 1500, 3000].includes(n) ? '/rare' : '/often',
    logTime: n,
    n,
  }));
  const bytes = await writeMcap(messages, { chunkSize: 65536, padding: 4096 });
  const source = memorySource(bytes);
  const reader = readRecording<N>(source, { topics: '/rare' });
  t.deepEqual(await numbers(reader), [100, 1500, 3000]);
  t.true(reader.stats.bytesRead < 3 * 70_000 + 200_000, `${reader.stats.bytesRead} of ${bytes.length}`);
  t.true(reader.stats.reads <= 8, `${reader.stats.reads} reads`);
  t.is(reader.stats.chunksRead, 3);
  const limited = readRecording<N>(memorySource(bytes), { limit: 1 });
  t.deepEqual(await numbers(limited), [0]);
  t.true(limited.stats.bytesRead < bytes.length / 2 || limited.stats.bytesRead === 0);
});

test('chunks longer than a read are read whole, whatever stands before and behind them', async (t) => {
  const sizes = [0, 900, 40_000, 300_000, 2 ** 20 - 200, 2 ** 20, 2_600_000, 4 * 2 ** 20 - 200, 4 * 2 ** 20, 5_000_000];
  const random = new Random(1);
  const folder = mkdtempSync(join(tmpdir(), 'long-chunks-'));
  t.teardown(() => {
    rmSync(folder, { recursive: true });
  });
  const path = join(folder, 'a.mcap');
  for (let turn = 0; turn < 12; turn++) {
    const messages = Array.from({ length: 14 }, (_, n) => ({
      topic: random.below(3) === 0 ? '/a' : '/b',
      logTime: n,
      n,
      padding: sizes[random.below(sizes.length)] ?? 0,
    }));
    const bytes = await writeMcap(messages, { chunkSize: 1 });
    writeFileSync(path, bytes);
    for (const topics of [undefined, '/a']) {
      const expected = messages.filter(({ topic }) => topics === undefined || topic === topics).map(({ n }) => n);
      t.deepEqual(await read(bytes, { topics }), expected, `${turn} ${topics ?? ''}`);
      t.deepEqual(await numbers(readRecording<N>(path, { topics })), expected, `file ${turn} ${topics ?? ''}`);
    }
  }
});

test('mergeRecordings: k-way by time, equal channels joined, ids anew', async (t) => {
  const a = await writeMcap(DISORDER.slice(0, 8), { chunkSize: 120 });
  const b = await writeMcap(
    DISORDER.slice(8).map((message) => ({ ...message, topic: message.n % 2 === 0 ? '/a' : '/c' })),
  );
  const got: DecodedMessage<N>[] = [];
  for await (const message of mergeRecordings<N>([memorySource(a), memorySource(b)])) got.push(message);
  t.deepEqual(
    got.map(({ message }) => message.n),
    sorted(DISORDER),
  );
  const channels = new Map(got.map(({ channel }) => [channel.topic, channel]));
  t.deepEqual([...channels.keys()].sort(), ['/a', '/b', '/c']);
  t.deepEqual([...channels.values()].map(({ id }) => id).sort(), [1, 2, 3]);
  t.is(new Set(got.map(({ channel }) => channel)).size, 3);
  const records: string[] = [];
  for await (const record of mergeRecordings([memorySource(a), memorySource(b)], { records: true }))
    records.push(record.type);
  t.is(records.filter((type) => type === 'Schema').length, 1);
  t.is(records.filter((type) => type === 'Channel').length, 3);
  t.is(records.filter((type) => type === 'Message').length, 16);
  t.deepEqual(records.slice(0, 3), ['Schema', 'Channel', 'Message']);
});

test('readSummary tells counts, rates and compression, from the summary or by scanning', async (t) => {
  const messages = Array.from({ length: 101 }, (_, n) => ({
    topic: n % 2 === 0 ? '/a' : '/b',
    logTime: n * 10_000_000,
    n,
  }));
  const attachment = Buffer.from('attached');
  const extra = {
    attachment,
    metadata: [
      ['rosbag2', 'first'],
      ['rosbag2', 'last'],
    ] as [string, string][],
  };
  for (const [layout, scanned] of [
    [{ chunkSize: 500 }, false],
    [{ chunkSize: 500, useStatistics: false }, true],
    [{ chunkSize: 500, useChunkIndex: false, repeatChannels: false }, true],
    [{ useChunks: false }, false],
  ] as const) {
    const bytes = await writeMcap(messages, { ...layout, ...extra });
    const summary = await readSummary(memorySource(bytes));
    t.is(summary.scanned, scanned);
    t.like(summary.statistics, { messageCount: 101n, channelCount: 2, attachmentCount: 1, metadataCount: 2 });
    t.is(summary.messageStartTime, 0n);
    t.is(summary.messageEndTime, 1_000_000_000n);
    t.deepEqual(
      summary.topics.map(({ topic, messageCount, frequency }) => [topic, messageCount, frequency]),
      [
        ['/a', 51, 50],
        ['/b', 50, 49],
      ],
    );
    t.deepEqual(summary.attachments, [{ name: 'a', mediaType: 'x', logTime: 1n, createTime: 2n, dataSize: 8 }]);
    t.deepEqual(summary.metadata, [{ name: 'rosbag2' }, { name: 'rosbag2' }]);
    if (!scanned) t.true(summary.source.reads <= 3);
    t.deepEqual(Buffer.from((await readAttachment(memorySource(bytes), 'a'))?.data ?? []), attachment);
    t.is(await readAttachment(memorySource(bytes), 'b'), undefined);
    // Of several records of one name the last counts.
    t.is((await readMetadata(memorySource(bytes), 'rosbag2'))?.metadata.get('value'), 'last');
    t.deepEqual((await readSummary(memorySource(bytes), { scan: true })).topics, summary.topics);
  }
});

test('a bag folder is read file by file, and missing files are named', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'bag-'));
  try {
    await zstd.isLoaded;
    const first = await writeMcap(DISORDER.slice(0, 5));
    const second = await writeMcap(DISORDER.slice(5));
    writeFileSync(join(folder, 'x_10.mcap'), first);
    writeFileSync(join(folder, 'x_9.mcap.zstd'), zstd.compress(second));
    // By name, numbers as numbers.
    t.deepEqual(await numbers(readRecording<N>(folder)), [5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 0, 1, 2, 3, 4]);
    const metadata = (paths: string[]) =>
      `rosbag2_bagfile_information:\n  version: 9\n  storage_identifier: mcap\n  relative_file_paths:\n${paths.map((path) => `    - ${path}\n`).join('')}`;
    writeFileSync(join(folder, 'metadata.yaml'), metadata(['x_10.mcap', 'folder/x_9.mcap.zstd']));
    t.deepEqual(
      await numbers(readRecording<N>(folder)),
      DISORDER.map(({ n }) => n),
    );
    t.deepEqual(await numbers(readRecording<N>(folder, { order: 'logTime' })), sorted(DISORDER));
    writeFileSync(join(folder, 'metadata.yaml'), metadata(['x_10.mcap', 'gone.mcap', 'lost.mcap']));
    await t.throwsAsync(numbers(readRecording<N>(folder)), { code: 'MCAP_BAD_BAG', message: /gone\.mcap, lost\.mcap/ });
  } finally {
    rmSync(folder, { recursive: true });
  }
});

async function count(source: AsyncIterable<unknown[]>): Promise<number> {
  let sum = 0;
  for await (const batch of source) sum += batch.length;
  return sum;
}

const ZOO = ['conformance', 'recordings', 'damaged'].flatMap((folder) =>
  sharedFiles(folder, '.mcap').map((name) => `${folder}/${name}`),
);

sharedTest(
  'of every recording of others as many messages come by index, by time and in reverse as from the stream',
  async (t) => {
    t.timeout(120_000);
    t.true(ZOO.length > 500);
    const expected = JSON.parse(readShared('damaged/EXPECTED.json').toString()) as Record<
      string,
      { messagesOnChannelsDefinedOnlyInABadChunk?: number }
    >;
    for (const name of ZOO) {
      const path = sharedPath(name);
      const policies = { damage: 'skip', undecodable: 'raw', unsupported: 'raw', batch: 512 } as const;
      if (!readFileSync(path).subarray(0, 8).equals(Buffer.from('894d434150300d0a', 'hex'))) {
        await t.throwsAsync(count(readRecording(path, policies)), { code: 'MCAP_NOT_MCAP' }, name);
        continue;
      }
      const streamed = await count(decodeStream([readFileSync(path)], policies));
      // Channels that only a bad chunk defined are known from the summary.
      const orphans = expected[name.replace(/^damaged\//, '')]?.messagesOnChannelsDefinedOnlyInABadChunk ?? 0;
      t.is(await count(readRecording(path, policies)), streamed + orphans, name);
      t.is(await count(readRecording(path, { ...policies, order: 'logTime' })), streamed + orphans, name);
      t.is(await count(readRecording(path, { ...policies, reverse: true })), streamed + orphans, name);
    }
  },
);

sharedTest('rosbag2 compresses files and payloads: both are read', async (t) => {
  const whole = await count(readRecording(sharedPath('recordings/bagel/part_0.mcap'), { batch: 9 }));
  t.is((await count(readRecording(sharedPath('recordings/bagel/part_0.mcap.zstd'), { batch: 9 }))) > 0, whole > 0);
  let images = 0;
  for await (const { message } of readRecording<{ width: number; data: Uint8Array; step: number; height: number }>(
    sharedPath('recordings/amber/soccer_goal_12.mcap'),
  )) {
    images++;
    t.is(message.data.length, message.step * message.height);
  }
  t.true(images > 0);
});
