import { createReadStream, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Duplex, Readable, Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { setTimeout as delay } from 'node:timers/promises';
import test from 'ava';
import { decodeStream, McapStreamsError } from '../../lib/index.js';
import type { ChannelReport, DecodedMessage, DecodeStreamOptions } from '../../lib/index.js';
import * as mcap from '../helpers/mcap-bytes.js';
import { ROOT } from '../helpers/shared.js';
import { collect, pieces } from '../helpers/streams.js';

const IMU = join(ROOT, 'fixtures/recordings/imu-zstd.mcap');

interface Imu {
  header: { frame_id: string };
  linear_acceleration: { x: number };
}

function values(messages: readonly DecodedMessage[]): unknown[] {
  return messages.map(({ message }) => message);
}

const definitions = Buffer.concat([mcap.schema(1), mcap.channel(1, 1)]);

function payload(x: number): Buffer {
  return Buffer.from([0, 1, 0, 0, x]);
}

/** Messages { x: 1 }, { x: 2 }, ... on one topic. */
function numbers(count: number): Buffer {
  return Buffer.concat(Array.from({ length: count }, (_, n) => mcap.message(1, n + 1, payload(n + 1))));
}

test('it is a stage of a pipeline, with options', async (t) => {
  const topics = new Set<string>();
  await pipeline(
    createReadStream(IMU),
    decodeStream<Imu>({ topics: '/imu' }),
    async (messages: AsyncIterable<DecodedMessage<Imu>>) => {
      for await (const { topic, message } of messages) {
        topics.add(topic);
        t.is(message.header.frame_id, 'imu_link');
      }
    },
  );
  t.deepEqual([...topics], ['/imu']);
});

test('the function itself is a stage of a pipeline', async (t) => {
  let count = 0;
  const sink = new Writable({
    objectMode: true,
    write(_message, _encoding, callback) {
      count++;
      callback();
    },
  });
  await pipeline(createReadStream(IMU), decodeStream, sink);
  t.is(count, 126);
});

test('the function as a stage hands on errors of both sides, and closes the file', async (t) => {
  await t.throwsAsync(pipeline(createReadStream('no such file'), decodeStream, new Writable({ objectMode: true })), {
    code: 'ENOENT',
  });
  await t.throwsAsync(
    pipeline(Readable.from([Buffer.from('no mcap at all')]), decodeStream, new Writable({ objectMode: true })),
    { code: 'MCAP_NOT_MCAP' },
  );
  const source = createReadStream(IMU, { highWaterMark: 100 });
  const sink = new Writable({
    objectMode: true,
    write(_message, _encoding, callback) {
      callback(new Error('full'));
    },
  });
  await t.throwsAsync(pipeline(source, decodeStream, sink), { message: 'full' });
  t.true(source.destroyed);
});

test('for await over a source gives typed messages, and breaking off closes the source', async (t) => {
  const source = createReadStream(IMU, { highWaterMark: 100 });
  let sum = 0;
  for await (const { message } of decodeStream<Imu>(source, { topics: ['/imu'] })) {
    sum += message.linear_acceleration.x;
    if (sum !== 0) break;
  }
  await delay(5);
  t.true(source.destroyed);
});

test('any iterable of bytes is a source, also a web stream', async (t) => {
  const bytes = readFileSync(IMU);
  async function* slow() {
    for (const piece of pieces(bytes, 5000)) {
      await delay(1);
      yield piece;
    }
  }
  for (const source of [pieces(bytes, 777), slow(), Readable.toWeb(Readable.from([bytes], { objectMode: false }))]) {
    let count = 0;
    for await (const message of decodeStream(source as AsyncIterable<Uint8Array>))
      count += message.topic === '/imu' ? 1 : 0;
    t.is(count, 120);
  }
});

test('it is a Duplex for the web and for compose', async (t) => {
  const { readable, writable } = Duplex.toWeb(decodeStream({ topics: ['/fix'] }));
  const written = Readable.toWeb(createReadStream(IMU)).pipeTo(writable as never);
  let count = 0;
  for await (const message of readable) count += (message as DecodedMessage).topic === '/fix' ? 1 : 0;
  await written;
  t.is(count, 6);
  const composed = Readable.from([readFileSync(IMU)], { objectMode: false }).compose(
    decodeStream({ topics: ['/fix'] }),
  );
  for await (const message of composed) count += (message as unknown as DecodedMessage).topic === '/fix' ? 1 : 0;
  t.is(count, 12);
});

test('topics: names, patterns and a predicate; schemaNames; a time range with its end left out', async (t) => {
  const count = async (options: DecodeStreamOptions) =>
    (await collect(readFileSync(IMU), decodeStream(options))).got.length;
  t.is(await count({}), 126);
  t.is(await count({ topics: '/fix' }), 6);
  t.is(await count({ topics: ['/fix', /^\/im/g] }), 126);
  t.is(await count({ topics: /f/ }), 6);
  t.is(await count({ topics: [] }), 0);
  t.is(await count({ topics: (topic, channel) => topic === '/imu' && channel.messageEncoding === 'cdr' }), 120);
  t.is(await count({ schemaNames: ['sensor_msgs/msg/NavSatFix'] }), 6);
  t.is(await count({ schemaNames: ['sensor_msgs/NavSatFix'] }), 6);
  const start = 1_700_000_000_000_000_000n;
  t.is(await count({ topics: '/imu', startTime: start, endTime: start + 5_000_000n }), 1);
  t.is(await count({ topics: '/imu', startTime: start + 5_000_000n }), 119);
  t.is(await count({ startTime: start, endTime: start }), 0);
  t.is(await count({ startTime: 5n, endTime: 1n }), 0);
});

test('batch gives arrays of up to so many messages', async (t) => {
  const { got, error } = await collect(readFileSync(IMU), decodeStream({ batch: 10 }));
  t.is(error, undefined);
  t.true(got.every((batch) => batch.length >= 1 && batch.length <= 10));
  t.is(got.flat().length, 126);
});

test('in a batch too, what stands before an error comes out first', async (t) => {
  const bytes = mcap.file(mcap.chunk(Buffer.concat([definitions, numbers(3), mcap.message(1, 9, Buffer.alloc(2))])));
  const { got, error } = await collect(bytes, decodeStream({ batch: 100 }));
  t.deepEqual(values(got.flat()), [{ x: 1 }, { x: 2 }, { x: 3 }]);
  t.is(error?.code, 'CDR_NO_ENCAPSULATION');
});

test('a recording that is cut at any byte gives every message before the cut; what it does then is the policy', async (t) => {
  const parts = [
    mcap.MAGIC,
    mcap.header(),
    mcap.schema(1),
    mcap.channel(1, 1),
    ...[1, 2, 3].map((x) => mcap.message(1, x, payload(x))),
  ];
  parts.push(mcap.dataEnd(), mcap.footer(), mcap.MAGIC);
  const bytes = Buffer.concat(parts);
  for (let length = 1; length < bytes.length; length++) {
    let whole = 0;
    for (let n = 0, end = 0; n < 7; n++) if ((end += parts[n]?.length ?? 0) <= length && n >= 4) whole++;
    const expected = [{ x: 1 }, { x: 2 }, { x: 3 }].slice(0, whole);
    const strict = await collect(bytes.subarray(0, length), decodeStream());
    t.is(strict.error?.code, 'MCAP_TRUNCATED', `at ${length}`);
    t.deepEqual(values(strict.got), expected, `at ${length}`);
    const sink: unknown[] = [];
    const collector = new Writable({
      objectMode: true,
      write({ message }: DecodedMessage, _encoding, callback) {
        sink.push(message);
        setImmediate(callback);
      },
    });
    await pipeline(Readable.from([bytes.subarray(0, length)]), decodeStream({ damage: 'end' }), collector);
    t.deepEqual(sink, expected, `at ${length}`);
  }
});

const UNDECODABLE: [string, Buffer, string][] = [
  ['a payload shorter than its type', mcap.message(1, 50, Buffer.from([0, 1, 0, 0])), 'CDR_TRUNCATED'],
  ['a payload without encapsulation', mcap.message(1, 50, Buffer.alloc(3)), 'CDR_NO_ENCAPSULATION'],
  ['an unknown encapsulation', mcap.message(1, 50, Buffer.from([0, 0x55, 0, 0, 1])), 'CDR_UNSUPPORTED_ENCAPSULATION'],
  [
    'a zstd frame as payload',
    mcap.message(1, 50, Buffer.from('28b52ffdffffffffffff', 'hex')),
    'CDR_COMPRESSED_MESSAGE',
  ],
  [
    'a schema that does not parse',
    Buffer.concat([mcap.schema(2, { data: 'uint8' }), mcap.channel(2, 2, { topic: '/bad' }), mcap.message(2, 50)]),
    'SCHEMA_SYNTAX',
  ],
  [
    'a schema without its dependency',
    Buffer.concat([mcap.schema(2, { data: 'q/msg/B b' }), mcap.channel(2, 2, { topic: '/bad' }), mcap.message(2, 50)]),
    'SCHEMA_UNKNOWN_TYPE',
  ],
  [
    'an empty schema',
    Buffer.concat([
      mcap.schema(2, { encoding: 'ros2idl', data: '' }),
      mcap.channel(2, 2, { topic: '/bad' }),
      mcap.message(2, 50),
    ]),
    'SCHEMA_EMPTY',
  ],
  [
    'a schema that the recording does not define',
    Buffer.concat([mcap.channel(2, 9, { topic: '/bad' }), mcap.message(2, 50)]),
    'SCHEMA_MISSING',
  ],
];

for (const [title, records, code] of UNDECODABLE) {
  const bytes = mcap.file(definitions, numbers(2), records, mcap.message(1, 60, payload(60)));

  test(`${title}: a typed error with topic and time, when everything before it has come out`, async (t) => {
    const { got, error } = await collect(bytes, decodeStream());
    t.deepEqual(values(got), [{ x: 1 }, { x: 2 }]);
    t.true(error instanceof McapStreamsError);
    t.like(error, { code, topic: code.startsWith('SCHEMA') ? '/bad' : '/t', logTime: 50n });
    t.regex(error?.message ?? '', /option undecodable/);
  });

  test(`${title}: policies raw and skip go on and report the channel once`, async (t) => {
    const reports: ChannelReport[] = [];
    const onUndecodable = (report: ChannelReport) => reports.push(report);
    const raw = decodeStream({ undecodable: 'raw', onUndecodable });
    const { got, error } = await collect(bytes, raw);
    t.is(error, undefined);
    t.deepEqual(values(got), [{ x: 1 }, { x: 2 }, undefined, { x: 60 }]);
    t.is(got[2]?.error?.code, code as never);
    t.true(got[2]?.data instanceof Uint8Array);
    t.is(reports.length, 1);
    t.is(reports[0]?.count, 1);
    t.deepEqual(raw.stats.undecodable, reports);
    const skipped = await collect(bytes, decodeStream({ undecodable: 'skip' }));
    t.deepEqual(values(skipped.got), [{ x: 1 }, { x: 2 }, { x: 60 }]);
  });
}

const MIXED = mcap.file(
  definitions,
  mcap.schema(2, { name: 'Any', encoding: 'jsonschema', data: '{}' }),
  mcap.channel(2, 2, { topic: '/json', encoding: 'json' }),
  mcap.schema(3, { name: 'pb.Any', encoding: 'protobuf', data: '' }),
  mcap.channel(3, 3, { topic: '/pb', encoding: 'protobuf' }),
  mcap.channel(4, 0, { topic: '/none' }),
  ...[1, 2].flatMap((n) => [
    mcap.message(1, n, payload(n)),
    mcap.message(2, n, Buffer.from(`{"n":${n}}`)),
    mcap.message(3, n, Buffer.of(8, n)),
    mcap.message(4, n, payload(n)),
  ]),
);

test('a channel that no decoder takes: an error with topic and option', async (t) => {
  const { got, error } = await collect(MIXED, decodeStream());
  t.deepEqual(values(got), [{ x: 1 }]);
  t.like(error, { code: 'MCAP_UNSUPPORTED_ENCODING', topic: '/json' });
  t.regex(error?.message ?? '', /"json".*option unsupported/s);
});

test('with unsupported raw or skip everything else is delivered, and each channel is reported once with a count', async (t) => {
  for (const unsupported of ['raw', 'skip'] as const) {
    const reports: ChannelReport[] = [];
    const { got, error } = await collect(
      MIXED,
      decodeStream({ unsupported, onUnsupported: (report) => reports.push(report) }),
    );
    t.is(error, undefined);
    t.deepEqual(values(got.filter(({ topic }) => topic === '/t')), [{ x: 1 }, { x: 2 }]);
    t.is(got.length, unsupported === 'raw' ? 8 : 2);
    t.deepEqual(
      reports.map(({ topic, count }) => [topic, count]),
      [
        ['/json', 2],
        ['/pb', 2],
        ['/none', 2],
      ],
    );
    if (unsupported === 'raw') t.is(Buffer.from(got[1]?.data ?? []).toString(), '{"n":1}');
  }
});

test('policies do not apply to topics that are not selected, nor to channels without messages', async (t) => {
  t.is((await collect(MIXED, decodeStream({ topics: ['/t'] }))).error, undefined);
  t.is(
    (await collect(mcap.file(definitions, mcap.channel(4, 0, { topic: '/none' })), decodeStream())).error,
    undefined,
  );
});

test('decoders take the channels that they know, before the built-in one', async (t) => {
  const asked: string[] = [];
  const { got } = await collect(
    MIXED,
    decodeStream({
      unsupported: 'skip',
      undecodable: 'raw',
      decoders: [
        ({ topic, messageEncoding }) => {
          asked.push(topic);
          if (messageEncoding === 'json')
            return { decode: (data) => JSON.parse(Buffer.from(data).toString()) as unknown };
          if (messageEncoding === 'protobuf') {
            return {
              decode: () => {
                throw new Error('my own');
              },
            };
          }
          return undefined;
        },
      ],
    }),
  );
  t.deepEqual(values(got), [{ x: 1 }, { n: 1 }, undefined, { x: 2 }, { n: 2 }, undefined]);
  t.like(got[2]?.error, { code: 'CDR_DECODER_FAILED' });
  t.is((got[2]?.error?.cause as Error).message, 'my own');
  t.deepEqual(asked, ['/t', '/json', '/pb', '/none']);
});

test('an error in a callback of the user comes out as itself', async (t) => {
  const boom = () => {
    throw new Error('boom');
  };
  for (const options of [
    { topics: boom },
    { unsupported: 'skip', onUnsupported: boom },
    { decoders: [boom] },
  ] as DecodeStreamOptions[]) {
    t.is((await collect(MIXED, decodeStream(options))).error?.message, 'boom');
  }
});

test('a signal ends it at once while the source stalls', async (t) => {
  const stalled = new Readable({
    read() {
      // It never gives anything.
    },
  });
  const controller = new AbortController();
  const reason = new Error('enough');
  setTimeout(() => {
    controller.abort(reason);
  }, 10);
  const error = await t.throwsAsync(
    async () => {
      for await (const message of decodeStream(stalled, { signal: controller.signal })) t.fail(message.topic);
    },
    { name: 'AbortError' },
  );
  t.is(error.cause, reason);
  t.true(stalled.destroyed);
  const aborted = AbortSignal.abort(reason);
  await t.throwsAsync(
    pipeline(createReadStream(IMU), decodeStream({ signal: aborted }), new Writable({ objectMode: true })),
    {
      name: 'AbortError',
    },
  );
});

test('a wrong option is a TypeError that names the nearest one', (t) => {
  const wrong: [object, RegExp][] = [
    [{ topic: '/imu' }, /topics/],
    [{ undecodeable: 'raw' }, /undecodable/],
    [{ undecodable: 'ignore' }, /"throw", "raw", "skip"/],
    [{ int64: 'float' }, /int64/],
    [{ batch: 0 }, /batch/],
  ];
  for (const [options, message] of wrong) {
    t.throws(() => decodeStream(options as DecodeStreamOptions), { instanceOf: TypeError, message });
  }
});

test('highWaterMark is for the side of the objects, each side has its own', (t) => {
  t.is(decodeStream({ highWaterMark: 3 }).readableHighWaterMark, 3);
  t.is(decodeStream({ highWaterMark: 3 }).writableHighWaterMark, decodeStream().writableHighWaterMark);
  t.is(decodeStream({ readableHighWaterMark: 5, writableHighWaterMark: 7 }).writableHighWaterMark, 7);
});

test('the options of the codec reach it', async (t) => {
  const bytes = readFileSync(join(ROOT, 'fixtures/recordings/primitives-zstd.mcap'));
  const { got } = await collect(bytes, decodeStream({ topics: '/primitives', int64: 'string', time: 'bigint' }));
  t.like(got[0]?.message, { int64_value: '-9223372036854775808', time_value: 1_700_000_000_000_000_000n });
  const projected = await collect(bytes, decodeStream({ topics: '/primitives', fields: ['uint8_value'] }));
  t.deepEqual(projected.got[0]?.message, { uint8_value: 0 });
  t.true(projected.got[0]?.partial);
});

test('messages of one channel share its record and its schema, with the metadata', async (t) => {
  const { got } = await collect(readFileSync(IMU), decodeStream({ topics: '/imu' }));
  t.is(got[0]?.channel, got[119]?.channel);
  t.is(got[0]?.schema, got[119]?.schema);
  t.is(got[0]?.channel.metadata.get('offered_qos_profiles'), '- history: 1\n  depth: 10\n');
});

test('decoded data does not change while the stream goes on', async (t) => {
  const bytes = readFileSync(join(ROOT, 'fixtures/recordings/sensors-none.mcap'));
  const kept: { now: Uint8Array; then: Buffer }[] = [];
  for await (const { message } of decodeStream<{ data: Uint8Array }>(pieces(bytes, 1000))) {
    kept.push({ now: message.data, then: Buffer.from(message.data) });
  }
  for (const { now, then } of kept) t.deepEqual(Buffer.from(now), then);
});
