/** CSV: columns from the schema, exact cells, RFC 4180. */
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import test from 'ava';
import { csv, decodeStream } from '../../lib/index.js';
import type { CsvInput, CsvOptions } from '../../lib/index.js';
import { readShared, sharedFiles, sharedTest } from '../helpers/shared.js';
import { collect } from '../helpers/streams.js';

function schemaOf(data: string, name = 't/msg/T') {
  return { type: 'Schema', id: 1, name, encoding: 'ros2msg', data: new TextEncoder().encode(data) } as const;
}

function message(schema: ReturnType<typeof schemaOf>, value: unknown, logTime = 5n): CsvInput {
  return { topic: '/a', logTime, publishTime: 6n, sequence: 7, schema, schemaName: schema.name, message: value };
}

async function run(inputs: readonly (CsvInput | readonly CsvInput[])[], options?: CsvOptions) {
  const pieces: Buffer[] = [];
  const stage = csv(options);
  stage.on('data', (piece: Buffer) => pieces.push(piece));
  const error = await pipeline(Readable.from(inputs), stage).then(
    () => undefined,
    (reason: unknown) => reason,
  );
  return { text: Buffer.concat(pieces).toString(), error };
}

const ODOM = schemaOf(
  't/Pose pose\nfloat64[2] covariance\nint64[] ids\nuint8[] raw\nbuiltin_interfaces/Time stamp\nuint64 n\nstring s\nbool b\n===\nMSG: t/Pose\nt/Point position\nt/Empty e\n===\nMSG: t/Point\nfloat64 x\nfloat32 y\n===\nMSG: t/Empty\n',
);
const VALUE = {
  pose: { position: { x: 0.1, y: -0 }, e: {} },
  covariance: Float64Array.of(NaN, Infinity),
  ids: BigInt64Array.of(-9007199254740993n, 1n),
  raw: Uint8Array.of(0, 1, 2),
  stamp: { sec: -1, nanosec: 5 },
  n: 18446744073709551615n,
  s: 'a "b", c',
  b: true,
};
const NAMES =
  'topic,logTime,publishTime,sequence,pose.position.x,pose.position.y,covariance[0],covariance[1],ids,raw,stamp.sec,stamp.nanosec,n,s,b\r\n';
const ROW =
  '/a,5,6,7,0.1,-0,NaN,Infinity,"[""-9007199254740993"",""1""]","""AAEC""",-1,5,18446744073709551615,"a ""b"", c",true\r\n';

test('columns come from the schema, nested names and fixed arrays spread out, cells exact', async (t) => {
  t.deepEqual(await run([message(ODOM, VALUE)]), { text: NAMES + ROW, error: undefined });
  t.deepEqual(await run([[message(ODOM, VALUE), message(ODOM, VALUE)]]), { text: NAMES + ROW + ROW, error: undefined });
});

test('a header without messages needs the type', async (t) => {
  t.is((await run([], { schema: ODOM })).text, NAMES);
  t.is((await run([])).text, '');
  t.is((await run([message(ODOM, VALUE)], { header: false })).text, ROW);
});

test('line ends, quotes and delimiters inside of a cell are quoted, any other text is not', async (t) => {
  const schema = schemaOf('string s');
  for (const [s, cell] of [
    ['a\nb', '"a\nb"'],
    ['a\rb', '"a\rb"'],
    ['a\r\nb', '"a\r\nb"'],
    ['"', '""""'],
    ['a,b', '"a,b"'],
    ['a;b', 'a;b'],
    [' é😀 ', ' é😀 '],
    ['', ''],
  ] as const) {
    t.is((await run([message(schema, { s })])).text, `topic,logTime,publishTime,sequence,s\r\n/a,5,6,7,${cell}\r\n`);
  }
  const { text } = await run([message(schema, { s: 'a;b' })], { delimiter: ';', newline: '\n' });
  t.is(text, 'topic;logTime;publishTime;sequence;s\n/a;5;6;7;"a;b"\n');
});

test('explode gives one row an element, with its index', async (t) => {
  const schema = schemaOf('uint8 a\nt/P[] p\nfloat32[] r\n===\nMSG: t/P\nint64 x\nuint8[2] y');
  const value = {
    a: 9,
    p: [
      { x: 1n, y: Uint8Array.of(2, 3) },
      { x: 4n, y: Uint8Array.of(5, 6) },
    ],
    r: Float32Array.of(0.5),
  };
  const structs = await run([message(schema, value), message(schema, { ...value, p: [] })], { explode: 'p' });
  t.is(
    structs.text,
    'topic,logTime,publishTime,sequence,a,p[],p.x,p.y[0],p.y[1],r\r\n/a,5,6,7,9,0,1,2,3,[0.5]\r\n/a,5,6,7,9,1,4,5,6,[0.5]\r\n',
  );
  const numbers = await run([message(schema, value)], { explode: 'r', fields: ['r'] });
  t.is(numbers.text, 'topic,logTime,publishTime,sequence,r[],r\r\n/a,5,6,7,0,0.5\r\n');
});

test('fields takes the columns below its paths', async (t) => {
  const { text } = await run([message(ODOM, VALUE)], { fields: ['pose.position', 'covariance[1]', 'b'] });
  t.is(
    text,
    'topic,logTime,publishTime,sequence,pose.position.x,pose.position.y,covariance[1],b\r\n/a,5,6,7,0.1,-0,Infinity,true\r\n',
  );
});

test('what a message does not have is an empty cell', async (t) => {
  const { text } = await run([message(ODOM, { b: false })], { header: false });
  t.is(text, '/a,5,6,7,,,,,,,,,,,false\r\n');
});

test('a wrong option is a TypeError, also one that needs the type to be known', async (t) => {
  t.throws(() => csv({ explodes: 'x' } as CsvOptions), { instanceOf: TypeError, message: /explode/ });
  t.throws(() => csv({ delimiter: '"' }), { instanceOf: TypeError });
  t.throws(() => csv({ schema: ODOM, explode: 'id' }), { instanceOf: TypeError, message: /ids/ });
  const { error } = await run([message(ODOM, VALUE)], { fields: ['pose.posit'] });
  t.true(error instanceof TypeError);
  t.regex((error as Error).message, /pose\.position/);
});

test('a message of another type, or one that was not decoded, is an error with topic and time', async (t) => {
  const other = schemaOf('uint8 a', 't/msg/Other');
  const { text, error } = await run([message(ODOM, VALUE), message(other, { a: 1 }, 77n)]);
  t.is(text, NAMES + ROW);
  t.like(error, { code: 'ENCODE_WRONG_KIND', topic: '/a', logTime: 77n, schemaName: 't/msg/Other' });
  const raw = await run([{ ...message(ODOM, undefined), data: new Uint8Array() }]);
  t.like(raw.error, { code: 'ENCODE_WRONG_KIND', topic: '/a' });
  t.like((await run([{ topic: '/a', logTime: 1n, message: {} }])).error, { code: 'SCHEMA_MISSING', topic: '/a' });
});

sharedTest('a recorded topic has as many rows as messages', async (t) => {
  const [path = ''] = sharedFiles('recordings/rosbag2', '.mcap').filter((file) => file.includes('wbag'));
  const { got } = await collect(readShared('recordings/rosbag2', path), decodeStream({ undecodable: 'skip' }));
  const same = got.filter(({ schema }) => schema === got[0]?.schema);
  const { text, error } = await run([same], { fields: [] });
  t.is(error, undefined);
  t.true(same.length > 5);
  t.is(text.split('\r\n').length - 2, same.length);
});
