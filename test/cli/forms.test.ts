import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parse } from '@foxglove/rosmsg';
import { MessageReader } from '@foxglove/rosmsg2-serialization';
import test from 'ava';
import { mcapRos2, runNode } from '../helpers/command.js';
import { readIndexed } from '../helpers/indexed.js';
import * as mcap from '../helpers/mcap-bytes.js';
import { ROOT } from '../helpers/shared.js';

const FOLDER = mkdtempSync(join(tmpdir(), 'forms-'));
test.after.always(() => {
  rmSync(FOLDER, { recursive: true, force: true });
});
const IMU = join(ROOT, 'fixtures/recordings/imu-zstd.mcap');
const BYTES = mcap.file(
  mcap.schema(1, { data: 'uint8[] d\nint64 n' }),
  mcap.channel(1, 1),
  mcap.message(1, 1_500_000_000, Buffer.from('000100000200000007080000ffffffffffffffff', 'hex')),
);

test('cat has log times in ns, RFC 3339 and seconds, and byte arrays in three forms', async (t) => {
  const line = async (...args: string[]) =>
    JSON.parse((await mcapRos2(['cat', '-', ...args], BYTES)).stdout) as { logTime: string; message: unknown };
  t.like(await line(), { logTime: '1500000000', message: { d: 'Bwg=', n: '-1' } });
  t.is((await line('--time-format', 'rfc3339')).logTime, '1970-01-01T00:00:01.500000000Z');
  t.is((await line('--time-format', 'seconds')).logTime, '1.500000000');
  t.deepEqual((await line('--bytes', 'length')).message, { d: 2, n: '-1' });
  t.deepEqual((await line('--bytes', 'omit')).message, { n: '-1' });
});

test('cat prints CSV, one JSON array and a form for reading', async (t) => {
  const csv = await mcapRos2([
    'cat',
    IMU,
    '-t',
    '/imu',
    '--format',
    'csv',
    '--fields',
    'orientation.w',
    '--limit',
    '2',
  ]);
  t.regex(csv.stdout, /^topic,logTime,publishTime,sequence,orientation\.w\n\/imu,1700000000000000000,/);
  const json = await mcapRos2(['cat', IMU, '--format', 'json', '--limit', '3']);
  t.is((JSON.parse(json.stdout) as unknown[]).length, 3);
  t.is((await mcapRos2(['cat', IMU, '--format', 'json', '-t', '/none'])).stdout, '[]\n');
  const pretty = await mcapRos2(['cat', '-', '--format', 'pretty'], BYTES);
  t.regex(pretty.stdout, /^1970-01-01T00:00:01\.500000000Z \/t p\/msg\/A #0\n\{\n {2}"d": "Bwg="/);
});

test('cat merges several files by log time', async (t) => {
  const files = [0, 1].map((n) => {
    const path = join(FOLDER, `${n}.mcap`);
    writeFileSync(path, mcap.file(mcap.schema(1), mcap.channel(1, 1), mcap.message(1, 1 + n), mcap.message(1, 3 + n)));
    return path;
  });
  const { stdout } = await mcapRos2(['cat', ...files]);
  const lines = stdout.trim().split('\n');
  t.deepEqual(
    lines.map((line) => (JSON.parse(line) as { logTime: string }).logTime),
    ['1', '2', '3', '4'],
  );
});

test('generate is the same for the same seed, rises, and other decoders read it', async (t) => {
  const types = [
    'sensor_msgs/msg/Imu',
    'nav_msgs/msg/Odometry',
    'sensor_msgs/msg/PointCloud2',
    'diagnostic_msgs/msg/DiagnosticArray',
  ];
  const args = [
    'generate',
    ...types.flatMap((type) => ['--type', type]),
    '--rate',
    '20',
    '--duration',
    '2s',
    '--seed',
    '7',
  ];
  const outputs = await Promise.all(
    ['a', 'b'].map(async (name) => {
      const path = join(FOLDER, `generated-${name}.mcap`);
      t.is((await mcapRos2([...args, '-o', path])).code, 0);
      return readFileSync(path);
    }),
  );
  t.deepEqual(outputs[0], outputs[1]);
  const { messages, channels, schemas } = await readIndexed(outputs[0] ?? Buffer.alloc(0));
  t.is(messages.length, 4 * 40);
  const last = new Map<number, bigint>();
  for (const { channelId, data } of messages) {
    const schema = schemas.find(({ id }) => id === channels.find((channel) => channel.id === channelId)?.schemaId);
    const reader = new MessageReader(parse(Buffer.from(schema?.data ?? []).toString(), { ros2: true }));
    const value = reader.readMessage<{
      header: { stamp: { sec: number; nanosec: number } };
      orientation?: { x: number; y: number; z: number; w: number };
      status?: unknown[];
    }>(data);
    const stamp = BigInt(value.header.stamp.sec) * 1_000_000_000n + BigInt(value.header.stamp.nanosec);
    t.true(stamp > (last.get(channelId) ?? 0n));
    last.set(channelId, stamp);
    if (value.orientation !== undefined) {
      const { x, y, z, w } = value.orientation;
      t.true(Math.abs(Math.hypot(x, y, z, w) - 1) < 1e-12);
    }
    if (value.status !== undefined) t.true(value.status.length > 0);
  }
});

test('types prints TypeScript with each type once, and .msg text', async (t) => {
  const { stdout } = await mcapRos2(['types', IMU]);
  t.is(stdout.match(/interface Header /g)?.length, 1);
  t.regex(stdout, /export interface NavSatFix/);
  const path = join(FOLDER, 'types.ts');
  writeFileSync(path, stdout);
  const checked = await runNode([
    join(ROOT, 'node_modules/typescript/bin/tsc'),
    '--noEmit',
    '--strict',
    '--ignoreConfig',
    path,
  ]);
  t.is(checked.code, 0, checked.stdout);
  const msg = await mcapRos2(['types', IMU, '-t', '/imu', '--format', 'msg']);
  t.regex(msg.stdout, /^geometry_msgs\/Quaternion orientation|geometry_msgs\/msg\/Quaternion orientation/m);
});

test('attachments and metadata are added, listed and got back', async (t) => {
  const data = join(FOLDER, 'notes.txt');
  writeFileSync(data, 'hello\n');
  const first = join(FOLDER, 'with-attachment.mcap');
  const second = join(FOLDER, 'with-both.mcap');
  t.is((await mcapRos2(['attachments', 'add', IMU, data, '-o', first, '--media-type', 'text/plain'])).code, 0);
  t.is((await mcapRos2(['metadata', 'add', first, 'trip', 'driver=Ada', 'url=a=b', '-o', second])).code, 0);
  const read = await readIndexed(readFileSync(second));
  t.is(read.messages.length, 126);
  t.is(Buffer.from(read.attachments[0]?.data ?? []).toString(), 'hello\n');
  t.deepEqual(
    read.metadata.get('trip'),
    new Map([
      ['driver', 'Ada'],
      ['url', 'a=b'],
    ]),
  );
  const list = await mcapRos2(['attachments', 'list', '--json', second]);
  t.like(JSON.parse(list.stdout), { name: 'notes.txt', mediaType: 'text/plain', bytes: 6 });
  t.is((await mcapRos2(['attachments', 'get', second, 'notes.txt'])).stdout, 'hello\n');
  t.is((await mcapRos2(['attachments', 'get', second, 'none'])).code, 1);
  t.like(JSON.parse((await mcapRos2(['metadata', 'list', '--json', second])).stdout), { name: 'trip' });
  t.like(JSON.parse((await mcapRos2(['info', '--json', second])).stdout), { attachmentCount: 1, metadata: ['trip'] });
});
