import { randomBytes } from 'node:crypto';
import zstd from '@foxglove/wasm-zstd';
import test from 'ava';
import { decompressOnThread, helpThreads } from '../../lib/mcap/compression-pool.js';
import { crc32 } from '../../lib/mcap/crc.js';

const parts = [Buffer.concat([randomBytes(50_000), Buffer.alloc(20_000, 'abc')]), Buffer.alloc(30_000, 'abc')];
const content = Buffer.concat(parts);

/** Of two frames, which libuv's threads are not given: it goes to a thread of ours. */
function forThread(): Buffer {
  return Buffer.concat(parts.map((part) => zstd.compress(part, 1)));
}

test.before(async () => {
  await zstd.isLoaded;
});

function task(bytes: Uint8Array, lent: boolean): Parameters<typeof decompressOnThread>[0] {
  return { compression: 'zstd', bytes, size: content.length, withCrc: true, lent };
}

for (const [by, pack] of [
  ['by libuv', () => zstd.compress(content, 1)],
  ['by a thread or by whoever waits', forThread],
] as const) {
  test(`chunks come back with their CRCs, done ${by}`, async (t) => {
    const bytes = pack();
    const before = Buffer.from(bytes);
    const results = Array.from({ length: 8 }, () => decompressOnThread(task(bytes, false), 1));
    helpThreads();
    helpThreads();
    for (const result of await Promise.all(results)) {
      t.deepEqual(Buffer.from(result.bytes), content);
      t.is(result.crc, crc32(content));
      t.is(result.returned, undefined);
    }
    t.deepEqual(bytes, before);
  });
}

test('memory that is lent comes back with the result', async (t) => {
  const packed = forThread();
  const lent = Array.from({ length: 8 }, () => {
    const memory = Buffer.from(new ArrayBuffer(packed.length + 10));
    memory.set(packed, 5);
    return memory.subarray(5, 5 + packed.length);
  });
  const results = lent.map((bytes) => decompressOnThread(task(bytes, true), 1));
  helpThreads();
  const returned: boolean[] = [];
  for (const [index, result] of results.entries()) {
    const { bytes, returned: memory } = await result;
    t.deepEqual(Buffer.from(bytes), content);
    returned.push(memory !== undefined);
    // It is either still here, or back with the same content.
    const there = memory === undefined ? lent[index] : Buffer.from(memory, 5, packed.length);
    t.deepEqual(there && Buffer.from(there), Buffer.from(packed));
  }
  t.true(returned.includes(true));
});

test('what does not decompress is refused, also to whoever helps', async (t) => {
  const broken = zstd.compress(content, 1).subarray(0, 1000);
  const results = Array.from({ length: 3 }, () => decompressOnThread(task(broken, false), 1));
  helpThreads();
  for (const result of results) await t.throwsAsync(result);
});

test('there is nothing to help with when nothing waits', (t) => {
  t.notThrows(helpThreads);
});

test('a frame that holds more or less than its chunk says is refused as everywhere', async (t) => {
  const packed = zstd.compress(content, 1);
  const short = decompressOnThread({ ...task(packed, false), size: content.length - 1 }, 1);
  await t.throwsAsync(short);
  const { bytes } = await decompressOnThread({ ...task(packed, false), size: content.length + 1 }, 1);
  t.is(bytes.length, content.length);
});
