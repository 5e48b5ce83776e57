import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'ava';
import { readSummary } from '../lib/index.js';
import { runNode } from './helpers/command.js';
import { ROOT } from './helpers/shared.js';

async function example(name: string, ...args: string[]) {
  const { code, stdout, stderr } = await runNode([join(ROOT, 'build/examples', `${name}.js`), ...args]);
  return { code, stderr, lines: stdout.split('\n').slice(0, -1) };
}

test('topic-to-ndjson prints the messages of a topic', async (t) => {
  const { code, stderr, lines } = await example('topic-to-ndjson');
  t.like({ code, stderr }, { code: 0, stderr: '' });
  t.is(lines.length, 30);
  t.like(JSON.parse(lines[1] ?? ''), {
    logTime: '1700000000033333333',
    message: { transforms: [{ header: { frame_id: 'map' }, child_frame_id: 'frame_0' }] },
  });
});

test('average prints the average of what the fixture holds', async (t) => {
  const { code, lines } = await example('average');
  t.is(code, 0);
  // ((n * 37 + 33) % 1000) / 4 - 100 for n = 0..119
  let sum = 0;
  for (let n = 0; n < 120; n++) sum += ((n * 37 + 33) % 1000) / 4 - 100;
  t.deepEqual(lines, [`120 messages, average ${sum / 120} m/s²`]);
});

test('beside-mcap-core decodes what the indexed reader finds', async (t) => {
  const { code, lines } = await example('beside-mcap-core');
  t.is(code, 0);
  t.is(lines.length, 11);
  t.true(lines.includes('/wide 1700000000040000000n 3 fields'));
  t.true(lines.includes('/primitives 1700000000010000000n 48 fields'));
});

test('abort stops with the reason of its signal', async (t) => {
  const { code, lines } = await example('abort');
  t.is(code, 0);
  t.is(lines.length, 11);
  t.is(lines.at(-1), 'stopped: 10 are enough');
});

test('stages throttles, filters and maps', async (t) => {
  const { code, stderr, lines } = await example('stages');
  t.like({ code, stderr }, { code: 0, stderr: '120 messages seen\n' });
  t.true(lines.length > 0 && lines.length < 120);
  for (const line of lines) {
    const { topic, message } = JSON.parse(line) as { topic: string; message: { turn: number } };
    t.is(topic, '/imu');
    t.deepEqual(Object.keys(message), ['turn']);
    t.true(message.turn >= 0);
  }
});

test('split-by-topic writes a file for each topic, whole', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'topics-'));
  const { code, stderr, lines } = await example('split-by-topic', 'fixtures/recordings/robot-lz4.mcap', folder);
  t.like({ code, stderr }, { code: 0, stderr: '' });
  const files = readdirSync(folder);
  t.is(files.length, lines.length);
  t.true(files.length > 1);
  for (const file of files) t.regex(readFileSync(join(folder, file), 'utf8'), /^(\{"topic":.*\}\n)+$/);
});

test('topic-to-csv prints a header and a row for each message', async (t) => {
  const { code, lines } = await example('topic-to-csv');
  t.is(code, 0);
  t.is(lines.length, 121);
  t.regex(lines[0] ?? '', /^topic,logTime,publishTime,sequence,header\.stamp\.sec,.*orientation_covariance\[0\]/);
});

test('filter-messages keeps the fixes that have an altitude', async (t) => {
  const { code, lines } = await example('filter-messages');
  t.is(code, 0);
  // The first two of six have NaN and Infinity.
  t.deepEqual(
    lines.map((line) => (JSON.parse(line) as { sequence: number }).sequence),
    [2, 3, 4, 5],
  );
});

test('map-messages makes messages of joint names', async (t) => {
  const { code, lines } = await example('map-messages');
  t.is(code, 0);
  t.is(lines.length, 40);
  t.deepEqual((JSON.parse(lines[2] ?? '') as { message: unknown }).message, {
    joints: ['shoulder_pan', 'shoulder_lift'],
  });
});

test('tap-messages counts what goes into the copy', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'tap-'));
  try {
    const copy = join(folder, 'copy.mcap');
    const { code, lines } = await example('tap-messages', 'fixtures/recordings/robot-lz4.mcap', copy);
    t.is(code, 0);
    t.deepEqual(lines.sort(), ['/joint_states 40', '/odom 20', '/tf 30']);
    const { statistics } = await readSummary(copy);
    t.is(statistics.messageCount, 90n);
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test('throttle-messages keeps ten a second', async (t) => {
  const { code, lines } = await example('throttle-messages');
  t.is(code, 0);
  // 0.595 s at 200 a second: one each 100 ms.
  t.deepEqual(
    lines.map((line) => (JSON.parse(line) as { sequence: number }).sequence),
    [0, 20, 40, 60, 80, 100],
  );
});
