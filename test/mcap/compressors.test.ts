import { randomBytes } from 'node:crypto';
import test from 'ava';
import { decompress } from 'fzstd';
import { compressorOf } from '../../lib/mcap/compressors.js';

test('zstd frames of all sizes decompress elsewhere, and small Buffers of others stay as they are', async (t) => {
  const compress = compressorOf('zstd', 3);
  if (compress === undefined) throw new Error('there is no zstd');
  // Small Buffers share memory that a small frame may lie in.
  const others: Buffer[] = [];
  for (let size = 0; size < 200_000; size = size < 9000 ? size + 37 : Math.floor(size * 1.3)) {
    for (const content of [Buffer.alloc(size, 'ab'), randomBytes(size)]) {
      others.push(Buffer.allocUnsafe(100).fill(7));
      const frame = await compress(content);
      t.true(Buffer.from(decompress(frame)).equals(content));
    }
  }
  t.true(others.every((other) => other.length === 100 && other.every((byte) => byte === 7)));
});
