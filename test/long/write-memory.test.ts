import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import test from 'ava';

const run = promisify(execFile);

async function write(chunks: number): Promise<{ bytes: number; chunks: number; peak: number }> {
  const script = join(import.meta.dirname, '../memory/write-chunks.js');
  const { stdout } = await run(process.execPath, [script, String(chunks)]);
  return JSON.parse(stdout) as { bytes: number; chunks: number; peak: number };
}

test('writing 10^6 chunks on 20 channels takes at most 64 MiB more than 10^3', async (t) => {
  t.timeout(480_000);
  const few = await write(1e3);
  const many = await write(1e6);
  t.log(few, many);
  // The first chunk also has the definitions, so that its messages may be cut in two.
  t.true(many.chunks >= 1e6);
  t.true(many.peak <= few.peak + 64, `${few.peak} and ${many.peak} MiB`);
});
