import test from 'ava';
import { parseSchema } from '../../lib/schema/registry.js';
import { constantValues, defaultValues, fieldTexts, idl, partOf, SEP } from '../helpers/definitions.js';

/** Declarations in module p::msg. */
function inP(text: string): string {
  return `module p { module msg { ${text} }; };`;
}

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

test(`the constants of a struct are found as DDS names them`, (t) => {
  const data = `module p { module msg { module dds_ {
      module A_Constants { const octet SENT_ = 1; };
      struct A_ { octet x; };
    }; }; };`;
  t.deepEqual(constantValues(idl(data)), { SENT_: 1 });
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
