import test from 'ava';
import { constantValues, defaultValues, fieldTexts, msg } from '../helpers/definitions.js';

test('integers are decimal, hexadecimal, octal or binary, with a sign or leading zeros', (t) => {
  const definition = msg(
    'int8 A=0x7f\nint8 B=+5\nint32 C=007\nint32 D=-0x10\nuint8 E=0b11\nuint16 F=0o17\nint16 G = -32768\nint32 H=010\nbyte I=255\nchar J=65',
  );
  t.deepEqual(constantValues(definition), { A: 127, B: 5, C: 7, D: -16, E: 3, F: 15, G: -32768, H: 10, I: 255, J: 65 });
  t.deepEqual(definition.warnings, []);
});

test('integers of 64 bits are exact and bigint', (t) => {
  const definition = msg(
    'uint64 M=18446744073709551615\nint64 N=-9223372036854775808\nint64 a 9007199254740993\nuint64[] b [0xffffffffffffffff]',
  );
  t.deepEqual(constantValues(definition), { M: 18446744073709551615n, N: -9223372036854775808n });
  t.deepEqual(defaultValues(definition), { a: 9007199254740993n, b: [18446744073709551615n] });
});

test('floating-point numbers may lack digits on a side of the point, and be infinite or no number', (t) => {
  const definition = msg(
    'float32 a 0.\nfloat32 b .0\nfloat64 c -1E-3\nfloat64 d inf\nfloat64 e -INF\nfloat64 f nan\nfloat64 g +1.5e+3\nfloat32 h 0x10\nfloat64 I=1\nfloat64 J=-Infinity',
  );
  t.deepEqual(defaultValues(definition), { a: 0, b: 0, c: -0.001, d: Infinity, e: -Infinity, f: NaN, g: 1500, h: 16 });
  t.deepEqual(constantValues(definition), { I: 1, J: -Infinity });
});

test('bools are written in any case, or as 0 and 1', (t) => {
  const definition = msg(
    'bool A=true\nbool B=True\nbool C=1\nbool D=FALSE\nbool E=0\nbool f fAlSe\nbool[2] g [true,False]',
  );
  t.deepEqual(constantValues(definition), { A: true, B: true, C: true, D: false, E: false });
  t.deepEqual(defaultValues(definition), { f: false, g: [true, false] });
});

test('strings are bare, in single or double quotes, escaped, or empty', (t) => {
  const definition = msg(
    [
      'string A=hello world',
      'string B=',
      'string C=/bond_disable',
      'string D="  x  "',
      `string e "a\\nb\\x41\\t\\\\n\\u00e9\\101"`,
      `string f 'it\\'s'`,
      `string g "it's"`,
      'string h ""',
      `string i 'unclosed`,
      `string j back\\slash`,
      'wstring k "日本"',
    ].join('\n'),
  );
  t.deepEqual(constantValues(definition), { A: 'hello world', B: '', C: '/bond_disable', D: '  x  ' });
  t.deepEqual(defaultValues(definition), {
    e: 'a\nbA\t\\néA',
    f: `it's`,
    g: `it's`,
    h: '',
    i: `'unclosed`,
    j: 'back\\slash',
    k: '日本',
  });
  t.deepEqual(definition.warnings, []);
});

test('arrays have defaults, also empty ones', (t) => {
  const definition = msg(
    `int32[] a [1, 2, 3]\nstring[] b ["a","b,c", d e, 'f"g']\nbool[2] c [true,false]\nint32[] d []\nfloat64[<=3] e [ 1, nan, -inf, ]\nstring<=3[<=2] f ["abc"]`,
  );
  t.deepEqual(defaultValues(definition), {
    a: [1, 2, 3],
    b: ['a', 'b,c', 'd e', 'f"g'],
    c: [true, false],
    d: [],
    e: [1, NaN, -Infinity],
    f: ['abc'],
  });
  t.deepEqual(definition.warnings, []);
});

test('NULs at the end of a text are space', (t) => {
  const definition = msg('uint8 X=1\0\nuint8 y 2\0\0');
  t.deepEqual([constantValues(definition), defaultValues(definition)], [{ X: 1 }, { y: 2 }]);
});

test('a constant takes any name', (t) => {
  const definition = msg('float64 nan=1.0\nuint8 A__B=1\nuint8 lower=2\nfloat64 x');
  t.deepEqual(constantValues(definition), { nan: 1, A__B: 1, lower: 2 });
});

test('a bad constant is left out with a warning that has its place', (t) => {
  const definition = msg('uint8 x\n  uint8 BIG=256 # too much\nuint8 y', 'p/msg/Bad');
  t.deepEqual(fieldTexts(definition), ['uint8 x', 'uint8 y']);
  t.deepEqual(definition.constants, []);
  t.deepEqual(definition.warnings, [
    {
      message: 'constant BIG left out: 256 is out of range of uint8',
      typeName: 'p/msg/Bad',
      line: 2,
      text: 'uint8 BIG=256 # too much',
    },
  ]);
});

test('no bad constant makes a message unreadable, and none gives a wrong value', (t) => {
  const bad = [
    'uint8 A=',
    'uint8 A=1.5',
    'uint8 A=-1',
    'uint8 A=0b12',
    'uint8 A=0o8',
    'uint8 A=0xg',
    'uint8 A=OTHER',
    'uint8 A=1 2',
    'int64 A=9223372036854775808',
    'uint64 A=18446744073709551616',
    'bool A=yes',
    'bool A=2',
    'float64 A=1.2.3',
    'float64 A=1e999',
    'float32 A=1e39',
    'float64 A=one',
    'string<=2 A="abc"',
    'string A="a"b"',
    'string A="a\\0b"',
    'wstring A="\\ud800"',
    'uint8[] A=[1]',
    'q/T A=1',
    'uint8 1A=1',
    'foo-bar A=1',
    'uint8 A-B=1',
    'float64 A=0x',
  ];
  for (const line of bad) {
    const definition = msg(`uint8 x\n${line}\nuint8 y`);
    t.deepEqual(fieldTexts(definition), ['uint8 x', 'uint8 y'], line);
    t.deepEqual(definition.constants, [], line);
    t.is(definition.warnings.length, 1, line);
  }
});

test('no bad default makes a message unreadable', (t) => {
  const bad: [string, string][] = [
    ['int64 id W', 'int64 id'],
    ['uint8 a 256', 'uint8 a'],
    ['uint8[2] a [1]', 'uint8[2] a'],
    ['uint8[<=2] a [1,2,3]', 'uint8[<=2] a'],
    ['uint8[] a 1', 'uint8[] a'],
    ['uint8[] a [1,,2]', 'uint8[] a'],
    ['uint8[] a [1', 'uint8[] a'],
    ['uint8 a b c', 'uint8 a'],
    ['uint8 a // comment', 'uint8 a'],
    ['string<=2 s "abc"', 'string<=2 s'],
    ['string<=3 s "éé"', 'string<=3 s'],
    ['string s "\\x00"', 'string s'],
    ['builtin_interfaces/Time t 5', 'builtin_interfaces/msg/Time t'],
  ];
  for (const [line, field] of bad) {
    const definition = msg(`int64 W = 83\n${line}`);
    t.deepEqual(fieldTexts(definition), [field]);
    t.deepEqual(defaultValues(definition), {}, line);
    t.is(definition.warnings.length, 1, line);
  }
});

test('a constant twice is fine when both are equal, else the first stays', (t) => {
  t.deepEqual(msg('uint8 A=1\nuint8 A=1').warnings, []);
  const definition = msg('uint8 A=1\nuint8 A=2');
  t.deepEqual(constantValues(definition), { A: 1 });
  t.is(definition.warnings.length, 1);
});

test('a definition goes into JSON: 64-bit integers and numbers that JSON lacks as texts', (t) => {
  const definition = msg('uint64 M=18446744073709551615\nfloat64 N=nan\nint64[] a [1, -2]\nfloat64 b -inf\nuint8 c 5');
  const json = JSON.parse(JSON.stringify(definition)) as Record<string, unknown>;
  t.deepEqual(json, {
    name: 'p/msg/A',
    extensibility: 'final',
    fields: [
      {
        name: 'a',
        type: { kind: 'sequence', element: { kind: 'primitive', name: 'int64' } },
        defaultValue: ['1', '-2'],
      },
      { name: 'b', type: { kind: 'primitive', name: 'float64' }, defaultValue: '-Infinity' },
      { name: 'c', type: { kind: 'primitive', name: 'uint8' }, defaultValue: 5 },
    ],
    constants: [
      { name: 'M', type: { kind: 'primitive', name: 'uint64' }, value: '18446744073709551615' },
      { name: 'N', type: { kind: 'primitive', name: 'float64' }, value: 'NaN' },
    ],
    warnings: [],
  });
});
