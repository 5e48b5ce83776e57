/** Where the host forbids code from strings, the codec interprets: its tests pass there too. */
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import test from 'ava';
import { compileCodec } from '../../lib/cdr/codec.js';
import { canGenerateCode } from '../../lib/cdr/emit.js';
import { ROOT } from '../helpers/shared.js';

const FLAG = '--disallow-code-generation-from-strings';
const TESTS = ['known-faults', 'codec', 'random', 'json'];

if (canGenerateCode()) {
  test('the codec passes its tests where code generation is forbidden', (t) => {
    const files = [...TESTS, 'without-codegen'].map((name) => `build/test/cdr/${name}.test.js`);
    const cli = join(ROOT, 'node_modules', 'ava', 'entrypoints', 'cli.mjs');
    const env = { ...process.env, FUZZ_RUNS: '40' };
    const run = spawnSync(process.execPath, [cli, '--no-worker-threads', `--node-arguments=${FLAG}`, ...files], {
      cwd: ROOT,
      env,
      encoding: 'utf8',
    });
    t.is(run.status, 0, run.stdout + run.stderr);
    t.regex(run.stdout, /code generation is forbidden here/);
  });
} else {
  test('code generation is forbidden here', (t) => {
    t.false(canGenerateCode());
    const codec = compileCodec({ name: 't/msg/T', encoding: 'ros2msg', data: 'uint8 a' });
    t.is(codec.source, '');
    t.deepEqual(codec.decode(codec.encode({ a: 1 })), { a: 1 });
  });
}
