import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import test from 'ava';
import { decodeStream } from '../../lib/index.js';

/** The whole chunks on disk: their number and where the last of them ends. */
function wholeChunks(bytes: Buffer): { chunks: number; end: number } {
  let at = 8;
  let chunks = 0;
  let end = at;
  while (at + 9 <= bytes.length) {
    const next = at + 9 + Number(bytes.readBigUInt64LE(at + 1));
    if (next > bytes.length) break;
    if (bytes[at] === 6) {
      chunks++;
      end = next;
    }
    at = next;
  }
  return { chunks, end };
}

async function numbersIn(bytes: Buffer): Promise<number[]> {
  const numbers: number[] = [];
  for await (const { message } of decodeStream<{ n: number }>(Readable.from([bytes]), { damage: 'end' })) {
    numbers.push(message.n);
  }
  return numbers;
}

test('after a kill the file is readable up to its last complete chunk', async (t) => {
  t.timeout(60_000);
  const path = join(await mkdtemp(join(tmpdir(), 'killed-')), 'a.mcap');
  const child = spawn(process.execPath, [join(import.meta.dirname, '../memory/write-forever.js'), path]);
  const size = async (): Promise<number> => (await stat(path).catch(() => ({ size: 0 }))).size;
  while ((await size()) < 500_000) await new Promise((resolve) => setTimeout(resolve, 20));
  child.kill('SIGKILL');
  await once(child, 'exit');
  const bytes = await readFile(path);
  const { chunks, end } = wholeChunks(bytes);
  t.true(chunks > 3);
  const complete = await numbersIn(bytes.subarray(0, end));
  t.deepEqual(complete, [...complete.keys()]);
  const all = await numbersIn(bytes);
  t.deepEqual(all, [...all.keys()]);
  t.true(all.length >= complete.length && complete.length > 0);
});
