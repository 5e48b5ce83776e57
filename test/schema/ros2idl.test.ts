import test from 'ava';
import { parseSchema } from '../../lib/schema/registry.js';
import { constantValues, defaultValues, fieldTexts, idl, partOf, SEP } from '../helpers/definitions.js';

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
  t.true(small?.kind === 'sequence' && small.element.kind === 'enum' && small.element.underlying === 'uint8');
});

test('constants are expressions, with scoped names, and serve as sizes', (t) => {
  const definition = idl(`
    const unsigned long TOP = 2;
    module p {
      const short N = 1 + 2;
      module msg {
        module A_Constants {
          const long M = (p::N << 2) | 0x1 ^ 3 & ~0;
          const long K = -7 / 2 + 7 % 4 - (2 * -3);
          const double D = 1.5 * 2 + N;
          const float F = 1.25;
          const boolean B = TRUE;
          const string S = "a" "b\\n";
          const wstring W = L"\\u2122";
          const char C = 'x';
          const octet O = 0xff;
          const unsigned long long U = 18446744073709551615;
          const long OCTAL = 010;
          const Color RED2 = Color::GREEN;
        };
        enum Color { RED, GREEN };
        struct A { long a[N]; sequence<long, p::N + 1> b; string<::TOP> c; long d[A_Constants::M]; wstring<M> e; uint8 f[GREEN]; };
      };
    };`);
  t.deepEqual(fieldTexts(definition), [
    'int32[3] a',
    'int32[<=4] b',
    'string<=2 c',
    'int32[14] d',
    'wstring<=14 e',
    'uint8[1] f',
  ]);
  t.deepEqual(constantValues(definition), {
    M: 14,
    K: 6,
    D: 6,
    F: 1.25,
    B: true,
    S: 'ab\n',
    W: '™',
    C: 120,
    O: 255,
    U: 18446744073709551615n,
    OCTAL: 8,
    RED2: 1,
  });
  t.deepEqual(definition.warnings, []);
});

test('a bad constant or default is left out with a warning', (t) => {
  const definition = idl(
    inP(`module A_Constants { const uint8 BIG = 256; const long ZERO = 1 / 0; const long GONE = Nope; const long OK = 5; };
      struct A { @default(value=300) uint8 a; @default("x") long b; @default(value=3) sequence<long> c; };`),
  );
  t.deepEqual(constantValues(definition), { OK: 5 });
  t.deepEqual(defaultValues(definition), {});
  t.is(definition.warnings.length, 6);
  t.deepEqual(definition.warnings[0]?.typeName, 'p/msg/A');
  t.is(definition.warnings[0]?.line, 1);
});

test('defaults are read from @default, in all forms that rosidl writes', (t) => {
  const definition = idl(
    inP(`enum E { X, Y };
      struct A {
        @default (value=123) unsigned short a;
        @default(-5) long b;
        @default (value=TRUE) boolean c;
        @default (value="Hello \\"world\\"!") string d;
        @default (value=1.9e+10) float e;
        @default (value=8.7d) double f;
        @default (value="(1, 2, 3)") sequence<int32> g;
        @default (value="('', 'max, value', \\"it's\\")") sequence<string> h;
        @default (value="(True, False)") boolean i[2];
        @default (value="()") sequence<double> j;
        @default (value=nan) double k;
        @default (value=-inf) float l;
        @default (value=Y) E m;
        @default (value=-9223372036854775808) int64 n;
        @default (value="(1,)") sequence<uint64> o;
      };`),
  );
  t.deepEqual(defaultValues(definition), {
    a: 123,
    b: -5,
    c: true,
    d: 'Hello "world"!',
    e: 1.9e10,
    f: 8.7,
    g: [1, 2, 3],
    h: ['', 'max, value', `it's`],
    i: [true, false],
    j: [],
    k: NaN,
    l: -Infinity,
    m: 1,
    n: -9223372036854775808n,
    o: [1n],
  });
  t.deepEqual(definition.warnings, []);
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

test('names are looked up from the inside out', (t) => {
  const definition = idl(`
    struct T { uint8 outermost; };
    module p {
      struct T { uint8 outer; };
      module msg {
        struct T { uint8 inner; };
        struct A { T a; p::T b; ::T c; msg::T d; p::msg::T e; };
      };
    };`);
  const inside = definition.fields.map(({ name }) => partOf(definition, name).fields[0]?.name);
  t.deepEqual(inside, ['inner', 'outer', 'outermost', 'inner', 'inner']);
});

test('a name is found in an outer module when the inner has none, and never in another one', (t) => {
  t.deepEqual(fieldTexts(idl('module p { struct T { uint8 x; }; module msg { struct A { T a; }; }; };')), [
    'p/msg/T a',
  ]);
  const error = t.throws<Error & { line?: number; column?: number }>(
    () => idl('module q { module msg { struct T { uint8 x; }; }; };\n' + inP('struct A { T a; };')),
    { code: 'SCHEMA_UNKNOWN_TYPE' },
  );
  t.deepEqual([error.line, error.column], [2, 36]);
});

test('the root is the type that the schema names, whatever the order of the files', (t) => {
  const a = `${SEP}\nIDL: p/msg/A\n${inP('struct A { q::msg::B b; };')}\n`;
  const b = `${SEP}\nIDL: q/msg/B\nmodule q { module msg { struct B { uint8 x; }; }; };\n`;
  for (const data of [a + b, b + a]) {
    const definition = idl(data);
    t.is(definition.name, 'p/msg/A');
    t.deepEqual(fieldTexts(partOf(definition, 'b')), ['uint8 x']);
    t.is(idl(data, 'q::msg::B').name, 'q/msg/B');
    t.throws(() => idl(data, 'p/msg/B'), { code: 'SCHEMA_ROOT_NOT_FOUND' });
  }
});

test('names as DDS sees them are the same names', (t) => {
  const data = `module builtin_interfaces { module msg { module dds_ {
      @extensibility(FINAL) struct Time_ { long sec; unsigned long nanosec; };
    }; }; };
    module p { module msg { module dds_ {
      @extensibility(FINAL) struct A_ { builtin_interfaces::msg::dds_::Time_ stamp; };
    }; }; };`;
  for (const name of ['p::msg::dds_::A_', 'p/msg/A']) {
    const definition = parseSchema({ name, encoding: 'omgidl', data });
    t.is(definition.name, 'p/msg/A');
    t.deepEqual(fieldTexts(definition), ['builtin_interfaces/msg/Time stamp']);
  }
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

test('equal declarations twice are fine, different ones an error that names the type', (t) => {
  const b = 'struct B { uint8 x; }; typedef long T; enum E { X };';
  t.notThrows(() => idl(inP(`${b} struct B { uint8  x; /* c */ }; typedef  long T; enum E { X }; struct A { B b; };`)));
  t.regex(
    t.throws(() => idl(inP(`${b} struct B { uint16 x; };`)), { code: 'SCHEMA_CONFLICTING_DEFINITIONS' }).message,
    /p\/msg\/B/,
  );
  t.throws(() => idl(inP(`${b} typedef short T;`)), { code: 'SCHEMA_CONFLICTING_DEFINITIONS' });
  t.throws(() => idl(inP('struct B { uint8 x; uint8 x; };')), { code: 'SCHEMA_DUPLICATE_FIELD' });
});

test('forward declarations are fine', (t) => {
  t.deepEqual(fieldTexts(idl(inP('struct B; union U; struct A { B b; }; struct B { uint8 x; };'))), ['p/msg/B b']);
});

test('what has no ROS 2 form is refused with its name, its type and its line', (t) => {
  const cases: [string, RegExp][] = [
    ['union U switch (long) { case 1: long a; default: string b; };\nstruct A { U u; };', /union U .*p\/msg\/U/],
    ['\nstruct A { long x; map<string, sequence<long>> m; };', /map .*p\/msg\/A/],
    ['@bit_bound(8) bitmask M { a, @position(3) b };\nstruct A { M m; };', /bitmask M .*p\/msg\/M/],
    ['bitset S { bitfield<3> a; bitfield<1, boolean> b; };\nstruct A { S s; };', /bitset S .*p\/msg\/S/],
    ['struct B { long x; };\nstruct A : B { long y; };', /inheritance of struct A .*p\/msg\/A/],
    ['\nstruct A { long double x; };', /long double .*p\/msg\/A/],
    ['\nstruct A { fixed<5, 2> x; };', /fixed .*p\/msg\/A/],
    ['\nstruct A { any x; };', /any .*p\/msg\/A/],
    ['\nstruct A { @optional long x; };', /@optional member x .*p\/msg\/A/],
    ['typedef map<long, long> M;\nstruct A { sequence<M> x; };', /map/],
    ['interface I { void f(in long x); };\nstruct A { I i; };', /interface I/],
  ];
  for (const [text, message] of cases) {
    const error = t.throws<Error & { line?: number }>(() => idl(`module p { module msg {\n${text} }; };`), {
      code: 'SCHEMA_UNSUPPORTED_IDL',
    });
    t.regex(error.message, message);
    t.true(error.line === 2 || error.line === 3, text);
  }
  const root = t.throws(() => idl(inP('union U switch (boolean) { case TRUE: long a; };'), 'p/msg/U'), {
    code: 'SCHEMA_UNSUPPORTED_IDL',
  });
  t.regex(root.message, /union U/);
});

test('what the root does not need may be of any construct', (t) => {
  const definition = idl(
    inP(`union U switch (long) { case 1: long a; }; bitset S { bitfield<3> a; }; native N; exception X { long y; };
      struct Z { U u; long double x; }; @annotation Mine { string value; }; struct A { @optional(FALSE) long x; };`),
  );
  t.deepEqual(fieldTexts(definition), ['int32 x']);
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
