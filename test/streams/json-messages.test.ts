/** NDJSON, or one array, to messages: lines, errors with their place, limits, pieces of any size. */
import { Readable } from 'node:stream';
import test from 'ava';
import { jsonMessages } from '../../lib/index.js';
import type { JsonMessage, JsonMessagesOptions } from '../../lib/index.js';
import { collect, pieces } from '../helpers/streams.js';

const definitions = { 't/msg/T': 'int64 a\nfloat64 b 1.5\nuint8[] c\nstring s' };

function line(message: string, logTime = '5'): string {
  return `{"topic":"/a","schemaName":"t/msg/T","logTime":"${logTime}","message":${message}}`;
}

async function read(text: string | Uint8Array, options: JsonMessagesOptions = { definitions }, size = 1 << 20) {
  const bytes = typeof text === 'string' ? new TextEncoder().encode(text) : text;
  return collect<JsonMessage>(pieces(bytes, size), jsonMessages(options));
}

const ONE = { a: 1n, b: 1.5, c: new Uint8Array(), s: '' };

test('lines become messages in the form that decoding gives', async (t) => {
  const { got, error } = await read(
    '{"topic":"/a","schemaName":"t/T","logTime":"18446744073709551615","publishTime":0,"sequence":4294967295,' +
      '"message":{"a":"-9223372036854775808","b":"NaN","c":"AQI=","s":"é😀"}}',
  );
  t.is(error, undefined);
  t.is(got.length, 1);
  t.like(got[0], {
    topic: '/a',
    schemaName: 't/T',
    logTime: 18446744073709551615n,
    publishTime: 0n,
    sequence: 4294967295,
  });
  t.deepEqual(got[0]?.message, { a: -9223372036854775808n, b: NaN, c: Uint8Array.of(1, 2), s: 'é😀' });
  t.like(got[0]?.schema, { name: 't/T', encoding: 'ros2msg' });
  t.like(got[0]?.channel, { topic: '/a', messageEncoding: 'cdr', schemaId: got[0]?.schema?.id });
});

test('integers in JSON text are exact beyond 2^53', async (t) => {
  const { got } = await read(line('{"a":9007199254740993,"b":12345678901234567000}'));
  t.like(got[0]?.message, { a: 9007199254740993n, b: 12345678901234567000 });
});

test('CRLF, blank lines, spaces, a byte order mark and no last newline are fine, in pieces of any size', async (t) => {
  const text = `\ufeff\r\n \t\n${line('{"a":1,"s":"é😀"}')}\r\n\r\n${line('{"a":1,"s":"é😀"}', '6')}\n\n ${line('{"a":1,"s":"é😀"}', '7')}`;
  for (const size of [1, 2, 3, 5, 7, 64, 1000]) {
    const { got, error } = await read(text, { definitions }, size);
    t.is(error, undefined);
    t.deepEqual(
      got.map(({ logTime, message }) => [logTime, message]),
      [5n, 6n, 7n].map((time) => [time, { ...ONE, s: 'é😀' }]),
    );
  }
});

test('one array gives the messages of its elements, in pieces of any size', async (t) => {
  const text = ` [\n${line('{"a":9007199254740993,"s":"}é😀{"}')} ,${line('{"a":1}', '6')}\n] \n`;
  for (const size of [1, 2, 3, 5, 7, 64, 1000]) {
    const { got, error } = await read(text, { definitions }, size);
    t.is(error, undefined);
    t.deepEqual(
      got.map(({ logTime, message }) => [logTime, message]),
      [
        [5n, { ...ONE, a: 9007199254740993n, s: '}é😀{' }],
        [6n, ONE],
      ],
    );
  }
  t.deepEqual(await read('[]'), { got: [], error: undefined });
  t.deepEqual(await read(''), { got: [], error: undefined });
  t.deepEqual(await read(' \n\n'), { got: [], error: undefined });
});

test('an error says the line, after all messages before it', async (t) => {
  const good = line('{"a":1}');
  const cases: [string, string, RegExp][] = [
    ['{"a":', 'ENCODE_BAD_JSON', /^line 3: no JSON/],
    ['5', 'ENCODE_BAD_JSON', /^line 3: an object/],
    ['{"topic":5}', 'ENCODE_BAD_JSON', /^line 3: topic/],
    ['{"topic":"/a","message":{}}', 'ENCODE_BAD_JSON', /^line 3: logTime.*missing/],
    ['{"topic":"/a","logTime":-1,"message":{}}', 'ENCODE_BAD_JSON', /^line 3: logTime/],
    ['{"topic":"/a","logTime":"18446744073709551616","message":{}}', 'ENCODE_BAD_JSON', /^line 3: logTime/],
    ['{"topic":"/a","logTime":1,"sequence":-1,"message":{}}', 'ENCODE_BAD_JSON', /^line 3: \/a: sequence/],
    ['{"topic":"/a","logTime":1}', 'ENCODE_BAD_JSON', /^line 3: \/a: message is missing/],
    [line('{"a":1.5}'), 'ENCODE_OUT_OF_RANGE', /^line 3: \/a: t\/msg\/T a: number 1.5/],
    [line('{"x":1}'), 'ENCODE_UNKNOWN_FIELD', /^line 3: \/a: t\/msg\/T x/],
    [line('null'), 'ENCODE_WRONG_KIND', /^line 3/],
    [line('"{}"'), 'ENCODE_BAD_JSON', /^line 3/],
    [`${good} ${good}`, 'ENCODE_BAD_JSON', /^line 3/],
    ['\ud800', 'ENCODE_BAD_JSON', /^line 3/],
  ];
  for (const [text, code, message] of cases) {
    const { got, error } = await read(`${good}\n\n${text}\n${good}\n`);
    t.is(got.length, 1, text);
    t.like(error, { code, line: 3 }, text);
    t.regex(error?.message ?? '', message);
  }
});

test('an error says the element of an array, after all messages before it', async (t) => {
  const good = line('{"a":1}');
  const cases: [string, string, RegExp][] = [
    [`[${good},${good},{"a":x}]`, 'ENCODE_BAD_JSON', /^element 2: no JSON/],
    [`[${good},${good},${line('{"a":true}')}]`, 'ENCODE_WRONG_KIND', /^element 2: \/a: t\/msg\/T a: boolean/],
    [`[${good},${good},5]`, 'ENCODE_BAD_JSON', /^element 2: an object/],
    [`[${good},${good}`, 'ENCODE_BAD_JSON', /^element 2: no JSON/],
    [`[${good},${good}] x`, 'ENCODE_BAD_JSON', /^element 2: no JSON/],
    [`[${good},${good},${good.slice(0, 20)}`, 'ENCODE_BAD_JSON', /^element 2: no JSON/],
  ];
  for (const [text, code, message] of cases) {
    const { got, error } = await read(text);
    t.is(got.length, 2, text);
    t.like(error, { code }, text);
    t.regex(error?.message ?? '', message);
  }
});

test('bytes that are no UTF-8 are an error, not other text', async (t) => {
  const bytes = Buffer.from(line('{"s":"x"}'));
  bytes[bytes.indexOf('x"')] = 0xff;
  t.like((await read(bytes)).error, { code: 'ENCODE_BAD_JSON', line: 1 });
  t.like((await read(Buffer.concat([Buffer.from('['), bytes, Buffer.from(']')]))).error, { code: 'ENCODE_BAD_JSON' });
});

test('a line or element above the limit is an error before it is held', async (t) => {
  const options = { definitions, maxLineLength: 1000 };
  const good = line('{"a":1}');
  const long = line(`{"s":"${'x'.repeat(2000)}"}`);
  for (const size of [100, 1 << 20]) {
    const { got, error } = await read(`${good}\n${long}\n`, options, size);
    t.is(got.length, 1);
    t.like(error, { code: 'ENCODE_LINE_TOO_LONG', line: 2 });
  }
  const array = await read(`[${good},${long}]`, options, 100);
  t.is(array.got.length, 1);
  t.like(array.error, { code: 'ENCODE_LINE_TOO_LONG', message: 'element 1 is longer than maxLineLength, 1000 bytes' });
  // An endless line without an end is not waited for.
  function* endless() {
    for (;;) yield Buffer.alloc(100, 'x');
  }
  t.like((await collect(endless(), jsonMessages(options))).error, { code: 'ENCODE_LINE_TOO_LONG' });
});

test('an array of any length flows: a slow reader holds the source back', async (t) => {
  let made = 0;
  function* source() {
    yield Buffer.from('[');
    for (; made < 100_000; made++) yield Buffer.from(`${line('{"a":1}')},\n`);
  }
  const stage = jsonMessages({ definitions });
  Readable.from(source()).pipe(stage);
  await new Promise((resolve) => setTimeout(resolve, 50));
  t.true(stage.readableLength <= stage.readableHighWaterMark + 1);
  t.true(made < 1000, String(made));
  stage.destroy();
});

test('a type that nothing tells leaves the JSON as it is', async (t) => {
  const { got } = await read('{"topic":"/a","logTime":1,"message":{"x":[1,"NaN"],"__proto__":9007199254740993}}', {});
  t.deepEqual(Object.keys(got[0] ?? {}), ['topic', 'schemaName', 'logTime', 'publishTime', 'sequence', 'message']);
  t.is(
    JSON.stringify(got[0]?.message, (_, item: unknown) => (typeof item === 'bigint' ? String(item) : item)),
    '{"x":[1,"NaN"],"__proto__":"9007199254740993"}',
  );
});

test('channel lines tell the type, the metadata and the encoding of what follows', async (t) => {
  const channel = '{"topic":"/a","schemaName":"x/T","encoding":"ros2msg","definition":"uint8 v","metadata":{"k":"v"}}';
  const message = '{"topic":"/a","schemaName":"x/T","logTime":1,"message":{"v":3}}';
  const { got } = await read(`${channel}\n${message}\n${message}`, {});
  t.is(got.length, 2);
  t.deepEqual(got[0]?.channel?.metadata, new Map([['k', 'v']]));
  t.is(got[0]?.channel, got[1]?.channel);
  t.is(Buffer.from(got[0]?.schema?.data ?? []).toString(), 'uint8 v');
});

test('batch delivers arrays', async (t) => {
  const stage = jsonMessages({ definitions, batch: 2 });
  const { got } = await collect<JsonMessage[]>(Buffer.from(`${line('{}')}\n`.repeat(5)), stage);
  t.deepEqual(
    got.map((batch) => batch.length),
    [2, 2, 1],
  );
});
