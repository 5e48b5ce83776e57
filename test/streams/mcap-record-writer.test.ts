import { randomBytes } from 'node:crypto';
import { Readable, Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import test from 'ava';
import { McapRecordParser, McapRecordWriter, McapStreamsError, OptionError } from '../../lib/index.js';
import type {
  ChannelRecord,
  ErrorCode,
  McapRecord,
  McapRecordWriterOptions,
  MessageRecord,
  SchemaRecord,
} from '../../lib/index.js';
import { hex } from '../helpers/codecs.js';
import { collect } from '../helpers/streams.js';
import { indexRead, streamRead, written, writtenRecords } from '../helpers/written.js';

const HEADER: McapRecord = { type: 'Header', profile: 'p', library: 'l' };

function schema(id: number, name = 'p/msg/A', data = 'uint8 x'): SchemaRecord {
  return { type: 'Schema', id, name, encoding: 'ros2msg', data: Buffer.from(data) };
}

function channel(id: number, schemaId: number, topic = `/t${id}`): ChannelRecord {
  return { type: 'Channel', id, schemaId, topic, messageEncoding: 'cdr', metadata: new Map([['k', 'v']]) };
}

function message(channelId: number, time: bigint | number, size = 5, fill = 7): MessageRecord {
  const logTime = BigInt(time);
  const data = new Uint8Array(size).fill(fill);
  return { type: 'Message', channelId, sequence: 1, logTime, publishTime: logTime, data };
}

const DEFINED: McapRecord[] = [HEADER, schema(1), channel(1, 1), channel(2, 1)];

/** Outer records: opcode, start, length of the content. */
function outer(bytes: Buffer): { opcode: number; at: number; content: Buffer }[] {
  const found = [];
  for (let at = 8; at + 9 <= bytes.length - 8;) {
    const length = Number(bytes.readBigUInt64LE(at + 1));
    found.push({ opcode: bytes[at] ?? 0, at, content: bytes.subarray(at + 9, at + 9 + length) });
    at += 9 + length;
  }
  return found;
}

function chunkCompressions(bytes: Buffer): string[] {
  return outer(bytes)
    .filter(({ opcode }) => opcode === 6)
    .map(({ content }) => content.toString('utf8', 32, 32 + content.readUInt32LE(28)));
}

async function refused(records: Iterable<unknown>, options: McapRecordWriterOptions = {}): Promise<McapStreamsError> {
  const parts: Buffer[] = [];
  try {
    await pipeline(Readable.from(records), new McapRecordWriter(options), async (source) => {
      for await (const part of source as AsyncIterable<Buffer>) parts.push(part);
    });
  } catch (error) {
    if (error instanceof McapStreamsError) return error;
    throw error;
  }
  throw new Error('it was not refused');
}

for (const compression of ['zstd', 'lz4', 'none'] as const) {
  for (const threads of [0, 2]) {
    test(`chunks in ${compression} with ${threads} threads open in both readers of @mcap/core`, async (t) => {
      const messages = Array.from({ length: 6000 }, (_, n) => message(1 + (n % 2), (n * 7919) % 6000, 1000, n % 50));
      const bytes = await writtenRecords([...DEFINED, ...messages], { compression, threads, chunkSize: 100_000 });
      t.deepEqual([...new Set(chunkCompressions(bytes))], [compression === 'none' ? '' : compression]);
      const streamed = streamRead(bytes).filter(({ type }) => type === 'Message');
      t.deepEqual(
        streamed.map((record) => ({ ...record, data: Buffer.from((record as MessageRecord).data) })),
        messages.map((record) => ({ ...record, data: Buffer.from(record.data) })),
      );
      const { reader, messages: indexed } = await indexRead(bytes);
      t.is(indexed.length, 6000);
      t.true(indexed.every(({ logTime }, n) => n === 0 || logTime >= (indexed[n - 1]?.logTime ?? 0n)));
      t.like(reader.statistics, { messageCount: 6000n, chunkCount: chunkCompressions(bytes).length });
      t.deepEqual(
        [...(reader.statistics?.channelMessageCounts ?? [])],
        [
          [1, 3000n],
          [2, 3000n],
        ],
      );
    });
  }
}

test('statistics and chunk times are right for messages out of order and at 0', async (t) => {
  const bytes = await writtenRecords([...DEFINED, message(1, 30), message(1, 0), message(2, 20)]);
  const { reader, messages } = await indexRead(bytes);
  t.like(reader.statistics, { messageStartTime: 0n, messageEndTime: 30n, messageCount: 3n, chunkCount: 1 });
  t.like(reader.chunkIndexes[0], { messageStartTime: 0n, messageEndTime: 30n });
  t.deepEqual(
    messages.map(({ logTime }) => logTime),
    [0n, 20n, 30n],
  );
  const late = await indexRead(await writtenRecords([...DEFINED, message(1, 5), message(1, 2n ** 64n - 1n)]));
  t.like(late.reader.statistics, { messageStartTime: 5n, messageEndTime: 2n ** 64n - 1n });
});

test('a chunk that shrinks by less than 2 % is stored as it is', async (t) => {
  const noise: MessageRecord = { ...message(1, 1), data: randomBytes(200_000) };
  t.deepEqual(chunkCompressions(await writtenRecords([...DEFINED, noise])), ['']);
  t.deepEqual(chunkCompressions(await writtenRecords([...DEFINED, noise], { compression: 'lz4' })), ['']);
  const half: MessageRecord = { ...message(1, 1), data: Buffer.concat([randomBytes(100_000), Buffer.alloc(100_000)]) };
  t.deepEqual(chunkCompressions(await writtenRecords([...DEFINED, half])), ['zstd']);
});

test('a message larger than a chunk gets one of its own, and no chunk is empty', async (t) => {
  const options = { chunkSize: 1000, compression: 'none' } as const;
  const first = await indexRead(await writtenRecords([...DEFINED, message(1, 1, 5000), message(1, 2)], options));
  t.deepEqual(
    first.reader.chunkIndexes.map(({ messageStartTime, messageEndTime }) => [messageStartTime, messageEndTime]),
    [
      [1n, 1n],
      [2n, 2n],
    ],
  );
  const middle = await indexRead(
    await writtenRecords([...DEFINED, message(1, 1), message(2, 2, 5000), message(1, 3)], options),
  );
  t.deepEqual(
    middle.reader.chunkIndexes.map(({ messageStartTime }) => messageStartTime),
    [1n, 2n, 3n],
  );
  t.true(middle.reader.chunkIndexes.every(({ messageIndexOffsets }) => messageIndexOffsets.size === 1));
});

test('a recording without messages has no chunk, and keeps its channels', async (t) => {
  const bytes = await writtenRecords(DEFINED);
  t.deepEqual(
    outer(bytes).map(({ opcode }) => opcode),
    [1, 3, 4, 4, 15, 3, 4, 4, 11, 14, 14, 14, 2],
  );
  const { reader } = await indexRead(bytes);
  t.is(reader.channelsById.size, 2);
  t.like(reader.statistics, { messageCount: 0n, messageStartTime: 0n, messageEndTime: 0n, channelCount: 2 });
});

test('an input without records gives a valid empty file with profile ros2 and this library', async (t) => {
  const bytes = await writtenRecords([]);
  const [header] = streamRead(bytes);
  t.like(header, { type: 'Header', profile: 'ros2' });
  t.regex((header as { library: string }).library, /^mcap-ros2-streams\/\d+\.\d+\.\d+/);
  t.like(streamRead(await writtenRecords([HEADER], { profile: 'x' }))[0], { profile: 'x', library: 'l' });
});

for (const useChunks of [true, false]) {
  test(`indexes of attachments and metadata are right, useChunks ${useChunks}`, async (t) => {
    const attachment = (name: string, size: number): McapRecord => ({
      type: 'Attachment',
      name,
      mediaType: 'text/plain',
      logTime: 3n,
      createTime: 4n,
      data: Buffer.alloc(size, 1),
    });
    const records = [
      ...DEFINED,
      message(1, 1),
      attachment('a', 10),
      message(2, 2),
      { type: 'Metadata', name: 'm', metadata: new Map([['a', 'b']]) } as const,
      attachment('b', 70_000),
      message(1, 3),
    ];
    const bytes = await writtenRecords(records, { useChunks });
    const { reader } = await indexRead(bytes);
    const names = [];
    for await (const { name, data } of reader.readAttachments()) names.push([name, data.length]);
    t.deepEqual(names, [
      ['a', 10],
      ['b', 70_000],
    ]);
    const metadata = [];
    for await (const { name } of reader.readMetadata()) metadata.push(name);
    t.deepEqual(metadata, ['m']);
    t.like(reader.statistics, { attachmentCount: 2, metadataCount: 1, messageCount: 3n });
    t.is(streamRead(bytes).filter(({ type }) => type === 'Message').length, 3);
  });
}

test('a large attachment streams through parser and writer', async (t) => {
  const data = randomBytes(20 * 2 ** 20);
  const attachment: McapRecord = { type: 'Attachment', name: 'big', mediaType: 'x', logTime: 1n, createTime: 2n, data };
  const once = await writtenRecords([...DEFINED, message(1, 1), attachment, message(1, 2)]);
  for (const attachments of ['buffer', 'stream'] as const) {
    const twice: Buffer[] = [];
    await pipeline(
      Readable.from([once], { objectMode: false }),
      new McapRecordParser({ attachments }),
      new McapRecordWriter({ profile: 'p', library: 'l' }),
      async (source) => {
        for await (const part of source as AsyncIterable<Buffer>) twice.push(part);
      },
    );
    t.true(Buffer.concat(twice).equals(once), attachments);
  }
});

test('an attachment with less or more data than it says is refused, and the error of its data comes out as itself', async (t) => {
  const attachment = (dataLength: number, data: Readable): McapRecord => ({
    type: 'Attachment',
    name: 'a',
    mediaType: '',
    logTime: 0n,
    createTime: 0n,
    dataLength,
    data,
  });
  const bytes = (): Readable => Readable.from([Buffer.alloc(300_000)], { objectMode: false });
  t.is((await refused([...DEFINED, attachment(300_001, bytes())])).code, 'MCAP_ATTACHMENT_LENGTH');
  t.is((await refused([...DEFINED, attachment(299_999, bytes())])).code, 'MCAP_ATTACHMENT_LENGTH');
  const failing = new Readable({
    read() {
      this.destroy(new Error('the disk is gone'));
    },
  });
  await t.throwsAsync(writtenRecords([...DEFINED, attachment(10, failing)]), { message: 'the disk is gone' });
  const good = await writtenRecords([...DEFINED, attachment(300_000, bytes())]);
  t.is(streamRead(good).filter(({ type }) => type === 'Attachment').length, 1);
});

test('unknown records pass, outside chunks', async (t) => {
  const unknown: McapRecord = { type: 'Unknown', opcode: 0x80, data: Uint8Array.of(1, 2) };
  const bytes = await writtenRecords([...DEFINED, message(1, 1), unknown, message(1, 2)]);
  t.deepEqual(
    streamRead(bytes)
      .filter(({ type }) => type === 'Unknown')
      .map((record) => hex((record as { data: Uint8Array }).data)),
    ['0102'],
  );
});

test('every option leaves out what it names, and without CRCs they are 0', async (t) => {
  const records = [...DEFINED, message(1, 1)];
  const all = outer(await writtenRecords(records)).map(({ opcode }) => opcode);
  t.deepEqual(all, [1, 6, 7, 15, 3, 4, 4, 11, 8, 14, 14, 14, 14, 2]);
  const without = async (options: McapRecordWriterOptions): Promise<number[]> => {
    const bytes = await writtenRecords(records, options);
    streamRead(bytes);
    return outer(bytes).map(({ opcode }) => opcode);
  };
  t.deepEqual(await without({ useStatistics: false, useSummaryOffsets: false }), [1, 6, 7, 15, 3, 4, 4, 8, 2]);
  t.deepEqual(await without({ useMessageIndex: false, useSummaryOffsets: false }), [1, 6, 15, 3, 4, 4, 11, 8, 2]);
  t.deepEqual(
    await without({ useChunkIndex: false, repeatSchemas: false, repeatChannels: false }),
    [1, 6, 7, 15, 11, 14, 2],
  );
  const none = outer(await writtenRecords(records, { enableCrcs: false }));
  t.is(none.find(({ opcode }) => opcode === 6)?.content.readUInt32LE(24), 0);
  t.is(none.find(({ opcode }) => opcode === 15)?.content.readUInt32LE(0), 0);
  t.is(none.at(-1)?.content.readUInt32LE(16), 0);
});

test('ids stay, or are numbered anew with preserveIds: false', async (t) => {
  const records = [HEADER, schema(7), channel(9, 7), channel(4, 0), message(4, 1), message(9, 2)];
  const kept = await indexRead(await writtenRecords(records));
  t.deepEqual([...kept.reader.channelsById.keys()].sort(), [4, 9]);
  const anew = await indexRead(await writtenRecords(records, { preserveIds: false }));
  t.deepEqual(
    [...anew.reader.channelsById.values()].map(({ id, schemaId, topic }) => [id, schemaId, topic]),
    [
      [1, 1, '/t9'],
      [2, 0, '/t4'],
    ],
  );
  t.deepEqual(
    anew.messages.map(({ channelId }) => channelId),
    [2, 1],
  );
});

test('a codec of the user compresses, and may be asynchronous', async (t) => {
  const compression = {
    name: 'xor',
    compress: (bytes: Uint8Array) => Promise.resolve(bytes.subarray(0, bytes.length >> 1).map((byte) => byte ^ 1)),
  };
  const bytes = await writtenRecords([...DEFINED, message(1, 1, 1000)], { compression });
  t.deepEqual(chunkCompressions(bytes), ['xor']);
  const failing = {
    name: 'bad',
    compress: (): Uint8Array => {
      throw new Error('no');
    },
  };
  t.like(await refused([...DEFINED, message(1, 1)], { compression: failing }), { code: 'MCAP_COMPRESSION_FAILED' });
});

test('a higher zstd level gives smaller chunks', async (t) => {
  const words = Array.from({ length: 2000 }, (_, n) => ({
    ...message(1, n),
    data: Buffer.from(`value ${Math.imul(n, 2654435761) >>> 20} of sensor ${n % 17} ${n}`),
  }));
  const size = async (compressionLevel: number): Promise<number> =>
    (await writtenRecords([...DEFINED, ...words], { compressionLevel })).length;
  t.true((await size(19)) < (await size(1)));
  t.throws(() => new McapRecordWriter({ compressionLevel: 23 }), { instanceOf: OptionError });
  t.throws(() => new McapRecordWriter({ compression: 'lz4', compressionLevel: 3 }), { instanceOf: OptionError });
});

const REFUSALS: [string, unknown[], ErrorCode][] = [
  ['an unknown channel', [...DEFINED, message(3, 1)], 'MCAP_UNKNOWN_CHANNEL'],
  ['an unknown schema', [HEADER, channel(1, 9)], 'MCAP_UNKNOWN_SCHEMA'],
  ['schema id 0', [HEADER, schema(0)], 'MCAP_OUT_OF_RANGE'],
  ['a schema with other content', [...DEFINED, schema(1, 'p/msg/B')], 'MCAP_SCHEMA_REDEFINED'],
  ['a channel with other content', [...DEFINED, channel(1, 1, '/other')], 'MCAP_CHANNEL_REDEFINED'],
  ['a negative time', [...DEFINED, message(1, -1)], 'MCAP_OUT_OF_RANGE'],
  ['a time of 65 bits', [...DEFINED, message(1, 2n ** 64n)], 'MCAP_OUT_OF_RANGE'],
  ['a publish time that is no bigint', [...DEFINED, { ...message(1, 1), publishTime: 5 }], 'MCAP_OUT_OF_RANGE'],
  ['a sequence number of 33 bits', [...DEFINED, { ...message(1, 1), sequence: 2 ** 32 }], 'MCAP_OUT_OF_RANGE'],
  ['data that is no Uint8Array', [...DEFINED, { ...message(1, 1), data: 'x' }], 'MCAP_INVALID_RECORD'],
  ['an id of 17 bits', [HEADER, schema(1), channel(65536, 1)], 'MCAP_OUT_OF_RANGE'],
  ['what is no record', [{ topic: '/t' }], 'MCAP_INVALID_RECORD'],
  [
    'an unknown record with a known opcode',
    [{ type: 'Unknown', opcode: 5, data: new Uint8Array(1) }],
    'MCAP_OUT_OF_RANGE',
  ],
];

for (const [what, records, code] of REFUSALS) {
  test(`${what} is refused`, async (t) => {
    for (const useChunks of [true, false]) t.is((await refused(records, { useChunks })).code, code);
  });
}

test('more than 65,535 channels or schemas are refused', async (t) => {
  const channels = Array.from({ length: 65_536 }, (_, id) => channel(id, 0));
  t.is((await refused([HEADER, ...channels])).code, 'MCAP_TOO_MANY_CHANNELS');
  const schemas = Array.from({ length: 65_536 }, (_, n) => schema(n + 1));
  t.is((await refused([HEADER, ...schemas])).code, 'MCAP_TOO_MANY_SCHEMAS');
  const most = await writtenRecords([HEADER, ...channels.slice(1)], { compression: 'none' });
  t.is((await indexRead(most)).reader.channelsById.size, 65_535);
});

test('equal definitions again are written once', async (t) => {
  const bytes = await writtenRecords([...DEFINED, message(1, 1), ...DEFINED, message(1, 2)], { useChunks: false });
  t.deepEqual(
    outer(bytes)
      .slice(0, 7)
      .map(({ opcode }) => opcode),
    [1, 3, 4, 4, 5, 5, 15],
  );
});

test('every buffer that is pushed ends where a record ends', async (t) => {
  const records = [...DEFINED, ...Array.from({ length: 3000 }, (_, n) => message(1 + (n % 2), n, 500, n % 9))];
  for (const useChunks of [true, false]) {
    const whole: Buffer[] = [];
    const stage = new McapRecordWriter({ chunkSize: 50_000, useChunks });
    let left = 0;
    await pipeline(Readable.from(records), stage, async (source) => {
      for await (const part of source as AsyncIterable<Buffer>) {
        whole.push(part);
        let at = whole.length === 1 ? 8 : 0;
        while (at + 9 <= part.length) at += 9 + Number(part.readBigUInt64LE(at + 1));
        left += part.length - at;
      }
    });
    // The closing magic is no record.
    t.is(left, 8);
  }
});

test('a destroyed writer leaves a file that is readable up to its last complete chunk', async (t) => {
  const records = [...DEFINED, ...Array.from({ length: 5000 }, (_, n) => message(1, n, 500, n % 9))];
  const stage = new McapRecordWriter({ chunkSize: 100_000, threads: 0 });
  const parts: Buffer[] = [];
  stage.on('data', (part: Buffer) => parts.push(part));
  for (const record of records) await new Promise((resolve) => stage.write(record, resolve));
  stage.destroy();
  const { got, error } = await collect(Buffer.concat(parts), new McapRecordParser({ damage: 'end' }));
  t.is(error, undefined);
  const read = got.filter(({ type }) => type === 'Message').length;
  t.true(read > 4000 && read < 5000, `${read} messages`);
});

test('an aborted writer destroys what it has, and the error of a failing sink comes out as itself', async (t) => {
  const abort = new AbortController();
  const endless = (function* (): Generator<McapRecord> {
    yield* DEFINED;
    for (let n = 0; ; n++) {
      if (n === 50_000) abort.abort();
      yield message(1, n, 100);
    }
  })();
  await t.throwsAsync(written(endless, new McapRecordWriter({ signal: abort.signal })), { name: 'AbortError' });
  const sink = new Writable({
    write(_chunk, _encoding, callback) {
      callback(new Error('no space left'));
    },
  });
  await t.throwsAsync(pipeline(Readable.from([...DEFINED, message(1, 1)]), new McapRecordWriter(), sink), {
    message: 'no space left',
  });
});

test('a record after the end is an error of the stream, and end may be called again', async (t) => {
  const stage = new McapRecordWriter();
  const parts: Buffer[] = [];
  stage.on('data', (part: Buffer) => parts.push(part));
  stage.end();
  stage.end();
  await new Promise((resolve) => stage.once('end', resolve));
  t.is(streamRead(Buffer.concat(parts)).at(-1)?.type, 'Footer');
  const error = await new Promise<NodeJS.ErrnoException | null | undefined>((resolve) => {
    stage.on('error', () => undefined).write(HEADER, resolve);
  });
  t.is(error?.code, 'ERR_STREAM_WRITE_AFTER_END');
});

test('a chunk that is open for longer than maxChunkAge is handed out', async (t) => {
  const stage = new McapRecordWriter({ maxChunkAge: 40 });
  const parts: Buffer[] = [];
  // The header comes at once, the chunk when it is old enough.
  const chunkCame = new Promise<void>((resolve) => {
    stage.on('data', (part: Buffer) => {
      if (parts.push(part) === 2) resolve();
    });
  });
  for (const record of [...DEFINED, message(1, 1)]) stage.write(record);
  await chunkCame;
  const { got } = await collect(Buffer.concat(parts), new McapRecordParser({ damage: 'end' }));
  t.is(got.filter(({ type }) => type === 'Message').length, 1);
  stage.destroy();
});

test('indexes above maxIndexBytes go to a temporary file and come back whole', async (t) => {
  const records = [...DEFINED, ...Array.from({ length: 4000 }, (_, n) => message(1 + (n % 2), n))];
  const options = { chunkSize: 30, compression: 'none' } as const;
  const spilled = await writtenRecords(records, { ...options, maxIndexBytes: 5000 });
  t.true(spilled.equals(await writtenRecords(records, options)));
  t.is((await indexRead(spilled)).messages.length, 4000);
});

test('every zstd frame says the size of its content, whoever compressed it', async (t) => {
  const records = [...DEFINED, ...Array.from({ length: 80 }, (_, n) => message(1, n, 100_000, n))];
  for (const threads of [0, 1, 3]) {
    const bytes = await writtenRecords(records, { threads, compression: 'zstd' });
    const chunks = outer(bytes).filter(({ opcode }) => opcode === 6);
    t.true(chunks.length > 6);
    for (const { content } of chunks) {
      // start, end, size, CRC, "zstd", length of the frame: the frame begins at 44, its magic has four bytes.
      const size = Number(content.readBigUInt64LE(16));
      const descriptor = content[48] ?? 0;
      const sizeAt = (descriptor & 0x20) === 0 ? 50 : 49;
      t.is(descriptor >> 6, 2);
      t.is(content.readUInt32LE(sizeAt), size);
    }
    t.is((await indexRead(bytes)).messages.length, 80);
  }
});

test('an option that does not exist is a TypeError with the nearest name', (t) => {
  t.throws(() => new McapRecordWriter({ chunksize: 5 } as McapRecordWriterOptions), {
    instanceOf: TypeError,
    message: /did you mean chunkSize/,
  });
  t.throws(() => new McapRecordWriter({ chunks: 'raw', preserveIds: false }), { instanceOf: TypeError });
});

test('raw chunks without their indexes and messages are refused', async (t) => {
  const bytes = await writtenRecords([...DEFINED, message(1, 1)]);
  const { got } = await collect(
    bytes,
    new McapRecordParser({ include: ['Header', 'Schema', 'Channel', 'Chunk', 'DataEnd'] }),
  );
  t.is((await refused(got, { chunks: 'raw' })).code, 'MCAP_UNINDEXED_CHUNK');
});
