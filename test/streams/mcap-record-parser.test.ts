import { createReadStream } from 'node:fs';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { McapStreamReader } from '@mcap/core';
import zstd from '@foxglove/wasm-zstd';
import { compressFrameSync } from 'lz4-napi';
import test from 'ava';
import { McapRecordParser } from '../../lib/streams/mcap-record-parser.js';
import type { McapRecordParserOptions } from '../../lib/streams/mcap-record-parser.js';
import type { McapRecord } from '../../lib/mcap/records.js';
import * as mcap from '../helpers/mcap-bytes.js';
import { collect, pieces } from '../helpers/streams.js';

function types(records: readonly McapRecord[]): string[] {
  return records.map(({ type }) => type);
}

async function read(bytes: Uint8Array | Iterable<Uint8Array>, options?: McapRecordParserOptions) {
  return collect(bytes, new McapRecordParser(options));
}

const definitions = Buffer.concat([mcap.schema(1), mcap.channel(1, 1)]);
const three = Buffer.concat([mcap.message(1, 10), mcap.message(1, 11), mcap.message(1, 12)]);
const chunked = mcap.file(mcap.chunk(Buffer.concat([definitions, three])));

/** What @mcap/core reads, as an independent reader. */
function reference(bytes: Uint8Array): McapRecord[] {
  const reader = new McapStreamReader();
  reader.append(bytes);
  const records: McapRecord[] = [];
  for (let next = reader.nextRecord(); next !== undefined; next = reader.nextRecord()) records.push(next);
  return records;
}

test('records outside and inside chunks come as @mcap/core gives them', async (t) => {
  const bytes = mcap.file(
    definitions,
    mcap.message(1, 1),
    mcap.chunk(Buffer.concat([three, mcap.record(0x80, Buffer.from('private'))])),
    mcap.attachment('a.txt', Buffer.from('hello')),
    mcap.metadata('m', [['k', 'v']]),
    mcap.record(0x33, Buffer.from('unknown')),
    mcap.chunk(Buffer.alloc(0)),
  );
  const { got, error } = await read(bytes);
  t.is(error, undefined);
  t.deepEqual(got, reference(bytes));
});

test('compressed chunks are opened, whatever their frames look like', async (t) => {
  await zstd.isLoaded;
  const records = Buffer.concat([definitions, three]);
  const half = records.length >> 1;
  const frames = {
    zstd: [
      zstd.compress(records),
      Buffer.concat([zstd.compress(records.subarray(0, half)), zstd.compress(records.subarray(half))]),
    ],
    lz4: [compressFrameSync(records), compressFrameSync(records, { contentChecksum: true, blockChecksums: true })],
    none: [records],
    '': [records],
  };
  for (const [compression, forms] of Object.entries(frames)) {
    for (const data of forms) {
      const { got, error } = await read(mcap.file(mcap.chunk(records, { compression, data })));
      t.is(error, undefined);
      t.deepEqual(got, reference(chunked), compression);
    }
  }
});

test('an lz4 chunk that fails does not spoil the next recording', async (t) => {
  const records = Buffer.concat([definitions, three]);
  const data = compressFrameSync(records);
  const good = mcap.file(mcap.chunk(records, { compression: 'lz4', data }));
  const bad = mcap.file(mcap.chunk(records, { compression: 'lz4', data: data.subarray(0, data.length - 9) }));
  for (let n = 0; n < 3; n++) {
    t.is((await read(bad)).error?.code, 'MCAP_DECOMPRESSION_FAILED');
    t.is((await read(good)).error, undefined);
  }
});

const cases: [string, Uint8Array, { code: string; offset?: number; before?: string[] }][] = [
  ['an empty input', Buffer.alloc(0), { code: 'MCAP_NOT_MCAP', offset: 0 }],
  ['a text', Buffer.from('Hello, world'), { code: 'MCAP_NOT_MCAP', offset: 0 }],
  ['another version', Buffer.from('894d434150310d0a', 'hex'), { code: 'MCAP_UNSUPPORTED_VERSION' }],
  ['half a magic', mcap.MAGIC.subarray(0, 5), { code: 'MCAP_TRUNCATED' }],
  ['no Header', Buffer.concat([mcap.MAGIC, mcap.dataEnd()]), { code: 'MCAP_MISSING_HEADER', offset: 8 }],
  [
    'no DataEnd',
    Buffer.concat([mcap.open(), mcap.footer(), mcap.MAGIC]),
    { code: 'MCAP_MISSING_DATA_END', before: ['Header'] },
  ],
  [
    'no Footer',
    Buffer.concat([mcap.open(), mcap.dataEnd()]),
    { code: 'MCAP_TRUNCATED', before: ['Header', 'DataEnd'] },
  ],
  ['a second Header', mcap.file(mcap.header()), { code: 'MCAP_UNEXPECTED_RECORD', before: ['Header'] }],
  ['a Message after DataEnd', mcap.file(definitions, mcap.dataEnd(), three), { code: 'MCAP_UNEXPECTED_RECORD' }],
  [
    'a wrong closing magic',
    Buffer.concat([mcap.open(), mcap.dataEnd(), mcap.footer(), Buffer.from('12345678')]),
    { code: 'MCAP_BAD_END_MAGIC' },
  ],
  [
    'bytes behind the end',
    Buffer.concat([chunked, Buffer.from('junk')]),
    { code: 'MCAP_TRAILING_DATA', offset: chunked.length },
  ],
  [
    'two files glued together',
    Buffer.concat([chunked, chunked]),
    { code: 'MCAP_TRAILING_DATA', offset: chunked.length },
  ],
  ['zeroed blocks', mcap.open(Buffer.alloc(64)), { code: 'MCAP_BAD_OPCODE', before: ['Header'] }],
  [
    'a record of 2^64 - 1 bytes',
    mcap.open(mcap.u8(6), mcap.u64(2n ** 64n - 1n), Buffer.alloc(40)),
    { code: 'MCAP_RECORD_TOO_LARGE', before: ['Header'] },
  ],
  [
    'a record of 2^40 bytes',
    mcap.open(mcap.u8(5), mcap.u64(2n ** 40n), Buffer.alloc(40)),
    { code: 'MCAP_RECORD_TOO_LARGE', before: ['Header'] },
  ],
  [
    'a string that runs over its record',
    mcap.open(mcap.record(3, mcap.u16(1), mcap.u32(999), Buffer.from('x'))),
    { code: 'MCAP_BAD_RECORD', before: ['Header'] },
  ],
  [
    'a message shorter than its fixed part',
    mcap.open(definitions, mcap.record(5, Buffer.alloc(21))),
    { code: 'MCAP_BAD_RECORD', before: ['Header', 'Schema', 'Channel'] },
  ],
  [
    'a message on an unknown channel',
    mcap.open(definitions, mcap.message(7, 1)),
    { code: 'MCAP_UNKNOWN_CHANNEL', before: ['Header', 'Schema', 'Channel'] },
  ],
  [
    'a channel with an unknown schema',
    mcap.open(mcap.channel(1, 9)),
    { code: 'MCAP_UNKNOWN_SCHEMA', before: ['Header'] },
  ],
  [
    'a channel defined twice',
    mcap.open(definitions, mcap.channel(1, 1, { topic: '/other' })),
    { code: 'MCAP_CHANNEL_REDEFINED', before: ['Header', 'Schema', 'Channel'] },
  ],
  [
    'a schema defined twice',
    mcap.open(definitions, mcap.schema(1, { data: 'int8 y' })),
    { code: 'MCAP_SCHEMA_REDEFINED', before: ['Header', 'Schema', 'Channel'] },
  ],
  [
    'an attachment with a wrong CRC',
    mcap.file(mcap.attachment('a', Buffer.from('b'), 1)),
    { code: 'MCAP_ATTACHMENT_CRC_MISMATCH', before: ['Header'] },
  ],
  [
    'an unknown compression',
    mcap.file(mcap.chunk(three, { compression: 'brotli' })),
    { code: 'MCAP_UNSUPPORTED_COMPRESSION', before: ['Header'] },
  ],
  [
    'a chunk with a wrong CRC',
    mcap.file(mcap.chunk(three, { crc: 1 })),
    { code: 'MCAP_CHUNK_CRC_MISMATCH', before: ['Header'] },
  ],
  [
    'a chunk of another size',
    mcap.file(mcap.chunk(three, { size: 5 })),
    { code: 'MCAP_CHUNK_SIZE_MISMATCH', before: ['Header'] },
  ],
  [
    'a chunk that says 10 GB',
    mcap.file(mcap.chunk(three, { size: 10n ** 10n })),
    { code: 'MCAP_CHUNK_TOO_LARGE', before: ['Header'] },
  ],
  [
    'a chunk that is no zstd',
    mcap.file(mcap.chunk(three, { compression: 'zstd', data: Buffer.from('no zstd') })),
    { code: 'MCAP_DECOMPRESSION_FAILED', before: ['Header'] },
  ],
  [
    'a chunk in a chunk',
    mcap.file(mcap.chunk(mcap.chunk(three))),
    { code: 'MCAP_UNEXPECTED_RECORD', before: ['Header'] },
  ],
  [
    'zeros in a chunk',
    mcap.file(mcap.chunk(Buffer.concat([definitions, Buffer.alloc(20)]))),
    { code: 'MCAP_BAD_OPCODE', before: ['Header', 'Schema', 'Channel'] },
  ],
  [
    'a record that runs over its chunk',
    mcap.file(mcap.chunk(Buffer.concat([definitions, three.subarray(0, three.length - 1)]))),
    { code: 'MCAP_BAD_RECORD', before: ['Header', 'Schema', 'Channel', 'Message', 'Message'] },
  ],
  [
    'bytes left over in a chunk',
    mcap.file(mcap.chunk(Buffer.concat([definitions, Buffer.from([5, 0])]))),
    { code: 'MCAP_BAD_RECORD', before: ['Header', 'Schema', 'Channel'] },
  ],
  [
    'a wrong CRC of the data section',
    Buffer.concat([mcap.open(), mcap.dataEnd(1), mcap.footer(), mcap.MAGIC]),
    { code: 'MCAP_DATA_CRC_MISMATCH', before: ['Header'] },
  ],
  [
    'a wrong CRC of the summary section',
    Buffer.concat([mcap.open(), mcap.dataEnd(), mcap.footer(0, 1), mcap.MAGIC]),
    { code: 'MCAP_SUMMARY_CRC_MISMATCH', before: ['Header', 'DataEnd'] },
  ],
];

for (const [title, bytes, { code, offset, before }] of cases) {
  test(`${title}: a typed error, when everything before it has come out`, async (t) => {
    for (const size of [bytes.length || 1, 1, 7]) {
      const { got, error } = await read(pieces(bytes, size));
      t.is(error?.name, 'McapStreamsError');
      t.is(error?.code, code);
      t.is(typeof error?.offset, 'number');
      if (offset !== undefined) t.is(error?.offset, offset);
      if (before !== undefined) t.deepEqual(types(got), before);
    }
  });

  test(`${title}: with damage "end" a clean end with a report, unless it is no MCAP at all`, async (t) => {
    const reports: string[] = [];
    const parser = new McapRecordParser({ damage: 'end', onDamage: (report) => reports.push(report.code) });
    const { got, error } = await collect(bytes, parser);
    if (code === 'MCAP_NOT_MCAP' || code === 'MCAP_UNSUPPORTED_VERSION') {
      t.is(error?.code, code);
      return;
    }
    t.is(error, undefined);
    t.deepEqual(reports, [code]);
    t.deepEqual(
      parser.stats.damage.map((report) => report.code),
      [code],
    );
    if (before !== undefined) t.deepEqual(types(got), before);
  });
}

test('a recording that is cut at any byte gives every record before the cut and then says where it ends', async (t) => {
  const parts = [
    mcap.MAGIC,
    mcap.header(),
    mcap.schema(1),
    mcap.channel(1, 1),
    mcap.message(1, 10),
    mcap.message(1, 11),
  ];
  parts.push(mcap.attachment('a', Buffer.from('b')), mcap.dataEnd(), mcap.footer(), mcap.MAGIC);
  const bytes = Buffer.concat(parts);
  const all = reference(bytes);
  for (let length = 1; length < bytes.length; length++) {
    let whole = 0;
    for (let n = 1, end = 8; n < parts.length - 1; n++) if ((end += parts[n]?.length ?? 0) <= length) whole++;
    const { got, error } = await read(bytes.subarray(0, length));
    t.is(error?.code, 'MCAP_TRUNCATED', `at ${length}`);
    t.deepEqual(got, all.slice(0, whole), `at ${length}`);
  }
});

test('duplicate keys of a map: the last one counts', async (t) => {
  const { got } = await read(
    mcap.file(
      mcap.metadata('m', [
        ['a', '1'],
        ['__proto__', 'x'],
        ['a', '2'],
      ]),
    ),
  );
  const found = got.find(({ type }) => type === 'Metadata');
  t.deepEqual(found, {
    type: 'Metadata',
    name: 'm',
    metadata: new Map([
      ['a', '2'],
      ['__proto__', 'x'],
    ]),
  });
});

test('equal definitions may be repeated, and a schema with id 0 stands for nothing', async (t) => {
  const { got, error } = await read(
    mcap.file(definitions, definitions, mcap.schema(0), mcap.schema(0, { data: 'y' }), mcap.channel(2, 0)),
  );
  t.is(error, undefined);
  t.is(got.length, 10);
});

test('CRCs of 0 are none, and validateCrcs: false verifies none', async (t) => {
  t.is(
    (await read(mcap.file(mcap.attachment('a', Buffer.from('b'), 0), mcap.chunk(definitions, { crc: 0 })))).error,
    undefined,
  );
  const wrong = mcap.file(mcap.attachment('a', Buffer.from('b'), 1), mcap.chunk(definitions, { crc: 1 }));
  t.is((await read(wrong, { validateCrcs: false })).error, undefined);
});

test('include narrows what is emitted, and what is left out is not kept', async (t) => {
  t.deepEqual(types((await read(chunked, { include: ['Message'] })).got), ['Message', 'Message', 'Message']);
  t.deepEqual(types((await read(chunked, { include: ['Chunk', 'Footer'] })).got), ['Chunk', 'Footer']);
  t.deepEqual(types((await read(chunked, { include: ['Header', 'DataEnd'] })).got), ['Header', 'DataEnd']);
  // An attachment of 2^41 bytes is passed over: only the bytes that come are counted.
  const length = 2n ** 41n;
  const head = [
    mcap.u8(9),
    mcap.u64(16n + 5n + 5n + 8n + length + 4n),
    mcap.u64(1),
    mcap.u64(2),
    mcap.prefixed('a'),
    mcap.prefixed('b'),
  ];
  const attachment = mcap.open(definitions, ...head, mcap.u64(length), Buffer.alloc(100));
  const { got, error } = await read(attachment, { attachments: 'skip' });
  t.deepEqual(types(got), ['Header', 'Schema', 'Channel']);
  t.is(error?.code, 'MCAP_TRUNCATED');
  // One whose lengths do not agree is not believed.
  const wrong = mcap.open(definitions, ...head, mcap.u64(length - 5000n), Buffer.alloc(100));
  t.is((await read(wrong, { attachments: 'skip' })).error?.code, 'MCAP_BAD_RECORD');
});

test('a wrong option is a TypeError that names the nearest one', (t) => {
  const wrong: [unknown, string][] = [
    [{ validateCRCs: false }, 'validateCrcs'],
    [{ damages: 'end' }, 'damage'],
    [{ include: ['Messages'] }, 'Message'],
    [{ damage: 'ignore' }, 'damage'],
    [{ maxRecordLength: -1 }, 'maxRecordLength'],
  ];
  for (const [options, name] of wrong) {
    const error = t.throws(() => new McapRecordParser(options as McapRecordParserOptions), { instanceOf: TypeError });
    t.regex(error.message, new RegExp(`\\b${name}\\b`));
  }
});

test('stats count what has been read', async (t) => {
  const parser = new McapRecordParser();
  await collect(chunked, parser);
  t.like(parser.stats, { bytes: chunked.length, chunksRead: 1, bytesDecompressed: definitions.length + three.length });
  t.is(parser.stats.records, 8);
});

test('a large record in tiny pieces takes no quadratic time and no quadratic memory', async (t) => {
  const big = mcap.file(definitions, mcap.message(1, 5, Buffer.alloc(3_000_000, 7)));
  const { got, error } = await read(pieces(big, 3));
  t.is(error, undefined);
  t.deepEqual(got, reference(big));
});

test('a source that fails and a user who breaks off end the stage', async (t) => {
  const parser = new McapRecordParser();
  await t.throwsAsync(pipeline(createReadStream('no such file'), parser, new McapRecordParser()), { code: 'ENOENT' });
  const second = new McapRecordParser();
  const source = Readable.from([chunked], { objectMode: false });
  source.pipe(second);
  for await (const record of second) {
    if (record.type === 'Schema') break;
  }
  t.true(second.destroyed);
});
