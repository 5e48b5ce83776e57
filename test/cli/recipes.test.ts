import { spawnSync } from 'node:child_process';
import { chmodSync, copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'ava';
import { readIndexed } from '../helpers/indexed.js';
import { ROOT } from '../helpers/shared.js';

const FOLDER = mkdtempSync(join(tmpdir(), 'recipes-'));
test.after.always(() => {
  rmSync(FOLDER, { recursive: true, force: true });
});

/** The lines of the README's section on the command. */
function recipes(): string[] {
  const readme = readFileSync(join(ROOT, 'README.md'), 'utf8');
  const section = readme.slice(readme.indexOf('## Command\n'));
  return (/```sh\n([\s\S]*?)```/.exec(section)?.[1] ?? '').trim().split('\n');
}

test('every recipe of the README runs in its order, and there is one for each verb', async (t) => {
  const shim = join(FOLDER, 'mcap-ros2');
  writeFileSync(shim, `#!/bin/sh\nexec "${process.execPath}" "${join(ROOT, 'dist/cli/main.js')}" "$@"\n`);
  chmodSync(shim, 0o755);
  copyFileSync(join(ROOT, 'fixtures/recordings/imu-zstd.mcap'), join(FOLDER, 'drive.mcap'));
  const lines = recipes();
  for (const line of lines) {
    const { status, stderr } = spawnSync('bash', ['-o', 'pipefail', '-c', line], {
      cwd: FOLDER,
      env: { ...process.env, PATH: `${FOLDER}:${process.env['PATH'] ?? ''}` },
      encoding: 'utf8',
    });
    t.is(status, line.includes('exits 3') ? 3 : 0, `${line}: ${stderr}`);
  }
  const verbs = ['info', 'cat', 'filter', 'convert', 'merge', 'doctor', 'recover', 'types', 'generate'];
  for (const verb of [...verbs, 'attachments', 'metadata', 'completion']) {
    t.true(
      lines.some((line) => line.includes(`mcap-ros2 ${verb}`)),
      verb,
    );
  }
  for (const [name, count] of [
    ['copy', 126],
    ['sorted', 126],
    ['made', 400],
    ['with', 126],
  ] as const) {
    t.is((await readIndexed(readFileSync(join(FOLDER, `${name}.mcap`)))).messages.length, count, name);
  }
});
