/**
 * Payloads on which real tools have gone wrong, each with its right value. Bytes come from a second implementation
 * (rosbags, @foxglove/cdr) or from the specification.
 */
import test from 'ava';
import { bytes, codecs, decodes, encodes, failsToDecode, failsToEncode, hex, SEP } from '../helpers/codecs.js';

const EMPTY = `${SEP}MSG: std_msgs/Empty\n`;

test('alignment counts from the byte after the encapsulation header', (t) => {
  const payload = '0001000001000000 00000000 000000000000f03f';
  decodes(t, 'uint8 x\nfloat64 d', payload, { x: 1, d: 1 });
  encodes(t, 'uint8 x\nfloat64 d', { x: 1, d: 1 }, payload);
});

test('structs have no alignment and no padding of their own', (t) => {
  const text = `string s\nP[] p\n${SEP}MSG: t/P\nuint8 a\nfloat64 b`;
  const payload = '0001000003000000616200000200000001000000000000000000f03f02000000000000000000000000000040';
  const value = {
    s: 'ab',
    p: [
      { a: 1, b: 1 },
      { a: 2, b: 2 },
    ],
  };
  decodes(t, text, payload, value);
  encodes(t, text, value, payload);
});

test('an empty sequence has no padding before its elements', (t) => {
  const text = 'float64[] a\nuint8 b';
  decodes(t, text, '00010000 00000000 05', { a: new Float64Array(0), b: 5 });
  encodes(t, text, { a: [], b: 5 }, '00010000 00000000 05');
  const one = '00010000 01000000 00000000 000000000000f03f 05';
  decodes(t, text, one, { a: Float64Array.of(1), b: 5 });
  encodes(t, text, { a: [1], b: 5 }, one);
});

test('nothing is assumed after a loop over structs that ran zero times', (t) => {
  const small = `P[] p\nuint8 x\n${SEP}MSG: t/P\nfloat64 b`;
  decodes(t, small, '00010000 00000000 2a', { p: [], x: 42 });
  encodes(t, small, { p: [], x: 42 }, '00010000 00000000 2a');
  const wide = `P[] p\nuint64 x\n${SEP}MSG: t/P\nfloat64 b`;
  decodes(t, wide, '00010000 00000000 00000000 2a00000000000000', { p: [], x: 42n });
  encodes(t, wide, { p: [], x: 42n }, '00010000 00000000 00000000 2a00000000000000');
  const tail = `P[] pts\nfloat64 tail\n${SEP}MSG: t/P\nfloat64 x\nfloat64 y`;
  decodes(t, tail, '00010000 00000000 00000000 000000000000f83f', { pts: [], tail: 1.5 });
  encodes(t, tail, { pts: [], tail: 1.5 }, '00010000 00000000 00000000 000000000000f83f');
});

test('a captured ParameterEvent with empty sequences is read to its last byte', (t) => {
  const text = [
    'builtin_interfaces/Time stamp\nstring node\nParameter[] new_parameters\nParameter[] changed_parameters\nParameter[] deleted_parameters',
    'MSG: rcl_interfaces/Parameter\nstring name\nParameterValue value',
    'MSG: rcl_interfaces/ParameterValue\nuint8 type\nbool bool_value\nint64 integer_value\nfloat64 double_value\nstring string_value\nbyte[] byte_array_value\nbool[] bool_array_value\nint64[] integer_array_value\nfloat64[] double_array_value\nstring[] string_array_value',
    'MSG: builtin_interfaces/Time\nint32 sec\nuint32 nanosec',
  ].join(`\n${SEP}`);
  const payload =
    '00010000a9b71561a570ea01110000002f5f726f7332636c695f33373833363300000000010000000d0000007573655f7369' +
    '6d5f74696d650001000000000000000000000000000000000000010000000000000000000000000000000000000000000000' +
    '000000000000000000000000';
  for (const codec of codecs(text, {}, 'rcl_interfaces/msg/ParameterEvent')) {
    const value = codec.decode(bytes(payload)) as { node: string; new_parameters: { name: string }[] };
    t.is(value.node, '/_ros2cli_378363');
    t.is(value.new_parameters[0]?.name, 'use_sim_time');
    t.is(hex(codec.encode(value)), payload.slice(0, hex(codec.encode(value)).length));
    t.true(payload.length / 2 - codec.encode(value).length <= 3);
  }
});

test('big-endian payloads are read and written', (t) => {
  const text = 'uint8 x\nfloat64 d\nstring s\nint32[] v';
  const value = { x: 1, d: 1, s: 'é', v: Int32Array.of(1, -2) };
  const le = '000100000100000000000000000000000000f03f03000000c3a900000200000001000000feffffff';
  const be = '0000000001000000000000003ff000000000000000000003c3a900000000000200000001fffffffe';
  decodes(t, text, le, value);
  decodes(t, text, be, value);
  encodes(t, text, value, le);
  encodes(t, text, value, be, { encapsulation: 'CDR_BE' });
});

test('the option bytes of the header do not matter', (t) => {
  decodes(t, 'uint8 x', '00010002 07', { x: 7 });
  decodes(t, 'uint8 x', '0001ffff 07', { x: 7 });
});

test('parameter lists and unknown kinds are refused by name', (t) => {
  for (const [kind, name] of [
    ['0002', 'PL_CDR_BE'],
    ['0003', 'PL_CDR_LE'],
    ['000a', 'PL_CDR2_BE'],
    ['000b', 'PL_CDR2_LE'],
    ['00ff', '0x00ff'],
    ['0101', '0x0101'],
    ['5500', '0x5500'],
  ]) {
    for (const codec of codecs('uint8 x')) {
      t.throws(() => codec.decode(bytes(`${kind ?? ''}0000 00000000`)), {
        code: 'CDR_UNSUPPORTED_ENCAPSULATION',
        message: new RegExp(name ?? '-'),
      });
    }
  }
});

test('a payload that is a zstd frame is named as such', (t) => {
  failsToDecode(t, 'uint8 x', '28b52ffd 0000', { code: 'CDR_COMPRESSED_MESSAGE', offset: 0 });
});

test('a payload shorter than its header has no encapsulation', (t) => {
  for (const payload of ['', '00', '0001', '000100']) {
    failsToDecode(t, 'uint8 x', payload, { code: 'CDR_NO_ENCAPSULATION', offset: 0 });
  }
});

test('XCDR2 aligns 8-byte values to 4', (t) => {
  decodes(t, 'uint8 x\nfloat64 d', '00070000 01000000 000000000000f03f', { x: 1, d: 1 });
  decodes(t, 'uint8 x\nfloat64 d', '00060000 01000000 3ff0000000000000', { x: 1, d: 1 });
  encodes(t, 'uint8 x\nfloat64 d', { x: 1, d: 1 }, '00070000 01000000 000000000000f03f', { encapsulation: 'CDR2_LE' });
});

test('delimited XCDR2 begins with a byte count that is honoured', (t) => {
  decodes(t, 'uint8 x\nuint32 d', '00090000 08000000 01000000 2a000000', { x: 1, d: 42 });
  encodes(t, 'uint8 x\nuint32 d', { x: 1, d: 42 }, '00090000 08000000 01000000 2a000000', {
    encapsulation: 'D_CDR2_LE',
  });
  // OpenDDS: boolean flag; long counter; octet marker; double ratio.
  for (const codec of codecs('bool flag\nint32 counter\nbyte marker\nfloat64 ratio')) {
    const value = codec.decode(bytes('00090000140000000100000098ffffffa900000075931804560e1ec0')) as { ratio: number };
    t.like(value, { flag: true, counter: -104, marker: 169 });
    t.true(Math.abs(value.ratio + 7.514) < 0.01);
  }
  // Two members of which the reader knows one, and one of which it knows two.
  decodes(t, 'uint32 a', '00090000 08000000 01000000 02000000', { a: 1 });
  decodes(t, 'uint32 a\nuint32 b 7\nstring c', '00090000 04000000 01000000', { a: 1, b: 7, c: '' });
  failsToDecode(t, 'uint32 a', '00090000 09000000 01000000 02000000', { code: 'CDR_BAD_LENGTH', offset: 4 });
});

test('a length that lies never gives bytes from outside of the message', (t) => {
  failsToDecode(t, 'string s', '00010000 14000000 6100', { code: 'CDR_BAD_LENGTH', field: 's', offset: 4 });
  failsToDecode(t, 'uint8[] s', '00010000 14000000 6100', { code: 'CDR_BAD_LENGTH', field: 's', offset: 4 });
  for (const codec of codecs('uint8 pad\nstring s')) {
    const chunk = new Uint8Array(64).fill(0x5a);
    chunk.set(bytes('00010000 01000000 14000000 6100'), 8);
    const error = t.throws(() => codec.decodeAt(chunk, new DataView(chunk.buffer), 8, 22));
    t.like(error, { code: 'CDR_BAD_LENGTH', field: 's', offset: 8, schemaName: 't/msg/T' });
  }
});

test('a count is checked by what its elements take at least, without 32-bit wrap', (t) => {
  for (const count of ['00000080', 'ffffffff', '00000040', '01000020']) {
    failsToDecode(t, 'float64[] a', `00010000 ${count} 00000000 0000`, { code: 'CDR_BAD_LENGTH', field: 'a' });
    failsToDecode(t, 'string[] a', `00010000 ${count} 00000000 0000`, { code: 'CDR_BAD_LENGTH', field: 'a' });
    failsToDecode(t, `std_msgs/Empty[] a\n${EMPTY}`, `00010000 ${count} 0000`, { code: 'CDR_BAD_LENGTH', field: 'a' });
    failsToDecode(t, `P[] a\n${SEP}MSG: t/P\nuint64[3] x\n`, `00010000 ${count} 0000`, {
      code: 'CDR_BAD_LENGTH',
      field: 'a',
    });
  }
});

test('a payload that ends early is an error that names field and offset', (t) => {
  failsToDecode(t, 'uint32 a\nuint32 b', '00010000 02000000', { code: 'CDR_TRUNCATED', field: 'b', offset: 8 });
  failsToDecode(t, 'uint8 a\nfloat64 b', '00010000 02', { code: 'CDR_TRUNCATED', field: 'b' });
  const text = `P[] p\n${SEP}MSG: t/P\nQ q\n${SEP}MSG: t/Q\nstring s\nfloat64 x`;
  const first = '00010000 02000000 02000000 61000000 00000000 000000000000f03f';
  failsToDecode(t, text, first, { code: 'CDR_BAD_LENGTH', field: 'p', offset: 4 });
  failsToDecode(t, text, `${first} 02000000 6200`, { code: 'CDR_TRUNCATED', field: 'p[1].q.x', offset: 34 });
  failsToDecode(t, text, `${first} 02000000 62000000 000000`, { code: 'CDR_TRUNCATED', field: 'p[1].q.x', offset: 36 });
});

test('bytes behind the message are ignored', (t) => {
  decodes(t, 'uint8 b', '00010000 02 000000', { b: 2 });
  decodes(t, 'uint8 b', '00010000 02 0000000000000000000000', { b: 2 });
});

test('a string is counted in UTF-8 bytes', (t) => {
  encodes(t, 'string s\nuint8 x', { s: 'é', x: 7 }, '0001000003000000c3a90007');
  decodes(t, 'string s\nuint8 x', '0001000003000000c3a90007', { s: 'é', x: 7 });
  const long = '000100000e000000e697a5e69cace8aa9ef09f988000';
  encodes(t, 'string s', { s: '日本語😀' }, long);
  decodes(t, 'string s', long, { s: '日本語😀' });
});

test('both forms of an empty string are read, and the one with a NUL is written', (t) => {
  decodes(t, 'string s\nuint8 x', '00010000 00000000 07', { s: '', x: 7 });
  decodes(t, 'string s\nuint8 x', '00010000 01000000 00 07', { s: '', x: 7 });
  encodes(t, 'string s\nuint8 x', { s: '', x: 7 }, '00010000010000000007');
  const list = '00010000030000000200000061000000010000000000000003000000c3a90007';
  decodes(t, 'string[] s\nuint8 x', list, { s: ['a', '', 'é'], x: 7 });
  encodes(t, 'string[] s\nuint8 x', { s: ['a', '', 'é'], x: 7 }, list);
});

test('a string without NUL keeps its last letter, one with a NUL inside keeps that', (t) => {
  decodes(t, 'string s\nuint8 x', '00010000 05000000 6372687976 07', { s: 'crhyv', x: 7 });
  decodes(t, 'string s', '00010000 04000000 61006200', { s: 'a\0b' });
  failsToEncode(t, 'string s', { s: 'a\0b' }, { code: 'ENCODE_BAD_STRING', field: 's' });
});

test('invalid UTF-8 becomes U+FFFD and a byte order mark stays', (t) => {
  decodes(t, 'string s', '00010000 04000000 61ff6200', { s: 'a\ufffdb' });
  decodes(t, 'string s', '00010000 05000000 efbbbf4100', { s: '\ufeffA' });
  encodes(t, 'string s', { s: '\ufeffA' }, '00010000 05000000 efbbbf4100');
});

test('wstring has a form of its own in each encoding', (t) => {
  const value = { w: 'aé' };
  const forms = [
    ['00010000 02000000 61000000 e9000000', {}],
    ['00010000 02000000 6100 e900', { wstring: 'fastcdr' as const }],
    ['00070000 04000000 6100 e900', {}],
    ['00070000 02000000 6100 e900', { wstring: 'fastcdr' as const }],
  ] as const;
  for (const [payload, options] of forms) {
    decodes(t, 'wstring w', payload, value, options);
    const encapsulation = payload.startsWith('0001') ? 'CDR_LE' : 'CDR2_LE';
    encodes(t, 'wstring w', value, payload, { ...options, encapsulation });
  }
  decodes(t, 'wstring[] w\nuint8 x', '00010000 01000000 01000000 61000000 05', { w: ['a'], x: 5 });
  failsToDecode(t, 'wstring w', '00010000 02000000 61000000', { code: 'CDR_BAD_LENGTH', field: 'w', offset: 4 });
});

test('string bounds count bytes without the NUL; the decoder does not mind them', (t) => {
  encodes(t, 'string<=2 s', { s: 'ab' }, '00010000 03000000 616200');
  failsToEncode(t, 'string<=2 s', { s: 'abc' }, { code: 'ENCODE_OVER_BOUND', field: 's' });
  failsToEncode(t, 'string<=2 s', { s: '日' }, { code: 'ENCODE_OVER_BOUND', field: 's' });
  decodes(t, 'string<=2 s', '00010000 05000000 6162636400', { s: 'abcd' });
});

test('a bool byte other than 0 is true', (t) => {
  decodes(t, 'bool b', '0001000002', { b: true });
  decodes(t, 'bool[] b', '00010000 03000000 00ff01', { b: [false, true, true] });
  encodes(t, 'bool[] b', { b: [false, true, true] }, '00010000 03000000 000101');
  failsToEncode(t, 'bool b', { b: 1 }, { code: 'ENCODE_WRONG_KIND', field: 'b' });
  failsToEncode(t, 'bool[] b', { b: [true, 0] }, { code: 'ENCODE_WRONG_KIND', field: 'b[1]' });
});

test('64-bit integers are exact', (t) => {
  const text = 'uint64 a\nint64 b';
  const payload = '00010000 ffffffffffffffff 0000000000000080';
  const value = { a: 18446744073709551615n, b: -9223372036854775808n };
  decodes(t, text, payload, value);
  decodes(t, text, payload, { a: '18446744073709551615', b: '-9223372036854775808' }, { int64: 'string' });
  decodes(t, text, payload, { a: 18446744073709552000, b: -9223372036854776000 }, { int64: 'number' });
  encodes(t, text, value, payload);
  encodes(t, text, { a: '18446744073709551615', b: '-9223372036854775808' }, payload);
  encodes(t, text, { a: 5, b: -5 }, '00010000 0500000000000000 fbffffffffffffff');
  failsToEncode(t, text, { a: 2 ** 53 }, { code: 'ENCODE_OUT_OF_RANGE', field: 'a' });
  failsToEncode(t, text, { a: 1.5 }, { code: 'ENCODE_OUT_OF_RANGE', field: 'a' });
  failsToEncode(t, text, { a: -1n }, { code: 'ENCODE_OUT_OF_RANGE', field: 'a' });
  failsToEncode(t, text, { a: 'x' }, { code: 'ENCODE_WRONG_KIND', field: 'a' });
  failsToEncode(t, text, { b: 2n ** 63n }, { code: 'ENCODE_OUT_OF_RANGE', field: 'b' });
  failsToEncode(t, text, { b: true }, { code: 'ENCODE_WRONG_KIND', field: 'b' });
});

test('byte and char are unsigned', (t) => {
  decodes(t, 'char c\nbyte b', '00010000 80ff', { c: 128, b: 255 });
  encodes(t, 'char c\nbyte b', { c: 128, b: 255 }, '00010000 80ff');
  decodes(t, 'int8 a\nchar b', '00010000 ffff', { a: -1, b: 255 });
  encodes(t, 'byte[<=3] v', { v: [0, 1, 255] }, '00010000 03000000 0001ff');
});

test('NaN, infinities and -0 keep what they are', (t) => {
  for (const [payload, value] of [
    ['0000c07f', NaN],
    ['0000807f', Infinity],
    ['000080ff', -Infinity],
    ['00000080', -0],
  ] as const) {
    decodes(t, 'float32 a', `00010000 ${payload}`, { a: value });
    encodes(t, 'float32 a', { a: value }, `00010000 ${payload}`);
  }
});

test('Time and Duration have one shape', (t) => {
  for (const text of [
    'builtin_interfaces/Time t',
    'builtin_interfaces/msg/Time t',
    'builtin_interfaces/Duration t',
    `builtin_interfaces/Time t\n${SEP}MSG: builtin_interfaces/Time\nint32 sec\nuint32 nanosec`,
  ]) {
    decodes(t, text, '00010000 01000000 02000000', { t: { sec: 1, nanosec: 2 } });
    decodes(t, text, '00010000 ffffffff 00ca9a3b', { t: { sec: -1, nanosec: 1000000000 } });
    decodes(t, text, '00010000 ffffffff ffc99a3b', { t: -1n }, { time: 'bigint' });
  }
});

test('Time is taken in every form that people have', (t) => {
  const text = 'builtin_interfaces/Time t';
  const payload = '00010000 01000000 0065cd1d';
  for (const value of [{ sec: 1, nanosec: 500000000 }, { sec: 1, nsec: 500000000 }, 1500000000n, new Date(1500)]) {
    encodes(t, text, { t: value }, payload);
  }
  encodes(t, text, { t: -1n }, '00010000 ffffffff ffc99a3b');
  encodes(t, text, { t: new Date(-1) }, '00010000 ffffffff c0878b3b');
  encodes(t, text, { t: { sec: 5 } }, '00010000 05000000 00000000');
  encodes(t, text, {}, '00010000 00000000 00000000');
  failsToEncode(t, text, { t: { sec: 1, nanosec: 2, x: 3 } }, { code: 'ENCODE_UNKNOWN_FIELD', field: 't.x' });
  failsToEncode(t, text, { t: 2n ** 62n }, { code: 'ENCODE_OUT_OF_RANGE', field: 't.sec' });
  failsToEncode(t, text, { t: { sec: 1, nanosec: -2 } }, { code: 'ENCODE_OUT_OF_RANGE', field: 't.nanosec' });
  failsToEncode(t, text, { t: new Date(NaN) }, { code: 'ENCODE_WRONG_KIND', field: 't' });
  failsToEncode(t, text, { t: 1.5 }, { code: 'ENCODE_WRONG_KIND', field: 't' });
  failsToEncode(t, text, { t: null }, { code: 'ENCODE_WRONG_KIND', field: 't' });
});

test('an empty message is one byte that is not shown', (t) => {
  decodes(t, '', '0001000000', {});
  encodes(t, '', {}, '0001000000');
  decodes(t, `std_msgs/Empty k\nint32 v\n${EMPTY}`, '00010000 00000000 7b000000', { k: {}, v: 123 });
  encodes(t, `std_msgs/Empty k\nint32 v\n${EMPTY}`, { k: {}, v: 123 }, '00010000 00000000 7b000000');
  const three = '0001000003000000000000007b000000';
  decodes(t, `std_msgs/Empty[] k\nint32 v\n${EMPTY}`, three, { k: [{}, {}, {}], v: 123 });
  encodes(t, `std_msgs/Empty[] k\nint32 v\n${EMPTY}`, { k: [{}, {}, {}], v: 123 }, three);
});

test('the one byte of an empty message may be missing', (t) => {
  decodes(t, '', '00010000', {});
  decodes(t, '', '00070000', {});
  decodes(t, '', '00000000', {});
});

test('a message with only constants is empty, also as root', (t) => {
  decodes(t, 'uint8 A=1\nuint8 B=2', '0001000000', {});
  decodes(t, `uint8 A=1\n${SEP}MSG: p/msg/X\nint32 v`, '0001000000', {});
  decodes(t, `p/K k\nint32 v\n${SEP}MSG: p/K\nuint8 A=1`, '00010000000000002a000000', { k: {}, v: 42 });
});

test('a fixed array has no count, its exact length, and zeros by default', (t) => {
  encodes(t, 'float64[10] a', {}, `00010000${'00'.repeat(80)}`);
  decodes(t, 'uint8[3] a', '00010000 010203', { a: Uint8Array.of(1, 2, 3) });
  const struct = `${SEP}MSG: t/P\nuint8 a`;
  for (const type of ['uint8[3]', 'string[3]', 'bool[3]', 'P[3]', 'builtin_interfaces/Time[3]', 'float64[3]']) {
    const given = type.startsWith('string')
      ? ['', '']
      : type.startsWith('bool')
        ? [true, true]
        : type.startsWith('P') || type.startsWith('b')
          ? [{}, {}]
          : [1, 2];
    failsToEncode(t, `${type} a\n${struct}`, { a: given }, { code: 'ENCODE_WRONG_LENGTH', field: 'a' });
  }
  encodes(t, `P[2] p\n${struct}`, {}, '00010000 0000');
  encodes(t, 'string[2] p', {}, '00010000 01000000 00000000 01000000 00');
});

test('bounds are kept when encoding and not asked for when decoding', (t) => {
  const struct = `${SEP}MSG: t/P\nuint8 a`;
  failsToEncode(t, 'uint8[<=2] a', { a: [1, 2, 3] }, { code: 'ENCODE_OVER_BOUND', field: 'a' });
  failsToEncode(t, `P[<=1] a\n${struct}`, { a: [{}, {}] }, { code: 'ENCODE_OVER_BOUND', field: 'a' });
  failsToEncode(t, 'string<=1[<=5] a', { a: ['a', 'bc'] }, { code: 'ENCODE_OVER_BOUND', field: 'a[1]' });
  decodes(t, 'uint8[<=2] a', '00010000 03000000 010203', { a: Uint8Array.of(1, 2, 3) });
  const bounded = `P[<=2] pts\nuint8 b\n${struct}`;
  decodes(t, bounded, '00010000 01000000 0709', { pts: [{ a: 7 }], b: 9 });
  encodes(t, bounded, { pts: [{ a: 7 }], b: 9 }, '00010000 01000000 0709');
});

test('what is missing is empty, zero or its default', (t) => {
  const text = 'uint8[] a\nint32[<=5] b\nuint8[2] c\nint32 d 9';
  const payload = '00010000 00000000 00000000 0000 0000 09000000';
  encodes(t, text, {}, payload);
  encodes(t, text, { a: undefined, d: undefined }, payload);
  encodes(t, 'string s "hi"\nint32[] v [1, 2]', {}, '00010000 03000000 68690000 02000000 01000000 02000000');
  encodes(t, `P p\n${SEP}MSG: t/P\nuint8 a 5\nstring s "x"`, {}, '00010000 05000000 02000000 7800');
});

test('arrays are taken in every form that people have', (t) => {
  const doubles = '00010000 02000000 00000000 000000000000f03f 0000000000000040';
  for (const make of [
    () => [1, 2],
    () => Float64Array.of(1, 2),
    () => Float32Array.of(1, 2),
    () => Uint8Array.of(1, 2),
    () => Buffer.from([1, 2]),
    () => new Set([1, 2]),
    () => [1, 2].values(),
  ]) {
    encodes(t, 'float64[] a', () => ({ a: make() }), doubles);
  }
  const data = '00010000 03000000 010203';
  encodes(t, 'uint8[] a', { a: new DataView(Uint8Array.of(9, 1, 2, 3).buffer, 1) }, data);
  encodes(t, 'uint8[] a', { a: Uint8ClampedArray.of(1, 2, 3) }, data);
  encodes(
    t,
    'int64[] a',
    { a: [1, '2', 3n] },
    '00010000 03000000 00000000 0100000000000000 0200000000000000 0300000000000000',
  );
  encodes(t, 'int64[] a', { a: BigInt64Array.of(-1n) }, '00010000 01000000 00000000 ffffffffffffffff');
  encodes(
    t,
    'int32[] a',
    { a: Int32Array.from({ length: 40 }, (_, i) => i) },
    `00010000 28000000 ${Array.from({ length: 40 }, (_, i) => `${i.toString(16).padStart(2, '0')}000000`).join('')}`,
  );
  encodes(t, 'string[] a', () => ({ a: ['x'].values() }), '00010000 01000000 02000000 7800');
});

test('arrays of another kind are refused with path and kind', (t) => {
  failsToEncode(t, 'uint8[] a', { a: 'AQID' }, { code: 'ENCODE_WRONG_KIND', field: 'a', message: /string "AQID"/ });
  failsToEncode(t, 'uint8[] a', { a: 5 }, { code: 'ENCODE_WRONG_KIND', field: 'a' });
  failsToEncode(t, 'uint8[] a', { a: null }, { code: 'ENCODE_WRONG_KIND', field: 'a' });
  failsToEncode(t, 'uint8[] a', { a: {} }, { code: 'ENCODE_WRONG_KIND', field: 'a' });
  failsToEncode(t, 'uint8[] a', { a: [1, 256] }, { code: 'ENCODE_OUT_OF_RANGE', field: 'a[1]' });
  failsToEncode(t, 'uint8[] a', { a: Int8Array.of(-1) }, { code: 'ENCODE_OUT_OF_RANGE', field: 'a[0]' });
  failsToEncode(t, 'int32[] a', { a: new DataView(new ArrayBuffer(4)) }, { code: 'ENCODE_WRONG_KIND', field: 'a' });
  failsToEncode(t, 'int32[] a', { a: BigInt64Array.of(1n) }, { code: 'ENCODE_WRONG_KIND', field: 'a[0]' });
  failsToEncode(t, 'float64[] a', { a: [1, undefined] }, { code: 'ENCODE_WRONG_KIND', field: 'a[1]' });
  failsToEncode(t, 'float64[] a', { a: [1, '2'] }, { code: 'ENCODE_WRONG_KIND', field: 'a[1]' });
  failsToEncode(t, 'string[] a', { a: 'abc' }, { code: 'ENCODE_WRONG_KIND', field: 'a' });
});

test('big arrays and strings have no hidden cap', (t) => {
  const text = `P[] p\nuint8 x\nstring s\nint8[] v\n${SEP}MSG: t/P\nuint8 a\nfloat64 b`;
  const value = {
    p: Array.from({ length: 101 }, (_, i) => ({ a: i, b: i / 2 })),
    x: 7,
    s: 'long '.repeat(20200),
    v: Int8Array.from({ length: 7 }, (_, i) => -i),
  };
  const [compiled, interpreted] = codecs(text);
  const payload = compiled?.encode(value) ?? new Uint8Array();
  t.is(hex(payload), hex(interpreted?.encode(value) ?? new Uint8Array()));
  t.deepEqual(compiled?.decode(payload), value);
  t.deepEqual(interpreted?.decode(payload), value);
});

test('every field name is a key and nothing else', (t) => {
  const payload = '00010000 01020304';
  decodes(t, 'uint8 constructor\nuint8 default\nuint8 then\nuint8 type', payload, {
    constructor: 1,
    default: 2,
    then: 3,
    type: 4,
  });
  encodes(
    t,
    'uint8 constructor\nuint8 default\nuint8 then\nuint8 type',
    { constructor: 1, default: 2, then: 3, type: 4 },
    payload,
  );
  encodes(t, 'uint8 constructor\nuint8 toString 3', {}, '00010000 0003');
  for (const codec of codecs('uint8 __proto__\nuint8 hasOwnProperty\nuint8 length\nuint8 arguments')) {
    const value = codec.decode(bytes(payload)) as object;
    t.deepEqual(Object.entries(value), [
      ['__proto__', 1],
      ['hasOwnProperty', 2],
      ['length', 3],
      ['arguments', 4],
    ]);
    t.is(Object.getPrototypeOf(value), Object.prototype);
    t.is(hex(codec.encode(value)), hex(bytes(payload)));
  }
  t.is(({} as { polluted?: unknown }).polluted, undefined);
});
