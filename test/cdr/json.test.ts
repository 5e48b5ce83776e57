/** The JSON form of messages (design: section 7): from payloads by generated code, from values, and back. */
import { deepStrictEqual } from 'node:assert';
import test from 'ava';
import type { ExecutionContext } from 'ava';
import fc from 'fast-check';
import { compileDefinition } from '../../lib/cdr/codec.js';
import { ENCAPSULATIONS } from '../../lib/cdr/encapsulation.js';
import { McapStreamsError } from '../../lib/errors.js';
import { bytes, caught, codecs, hex } from '../helpers/codecs.js';
import { jsonForm } from '../helpers/json-form.js';
import { messages, valuesOf } from '../helpers/random-types.js';
import { recordedMessages } from '../helpers/recordings.js';
import { sharedTest } from '../helpers/shared.js';

const RUNS = Number(process.env['FUZZ_RUNS'] ?? 200);

/** Payload -> text, value -> text, text -> value -> payload, with and without generated code. */
function both(t: ExecutionContext, text: string, payload: string, json: string): void {
  const data = bytes(payload);
  for (const codec of codecs(text)) {
    t.is(String(codec.toJson(data)), json);
    t.is(String(codec.toJson(codec.decode(data))), json);
    t.deepEqual(codec.fromJson(json), codec.decode(data));
    t.deepEqual(codec.fromJson(JSON.parse(json)), codec.decode(data));
    t.is(hex(codec.encode(codec.fromJson(codec.toJson(data)))), hex(data));
  }
}

test('64-bit integers are decimal strings, exact to the last digit', (t) => {
  both(
    t,
    'uint64 a\nint64 b',
    '00010000 ffffffffffffffff 0000000000000080',
    '{"a":"18446744073709551615","b":"-9223372036854775808"}',
  );
  both(
    t,
    'int64[] a',
    '00010000 03000000 00000000 0100000000002000 ffffffffffffdfff d6ffffffffffffff',
    '{"a":["9007199254740993","-9007199254740993","-42"]}',
  );
});

test('NaN and the infinities are strings, -0 stays, in scalars and in arrays', (t) => {
  both(
    t,
    'float32 a\nfloat32[] b',
    '00010000 0000c07f 04000000 0000c07f 0000807f 000080ff 00000080',
    '{"a":"NaN","b":["NaN","Infinity","-Infinity",-0]}',
  );
  both(t, 'float64 a', '00010000 0000000000000080', '{"a":-0}');
});

test('uint8, byte and char arrays are base64, int8 and bool arrays are lists', (t) => {
  both(
    t,
    'uint8[] a\nbyte[3] b\nchar[<=4] c\nint8[2] d\nbool[] e',
    '00010000 02000000 ff01 000102 000000 01000000 41 fffe 00 02000000 0001',
    '{"a":"/wE=","b":"AAEC","c":"QQ==","d":[-1,-2],"e":[false,true]}',
  );
  both(t, 'uint8[] a', '00010000 00000000', '{"a":""}');
});

test('times are objects, negative ones too; an empty message is {}', (t) => {
  both(
    t,
    'builtin_interfaces/Time t\nbuiltin_interfaces/Duration d\nstd_msgs/Empty e\n===\nMSG: std_msgs/Empty\n',
    '00010000 ffffffff ffc99a3b feffffff 00000000 00',
    '{"t":{"sec":-1,"nanosec":999999999},"d":{"sec":-2,"nanosec":0},"e":{}}',
  );
  both(t, 'uint8 A=1', '00010000 00', '{}');
});

test('strings are escaped as JSON wants it, wstrings too', (t) => {
  both(
    t,
    'string a\nwstring b',
    '00010000 09000000 c3a9220a5c7f410100 000000 03000000 e9000000 3dd80000 00de0000',
    '{"a":"é\\"\\n\\\\\u007fA\\u0001","b":"é😀"}',
  );
});

test('a string with a NUL and invalid UTF-8 passes into text as decoding reads it', (t) => {
  for (const codec of codecs('string a')) {
    t.is(String(codec.toJson(bytes('00010000 05000000 6100ff6200'))), '{"a":"a\\u0000\ufffdb"}');
    t.is(String(codec.toJson({ a: 'a\0\ufffdb' })), '{"a":"a\\u0000\ufffdb"}');
  }
});

test('numbers have the digits of String(number)', (t) => {
  const [codec] = codecs('float64 a');
  const view = new DataView(new ArrayBuffer(12));
  view.setUint32(0, 0x00010000);
  const payload = new Uint8Array(view.buffer);
  const check = (value: number): void => {
    view.setFloat64(4, value, true);
    const text = Number.isFinite(value) ? (Object.is(value, -0) ? '-0' : String(value)) : `"${value}"`;
    const got = String(codec?.toJson(payload));
    if (got !== `{"a":${text}}`) t.fail(`${text}: ${got}`);
  };
  for (let exponent = -1074; exponent < 1024; exponent++) {
    for (const digit of [1, 3, 5, 7, 9]) check(digit * 2 ** exponent);
  }
  for (let exponent = -12; exponent < 24; exponent++) {
    for (let digits = 1; digits < 10000; digits += 7) check(-Number(`${digits}e${exponent}`));
    const near = new Float64Array([Number(`1e${exponent}`)]);
    const bits = new BigInt64Array(near.buffer);
    for (const step of [-2n, 1n, 2n, 1n]) {
      bits[0] = (bits[0] ?? 0n) + step;
      check(near[0] ?? 0);
    }
  }
  fc.assert(
    fc.property(fc.double(), fc.float(), fc.double({ min: -1000, max: 1000 }), (a, b, c) => {
      [a, b, c].forEach(check);
    }),
    { numRuns: 20_000 },
  );
  t.pass();
});

test('any value of any type: generated, interpreted and written from the value are one text, which reads back', (t) => {
  const typeAndValue = messages(3).chain((type) => fc.tuple(fc.constant(type), valuesOf(type)));
  fc.assert(
    fc.property(typeAndValue, fc.constantFrom(...ENCAPSULATIONS), fc.nat({ max: 9 }), ([type, value], kind, shift) => {
      const compiled = compileDefinition(type, { encapsulation: kind });
      const interpreted = compileDefinition(type, { encapsulation: kind, codegen: false });
      const payload = compiled.encode(value);
      const wanted = jsonForm(type, value);
      const chunk = new Uint8Array(payload.length + shift + 7).fill(0xa5);
      chunk.set(payload, shift);
      deepStrictEqual(String(compiled.toJson(chunk.subarray(shift, shift + payload.length))), wanted);
      deepStrictEqual(String(interpreted.toJson(payload)), wanted);
      deepStrictEqual(String(compiled.toJson(value)), wanted);
      deepStrictEqual(compiled.fromJson(wanted), value);
      deepStrictEqual(compiled.encode(compiled.fromJson(Buffer.from(wanted))), payload);
    }),
    { numRuns: RUNS, includeErrorInReport: true },
  );
  t.pass();
});

test('a damaged payload fails with the error that decoding has', (t) => {
  const typeAndValue = messages(3).chain((type) => fc.tuple(fc.constant(type), valuesOf(type)));
  fc.assert(
    fc.property(
      typeAndValue,
      fc.nat(),
      fc.constantFrom(0, 1, 0xff, 0x7fffffff, 0xffffffff),
      ([type, value], at, word) => {
        const codec = compileDefinition(type);
        const payload = Uint8Array.from(codec.encode(value));
        const place = 4 + ((at * 4) % Math.max(4, payload.length - 4));
        if (place + 4 <= payload.length) new DataView(payload.buffer).setUint32(place, word, true);
        const cut = payload.subarray(0, at % 3 === 0 ? Math.max(4, payload.length - (at % 7)) : payload.length);
        deepStrictEqual(
          outcome(() => String(codec.toJson(cut))),
          outcome(() => jsonForm(type, codec.decode(cut))),
        );
      },
    ),
    { numRuns: RUNS * 2, includeErrorInReport: true },
  );
  t.pass();
});

function outcome(action: () => unknown): unknown {
  try {
    return action();
  } catch (error) {
    if (!(error instanceof McapStreamsError)) throw error;
    return [error.code, error.message];
  }
}

test('fromJson says where JSON is no message', (t) => {
  const text = 'int64 a\nt/P[] p\nuint8[2] b\nfloat32 f\nstring<=2 s\n===\nMSG: t/P\nbool x\nbuiltin_interfaces/Time t';
  const cases: [string, string, string | undefined][] = [
    ['{"a":9007199254740993}', 'ENCODE_OUT_OF_RANGE', 'a'],
    ['{"a":"9223372036854775808"}', 'ENCODE_OUT_OF_RANGE', 'a'],
    ['{"a":1.5}', 'ENCODE_OUT_OF_RANGE', 'a'],
    ['{"a":"x"}', 'ENCODE_WRONG_KIND', 'a'],
    ['{"a":null}', 'ENCODE_WRONG_KIND', 'a'],
    ['{"p":[{},{"x":1}]}', 'ENCODE_WRONG_KIND', 'p[1].x'],
    ['{"p":[{"t":{"sec":1e10}}]}', 'ENCODE_OUT_OF_RANGE', 'p[0].t.sec'],
    ['{"p":[{"t":{"secs":1}}]}', 'ENCODE_UNKNOWN_FIELD', 'p[0].t.secs'],
    ['{"b":"AA=="}', 'ENCODE_WRONG_LENGTH', 'b'],
    ['{"b":"A*=="}', 'ENCODE_WRONG_KIND', 'b'],
    ['{"b":[1,256]}', 'ENCODE_OUT_OF_RANGE', 'b[1]'],
    ['{"f":1e39}', 'ENCODE_OUT_OF_RANGE', 'f'],
    ['{"f":"nan"}', 'ENCODE_WRONG_KIND', 'f'],
    ['{"s":"\\ud800"}', 'ENCODE_BAD_STRING', 's'],
    ['{"s":"éé"}', 'ENCODE_OVER_BOUND', 's'],
    ['{"q":1}', 'ENCODE_UNKNOWN_FIELD', 'q'],
    ['[]', 'ENCODE_WRONG_KIND', undefined],
    ['{"a":', 'ENCODE_BAD_JSON', undefined],
  ];
  for (const codec of codecs(text)) {
    for (const [json, code, field] of cases) {
      const error = caught(t, () => codec.fromJson(json));
      t.is(error.code, code as never, json);
      t.is(error.field, field, json);
    }
  }
});

test('fromJson takes safe numbers for 64-bit, lists for bytes, and fills in what is absent', (t) => {
  for (const codec of codecs('int64 a\nuint8[] b\nint32 c 9\nfloat64[2] d\nbuiltin_interfaces/Time e')) {
    t.deepEqual(codec.fromJson('{"a":-42,"b":[1,2],"e":{"sec":1,"nsec":2}}'), {
      a: -42n,
      b: Uint8Array.of(1, 2),
      c: 9,
      d: new Float64Array(2),
      e: { sec: 1, nanosec: 2 },
    });
  }
});

test('a name from Object.prototype is a field like any other', (t) => {
  both(t, 'uint8 __proto__\nuint8 constructor', '00010000 0102', '{"__proto__":1,"constructor":2}');
});

test('toJson refuses a value of another kind, with the path of its field', (t) => {
  for (const codec of codecs('t/P[] p\n===\nMSG: t/P\nuint8 x\nfloat64[2] y')) {
    const refusals: [unknown, string, string][] = [
      [{ p: [{ x: 1 }, { x: 256 }] }, 'ENCODE_OUT_OF_RANGE', 'p[1].x'],
      [{ p: [{ y: [1] }] }, 'ENCODE_WRONG_LENGTH', 'p[0].y'],
      [{ p: 5 }, 'ENCODE_WRONG_KIND', 'p'],
      [{ z: 5 }, 'ENCODE_UNKNOWN_FIELD', 'z'],
    ];
    for (const [value, code, field] of refusals) {
      t.like(
        caught(t, () => codec.toJson(value)),
        { code, field },
      );
    }
    t.is(String(codec.toJson({ p: [{}] })), '{"p":[{"x":0,"y":[0,0]}]}');
  }
});

test('a projection leaves out what was not asked for', (t) => {
  for (const codec of codecs('uint8 a\nbuiltin_interfaces/Time t\nuint8[4] b\nfloat64[] c', {
    fields: ['t.sec', 'b[1]', 'c'],
  })) {
    const payload = bytes('00010000 01000000 07000000 08000000 01020304 00000000');
    t.is(String(codec.toJson(payload)), '{"t":{"sec":7},"b":[null,2],"c":[]}');
  }
});

test('the forms that options give to values make no difference to the text', (t) => {
  const payload = bytes('00010000 01000000 02000000 0000000000000080');
  for (const options of [{ time: 'bigint' }, { int64: 'string' }, { int64: 'number' }] as const) {
    for (const codec of codecs('builtin_interfaces/Time t\nint64[1] a', options)) {
      const json = '{"t":{"sec":1,"nanosec":2},"a":["-9223372036854775808"]}';
      t.is(String(codec.toJson(payload)), json);
      if (!('int64' in options && options.int64 === 'number')) t.is(String(codec.toJson(codec.decode(payload))), json);
      t.deepEqual(codec.fromJson(json), codec.decode(payload));
    }
  }
});

test('text goes to a given place of a buffer, which grows', (t) => {
  const [codec] = codecs('uint8[] a\nstring s');
  if (codec === undefined) return;
  const value = { a: new Uint8Array(100_000).fill(7), s: 'é'.repeat(70_000) };
  const text = JSON.stringify({ a: Buffer.from(value.a).toString('base64'), s: value.s });
  t.true(String(codec.toJson(codec.encode(value))) === text);
  t.true(String(codec.toJson(value)) === text);
});

sharedTest(
  'every recorded message: the text is the documented one and encodes back to what decoding encodes to',
  async (t) => {
    let count = 0;
    const wrong: string[] = [];
    for (const { path, topic, definition, data } of await recordedMessages()) {
      const codec = compileDefinition(definition);
      let value: unknown;
      try {
        value = codec.decode(data);
      } catch {
        continue;
      }
      count++;
      const json = codec.toJson(data);
      if (String(json) !== jsonForm(definition, value)) wrong.push(`${path} ${topic}: ${String(json).slice(0, 100)}`);
      if (Buffer.compare(codec.encode(codec.fromJson(json)), codec.encode(value)) !== 0)
        wrong.push(`${path} ${topic}: back`);
    }
    t.deepEqual(wrong.slice(0, 5), []);
    t.true(count > 9000);
  },
);
