import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'ava';
import { mcapRos2 } from '../helpers/command.js';
import * as mcap from '../helpers/mcap-bytes.js';
import { ROOT } from '../helpers/shared.js';

const IMU = join(ROOT, 'fixtures/recordings/imu-zstd.mcap');

test('info --json counts topics, types, times and compression', async (t) => {
  for (const result of [
    await mcapRos2(['info', '--json', IMU]),
    await mcapRos2(['info', '--json'], readFileSync(IMU)),
  ]) {
    t.is(result.code, 0);
    t.like(JSON.parse(result.stdout), {
      profile: 'ros2',
      library: 'mcap-ros2-streams fixtures',
      bytes: readFileSync(IMU).length,
      messageCount: 126,
      startTime: '1700000000000000000',
      endTime: '1700000000595000000',
      duration: '595000000',
      topics: [
        {
          topic: '/imu',
          schemaName: 'sensor_msgs/msg/Imu',
          schemaEncoding: 'ros2msg',
          messageEncoding: 'cdr',
          messageCount: 120,
          hz: 200,
        },
        { topic: '/fix', schemaName: 'sensor_msgs/msg/NavSatFix', messageCount: 6 },
      ],
      attachmentCount: 0,
      metadataCount: 0,
      damage: [],
    });
    const { compression } = JSON.parse(result.stdout) as { compression: Record<string, { chunkCount: number }> };
    t.deepEqual(Object.keys(compression), ['zstd']);
    t.true((compression['zstd']?.chunkCount ?? 0) > 1);
  }
});

test('info prints the same as a table', async (t) => {
  const { code, stdout } = await mcapRos2(['info', IMU]);
  t.is(code, 0);
  t.regex(stdout, /^start: +2023-11-14T22:13:20\.000000000Z \(1700000000000000000\)$/m);
  t.regex(stdout, /^duration: +0\.595s$/m);
  t.regex(stdout, /^\/imu +sensor_msgs\/msg\/Imu +cdr\/ros2msg +120 +200\.00 +38\.0 KiB$/m);
});

test('info has no NaN for recordings without messages or without length', async (t) => {
  for (const bytes of [
    mcap.file(),
    mcap.file(mcap.channel(1, 0)),
    mcap.file(mcap.channel(1, 0), mcap.message(1, 0)),
    mcap.file(mcap.channel(1, 0), mcap.message(1, 5), mcap.message(1, 5)),
    mcap.file(mcap.channel(1, 0), mcap.message(1, 2n ** 64n - 1n), mcap.message(1, 0)),
  ]) {
    for (const args of [['info'], ['info', '--json']]) {
      const { code, stdout } = await mcapRos2(args, bytes);
      t.is(code, 0);
      t.notRegex(stdout, /NaN|Infinity|undefined/);
    }
  }
});

test('info of a cut recording counts what is whole and exits 3; of another file exits 1', async (t) => {
  const cut = await mcapRos2(['info', '--json'], readFileSync(IMU).subarray(0, 9000));
  t.is(cut.code, 3);
  t.like(JSON.parse(cut.stdout), { damage: [{ code: 'MCAP_TRUNCATED' }] });
  t.is((await mcapRos2(['info', 'package.json'])).code, 1);
});
