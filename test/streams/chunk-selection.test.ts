import { createReadStream, statSync } from 'node:fs';
import test from 'ava';
import { McapStreamReader } from '@mcap/core';
import zstd from '@foxglove/wasm-zstd';
import { decodeStream } from '../../lib/index.js';
import type { DecodedMessage, DecodeStreamOptions } from '../../lib/index.js';
import * as mcap from '../helpers/mcap-bytes.js';
import { readShared, sharedPath, sharedTest } from '../helpers/shared.js';
import { collect } from '../helpers/streams.js';

function index(channelId: number): Buffer {
  return mcap.record(7, mcap.u16(channelId), mcap.prefixed(Buffer.concat([mcap.u64(1), mcap.u64(0)])));
}

/** A chunk with times of its own, and an index for each channel. */
function chunk(start: number, end: number, records: Buffer[], channels: number[]): Buffer {
  const bytes = mcap.chunk(Buffer.concat(records));
  bytes.writeBigUInt64LE(BigInt(start), 9);
  bytes.writeBigUInt64LE(BigInt(end), 17);
  return Buffer.concat([bytes, ...channels.map(index)]);
}

function definitionsOf(id: number): Buffer {
  return Buffer.concat([mcap.schema(id), mcap.channel(id, id, { topic: `/${id}` })]);
}

async function read(bytes: Uint8Array, options: DecodeStreamOptions) {
  const stage = decodeStream(options);
  const { got, error } = await collect(bytes, stage);
  return { got: got.map(({ topic, logTime }: DecodedMessage) => `${topic} ${logTime}`), error, stats: stage.stats };
}

const FILE = mcap.file(
  chunk(1, 2, [definitionsOf(1), definitionsOf(2), mcap.message(1, 1), mcap.message(2, 2)], [1, 2]),
  chunk(3, 4, [mcap.message(1, 3), mcap.message(1, 4)], [1]),
  chunk(5, 6, [mcap.message(2, 5), mcap.message(2, 6)], [2]),
  chunk(7, 8, [mcap.message(1, 7), mcap.message(2, 8)], [1, 2]),
  chunk(9, 9, [mcap.message(1, 9)], []),
);

for (const threads of [0, 2]) {
  test(`a chunk without a selected topic is not opened (threads ${threads})`, async (t) => {
    const { got, stats } = await read(FILE, { topics: '/2', threads });
    t.deepEqual(got, ['/2 2', '/2 5', '/2 6', '/2 8']);
    // The last has no index: it is read.
    t.like(stats, { chunksRead: 4, chunksSkipped: 1 });
    const first = await read(FILE, { topics: '/1', threads });
    t.deepEqual(first.got, ['/1 1', '/1 3', '/1 4', '/1 7', '/1 9']);
    t.like(first.stats, { chunksRead: 4, chunksSkipped: 1 });
  });

  test(`a chunk outside of the time range is not opened, unless it may define a channel (threads ${threads})`, async (t) => {
    const { got, stats } = await read(FILE, { startTime: 5n, endTime: 8n, threads });
    t.deepEqual(got, ['/2 5', '/2 6', '/1 7']);
    t.like(stats, { chunksRead: 4, chunksSkipped: 1 });
  });

  test(`a definition at the end of a chunk that is passed over is found (threads ${threads})`, async (t) => {
    // As libmcap writes: the definition of 3 still fits in the chunk, its first message does not.
    const bytes = mcap.file(
      chunk(1, 1, [definitionsOf(1), mcap.message(1, 1)], [1]),
      chunk(2, 2, [mcap.message(1, 2), definitionsOf(3)], [1]),
      chunk(3, 3, [mcap.message(3, 3)], [3]),
      chunk(4, 4, [mcap.message(1, 4)], [1]),
    );
    const { got, error, stats } = await read(bytes, { topics: '/3', threads });
    t.is(error, undefined);
    t.deepEqual(got, ['/3 3']);
    t.like(stats, { chunksSkipped: 2, chunksRead: 3 });
    const all = await read(bytes, { threads });
    t.deepEqual(all.got, ['/1 1', '/1 2', '/3 3', '/1 4']);
    // Selected by time alone.
    t.deepEqual((await read(bytes, { startTime: 3n, endTime: 4n, threads })).got, ['/3 3']);
  });

  test(`a definition in an earlier chunk that was passed over is an error that names the option (threads ${threads})`, async (t) => {
    const bytes = mcap.file(
      chunk(1, 1, [definitionsOf(1), mcap.message(1, 1)], [1]),
      chunk(2, 2, [mcap.message(1, 2), definitionsOf(3)], [1]),
      chunk(3, 3, [mcap.message(1, 3)], [1]),
      chunk(4, 4, [mcap.message(3, 4)], [3]),
    );
    const { error } = await read(bytes, { topics: '/3', threads });
    t.is(error?.code, 'MCAP_UNKNOWN_CHANNEL');
    t.regex(error?.message ?? '', /eagerDefinitions: true/);
    const eager = await read(bytes, { topics: '/3', threads, eagerDefinitions: true });
    t.is(eager.error, undefined);
    t.deepEqual(eager.got, ['/3 4']);
    t.like(eager.stats, { chunksSkipped: 0, chunksRead: 4 });
  });
}

test('a predicate is asked once a channel', async (t) => {
  const asked: string[] = [];
  const topics = (topic: string) => {
    asked.push(topic);
    return topic === '/2';
  };
  await read(FILE, { topics });
  t.deepEqual(asked, ['/1', '/2']);
});

sharedTest(
  'in small_messages.mcap only the chunks that hold the topic are decompressed, and no message is lost',
  async (t) => {
    await zstd.isLoaded;
    const reader = new McapStreamReader({
      includeChunks: true,
      decompressHandlers: { zstd: (bytes, size) => zstd.decompress(bytes, Number(size)) },
    });
    reader.append(readShared('benchmark/small_messages.mcap'));
    // An independent reader's account: which chunk holds messages of which topic.
    const topics = new Map<number, string>();
    const holding = new Map<string, Set<number>>();
    const counts = new Map<string, number>();
    const sizes: number[] = [];
    for (let record = reader.nextRecord(); record !== undefined; record = reader.nextRecord()) {
      if (record.type === 'Chunk') sizes.push(Number(record.uncompressedSize));
      if (record.type === 'Channel') topics.set(record.id, record.topic);
      if (record.type !== 'Message') continue;
      const topic = topics.get(record.channelId) ?? '';
      holding.set(topic, (holding.get(topic) ?? new Set<number>()).add(sizes.length - 1));
      counts.set(topic, (counts.get(topic) ?? 0) + 1);
    }
    for (const [topic, chunks] of holding) {
      const stage = decodeStream({ topics: topic, batch: 512 });
      let count = 0;
      createReadStream(sharedPath('benchmark/small_messages.mcap')).pipe(stage);
      for await (const batch of stage) count += batch.length;
      t.is(count, counts.get(topic) ?? 0);
      t.is(
        stage.stats.bytesDecompressed,
        [...chunks].reduce((sum, chunk) => sum + (sizes[chunk] ?? 0), 0),
        topic,
      );
      t.is(stage.stats.bytes, statSync(sharedPath('benchmark/small_messages.mcap')).size);
    }
  },
);
