import { randomBytes } from 'node:crypto';
import zstd from '@foxglove/wasm-zstd';
import test from 'ava';
import { decompress } from 'fzstd';
import {
  compressesNatively,
  compressNatively,
  decompressNatively,
  isNative,
  isNativeBusy,
} from '../../lib/mcap/native-zstd.js';
import { mostContent } from '../../lib/mcap/zstd-frame.js';

test.before(async () => {
  await zstd.isLoaded;
});

/** A frame of so many blocks (RFC 8878, 3.1.1), the last one marked. */
function frame(blocks: readonly { kind: number; length: number; content: Uint8Array }[]): Buffer {
  const parts: Uint8Array[] = [Buffer.from([0x28, 0xb5, 0x2f, 0xfd, 0x00, 0x58])];
  for (const [index, { kind, length, content }] of blocks.entries()) {
    const head = Buffer.alloc(3);
    head.writeUIntLE((length << 3) | (kind << 1) | (index === blocks.length - 1 ? 1 : 0), 0, 3);
    parts.push(head, content);
  }
  return Buffer.concat(parts);
}

function bomb(blocks: number): Buffer {
  return frame(Array.from({ length: blocks }, () => ({ kind: 1, length: 131_072, content: Buffer.from('x') })));
}

for (const [what, content] of [
  ['text', Buffer.from('abc'.repeat(200_000))],
  ['noise', randomBytes(300_000)],
  ['both', Buffer.concat([randomBytes(100_000), Buffer.alloc(900_000, 'abc')])],
  ['one byte', Buffer.from('a')],
] as const) {
  test(`${what}: the frame's bound is kept, and it decompresses`, async (t) => {
    const packed = Buffer.from(zstd.compress(content, 3));
    const most = mostContent(packed);
    t.true(most >= content.length);
    t.true(most <= Math.ceil(content.length / 131_072) * 131_072);
    t.true(isNative('zstd', packed, content.length));
    const bytes = await decompressNatively(packed, content.length, 1);
    t.true(bytes.equals(content));
  });
}

test('the bound counts stored and repeated blocks as they are, and compressed ones as the largest', (t) => {
  const stored = { kind: 0, length: 5, content: Buffer.from('12345') };
  const repeated = { kind: 1, length: 100_000, content: Buffer.from('x') };
  const compressed = { kind: 2, length: 7, content: Buffer.alloc(7) };
  t.is(mostContent(frame([stored, repeated])), 100_005);
  t.is(mostContent(frame([stored, compressed, repeated])), 100_005 + 131_072);
});

test('what is not one whole frame has no bound', (t) => {
  const whole = frame([{ kind: 0, length: 5, content: Buffer.from('12345') }]);
  t.is(mostContent(whole), 5);
  for (let cut = 0; cut < whole.length; cut++) t.is(mostContent(whole.subarray(0, cut)), Infinity);
  t.is(mostContent(Buffer.concat([whole, whole])), Infinity);
  t.is(mostContent(frame([{ kind: 3, length: 5, content: Buffer.from('12345') }])), Infinity);
  t.is(mostContent(frame([{ kind: 0, length: 131_073, content: Buffer.alloc(131_073) }])), Infinity);
});

test('a frame that could grow far beyond what its chunk says is left to wasm, which is given a bound', (t) => {
  t.true(isNative('zstd', bomb(8), 2 ** 20));
  t.false(isNative('zstd', bomb(100), 2 ** 20));
  t.false(isNative('zstd', bomb(20_000), 100_000));
});

test('only zstd, and no chunk that is huge', (t) => {
  const packed = Buffer.from(zstd.compress(Buffer.alloc(100_000), 1));
  t.false(isNative('lz4', packed, 100_000));
  t.false(isNative('', packed, 100_000));
  t.false(isNative('zstd', packed, 2 ** 30));
});

test('many at once come back as they are, one after the other or three at a time, and an error holds nobody up', async (t) => {
  const contents = Array.from({ length: 40 }, (_, n) => Buffer.alloc(50_000 + n, `${n}`));
  const broken = Buffer.from(zstd.compress(randomBytes(1000), 1)).subarray(0, 500);
  for (const limit of [1, 2, 100]) {
    const results = contents.map((content, n) =>
      decompressNatively(n % 7 === 3 ? broken : Buffer.from(zstd.compress(content, 1)), content.length, limit),
    );
    for (const [n, result] of results.entries()) {
      if (n % 7 === 3) await t.throwsAsync(result);
      else t.true((await result).equals(contents[n] ?? Buffer.alloc(0)));
    }
  }
});

test('more content than was said is an error, or is seen by its length', async (t) => {
  for (const [content, said] of [
    [Buffer.alloc(1000, 'a'), 999],
    [Buffer.alloc(1000, 'a'), 0],
    [Buffer.alloc(100_000, 'a'), 10],
    [Buffer.alloc(1000, 'a'), 1001],
  ] as const) {
    const length = await decompressNatively(Buffer.from(zstd.compress(content, 1)), said, 1).then(
      (bytes) => bytes.length,
      () => -1,
    );
    t.not(length, said);
  }
});

test('what does not decompress rejects', async (t) => {
  const packed = Buffer.from(zstd.compress(Buffer.from('abc'.repeat(10_000) + randomBytes(1000).toString('hex')), 3));
  packed.fill(0xff, 12, 40);
  await t.throwsAsync(decompressNatively(packed, 31_000, 1));
});

/** Size of the content as the frame's header says it (RFC 8878, 3.1.1.1); none: undefined. */
function saidSize(bytes: Uint8Array): number | undefined {
  const packed = Buffer.from(bytes);
  const descriptor = packed[4] ?? 0;
  const single = (descriptor & 0x20) !== 0;
  const at = 5 + (single ? 0 : 1) + ([0, 1, 2, 4][descriptor & 3] ?? 0);
  switch (descriptor >> 6) {
    case 0:
      return single ? packed[at] : undefined;
    case 1:
      return packed.readUInt16LE(at) + 256;
    case 2:
      return packed.readUInt32LE(at);
    default:
      return Number(packed.readBigUInt64LE(at));
  }
}

test('what is compressed decompresses elsewhere, and the frame says its size', async (t) => {
  for (const content of [
    Buffer.alloc(0),
    Buffer.from('a'),
    Buffer.from('abc'.repeat(200_000)),
    randomBytes(300_000),
    Buffer.concat([randomBytes(100_000), Buffer.alloc(1_900_000, 'abc')]),
  ]) {
    for (const level of [1, 3, 19]) {
      const packed = await compressNatively(content, level, 1);
      t.is(saidSize(packed), content.length);
      t.true(Buffer.from(decompress(packed)).equals(content));
      t.true(Buffer.from(zstd.decompress(packed, content.length)).equals(content));
    }
  }
});

test.serial('a reader that waits is told of frames to decompress, not of those to compress', async (t) => {
  const content = Buffer.alloc(100_000, 'abc');
  const packing = compressNatively(content, 3, 1);
  t.false(isNativeBusy());
  const packed = await packing;
  const reading = decompressNatively(packed, content.length, 1);
  t.true(isNativeBusy());
  await reading;
  t.false(isNativeBusy());
});

test('compressed and decompressed at once, more than there are threads, all come back as they are', async (t) => {
  const contents = Array.from({ length: 60 }, (_, n) => Buffer.alloc(50_000 + n, `${n}`));
  const results = contents.map(async (content) =>
    decompressNatively(await compressNatively(content, 3, 2), content.length, 1),
  );
  for (const [n, result] of results.entries()) t.true((await result).equals(contents[n] ?? Buffer.alloc(0)));
});

test('chunks are compressed so where Node has no zstd of its own', (t) => {
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
  t.is(compressesNatively('zstd'), major < 22 || (major === 22 && minor < 15));
  t.false(compressesNatively('lz4'));
  t.false(compressesNatively(''));
});
