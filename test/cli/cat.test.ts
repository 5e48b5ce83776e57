import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'ava';
import { mcapRos2 } from '../helpers/command.js';
import * as mcap from '../helpers/mcap-bytes.js';
import { ROOT } from '../helpers/shared.js';

const FOLDER = join(ROOT, 'fixtures/recordings');

function fixture(name: string): string {
  return join(FOLDER, `${name}.mcap`);
}

/** The lines that the fixtures' script wrote: what was put in. */
function expectedLines(name: string): string[] {
  const text = readFileSync(join(FOLDER, `${name}.json`), 'utf8');
  return text
    .split('\n')
    .slice(1, -2)
    .map((line) => line.replace(/,$/, ''));
}

function lines(stdout: string): string[] {
  return stdout.split('\n').slice(0, -1);
}

for (const name of ['imu-zstd', 'robot-lz4', 'sensors-none', 'status-unchunked', 'primitives-zstd']) {
  test(`cat prints ${name} as NDJSON, from a file and from stdin`, async (t) => {
    for (const result of [
      await mcapRos2(['cat', fixture(name)]),
      await mcapRos2(['cat', '-'], readFileSync(fixture(name))),
      await mcapRos2(['cat'], readFileSync(fixture(name))),
    ]) {
      t.like(result, { code: 0, stderr: '' });
      t.deepEqual(lines(result.stdout), expectedLines(name));
    }
  });
}

test('-t takes whole topics by pattern, several times', async (t) => {
  const topics = async (...patterns: string[]) => {
    const { stdout } = await mcapRos2(['cat', fixture('robot-lz4'), ...patterns.flatMap((pattern) => ['-t', pattern])]);
    return [...new Set(lines(stdout).map((line) => (JSON.parse(line) as { topic: string }).topic))].sort();
  };
  t.deepEqual(await topics('/tf'), ['/tf']);
  t.deepEqual(await topics('/t'), []);
  t.deepEqual(await topics('/(tf|odom)', '/joint.*'), ['/joint_states', '/odom', '/tf']);
});

test('--limit stops after so many messages', async (t) => {
  for (const limit of [0, 1, 100, 1000]) {
    const { code, stdout } = await mcapRos2(['cat', fixture('imu-zstd'), '--limit', String(limit)]);
    t.is(code, 0);
    t.deepEqual(lines(stdout), expectedLines('imu-zstd').slice(0, limit));
  }
});

test('a reader that goes away ends it silently, though stdin goes on for ever', async (t) => {
  const child = spawn(process.execPath, [join(ROOT, 'dist/cli/main.js'), 'cat', '-'], {
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  const closed = new Promise<number | null>((resolve) => child.on('close', resolve));
  let stderr = '';
  child.stderr.on('data', (data: Buffer) => (stderr += data.toString()));
  child.stdin.on('error', () => undefined);
  const chunk = mcap.chunk(Buffer.concat(Array.from({ length: 1000 }, (_, n) => mcap.message(1, n))));
  child.stdin.write(mcap.open(mcap.schema(1), mcap.channel(1, 1)));
  const feed = (): void => {
    while (!child.stdin.destroyed && child.stdin.write(chunk));
    child.stdin.once('drain', feed);
  };
  feed();
  await new Promise((resolve) => child.stdout.once('data', resolve));
  child.stdout.destroy();
  t.is(await closed, 0);
  t.is(stderr, '');
});

test('a reader that goes away before anything was printed is no failure of any verb', async (t) => {
  const input = join(ROOT, 'fixtures/recordings/imu-zstd.mcap');
  for (const args of [
    ['--help'],
    ['--version'],
    ['info', input],
    ['cat', input],
    ['info', '--json', input],
    ['doctor', input],
  ]) {
    const child = spawn(process.execPath, [join(ROOT, 'dist/cli/main.js'), ...args], {
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let stderr = '';
    child.stderr.on('data', (data: Buffer) => (stderr += data.toString()));
    child.stdout.destroy();
    const code = await new Promise<number | null>((resolve) => child.on('close', resolve));
    t.deepEqual(
      { args, code, stderr: stderr.includes('EPIPE') || stderr.includes('throw') },
      { args, code: 0, stderr: false },
    );
  }
});

test('what is no recording exits 1 and names the file', async (t) => {
  const missing = await mcapRos2(['cat', 'no-such-file.mcap']);
  t.like(missing, { code: 1, stdout: '' });
  t.regex(missing.stderr, /no-such-file\.mcap/);
  const other = await mcapRos2(['cat', 'package.json']);
  t.like(other, { code: 1, stdout: '' });
  t.regex(other.stderr, /package\.json: .*MCAP magic/);
  t.is((await mcapRos2(['cat', '-'], '')).code, 1);
});

test('a cut recording prints what is whole, warns and exits 3', async (t) => {
  const bytes = mcap.open(mcap.schema(1), mcap.channel(1, 1), mcap.message(1, 7), mcap.message(1, 8).subarray(0, 20));
  const { code, stdout, stderr } = await mcapRos2(['cat', '-'], bytes);
  t.is(code, 3);
  t.is(
    stdout,
    '{"topic":"/t","schemaName":"p/msg/A","logTime":"7","publishTime":"7","sequence":0,"message":{"x":5}}\n',
  );
  t.regex(stderr, /stdin: the input ends/);
});

test('what cannot be decoded is printed as base64 with a warning; only a broken payload is data loss', async (t) => {
  const unsupported = mcap.file(mcap.channel(1, 0, { encoding: 'json' }), mcap.message(1, 7, Buffer.from('{}')));
  const other = await mcapRos2(['cat', '-'], unsupported);
  t.is(other.code, 0);
  t.like(JSON.parse(other.stdout), { message: null, data: 'e30=' });
  t.regex(other.stderr, /"json"/);
  const broken = mcap.file(mcap.schema(1), mcap.channel(1, 1), mcap.message(1, 7, Buffer.alloc(2)), mcap.message(1, 8));
  const result = await mcapRos2(['cat', '-'], broken);
  t.is(result.code, 3);
  t.is(lines(result.stdout).length, 2);
  t.like(JSON.parse(lines(result.stdout)[0] ?? ''), { message: null, data: 'AAA=' });
});
