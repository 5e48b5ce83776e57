import { mkdtempSync, linkSync, readFileSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { spawn } from 'node:child_process';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'ava';
import { mcapRos2 } from '../helpers/command.js';
import { readIndexed } from '../helpers/indexed.js';
import * as mcap from '../helpers/mcap-bytes.js';
import { ROOT } from '../helpers/shared.js';
import { writeMcap } from '../helpers/write-mcap.js';

const FOLDER = mkdtempSync(join(tmpdir(), 'write-'));
test.after.always(() => {
  rmSync(FOLDER, { recursive: true, force: true });
});
const IMU = join(ROOT, 'fixtures/recordings/imu-zstd.mcap');
const ROBOT = join(ROOT, 'fixtures/recordings/robot-lz4.mcap');

function place(name: string): string {
  return join(FOLDER, name);
}

async function written(name: string, verb: string, ...args: string[]) {
  const output = place(`${name}.mcap`);
  const ended = await mcapRos2([verb, ...args, '-o', output]);
  return { ...ended, output, read: await readIndexed(readFileSync(output)) };
}

const LATCHED: [string, string][] = [['offered_qos_profiles', '- durability: transient_local\n']];

test('filter without a choice keeps everything, and its chunks are copied as they were', async (t) => {
  const { code, stderr, read } = await written('all', 'filter', ROBOT, '-v');
  const before = await readIndexed(readFileSync(ROBOT));
  t.is(code, 0);
  t.regex(stderr, /[1-9]\d* chunks copied as they were, 0 rebuilt/);
  t.deepEqual(read.messages, before.messages);
  t.deepEqual(read.channels, before.channels);
  t.deepEqual(read.schemas, before.schemas);
  t.deepEqual(read.header, before.header);
  t.deepEqual(read.compressions, ['lz4']);
});

test('filter takes topics, leaves others out, thins and renames', async (t) => {
  const before = await readIndexed(readFileSync(ROBOT));
  const odom = before.messages.filter(({ topic }) => topic === '/odom');
  const some = await written('some', 'filter', ROBOT, '-t', '/odom|/tf', '-x', '/tf', '--every', '3');
  t.deepEqual(some.read.topics, ['/odom']);
  t.deepEqual(
    some.read.messages.map(({ logTime, sequence, data }) => ({ logTime, sequence, data })),
    odom.filter((_, n) => n % 3 === 0).map(({ logTime, sequence, data }) => ({ logTime, sequence, data })),
  );
  const renamed = await written('renamed', 'filter', ROBOT, '--rename', '/odom=/wheel');
  t.deepEqual(renamed.read.topics, before.topics.map((topic) => (topic === '/odom' ? '/wheel' : topic)).sort());
  t.is(renamed.read.messages.length, before.messages.length);
});

test('filter takes a range by ns, RFC 3339, from the first message and to the last', async (t) => {
  const bytes = await writeMcap(Array.from({ length: 10 }, (_, n) => ({ topic: '/t', logTime: (n + 1) * 1e9, n })));
  const input = place('range-in.mcap');
  writeFileSync(input, bytes);
  for (const [start, end, expected] of [
    ['3000000000', '5000000000', [3, 4]],
    ['1970-01-01T00:00:03Z', '1970-01-01T01:00:05+01:00', [3, 4]],
    ['@2s', '@4s', [3, 4]],
    ['end-2s', 'end', [8, 9]],
  ] as const) {
    const { read } = await written(`range-${start}`.replaceAll(':', ''), 'filter', input, '-S', start, '-E', end);
    t.deepEqual(
      read.messages.map(({ logTime }) => Number(logTime / 1_000_000_000n)),
      [...expected],
      start,
    );
  }
  t.is((await mcapRos2(['filter', '-', '-S', 'end-2s', '-o', place('x.mcap')], bytes)).code, 2);
  const piped = await mcapRos2(['cat', '-', '-S', '@8s'], bytes);
  t.is(piped.stdout.split('\n').length - 1, 2);
});

test('filter keeps earlier messages of transient-local topics, at most 1,000 a channel, and says so', async (t) => {
  const input = place('latched-in.mcap');
  const maps = Array.from({ length: 1005 }, (_, n) => mcap.message(1, n + 1));
  writeFileSync(
    input,
    mcap.file(
      mcap.schema(1),
      mcap.channel(1, 1, { topic: '/map', metadata: LATCHED }),
      mcap.channel(2, 1, { topic: '/odom' }),
      ...maps,
      mcap.message(2, 2000),
      mcap.message(2, 3000),
      mcap.attachment('a', Buffer.from('x')),
      mcap.metadata('m', [['k', 'v']]),
    ),
  );
  const { read, stderr } = await written('latched', 'filter', input, '-S', '2500');
  t.is(read.messages.filter(({ topic }) => topic === '/map').length, 1000);
  t.deepEqual(
    read.messages.filter(({ topic }) => topic === '/odom').map(({ logTime }) => logTime),
    [3000n],
  );
  t.regex(stderr, /kept 1000 earlier messages of \/map.*5 older ones/);
  t.is(read.attachments.length, 1);
  t.is(read.metadata.get('m')?.get('k'), 'v');
});

test('convert reads what cat wrote: the same messages, as NDJSON and as a JSON array', async (t) => {
  for (const format of ['ndjson', 'json']) {
    const { stdout } = await mcapRos2(['cat', IMU, '--with-channels', '--format', format]);
    const output = place(`back-${format}.mcap`);
    t.is((await mcapRos2(['convert', '-', '-o', output], stdout)).code, 0);
    const { messages } = await readIndexed(readFileSync(output));
    const before = await readIndexed(readFileSync(IMU));
    t.deepEqual(
      messages.map(({ topic, logTime, data }) => ({ topic, logTime, data })),
      before.messages.map(({ topic, logTime, data }) => ({ topic, logTime, data })),
    );
  }
});

test('convert changes compression, chunk size and order', async (t) => {
  const lz4 = await written('lz4', 'convert', IMU, '--compression', 'lz4', '--chunk-size', '8K');
  t.deepEqual(lz4.read.compressions, ['lz4']);
  t.true(lz4.read.chunkIndexes > 3);
  t.is(lz4.read.messages.length, 126);
  const times = [5, 3, 9, 1, 7];
  const input = place('disorder.mcap');
  writeFileSync(
    input,
    await writeMcap(
      times.map((n) => ({ topic: '/t', logTime: n, n })),
      { attachment: Buffer.of(1) },
    ),
  );
  const sorted = await written('sorted', 'convert', input, '--sort', 'log-time');
  t.is(sorted.read.attachments.length, 1);
  const { stdout } = await mcapRos2(['cat', '-'], readFileSync(sorted.output));
  t.deepEqual(
    stdout
      .trim()
      .split('\n')
      .map((line) => (JSON.parse(line) as { logTime: string }).logTime),
    ['1', '3', '5', '7', '9'],
  );
});

test('merge joins equal channels, keeps others apart, and keeps attachments and metadata', async (t) => {
  const parts = ['x', 'y'].map((name, n) => {
    const path = place(`part-${name}.mcap`);
    writeFileSync(
      path,
      mcap.file(
        mcap.schema(1),
        mcap.schema(2, { name: `p/msg/${name.toUpperCase()}` }),
        mcap.channel(1, 1, { topic: '/same' }),
        mcap.channel(2, 2, { topic: '/differs' }),
        mcap.channel(3, 1, { topic: `/empty_${name}` }),
        ...[0, 1, 2].flatMap((k) => [mcap.message(1, k * 10 + n), mcap.message(2, k * 10 + n)]),
        mcap.attachment(name, Buffer.from(name)),
        mcap.metadata(`m-${name}`, [['k', 'v']]),
      ),
    );
    return path;
  });
  const { code, read } = await written('merged', 'merge', ...parts);
  t.is(code, 0);
  t.deepEqual(read.topics, ['/differs', '/differs', '/empty_x', '/empty_y', '/same']);
  t.is(read.messages.length, 12);
  t.is(read.schemas.length, 3);
  t.deepEqual(read.attachments.map(({ name }) => name).sort(), ['x', 'y']);
  t.deepEqual([...read.metadata.keys()].sort(), ['m-x', 'm-y']);
});

test('an output that exists needs --force, an input is never written over, also through links', async (t) => {
  const input = place('precious.mcap');
  writeFileSync(input, readFileSync(IMU));
  const output = place('exists.mcap');
  writeFileSync(output, 'old');
  t.is((await mcapRos2(['filter', input, '-o', output])).code, 2);
  t.is(readFileSync(output, 'utf8'), 'old');
  t.is((await mcapRos2(['filter', input, '-o', output, '--force'])).code, 0);
  const soft = place('soft.mcap');
  symlinkSync(input, soft);
  const hard = place('hard.mcap');
  linkSync(input, hard);
  for (const path of [input, soft, hard]) {
    const { code, stderr } = await mcapRos2(['filter', input, '-o', path, '--force']);
    t.is(code, 2);
    t.regex(stderr, /is the input itself/);
  }
  t.deepEqual(readFileSync(input), readFileSync(IMU));
});

test('an interrupt removes the half output and exits 130', async (t) => {
  const output = place('interrupted.mcap');
  const child = spawn(process.execPath, [join(ROOT, 'dist/cli/main.js'), 'filter', '-', '-o', output], {
    stdio: ['pipe', 'ignore', 'ignore'],
  });
  const closed = new Promise<number | null>((resolve) => child.on('close', resolve));
  child.stdin.write(readFileSync(IMU).subarray(0, 9000));
  const parts = () => readdirSync(FOLDER).filter((name) => name.startsWith('.interrupted'));
  while (parts().length === 0) await new Promise((resolve) => setTimeout(resolve, 20));
  child.kill('SIGINT');
  t.is(await closed, 130);
  t.deepEqual(parts(), []);
});
