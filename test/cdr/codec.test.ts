/** The public face: options, caches, memory of results, projection paths, generated source. */
import test from 'ava';
import { compileCodec, compileDefinition } from '../../lib/cdr/codec.js';
import { EncodeBuffer } from '../../lib/cdr/encode-buffer.js';
import { OptionError } from '../../lib/errors.js';
import type { MessageDefinition } from '../../lib/schema/definition.js';
import { parseSchema } from '../../lib/schema/registry.js';
import { bytes, codecs, decodes, failsToEncode, hex, SEP } from '../helpers/codecs.js';

const POSES =
  'std_msgs/Header header\ngeometry_msgs/Pose[] poses\nfloat64[36] covariance\nstring name\n' +
  `${SEP}MSG: std_msgs/Header\nbuiltin_interfaces/Time stamp\nstring frame_id\n` +
  `${SEP}MSG: geometry_msgs/Pose\nPoint position\nQuaternion orientation\n` +
  `${SEP}MSG: geometry_msgs/Point\nfloat64 x\nfloat64 y\nfloat64 z\n` +
  `${SEP}MSG: geometry_msgs/Quaternion\nfloat64 x\nfloat64 y\nfloat64 z\nfloat64 w 1\n`;

const VALUE = {
  header: { stamp: { sec: 1, nanosec: 2 }, frame_id: 'map' },
  poses: [1, 2, 3].map((x) => ({ position: { x, y: 0, z: 0 }, orientation: { x: 0, y: 0, z: 0, w: 1 } })),
  covariance: Float64Array.from({ length: 36 }, (_, index) => index),
  name: 'n',
};

test('the same schema with the same options gives the same codec', (t) => {
  const schema = { name: 't/msg/T', encoding: 'ros2msg', data: 'uint8 a' };
  t.is(compileCodec(schema), compileCodec({ ...schema, data: new TextEncoder().encode('uint8 a') }));
  t.is(compileCodec(schema), compileCodec(schema, {}));
  t.not(compileCodec(schema), compileCodec(schema, { int64: 'string' }));
  t.is(compileDefinition(parseSchema(schema)), compileCodec(schema));
});

test('options are checked, with the nearest name', (t) => {
  const schema = { name: 't/msg/T', encoding: 'ros2msg', data: 'uint8 a' };
  t.throws(() => compileCodec(schema, { int46: 'string' } as object), { instanceOf: OptionError, message: /int64/ });
  t.throws(() => compileCodec(schema, { int64: 'float' as 'string' }), { code: 'OPTION_INVALID', message: /"bigint"/ });
  t.throws(() => compileCodec(schema, { fields: 'a' as never }), { code: 'OPTION_INVALID' });
  t.throws(() => compileCodec(schema, { encapsulation: 'PL_CDR_LE' as 'CDR_LE' }), { code: 'OPTION_INVALID' });
});

test('a codec knows its definition, constants and warnings', (t) => {
  const codec = compileCodec({ name: 't/msg/T', encoding: 'ros2msg', data: 'uint8 OK=1\nint64 BIG=5\nuint8 a' });
  t.deepEqual(
    codec.constants.map(({ name, value }) => [name, value]),
    [
      ['OK', 1],
      ['BIG', 5n],
    ],
  );
  t.is(codec.definition.name, 't/msg/T');
  t.deepEqual(codec.warnings, []);
  t.false(codec.partial);
});

test('encoded bytes are the caller’s: later messages do not change them', (t) => {
  for (const codec of codecs('string s\nuint8[] data')) {
    const sizes = [0, 10, 100, 3000, 5000, 70000, 5, 5, 200000, 1];
    const results = sizes.map((size) => ({
      size,
      data: codec.encode({ s: `n${size}`, data: new Uint8Array(size).fill(size) }),
    }));
    for (const { size, data } of results) {
      t.deepEqual(codec.decode(data), { s: `n${size}`, data: new Uint8Array(size).fill(size) });
    }
    results[1]?.data.fill(0xff);
    t.is((codec.decode(results[2]?.data ?? new Uint8Array()) as { s: string }).s, 'n100');
  }
});

test('an encode inside of an encode does not harm the outer one', (t) => {
  for (const codec of codecs('string s\nuint8 x')) {
    const value = {
      s: 'outer',
      get x() {
        return codec.encode({ s: 'inner', x: 9 }).length;
      },
    };
    t.deepEqual(codec.decode(codec.encode(value)), { s: 'outer', x: 15 });
  }
});

test('encodeInto says what it wrote, or that there is no room', (t) => {
  for (const codec of codecs('string s\nfloat64[] v')) {
    const value = { s: 'abc', v: [1, 2] };
    const size = codec.encode(value).length;
    t.is(codec.encodeInto(value, new Uint8Array(size)), size);
    for (let room = 0; room < size; room++) {
      t.throws(() => codec.encodeInto(value, new Uint8Array(room)), { code: 'ENCODE_NO_SPACE' });
    }
  }
});

test('encodeTo grows its buffer and keeps what stands before', (t) => {
  for (const codec of codecs('string s\nuint8[] v')) {
    const buffer = new EncodeBuffer(16);
    buffer.u8.set([1, 2, 3, 4, 5]);
    const value = { s: 'é'.repeat(100), v: new Uint8Array(1000).fill(7) };
    const size = codec.encodeTo(value, buffer, 5);
    t.deepEqual(codec.decode(buffer.u8.subarray(5, 5 + size)), value);
    t.is(hex(buffer.u8.subarray(0, 5)), '0102030405');
  }
});

test('a projection gives the same shapes without the other fields', (t) => {
  const payload = hex(codecs(POSES)[0]?.encode(VALUE) ?? new Uint8Array());
  const cases: [string[], unknown][] = [
    [['header.stamp'], { header: { stamp: { sec: 1, nanosec: 2 } } }],
    [['poses[].position.x'], { poses: [{ position: { x: 1 } }, { position: { x: 2 } }, { position: { x: 3 } }] }],
    [['covariance[0]'], { covariance: [0] }],
    [['name'], { name: 'n' }],
    [['covariance'], { covariance: VALUE.covariance }],
    [['poses'], { poses: VALUE.poses }],
    [
      ['name', 'header.stamp.sec', 'poses[1].position'],
      { header: { stamp: { sec: 1 } }, poses: Object.assign([], { 1: { position: { x: 2, y: 0, z: 0 } } }), name: 'n' },
    ],
    [[], {}],
  ];
  for (const [fields, value] of cases) {
    decodes(t, POSES, payload, value, { fields });
    t.true(codecs(POSES, { fields })[0]?.partial);
  }
  const be = codecs(POSES, { encapsulation: 'CDR_BE' })[0]?.encode(VALUE) ?? new Uint8Array();
  const xcdr2 = codecs(POSES, { encapsulation: 'D_CDR2_LE' })[0]?.encode(VALUE) ?? new Uint8Array();
  for (const data of [be, xcdr2]) decodes(t, POSES, hex(data), { name: 'n' }, { fields: ['name'] });
});

test('an unknown field path is an error that names the nearest ones', (t) => {
  for (const [path, near] of [
    ['header.stmp', 'header.stamp'],
    ['poses[].postion.x', 'poses[].position.x'],
    ['covarance', 'covariance'],
    ['covariance[36]', 'covariance'],
    ['header[0]', 'header'],
    ['poses.position', 'poses[].position'],
  ]) {
    const error = t.throws(() => codecs(POSES, { fields: [path ?? ''] }), { instanceOf: OptionError });
    t.true(error.message.includes(near ?? '-'), error.message);
  }
  for (const path of ['', 'a..b', 'poses[x]', '.']) {
    t.throws(() => codecs(POSES, { fields: [path] }), { instanceOf: OptionError });
  }
});

test('unknown properties are refused by path, or ignored by option', (t) => {
  const value = { ...VALUE, poses: [{}, {}, { position: { x: 1, yy: 2 } }] };
  failsToEncode(t, POSES, value, { code: 'ENCODE_UNKNOWN_FIELD', field: 'poses[2].position.yy', message: /x, y, z/ });
  failsToEncode(
    t,
    POSES,
    { header: {}, nam: 'x', poses: [], covariance: VALUE.covariance },
    { code: 'ENCODE_UNKNOWN_FIELD', field: 'nam' },
  );
  for (const codec of codecs(POSES, { unknownFields: 'ignore' })) {
    t.is((codec.decode(codec.encode(value)) as typeof VALUE).poses[2]?.position.x, 1);
    t.throws(() => codec.encode({ poses: [[]] }), { code: 'ENCODE_WRONG_KIND' });
  }
});

test('errors of nested values carry their path, their kind and what was wanted', (t) => {
  const pose = VALUE.poses[0];
  failsToEncode(
    t,
    POSES,
    { ...VALUE, poses: [pose, pose, pose, { position: { x: null } }] },
    {
      code: 'ENCODE_WRONG_KIND',
      field: 'poses[3].position.x',
      message: /null, where a float64 number is wanted/,
    },
  );
  failsToEncode(
    t,
    POSES,
    { header: { stamp: 5 } },
    { code: 'ENCODE_WRONG_KIND', field: 'header.stamp', message: /number 5, where a Time/ },
  );
  failsToEncode(
    t,
    POSES,
    { header: 'x' },
    { code: 'ENCODE_WRONG_KIND', field: 'header', message: /string "x", where a std_msgs\/msg\/Header/ },
  );
  failsToEncode(t, POSES, { name: '\ud83d' }, { code: 'ENCODE_BAD_STRING', field: 'name' });
  failsToEncode(t, POSES, { covariance: new Float64Array(35) }, { code: 'ENCODE_WRONG_LENGTH', field: 'covariance' });
  failsToEncode(t, POSES, { poses: 5n }, { code: 'ENCODE_WRONG_KIND', field: 'poses', message: /bigint 5n/ });
  for (const wrong of [undefined, null, 5, 'x', [], [1], new Map(), Symbol.iterator, () => 1]) {
    failsToEncode(t, POSES, () => wrong, { code: 'ENCODE_WRONG_KIND', field: undefined });
  }
  for (const wrong of [1n, Symbol.iterator, {}, '1', true, null]) {
    failsToEncode(t, 'int32 a', { a: wrong }, { code: 'ENCODE_WRONG_KIND', field: 'a' });
  }
  for (const wrong of [1.5, NaN, Infinity, 2147483648, -2147483649]) {
    failsToEncode(t, 'int32 a', { a: wrong }, { code: 'ENCODE_OUT_OF_RANGE', field: 'a' });
  }
});

test('integers take their whole range and nothing beyond', (t) => {
  const ranges = {
    int8: [-128, 127],
    uint8: [0, 255],
    int16: [-32768, 32767],
    uint16: [0, 65535],
    int32: [-2147483648, 2147483647],
    uint32: [0, 4294967295],
  };
  for (const [type, [least = 0, most = 0]] of Object.entries(ranges)) {
    for (const codec of codecs(`${type} a\n${type}[] b`)) {
      const value = codec.decode(codec.encode({ a: least, b: [least, most] })) as { a: number; b: ArrayLike<number> };
      t.deepEqual([value.a, ...Array.from(value.b)], [least, least, most]);
    }
    for (const wrong of [least - 1, most + 1]) {
      failsToEncode(t, `${type} a`, { a: wrong }, { code: 'ENCODE_OUT_OF_RANGE', field: 'a' });
      failsToEncode(t, `${type}[] a`, { a: [0, wrong] }, { code: 'ENCODE_OUT_OF_RANGE', field: 'a[1]' });
    }
  }
});

test('names of fields, types and packages cannot become code', (t) => {
  const evil = [
    'a"];globalThis.hacked=1;//',
    '*/globalThis.hacked=1/*',
    '\u2028globalThis.hacked=1',
    '${globalThis.hacked=1}',
    "'\\",
    '__proto__',
  ];
  const inner: MessageDefinition = {
    name: 'x"y/msg/*/globalThis.hacked=1;/*',
    extensibility: 'final',
    fields: evil.map((name) => ({ name, type: { kind: 'primitive', name: 'uint8' } })),
    constants: [],
    warnings: [],
  };
  const root: MessageDefinition = {
    ...inner,
    name: "t/msg/\nglobalThis.hacked=1\n'`",
    fields: [{ name: 'list\n', type: { kind: 'sequence', element: { kind: 'message', definition: inner } } }],
  };
  for (const codegen of [true, false]) {
    for (const encapsulation of ['CDR_LE', 'D_CDR2_BE'] as const) {
      const codec = compileDefinition(root, { codegen, encapsulation });
      const item = Object.fromEntries(evil.map((name, index) => [name, index + 1]));
      const value = { 'list\n': [item, item] };
      const decoded = codec.decode(codec.encode(value)) as typeof value;
      t.deepEqual(Object.entries(decoded['list\n'][1] ?? {}), Object.entries(item));
    }
  }
  t.is((globalThis as { hacked?: unknown }).hacked, undefined);
  t.is(({} as { hacked?: unknown }).hacked, undefined);
});

test('small arrays do not hold the payload, large aligned ones are views of it', (t) => {
  const text = 'float32[] a\nfloat32[] b';
  const codec = codecs(text)[0];
  const payload = codec?.encode({ a: [1, 2], b: new Float32Array(4096).fill(3) }) ?? new Uint8Array();
  const chunk = new Uint8Array(payload.length + 16);
  for (const [start, shared] of [
    [4, true],
    [5, false],
  ] as const) {
    chunk.set(payload, start);
    const view = new DataView(chunk.buffer);
    const value = codec?.decodeAt(chunk, view, start, start + payload.length) as { a: Float32Array; b: Float32Array };
    t.false(value.a.buffer === chunk.buffer);
    t.is(value.b.buffer === chunk.buffer, shared);
    t.is(value.b[4095], 3);
    const copied = codecs(text, { arrays: 'copy' })[0]?.decodeAt(
      chunk,
      view,
      start,
      start + payload.length,
    ) as typeof value;
    t.false(copied.b.buffer === chunk.buffer);
    t.deepEqual(copied, value);
    const viewed = codecs(text, { arrays: 'view' })[0]?.decodeAt(
      chunk,
      view,
      start,
      start + payload.length,
    ) as typeof value;
    t.is(viewed.a.buffer === chunk.buffer, shared);
    t.deepEqual(viewed, value);
  }
});

test('a type too large for one function is split and still right', (t) => {
  const parts = Array.from({ length: 12 }, (_, index) => `P p${index}`).join('\n');
  const fields = Array.from(
    { length: 60 },
    (_, index) => `${['uint8', 'float64', 'string', 'int16'][index % 4] ?? ''} f${index}`,
  ).join('\n');
  const text = `${parts}\nuint64 tail\n${SEP}MSG: t/P\n${fields}`;
  const value = Object.fromEntries([
    ...Array.from({ length: 12 }, (_, part) => [
      `p${part}`,
      Object.fromEntries(
        Array.from({ length: 60 }, (_, index) => [`f${index}`, index % 4 === 2 ? `s${part} ${index}` : index + part]),
      ),
    ]),
    ['tail', 7n],
  ]) as Record<string, unknown>;
  const [compiled, interpreted] = codecs(text);
  const payload = compiled?.encode(value) ?? new Uint8Array();
  t.is(hex(interpreted?.encode(value) ?? new Uint8Array()), hex(payload));
  t.deepEqual(compiled?.decode(payload), value);
  t.deepEqual(codecs(text, { fields: ['p11.f58', 'tail'] })[0]?.decode(payload), { p11: { f58: 's11 58' }, tail: 7n });
});

test('types that contain types many times over compile in time', (t) => {
  let text = 'A0 a\nA0 b\nA0 c\nA0 d\n';
  for (let level = 0; level < 5; level++)
    text += `${SEP}MSG: t/A${level}\nA${level + 1} a\nA${level + 1} b\nA${level + 1} c\nA${level + 1} d\n`;
  text += `${SEP}MSG: t/A5\nuint8 x\nstring s\n`;
  const codec = codecs(text)[0];
  t.true((codec?.source.length ?? 0) < 1e6);
  t.throws(() => codec?.decode(bytes('00010000 01')), { code: 'CDR_TRUNCATED' });
});

test('types nest to the limit of schemas', (t) => {
  const DEPTH = 40;
  let text = 'uint8 x\nA0[] inner\nfloat64 y\n';
  for (let level = 0; level < DEPTH; level++) {
    text += `${SEP}MSG: t/A${level}\nuint8 x\nA${level + 1}${level % 2 === 0 ? '[]' : ''} inner\nfloat64 y\n`;
  }
  text += `${SEP}MSG: t/A${DEPTH}\nuint8 x\n`;
  let value: object = { x: 1 };
  for (let level = DEPTH - 1; level >= -1; level--)
    value = { x: level & 255, inner: level % 2 === 0 || level === -1 ? [value] : value, y: level };
  const [compiled, interpreted] = codecs(text);
  const payload = compiled?.encode(value) ?? new Uint8Array();
  t.is(hex(interpreted?.encode(value) ?? new Uint8Array()), hex(payload));
  t.deepEqual(compiled?.decode(payload), value);
  t.deepEqual(interpreted?.decode(payload), value);
});
