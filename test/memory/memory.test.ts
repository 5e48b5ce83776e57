import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import test from 'ava';

const run = promisify(execFile);

test('2 GB of messages through decodeStream into a slow sink take constant memory', async (t) => {
  t.timeout(240_000);
  const { stdout } = await run(process.execPath, [join(import.meta.dirname, 'decode-slowly.js')]);
  const result = JSON.parse(stdout) as {
    messages: number;
    bytes: number;
    wrong: number;
    buffered: number;
    highWaterMark: number;
    quarters: [number, number, number, number];
    peak: number;
  };
  t.log(stdout.trim());
  t.true(result.messages >= 200_000);
  t.true(result.bytes >= 2e9);
  t.is(result.wrong, 0);
  t.true(result.buffered <= result.highWaterMark + 1);
  t.true(result.quarters[3] <= result.quarters[1] + 20, `RSS of the quarters: ${result.quarters.join(', ')} MiB`);
  t.true(result.peak <= 150, `peak RSS ${result.peak} MiB`);
});
