import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'ava';
import { mcapRos2 } from '../helpers/command.js';
import { ROOT } from '../helpers/shared.js';

test('--version says the version of the package, --help the verbs and the exit codes', async (t) => {
  const { version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { version: string };
  const shown = await mcapRos2(['--version']);
  t.like(shown, { code: 0, stdout: `${version}\n`, stderr: '' });
  const help = await mcapRos2(['--help']);
  t.is(help.code, 0);
  for (const word of ['cat', 'info', 'recover', 'doctor', 'filter', 'generate', '3 finished with data loss'])
    t.true(help.stdout.includes(word));
  for (const verb of [
    'cat',
    'info',
    'recover',
    'doctor',
    'filter',
    'convert',
    'merge',
    'types',
    'generate',
    'attachments',
    'metadata',
    'completion',
  ]) {
    const { code, stdout } = await mcapRos2([verb, '--help']);
    t.is(code, 0);
    t.is(stdout.match(/^ {2}.*mcap-ros2 /gm)?.length, 2, `two examples for ${verb}`);
  }
});

test('a wrong call exits 2 and says what is wrong on stderr', async (t) => {
  for (const args of [[], ['bogus'], ['cat', '--topics', 'x'], ['cat', '--limit', 'many'], ['cat', '-t', '(']]) {
    const { code, stdout, stderr } = await mcapRos2(args);
    t.is(code, 2, args.join(' '));
    t.is(stdout, '');
    t.not(stderr, '');
  }
});
