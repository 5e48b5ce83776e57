import { randomBytes } from 'node:crypto';
import zstd from '@foxglove/wasm-zstd';
import test from 'ava';
import { copyStored, isStored } from '../../lib/mcap/zstd-frame.js';

test.before(async () => {
  await zstd.isLoaded;
});

for (const size of [100, 255, 256, 300, 70_000, 131_072, 131_073, 1_048_576]) {
  test(`a frame of ${size} bytes that did not compress is copied together`, (t) => {
    const content = randomBytes(size);
    const frame = zstd.compress(content, 3);
    t.true(isStored(frame, size));
    t.deepEqual(Buffer.from(copyStored(frame, size) ?? []), content);
    t.deepEqual(Buffer.from(zstd.decompress(frame, size)), content);
  });
}

test('a frame with a compressed block is left to the decompressor', (t) => {
  const content = Buffer.concat([randomBytes(200_000), Buffer.alloc(100_000, 'abc'), randomBytes(100_000)]);
  const frame = zstd.compress(content, 1);
  t.is(copyStored(frame, content.length), undefined);
});

test('what is cut, longer, of another size, or has a checksum or a dictionary is left to the decompressor', (t) => {
  const content = randomBytes(150_000);
  const frame = Buffer.from(zstd.compress(content, 1));
  for (const cut of [0, 3, 5, 8, 9, 1000, frame.length - 1]) t.false(isStored(frame.subarray(0, cut), content.length));
  t.false(isStored(Buffer.concat([frame, Buffer.alloc(1)]), content.length));
  t.false(isStored(frame, content.length - 1));
  t.false(isStored(frame, content.length + 1));
  for (const bit of [0x01, 0x02, 0x04, 0x08, 0x10]) {
    const other = Buffer.from(frame);
    other[4] = (other[4] ?? 0) | bit;
    t.false(isStored(other, content.length));
  }
});

test('the copy is memory of its own', (t) => {
  const content = randomBytes(1000);
  const frame = zstd.compress(content, 1);
  const copy = copyStored(frame, 1000);
  frame.fill(0);
  t.deepEqual(Buffer.from(copy ?? []), content);
  t.is(copy?.buffer.byteLength, 1000);
});
