import { execFile } from 'node:child_process';
import { createReadStream, createWriteStream } from 'node:fs';
import { mkdtemp, readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough, Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { setTimeout as delay } from 'node:timers/promises';
import test from 'ava';
import {
  decodeStream,
  encodeStream,
  jsonCodec,
  McapRecordWriter,
  McapStreamsError,
  Ros2Encoder,
} from '../../lib/index.js';
import type { DecodedMessage, EncodeStreamOptions, EncoderInput, ErrorCode, OutgoingMessage } from '../../lib/index.js';
import { ROOT } from '../helpers/shared.js';
import { indexRead, streamRead, written } from '../helpers/written.js';

const require = createRequire(import.meta.url);
const { parse } = require('@foxglove/rosmsg') as { parse: (text: string, options: object) => unknown };
const { MessageReader } = require('@foxglove/rosmsg2-serialization') as {
  MessageReader: new (definitions: unknown) => { readMessage(bytes: Uint8Array): unknown };
};

interface Read {
  topic: string;
  schemaName: string;
  logTime: bigint;
  publishTime: bigint;
  sequence: number;
  message: unknown;
}

/** Messages as @mcap/core and @foxglove/rosmsg2-serialization read them. */
function readByPeers(bytes: Uint8Array): Read[] {
  const schemas = new Map<number, { name: string; data: Uint8Array }>();
  const channels = new Map<number, { topic: string; schemaId: number }>();
  const messages: Read[] = [];
  for (const record of streamRead(bytes)) {
    if (record.type === 'Schema') schemas.set(record.id, record);
    if (record.type === 'Channel') channels.set(record.id, record);
    if (record.type !== 'Message') continue;
    const { topic = '', schemaId = 0 } = channels.get(record.channelId) ?? {};
    const { name = '', data } = schemas.get(schemaId) ?? {};
    const reader = new MessageReader(parse(Buffer.from(data ?? []).toString(), { ros2: true }));
    const { logTime, publishTime, sequence } = record;
    messages.push({
      topic,
      schemaName: name,
      logTime,
      publishTime,
      sequence,
      message: reader.readMessage(record.data),
    });
  }
  return messages;
}

function encoded(messages: Iterable<unknown>, options: EncodeStreamOptions = {}): Promise<Buffer> {
  return written(messages, encodeStream(options));
}

async function refused(messages: Iterable<unknown>, options: EncodeStreamOptions = {}): Promise<McapStreamsError> {
  const fused = await encoded(messages, options).then(
    () => undefined,
    (error: unknown) => error,
  );
  if (!(fused instanceof McapStreamsError)) throw fused instanceof Error ? fused : new Error('it was not refused');
  return fused;
}

const POINT = 'float64 x\nfloat64 y\nfloat64 z\n';
const at = (logTime: bigint, message: unknown, topic = '/p'): OutgoingMessage => ({ topic, logTime, message });

test('a type by its name in definitions, as an object, a Map and a function, in both spellings', async (t) => {
  const value = { x: 1, y: 2, z: 3 };
  const forms: EncodeStreamOptions['definitions'][] = [
    { 'geometry_msgs/msg/Point': POINT },
    new Map([['geometry_msgs/Point', POINT]]),
    (name) => (name === 'geometry_msgs/msg/Point' ? POINT : undefined),
  ];
  for (const definitions of forms) {
    const bytes = await encoded([at(5n, value), at(6n, value)], {
      channels: { '/p': { schemaName: 'geometry_msgs/msg/Point' } },
      definitions,
    });
    const common = { topic: '/p', schemaName: 'geometry_msgs/msg/Point', message: value };
    t.deepEqual(readByPeers(bytes), [
      { ...common, logTime: 5n, publishTime: 5n, sequence: 0 },
      { ...common, logTime: 6n, publishTime: 6n, sequence: 1 },
    ]);
    t.like(streamRead(bytes)[0], { type: 'Header', profile: 'ros2' });
  }
});

test('a type by its text, and by fields declared in code', async (t) => {
  const channels = {
    '/text': { schemaName: 'p/msg/A', schema: 'int32 n\nstring s\n' },
    '/fields': { fields: { temperature: 'float32', stamp: 'builtin_interfaces/Time', at: 'geometry_msgs/Point[]' } },
    '/short': { temperature: 'float64' },
  } as EncodeStreamOptions['channels'];
  const values = {
    '/text': { n: -5, s: 'é' },
    '/fields': { temperature: 1.5, stamp: { sec: 1, nanosec: 2 }, at: [{ x: 1, y: 2, z: 3 }] },
    '/short': { temperature: 0.1 },
  };
  const bytes = await encoded(
    Object.entries(values).map(([topic, value]) => at(1n, value, topic)),
    { channels, definitions: { 'geometry_msgs/Point': POINT } },
  );
  const decoded = [];
  for await (const { topic, message } of decodeStream(Readable.from([bytes]))) decoded.push([topic, message]);
  t.deepEqual(decoded, Object.entries(values));
  t.deepEqual(
    readByPeers(bytes).map(({ topic, schemaName }) => [topic, schemaName]),
    [
      ['/text', 'p/msg/A'],
      ['/fields', 'generated_msgs/msg/Fields'],
      ['/short', 'generated_msgs/msg/Short'],
    ],
  );
});

test('the types that a text needs come from definitions where it does not hold them', async (t) => {
  const definitions = {
    'geometry_msgs/msg/PoseStamped': 'std_msgs/Header header\nPose pose # where\n',
    'geometry_msgs/msg/Pose': 'Point position\nQuaternion orientation\n',
    'geometry_msgs/msg/Point': POINT,
    'geometry_msgs/msg/Quaternion': `${POINT}float64 w 1.0\n`,
    'std_msgs/msg/Header': 'builtin_interfaces/Time stamp\nstring frame_id\n',
    'builtin_interfaces/msg/Time': 'int32 sec\nuint32 nanosec\n',
  };
  const value = {
    header: { stamp: { sec: 1, nanosec: 2 }, frame_id: 'map' },
    pose: { position: { x: 1, y: 2, z: 3 }, orientation: { x: 0, y: 0, z: 0, w: 1 } },
  };
  const channels = { '/p': { schemaName: 'geometry_msgs/msg/PoseStamped' } };
  const [read] = readByPeers(await encoded([at(1n, value)], { channels, definitions }));
  t.deepEqual(read?.message, value);
});

test('decoded messages need no declaration and keep schema, channel metadata, ids, times and sequence', async (t) => {
  const path = join(ROOT, 'fixtures/recordings/robot-lz4.mcap');
  const out = new PassThrough();
  const bytes: Buffer[] = [];
  out.on('data', (part: Buffer) => bytes.push(part));
  await pipeline(createReadStream(path), decodeStream(), encodeStream(), out);
  const before = streamRead(await readFile(path));
  const after = streamRead(Buffer.concat(bytes));
  const only = (records: readonly { type: string }[], type: string): unknown[] =>
    records
      .filter((record) => record.type === type)
      .map((record) => JSON.stringify(record, plain))
      .sort();
  const used = new Set(before.flatMap((record) => (record.type === 'Message' ? [record.channelId] : [])));
  const channels = before.filter((record) => record.type !== 'Channel' || used.has(record.id));
  t.deepEqual(only(after, 'Channel'), only(channels, 'Channel'));
  t.deepEqual(only(after, 'Message'), only(before, 'Message'));
});

function plain(_: string, value: unknown): unknown {
  if (value instanceof Map) return [...(value as Map<unknown, unknown>)];
  if (value instanceof Uint8Array) return Buffer.from(value).toString('hex');
  return typeof value === 'bigint' ? String(value) : value;
}

test('the fused stage writes what encoder and writer write, record for record', async (t) => {
  const messages: DecodedMessage[] = [];
  for await (const message of decodeStream(createReadStream(join(ROOT, 'fixtures/recordings/imu-zstd.mcap'))))
    messages.push(message);
  const parts: Buffer[] = [];
  await pipeline(Readable.from(messages), new Ros2Encoder(), new McapRecordWriter(), async (source) => {
    for await (const part of source as AsyncIterable<Buffer>) parts.push(part);
  });
  t.true(Buffer.concat(parts).equals(await encoded(messages)));
});

test('encodeStream is a stage as it stands, and takes arrays of messages', async (t) => {
  const path = join(ROOT, 'fixtures/recordings/imu-zstd.mcap');
  const folder = await mkdtemp(join(tmpdir(), 'encode-'));
  await pipeline(createReadStream(path), decodeStream, encodeStream, createWriteStream(join(folder, 'a.mcap')));
  await pipeline(
    createReadStream(path),
    decodeStream({ batch: 100 }),
    encodeStream(),
    createWriteStream(join(folder, 'b.mcap')),
  );
  const single = await readFile(join(folder, 'a.mcap'));
  t.true(single.equals(await readFile(join(folder, 'b.mcap'))));
  t.true((await indexRead(single)).messages.length > 0);
});

test('a pipe will do: no seeking', async (t) => {
  const script = `
    import { Readable } from 'node:stream';
    import { pipeline } from 'node:stream/promises';
    import { encodeStream } from ${JSON.stringify(join(ROOT, 'dist/index.js'))};
    const channels = { '/n': { fields: { n: 'uint32' } } };
    const messages = Array.from({ length: 20000 }, (_, n) => ({ topic: '/n', logTime: BigInt(n), message: { n } }));
    await pipeline(Readable.from(messages), encodeStream({ channels, chunkSize: 10000 }), process.stdout);
  `;
  const stdout = await new Promise<Buffer>((resolve, reject) => {
    const args = ['--input-type=module', '-e', script];
    execFile(process.execPath, args, { encoding: 'buffer', maxBuffer: 2 ** 26 }, (error, output) => {
      if (error === null) resolve(output);
      else reject(new Error(error.message));
    });
  });
  const { messages, reader } = await indexRead(stdout);
  t.is(messages.length, 20_000);
  t.is(reader.statistics?.messageCount, 20_000n);
});

test('a message under another topic, or with another schema, is a channel of its own', async (t) => {
  const original: DecodedMessage[] = [];
  const bytes = await encoded([at(1n, { n: 1 })], { channels: { '/p': { fields: { n: 'int8' } } } });
  for await (const message of decodeStream(Readable.from([bytes]))) original.push(message);
  const [first] = original;
  if (first?.schema === undefined) throw new Error('no message');
  const wide = { ...first.schema, name: 'p/msg/Wide', data: Buffer.from('int64 n') };
  const changed = [first, { ...first, topic: '/q' }, { ...first, schema: wide, message: { n: 2n ** 40n } }];
  const read = readByPeers(await encoded(changed));
  t.deepEqual(
    read.map(({ topic, message }) => [topic, message]),
    [
      ['/p', { n: 1 }],
      ['/q', { n: 1 }],
      ['/p', { n: 2n ** 40n }],
    ],
  );
});

test('two recordings with colliding ids get along; with preserveIds that is an error', async (t) => {
  const one = async (fields: Record<string, string>, topic: string, value: unknown): Promise<DecodedMessage[]> => {
    const messages: DecodedMessage[] = [];
    const bytes = await encoded([at(1n, value, topic)], { channels: { [topic]: { fields } } });
    for await (const message of decodeStream(Readable.from([bytes]))) messages.push(message);
    return messages;
  };
  const both = [...(await one({ n: 'int8' }, '/a', { n: 1 })), ...(await one({ s: 'string' }, '/b', { s: 'x' }))];
  const read = readByPeers(await encoded(both));
  t.deepEqual(
    read.map(({ topic, message }) => [topic, message]),
    [
      ['/a', { n: 1 }],
      ['/b', { s: 'x' }],
    ],
  );
  t.is((await refused(both, { preserveIds: true })).code, 'MCAP_SCHEMA_REDEFINED');
});

test('JSON channels are written and read by jsonCodec', async (t) => {
  const value = {
    a: [1, 2],
    b: 'ü',
    big: 5n,
    inf: -Infinity,
    bytes: Uint8Array.of(1, 2),
    floats: Float32Array.of(0.5),
  };
  const bytes = await encoded([at(1n, value, '/j'), at(2n, [null], '/j')], {
    channels: { '/j': { messageEncoding: 'json' } },
    encoders: [jsonCodec],
  });
  const message = streamRead(bytes).find(({ type }) => type === 'Message') as { data: Uint8Array };
  t.deepEqual(JSON.parse(Buffer.from(message.data).toString()), {
    a: [1, 2],
    b: 'ü',
    big: '5',
    inf: '-Infinity',
    bytes: 'AQI=',
    floats: [0.5],
  });
  const decoded = [];
  for await (const { message: read } of decodeStream(Readable.from([bytes]), { decoders: [jsonCodec] }))
    decoded.push(read);
  t.deepEqual(decoded[1], [null]);
  t.is(
    (await refused([at(1n, 1, '/j')], { channels: { '/j': { messageEncoding: 'json' } } })).code,
    'ENCODE_UNSUPPORTED_ENCODING',
  );
});

test('raw messages are written as they are, also where the schema is none', async (t) => {
  const schema = {
    type: 'Schema',
    id: 3,
    name: 'p/msg/Bad',
    encoding: 'ros2msg',
    data: Buffer.from('Nope x'),
  } as const;
  const channel = {
    type: 'Channel',
    id: 8,
    schemaId: 3,
    topic: '/r',
    messageEncoding: 'cdr',
    metadata: new Map<string, string>(),
  } as const;
  const raw = { topic: '/r', logTime: 1n, channel, schema, message: undefined, data: Uint8Array.of(9, 9) };
  const record = streamRead(await encoded([raw])).find(({ type }) => type === 'Message');
  t.like(record, { channelId: 8 });
  t.deepEqual([...(record as { data: Uint8Array }).data], [9, 9]);
  t.is((await refused([{ ...raw, message: { x: 1 } }])).code, 'SCHEMA_UNKNOWN_TYPE');
});

const CHANNELS = { '/p': { fields: { n: 'uint8' } } };

const REFUSALS: [string, unknown, ErrorCode, RegExp][] = [
  ['an undeclared topic', at(1n, {}, '/other'), 'ENCODE_UNKNOWN_TOPIC', /channels: \{ "\/other": \{ schemaName/],
  ['a projected message', { ...at(1n, { n: 1 }), partial: true }, 'ENCODE_PARTIAL_MESSAGE', /\/p.*fields/],
  ['a value that does not fit', at(1n, { n: 300 }), 'ENCODE_OUT_OF_RANGE', /^\/p .* at 1: .* n: number 300/],
  ['an unknown field', at(1n, { n: 1, m: 2 }), 'ENCODE_UNKNOWN_FIELD', /m/],
  ['a negative time', at(-1n, { n: 1 }), 'MCAP_OUT_OF_RANGE', /logTime/],
  ['a time of 65 bits', at(2n ** 64n, { n: 1 }), 'MCAP_OUT_OF_RANGE', /logTime/],
  ['a time that is no bigint', { topic: '/p', logTime: 5, message: { n: 1 } }, 'MCAP_OUT_OF_RANGE', /logTime.*bigint/],
  ['a message without a time', { topic: '/p', message: { n: 1 } }, 'MCAP_OUT_OF_RANGE', /logTime/],
  ['an object without a topic', { logTime: 1n, message: {} }, 'ENCODE_NOT_A_MESSAGE', /topic/],
  ['a message with neither value nor data', { topic: '/p', logTime: 1n }, 'ENCODE_NOT_A_MESSAGE', /neither/],
];

for (const [what, input, code, text] of REFUSALS) {
  test(`${what} is refused`, async (t) => {
    const error = await refused([input], { channels: CHANNELS });
    t.is(error.code, code);
    t.regex(error.message, text);
    const separate = pipeline(
      Readable.from([input]),
      new Ros2Encoder({ channels: CHANNELS }),
      new McapRecordWriter(),
      new PassThrough().resume(),
    );
    await t.throwsAsync(separate, { code });
  });
}

test('a type that definitions do not have, and a declaration that says nothing', async (t) => {
  const declared = (channels: unknown): EncodeStreamOptions => ({
    channels: channels as EncodeStreamOptions['channels'],
    definitions: {},
  });
  t.like(await refused([at(1n, {})], declared({ '/p': { schemaName: 'p/msg/X' } })), {
    code: 'SCHEMA_MISSING',
    topic: '/p',
  });
  t.like(await refused([at(1n, {})], declared({ '/p': { fields: { x: 'nope' } } })), {
    code: 'SCHEMA_UNKNOWN_TYPE',
    topic: '/p',
  });
  await t.throwsAsync(encoded([at(1n, {})], declared({ '/p': {} })), { instanceOf: TypeError });
  await t.throwsAsync(encoded([at(1n, {})], declared({ '/p': { schemaname: 'x', schema: 'int8 a', fields: {} } })), {
    message: /did you mean schemaName/,
  });
});

test('options of both stages are checked by their names', (t) => {
  t.throws(() => encodeStream({ chanels: {} } as EncodeStreamOptions), { message: /did you mean channels/ });
  t.throws(() => new Ros2Encoder({ encoder: [] } as object), { message: /did you mean encoders/ });
});

test('what stands before a refused message is not spoilt by it', async (t) => {
  const stage = encodeStream({ channels: CHANNELS, chunkSize: 1, compression: 'none' });
  const parts: Buffer[] = [];
  stage.on('data', (part: Buffer) => parts.push(part)).on('error', () => undefined);
  const inputs: EncoderInput[] = [at(1n, { n: 1 }), at(2n, { n: 2 }), at(3n, { n: 1000 })];
  for (const input of inputs) stage.write(input);
  await new Promise((resolve) => stage.once('close', resolve));
  const messages = [];
  for await (const { message } of decodeStream(Readable.from(parts), { damage: 'end' })) messages.push(message);
  t.deepEqual(messages, [{ n: 1 }, { n: 2 }]);
});

test('an array of large messages is taken a chunk at a time, as the reader takes them', async (t) => {
  const stage = encodeStream({ channels: { '/b': { fields: { data: 'uint8[]' } } }, compression: 'none' });
  const message = { data: new Uint8Array(2 ** 20) };
  stage.write(Array.from({ length: 200 }, (_, n) => ({ topic: '/b', logTime: BigInt(n), message })));
  stage.end();
  await delay(20);
  t.true(stage.stats.chunks < 10, `${stage.stats.chunks} chunks before anything was read`);
  const parts: Buffer[] = [];
  for await (const part of stage) parts.push(part as Buffer);
  t.is(stage.stats.messages, 200);
  const times = readByPeers(Buffer.concat(parts)).map(({ logTime }) => logTime);
  t.deepEqual(
    times,
    Array.from({ length: 200 }, (_, n) => BigInt(n)),
  );
});

test('a bad message in an array is told when those before it are written', async (t) => {
  const stage = encodeStream({ channels: { '/n': { fields: { n: 'uint8' } } }, chunkSize: 100, compression: 'none' });
  const messages = Array.from({ length: 50 }, (_, n) => at(BigInt(n), { n: n === 40 ? 1000 : n }, '/n'));
  stage.end(messages);
  const parts: Buffer[] = [];
  const error = await t.throwsAsync(async () => {
    for await (const part of stage) parts.push(part as Buffer);
  });
  t.is((error as { code?: string }).code, 'ENCODE_OUT_OF_RANGE');
  t.true(Buffer.concat(parts).length > 40 * 35);
  t.is(stage.stats.messages, 40);
  const nothing = encodeStream();
  nothing.end([undefined]);
  await t.throwsAsync(nothing.toArray(), { code: 'ENCODE_NOT_A_MESSAGE' });
});
