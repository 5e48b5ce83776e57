import { createReadStream, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import type { ReadStream } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import test from 'ava';
import { decodeStream, McapRecordParser } from '../../lib/index.js';
import { channel, FIVE, file, message, schema } from '../helpers/mcap-bytes.js';

const folder = mkdtempSync(join(tmpdir(), 'pieces-'));
test.after.always(() => {
  rmSync(folder, { recursive: true });
});

const COUNT = 40_000;
const path = join(folder, 'long.mcap');
const definitions = [schema(1), channel(1, 1)];
writeFileSync(path, file(...definitions, ...Array.from({ length: COUNT }, (_, n) => message(1, n, FIVE))));

/** Lengths of the pieces, and the times of the messages. */
async function read(source: ReadStream, stage: NodeJS.ReadWriteStream): Promise<{ longest: number; times: bigint[] }> {
  let longest = 0;
  source.on('data', (piece) => {
    longest = Math.max(longest, piece.length);
  });
  const times: bigint[] = [];
  stage.on('data', ({ logTime }: { logTime?: bigint }) => {
    if (logTime !== undefined) times.push(logTime);
  });
  await pipeline(source, stage);
  return { longest, times };
}

const all = Array.from({ length: COUNT }, (_, n) => BigInt(n));

for (const [name, stage] of [
  ['decodeStream', () => decodeStream()],
  ['McapRecordParser', () => new McapRecordParser()],
] as const) {
  test(`${name}: a file is read in pieces of 512 KiB`, async (t) => {
    const { longest, times } = await read(createReadStream(path), stage());
    t.is(longest, 524_288);
    t.deepEqual(times, all);
  });

  test(`${name}: a size that was chosen stays`, async (t) => {
    for (const highWaterMark of [1000, 65_535, 2 ** 20]) {
      const { longest, times } = await read(createReadStream(path, { highWaterMark }), stage());
      t.is(longest, highWaterMark);
      t.deepEqual(times, all);
    }
  });
}

test('whoever says what may wait in the stage has pieces of 64 KiB', async (t) => {
  const { longest, times } = await read(createReadStream(path), decodeStream({ writableHighWaterMark: 1000 }));
  t.is(longest, 65_536);
  t.deepEqual(times, all);
});

test('of a stream that has been read from nothing is lost', async (t) => {
  const source = createReadStream(path);
  const start = await new Promise<Buffer>((resolve) => {
    source.once('readable', () => {
      resolve(source.read(100) as Buffer);
    });
  });
  source.unshift(start);
  const { longest, times } = await read(source, decodeStream());
  t.true(longest <= 65_536);
  t.deepEqual(times, all);
});

test('part of a file, and a file that is shorter than a piece', async (t) => {
  const short = join(folder, 'short.mcap');
  writeFileSync(short, file(...definitions, message(1, 0), message(1, 1)));
  t.deepEqual((await read(createReadStream(short), decodeStream())).times, [0n, 1n]);
  const cut = createReadStream(path, { end: 999_999 });
  const { longest, times } = await read(cut, decodeStream({ damage: 'end' }));
  t.is(longest, 524_288);
  t.deepEqual(times, all.slice(0, times.length));
  t.true(times.length > 20_000);
});
