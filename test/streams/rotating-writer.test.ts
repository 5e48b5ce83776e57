import { createReadStream } from 'node:fs';
import { mkdtemp, readdir, readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import test from 'ava';
import { createRotatingWriter, McapRecordParser, McapStreamsError } from '../../lib/index.js';
import type { BagMetadataVersion, McapRecord, OutgoingMessage, RotatingWriterOptions } from '../../lib/index.js';
import { readShared, sharedPath, sharedTest } from '../helpers/shared.js';
import { indexRead, streamRead } from '../helpers/written.js';

async function folder(): Promise<string> {
  return join(await mkdtemp(join(tmpdir(), 'rotating-')), 'drive');
}

function* numbers(count: number, step = 1n): Generator<OutgoingMessage> {
  for (let n = 0; n < count; n++) {
    const topic = n % 2 === 0 ? '/even' : '/odd';
    yield { topic, logTime: 1000n + BigInt(n) * step, message: { n, text: `number ${Math.imul(n, 2654435761)}` } };
  }
}

const CHANNELS: RotatingWriterOptions['channels'] = {
  '/even': { schemaName: 'p/msg/Number', schema: 'uint32 n\nstring text\n' },
  '/odd': {
    schemaName: 'p/msg/Number',
    schema: 'uint32 n\nstring text\n',
    metadata: {
      offered_qos_profiles:
        '- history: 3\n  depth: 0\n  reliability: 1\n  durability: 2\n  deadline:\n    sec: 9223372036\n    nsec: 854775807',
      topic_type_hash: 'RIHS01_22',
    },
  },
};

async function rotate(
  messages: Iterable<unknown>,
  options: Omit<RotatingWriterOptions, 'path'> = {},
): Promise<{ path: string; files: Buffer[]; names: string[] }> {
  const path = await folder();
  await pipeline(Readable.from(messages), createRotatingWriter({ path, channels: CHANNELS, ...options }));
  const names = await readdir(path);
  const count = names.filter((name) => name.endsWith('.mcap')).length;
  const files = await Promise.all(Array.from({ length: count }, (_, n) => readFile(join(path, `drive_${n}.mcap`))));
  return { path, files, names };
}

for (const compression of ['zstd', 'none'] as const) {
  test(`files do not exceed maxBytes, are complete, and hold all messages in order: ${compression}`, async (t) => {
    const { files } = await rotate(numbers(20_000), { maxBytes: 200_000, compression });
    t.true(files.length > 3);
    const seen: bigint[] = [];
    for (const bytes of files) {
      t.true(bytes.length <= 200_000, `${bytes.length}`);
      const { reader, messages } = await indexRead(bytes);
      t.is(reader.channelsById.size, bytes === files[0] ? reader.channelsById.size : 2);
      t.is(reader.statistics?.messageCount, BigInt(messages.length));
      streamRead(bytes);
      for (const { logTime } of messages) seen.push(logTime);
    }
    t.deepEqual(
      seen,
      Array.from({ length: 20_000 }, (_, n) => 1000n + BigInt(n)),
    );
    if (compression === 'none') t.true(files.slice(0, -1).every((bytes) => bytes.length > 150_000));
  });
}

test('a file spans less than maxDuration, in ns or in seconds', async (t) => {
  for (const maxDuration of [10_000_000_000n, 10]) {
    const { files } = await rotate(numbers(100, 1_000_000_000n), { maxDuration });
    t.is(files.length, 10);
    for (const bytes of files) t.is((await indexRead(bytes)).messages.length, 10);
  }
});

test('each file begins with the header and all definitions so far, under the same ids', async (t) => {
  const { files } = await rotate(numbers(30), { maxDuration: 10n, library: 'x' });
  t.is(files.length, 3);
  for (const bytes of files.slice(1)) {
    const records = streamRead(bytes);
    t.deepEqual(
      records.slice(0, 4).map(({ type }) => type),
      ['Header', 'Schema', 'Channel', 'Channel'],
    );
    t.like(records[0], { library: 'x' });
    t.deepEqual(
      records.flatMap((record) => (record.type === 'Channel' ? [[record.id, record.topic]] : [])).slice(0, 2),
      [
        [1, '/even'],
        [2, '/odd'],
      ],
    );
  }
  const sequences = files.flatMap((bytes) =>
    streamRead(bytes).flatMap((record) =>
      record.type === 'Message' && record.channelId === 1 ? [record.sequence] : [],
    ),
  );
  t.deepEqual(
    sequences,
    Array.from({ length: 15 }, (_, n) => n),
  );
});

test('metadata.yaml of version 9 says what ros2 bag info shows', async (t) => {
  const { path } = await rotate(numbers(20), { maxDuration: 10n, metadata: { rosDistro: 'jazzy' } });
  t.is(
    await readFile(join(path, 'metadata.yaml'), 'utf8'),
    `rosbag2_bagfile_information:
  version: 9
  storage_identifier: mcap
  duration:
    nanoseconds: 19
  starting_time:
    nanoseconds_since_epoch: 1000
  message_count: 20
  topics_with_message_count:
    - topic_metadata:
        name: /even
        type: p/msg/Number
        serialization_format: cdr
        offered_qos_profiles: []
        type_description_hash: ""
      message_count: 10
    - topic_metadata:
        name: /odd
        type: p/msg/Number
        serialization_format: cdr
        offered_qos_profiles:
          - history: unknown
            depth: 0
            reliability: reliable
            durability: volatile
            deadline:
              sec: 9223372036
              nsec: 854775807
        type_description_hash: RIHS01_22
      message_count: 10
  compression_format: ""
  compression_mode: ""
  relative_file_paths:
    - drive_0.mcap
    - drive_1.mcap
  files:
    - path: drive_0.mcap
      starting_time:
        nanoseconds_since_epoch: 1000
      duration:
        nanoseconds: 9
      message_count: 10
    - path: drive_1.mcap
      starting_time:
        nanoseconds_since_epoch: 1010
      duration:
        nanoseconds: 9
      message_count: 10
  custom_data: ~
  ros_distro: jazzy
`,
  );
});

/** Keys of a YAML text in their order, with their depth. */
function keys(text: string): string[] {
  const found = text.split('\n').flatMap((line) => /^([ -]*)(\w+):/.exec(line)?.slice(1, 3).join('') ?? []);
  return [...new Set(found)];
}

const REAL: [BagMetadataVersion, string, string | undefined][] = [
  [5, 'v5-rosbag2-multiple_files.yaml', undefined],
  [6, 'v6-rosbag2-rewriter_b.yaml', undefined],
  [7, 'v7-bagel-mcap.yaml', 'recordings/bagel/part_0.mcap'],
  [
    8,
    'v8-rosbag2-bag_with_topics_and_service_events.yaml',
    'recordings/rosbag2/bag_with_topics_and_service_events.mcap',
  ],
];

for (const [version, name, recording] of REAL) {
  sharedTest(`metadata.yaml of version ${version} has the fields of a real one, in its order`, async (t) => {
    const real = readShared('rosbag2-metadata', name).toString();
    const { path } = await rotate(numbers(20), { metadata: { version } });
    t.deepEqual(keys(await readFile(join(path, 'metadata.yaml'), 'utf8')), keys(real));
    if (recording === undefined) return;
    // The recording that it describes, written again: the same topics with types, QoS, hashes and counts.
    const again = await folder();
    await pipeline(
      createReadStream(sharedPath(recording)),
      new McapRecordParser(),
      createRotatingWriter({ path: again, metadata: { version } }),
    );
    const topics = (text: string): string[] =>
      text
        .slice(text.indexOf('topics_with_message_count'), text.indexOf('compression_format'))
        .split('    - topic_metadata:\n')
        .slice(1)
        .map((topic) => topic.trim())
        .sort();
    t.deepEqual(topics(await readFile(join(again, 'metadata.yaml'), 'utf8')), topics(real));
  });
}

test('without messages there is one valid file, and the times that rosbag2 says then', async (t) => {
  const { path, files } = await rotate([]);
  t.is(files.length, 1);
  t.is((await indexRead(files[0] ?? Buffer.alloc(0))).messages.length, 0);
  const text = await readFile(join(path, 'metadata.yaml'), 'utf8');
  t.regex(text, /nanoseconds_since_epoch: 9223372036854775807/);
  t.regex(text, /topics_with_message_count:\n {4}\[\]/);
});

test('records pass: attachments, metadata, header', async (t) => {
  const records: McapRecord[] = [
    { type: 'Header', profile: 'p', library: 'l' },
    { type: 'Metadata', name: 'm', metadata: new Map([['a', 'b']]) },
    { type: 'Attachment', name: 'a', mediaType: '', logTime: 0n, createTime: 0n, data: Uint8Array.of(1) },
  ];
  const { files, names } = await rotate([...records, ...numbers(3)], { metadata: false });
  t.deepEqual(names, ['drive_0.mcap']);
  const types = streamRead(files[0] ?? Buffer.alloc(0)).map(({ type }) => type);
  t.true(['Header', 'Metadata', 'Attachment', 'Message'].every((type) => (types as string[]).includes(type)));
});

test('nothing is overwritten, and errors of values and files come out as themselves', async (t) => {
  const { path } = await rotate(numbers(3));
  const again = pipeline(Readable.from(numbers(3)), createRotatingWriter({ path, channels: CHANNELS }));
  await t.throwsAsync(again, { code: 'EEXIST' });
  await t.throwsAsync(rotate([{ topic: '/odd', logTime: 1n, message: { n: -1 } }]), {
    instanceOf: McapStreamsError,
    code: 'ENCODE_OUT_OF_RANGE',
  });
  t.throws(() => createRotatingWriter({ path, maxByte: 5 } as unknown as RotatingWriterOptions), {
    message: /did you mean maxBytes/,
  });
  t.throws(() => createRotatingWriter({ path, chunkSize: 0 }), { instanceOf: TypeError });
});
