import test from 'ava';
import { parseSchema } from '../../lib/schema/registry.js';
import { constantValues, fieldTexts, idl, partOf, SEP } from '../helpers/definitions.js';

/** Declarations in module p::msg. */
function inP(text: string): string {
  return `module p { module msg { ${text} }; };`;
}

test('all primitive types have their ROS 2 names', (t) => {
  const definition = idl(
    inP(`struct A {
      boolean a; octet b; char c; wchar d; float e; double f; short g; long h; long long i; unsigned short j;
      unsigned long k; unsigned long long l; int8 m; uint8 n; int16 o; uint16 q; int32 r; uint32 s; int64 u; uint64 v;
      string w; wstring x; string<5> y; wstring<6> z;
    };`),
  );
  t.deepEqual(
    fieldTexts(definition).join('; '),
    'bool a; byte b; char c; wchar d; float32 e; float64 f; int16 g; int32 h; int64 i; uint16 j; ' +
      'uint32 k; uint64 l; int8 m; uint8 n; int16 o; uint16 q; int32 r; uint32 s; int64 u; uint64 v; ' +
      'string w; wstring x; string<=5 y; wstring<=6 z',
  );
});

test('sequences and arrays nest in every way, the outermost dimension first', (t) => {
  const definition = idl(
    inP(`struct A {
      sequence<int32> a; sequence<int32, 5> b; sequence<string<3>, 4> c; short d[23]; uint8 e[2][3];
      sequence<octet,71> f[70]; sequence<sequence<double>> g; sequence<sequence<long, 2>, 3> h[4], i;
    };`),
  );
  t.deepEqual(fieldTexts(definition), [
    'int32[] a',
    'int32[<=5] b',
    'string<=3[<=4] c',
    'int16[23] d',
    'uint8[3][2] e',
    'byte[<=71][70] f',
    'float64[][] g',
    'int32[<=2][<=3][4] h',
    'int32[<=2][<=3] i',
  ]);
  t.deepEqual(definition.fields[4]?.type, {
    kind: 'array',
    length: 2,
    element: { kind: 'array', length: 3, element: { kind: 'primitive', name: 'uint8' } },
  });
});

test('typedefs are resolved, also of arrays and sequences, and inside sequences', (t) => {
  const definition = idl(
    inP(`
      typedef double Row[3];
      typedef Row Matrix[2];
      typedef sequence<Row> Rows;
      typedef Rows Other, Many[4];
      typedef string<8> Name;
      struct A { Row a; Matrix b; Rows c; sequence<Row, 7> d; Other e; Many f; sequence<Name> g; Matrix h[5]; };`),
  );
  t.deepEqual(fieldTexts(definition), [
    'float64[3] a',
    'float64[3][2] b',
    'float64[3][] c',
    'float64[3][<=7] d',
    'float64[3][] e',
    'float64[3][][4] f',
    'string<=8[] g',
    'float64[3][2][5] h',
  ]);
});

test('rosidl writes fixed arrays as typedefs', (t) => {
  const definition = idl(
    `module sensor_msgs { module msg {
    typedef double double__9[9];
    struct Imu { double__9 orientation_covariance; };
  }; };`,
    'sensor_msgs/msg/Imu',
  );
  t.deepEqual(fieldTexts(definition), ['float64[9] orientation_covariance']);
});

test('enums are types with members, and numbers on the wire', (t) => {
  const definition = idl(
    inP(
      'enum Color { RED, GREEN, @value(7) BLUE, WHITE }; @bit_bound(8) enum Small { A_, B_ }; struct A { Color c; sequence<Small> s; };',
    ),
  );
  t.deepEqual(definition.fields[0]?.type, {
    kind: 'enum',
    name: 'p/msg/Color',
    underlying: 'uint32',
    members: [
      { name: 'RED', type: { kind: 'primitive', name: 'uint32' }, value: 0 },
      { name: 'GREEN', type: { kind: 'primitive', name: 'uint32' }, value: 1 },
      { name: 'BLUE', type: { kind: 'primitive', name: 'uint32' }, value: 7 },
      { name: 'WHITE', type: { kind: 'primitive', name: 'uint32' }, value: 8 },
    ],
  });
  t.deepEqual(fieldTexts(definition), ['enum p/msg/Color c', 'enum p/msg/Small[] s']);
  const small = definition.fields[1]?.type;
  const own = idl(inP('enum E { P, @value(P) Q, R = 5, @value(R + Q) S, T }; struct A { E e; };')).fields[0]?.type;
  t.deepEqual(own?.kind === 'enum' && own.members.map(({ value }) => value), [0, 0, 5, 5, 6]);
  t.true(small?.kind === 'sequence' && small.element.kind === 'enum' && small.element.underlying === 'uint8');
});

test('key, unit and verbatim are kept, unknown annotations are read over', (t) => {
  const definition = idl(
    inP(`@verbatim ( language="comment", text=
          "About A; struct Z { };" "\\n" "and @more")
      @verbatim (language="java", text="not this")
      @transfer_mode(SHMEM_REF) @nested @my::own(a=1, b={"x", (2)}, c=L'q') @autoid(SEQUENTIAL)
      struct A {
        @key @range ( min=-10, max=10 ) @must_understand long x;
        @unit("m/s") @unit(value="km/h") @id(5) double v;
        @verbatim (language="comment", text="") @hashid("z") sequence<@external long> w;
      };`),
  );
  t.is(definition.comment, 'About A; struct Z { };\nand @more');
  t.deepEqual(definition.fields, [
    { name: 'x', type: { kind: 'primitive', name: 'int32' }, key: true },
    { name: 'v', type: { kind: 'primitive', name: 'float64' }, unit: 'km/h' },
    { name: 'w', type: { kind: 'sequence', element: { kind: 'primitive', name: 'int32' } }, comment: '' },
  ]);
});

test('extensibility is final in ROS 2, appendable elsewhere, and what an annotation says', (t) => {
  const text = (annotation: string): string => `${annotation} struct A { long x; };`;
  const of = (annotation: string, encoding: string): string =>
    parseSchema({ name: 'A', encoding, data: text(annotation) }).extensibility;
  t.is(of('', 'ros2idl'), 'final');
  t.is(of('', 'omgidl'), 'appendable');
  t.is(of('@extensibility(APPENDABLE)', 'ros2idl'), 'appendable');
  t.is(of('@extensibility(value=FINAL)', 'omgidl'), 'final');
  t.is(of('@final', 'omgidl'), 'final');
  t.is(of('@appendable', 'ros2idl'), 'appendable');
  t.is(of('@mutable', 'omgidl'), 'mutable');
  t.is(of('@Extensibility(MUTABLE_EXTENSIBILITY)', 'omgidl'), 'mutable');
  t.is(of('@extensibility(MUTABLE)', 'omgidl'), 'mutable');
});

test('comments stand anywhere, and preprocessor lines say nothing', (t) => {
  const definition = idl(
    '\ufeff// a comment\r\n#ifndef A_\r\n#define A_ \\\r\n  struct\r\n#include "std_msgs/msg/Header.idl"\r\n#include <q/msg/T.idl>\r\n' +
      'module p { module msg {\r\n/* struct Z { uint8 q; }; */ struct /* x */ A\r\n{ // {\r\n double/* c */x; /**/ uint8 y /* "*/;\r\n};\r\n};\r\n};\r\n#endif',
  );
  t.deepEqual(fieldTexts(definition), ['float64 x', 'uint8 y']);
});

test('packages of one letter, fields named like keywords and repeated modules are fine', (t) => {
  const definition = idl(
    `${SEP}\nIDL: p/msg/A\n` +
      inP(
        'struct A { sequence<int32> sequence; uint8 module; string string; long struct; double __proto__, constructor; };',
      ),
  );
  t.deepEqual(fieldTexts(definition), [
    'int32[] sequence',
    'uint8 module',
    'string string',
    'int32 struct',
    'float64 __proto__',
    'float64 constructor',
  ]);
  const twice = idl(inP('struct B { uint8 x; };') + inP('struct A { B b; };'));
  t.deepEqual(fieldTexts(partOf(twice, 'b')), ['uint8 x']);
});

test('Time and Duration may be left out, and have one shape', (t) => {
  const time = 'module builtin_interfaces { module msg { struct Time { int32 sec; uint32 nsec; }; }; };';
  for (const data of [
    inP('struct A { builtin_interfaces::msg::Time t; };'),
    time + inP('struct A { builtin_interfaces::msg::Time t; };'),
  ]) {
    const definition = idl(data);
    t.deepEqual(fieldTexts(definition), ['builtin_interfaces/msg/Time t']);
    t.deepEqual(fieldTexts(partOf(definition, 't')), ['int32 sec', 'uint32 nanosec']);
  }
});

test('the member that stands for an empty struct is no field', (t) => {
  const definition = idl(
    inP('module A_Constants { const uint8 X = 1; }; struct A { uint8 structure_needs_at_least_one_member; };'),
  );
  t.deepEqual(definition.fields, []);
  t.deepEqual(constantValues(definition), { X: 1 });
  t.deepEqual(idl(inP('struct A { };')).fields, []);
});

test('faults of syntax have their place', (t) => {
  const faults: [string, number, number][] = [
    ['struct A { long x }', 1, 19],
    ['struct A {\n  long;\n};', 2, 7],
    ['struct A { long x; };\nmodule {', 2, 8],
    ['module p {', 1, 11],
    ['struct A { sequence<long x; };', 1, 26],
    ['const long A = ;', 1, 16],
    ['/* no end', 1, 1],
    ['const string A = "no end', 1, 18],
    ['struct A { long x[Y]; };', 1, 19],
    ['struct A { long x[-1]; };', 1, 19],
    ['foo', 1, 1],
    ['struct A { unsigned x; };', 1, 21],
    ['@x(', 1, 3],
  ];
  for (const [data, line, column] of faults) {
    const error = t.throws<Error & { line?: number; column?: number }>(
      () => idl(data),
      { code: 'SCHEMA_SYNTAX' },
      data,
    );
    t.deepEqual([error.line, error.column], [line, column], data);
  }
});

test('an IDL schema without a text is an error', (t) => {
  t.throws(() => idl(''), { code: 'SCHEMA_EMPTY' });
  t.throws(() => idl('// nothing'), { code: 'SCHEMA_ROOT_NOT_FOUND' });
});

test('a section of a .msg text may be IDL, and the other way round', (t) => {
  const data = `${SEP}\nMSG: p/msg/A\nq/T t\n${SEP}\nIDL: q/msg/T\nmodule q { module msg { struct T { p::msg::B b; }; }; };\n${SEP}\nMSG: p/msg/B\nuint8 x\n`;
  for (const encoding of ['ros2msg', 'ros2idl']) {
    const definition = parseSchema({ name: 'p/msg/A', encoding, data });
    t.deepEqual(fieldTexts(partOf(partOf(definition, 't'), 'b')), ['uint8 x']);
  }
});
