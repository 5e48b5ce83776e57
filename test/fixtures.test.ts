import { createReadStream, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import test from 'ava';
import { decodeStream, McapRecordParser, Ros2Decoder } from '../lib/index.js';
import type { DecodedMessage } from '../lib/index.js';
import { ROOT } from './helpers/shared.js';

const FOLDER = join(ROOT, 'fixtures/recordings');
const names = readdirSync(FOLDER).filter((name) => name.endsWith('.mcap'));

/** What the fixtures' script put in. */
function expected(name: string): unknown {
  return JSON.parse(readFileSync(join(FOLDER, name.replace(/mcap$/, 'json')), 'utf8'));
}

/** A decoded value in the form in which the script writes what it put in. */
function plain(value: unknown): unknown {
  if (typeof value === 'bigint') return String(value);
  if (typeof value === 'number' && !Number.isFinite(value)) return String(value);
  if (value instanceof Uint8Array) return Buffer.from(value).toString('base64');
  if (ArrayBuffer.isView(value)) return Array.from(value as unknown as Iterable<unknown>, plain);
  if (Array.isArray(value)) return value.map(plain);
  if (typeof value === 'object' && value !== null) {
    return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, plain(item)]));
  }
  return value;
}

function summary({ topic, schemaName, logTime, publishTime, sequence, message }: DecodedMessage): unknown {
  return {
    topic,
    schemaName,
    logTime: String(logTime),
    publishTime: String(publishTime),
    sequence,
    message: plain(message),
  };
}

test('there are recordings of each compression, each under 100 kB', (t) => {
  t.deepEqual(names, [
    'imu-zstd.mcap',
    'primitives-zstd.mcap',
    'robot-lz4.mcap',
    'sensors-none.mcap',
    'status-unchunked.mcap',
  ]);
  for (const name of names) t.true(statSync(join(FOLDER, name)).size < 100_000);
});

for (const name of names) {
  test(`${name} decodes to the values that were put in`, async (t) => {
    const got: unknown[] = [];
    for await (const message of decodeStream(createReadStream(join(FOLDER, name)))) got.push(summary(message));
    t.deepEqual(got, expected(name));
  });

  test(`${name} decodes to the same through McapRecordParser and Ros2Decoder`, async (t) => {
    const got: unknown[] = [];
    const source = createReadStream(join(FOLDER, name), { highWaterMark: 1000 });
    await pipeline(
      source,
      new McapRecordParser(),
      new Ros2Decoder(),
      async (messages: AsyncIterable<DecodedMessage>) => {
        for await (const message of messages) got.push(summary(message));
      },
    );
    t.deepEqual(got, expected(name));
  });
}

test('a field keeps its kind: typed arrays, bigint, booleans, text, times', async (t) => {
  for await (const { message, topic } of decodeStream<Record<string, unknown>>(
    createReadStream(join(FOLDER, 'primitives-zstd.mcap')),
  )) {
    if (topic !== '/primitives') continue;
    t.is(typeof message['int64_value'], 'bigint');
    t.true(message['float32_array'] instanceof Float32Array);
    t.true(message['uint64_sequence'] instanceof BigUint64Array);
    t.true(message['char_array'] instanceof Uint8Array);
    t.true(Array.isArray(message['bool_array']));
    t.deepEqual(Object.keys(message['time_value'] as object), ['sec', 'nanosec']);
  }
});
