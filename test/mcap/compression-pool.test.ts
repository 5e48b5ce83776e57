import { randomBytes } from 'node:crypto';
import zstd from '@foxglove/wasm-zstd';
import test from 'ava';
import { decompressOnThread, helpThreads } from '../../lib/mcap/compression-pool.js';
import { crc32 } from '../../lib/mcap/crc.js';

const content = Buffer.concat([randomBytes(50_000), Buffer.alloc(50_000, 'abc')]);

/** Memory that a thread can read where it lies. */
function shared(bytes: Uint8Array): Buffer {
  const memory = Buffer.from(new SharedArrayBuffer(bytes.length + 10));
  memory.set(bytes, 5);
  return memory.subarray(5, 5 + bytes.length);
}

test.before(async () => {
  await zstd.isLoaded;
});

for (const kind of ['shared', 'own'] as const) {
  test(`chunks in ${kind} memory come back with their CRCs, done by a thread or by whoever waits`, async (t) => {
    const packed = zstd.compress(content, 1);
    const bytes = kind === 'shared' ? shared(packed) : packed;
    const before = Buffer.from(bytes);
    const results = Array.from({ length: 8 }, () => decompressOnThread('zstd', bytes, content.length, true, 1));
    helpThreads();
    helpThreads();
    for (const result of await Promise.all(results)) {
      t.deepEqual(Buffer.from(result.bytes), content);
      t.is(result.crc, crc32(content));
    }
    t.deepEqual(bytes, before);
  });
}

test('what does not decompress is refused, also to whoever helps', async (t) => {
  const broken = shared(zstd.compress(content, 1).subarray(0, 1000));
  const results = Array.from({ length: 3 }, () => decompressOnThread('zstd', broken, content.length, true, 1));
  helpThreads();
  for (const result of results) await t.throwsAsync(result);
});

test('there is nothing to help with when nothing waits', (t) => {
  t.notThrows(helpThreads);
});
