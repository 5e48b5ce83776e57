import test from 'ava';
import { fieldTexts, idl, msg, partOf, SEP } from '../helpers/definitions.js';

function section(name: string, text: string): string {
  return `\n${SEP}\nMSG: ${name}\n${text}`;
}

test('a type is one object wherever it stands', (t) => {
  const definition = msg(`B b\nC c${section('p/msg/B', 'uint8 x')}${section('p/msg/C', 'B[] b')}`);
  t.is(partOf(definition, 'b'), partOf(partOf(definition, 'c'), 'b'));
});

test('a type that contains itself is an error, however many types are between and whatever the array', (t) => {
  const cycles = [
    'A a',
    'A[] a',
    'A[<=1] a',
    'p/A[2] a',
    `B b${section('p/msg/B', 'C[] c')}${section('p/msg/C', 'A a')}`,
    `B b${section('p/msg/B', 'uint8 x\nB b')}`,
  ];
  for (const data of cycles) {
    const error = t.throws<Error & { line?: number }>(() => msg(data), { code: 'SCHEMA_CYCLE' }, data);
    t.regex(error.message, /p\/msg\/.* -> p\/msg\//);
    t.true((error.line ?? 0) > 0);
  }
});

test('types are nested 60 deep, and not without end', (t) => {
  const chain = (count: number): string => {
    let data = 'T0 t';
    for (let i = 0; i < count; i++) data += section(`p/msg/T${i}`, i === count - 1 ? 'uint8 x' : `T${i + 1} t`);
    return data;
  };
  t.notThrows(() => msg(chain(60)));
  t.throws(() => msg(chain(200)), { code: 'SCHEMA_LIMIT' });
  t.throws(() => msg(chain(20_000)), { code: 'SCHEMA_LIMIT' });
});

test('a type whose parts multiply is refused', (t) => {
  const ten = (type: string): string => Array.from({ length: 10 }, (_, i) => `${type} f${i}`).join('\n');
  let data = ten('T0');
  for (let i = 0; i < 10; i++) data += section(`p/msg/T${i}`, ten(i === 9 ? 'uint8' : `T${i + 1}`));
  const error = t.throws(() => msg(data), { code: 'SCHEMA_LIMIT' });
  t.is(msg(Array.from({ length: 10_000 }, (_, i) => `uint8 f${i}`).join('\n')).fields.length, 10_000);
  t.regex(error.message, /20000 fields/);
});

test('fixed arrays that no payload can hold are refused, also when they multiply', (t) => {
  t.throws(() => msg('uint8[4294967295] x'), { code: 'SCHEMA_LIMIT' });
  t.throws(() => msg('uint8[4294967296] x'), { code: 'SCHEMA_LIMIT' });
  t.throws(() => msg(`B[100000] b${section('p/msg/B', 'C[100000] c')}${section('p/msg/C', 'uint8 x')}`), {
    code: 'SCHEMA_LIMIT',
  });
  t.throws(() => msg(`B[4294967295] b${section('p/msg/B', 'uint8 X=1')}`), { code: 'SCHEMA_LIMIT' });
  t.throws(() => idl('module p { module msg { struct A { octet x[1000][1000][1000][1000]; }; }; };'), {
    code: 'SCHEMA_LIMIT',
  });
  t.deepEqual(fieldTexts(msg('uint8[<=4294967295] x\nuint8[1000000] y')), [
    'uint8[<=4294967295] x',
    'uint8[1000000] y',
  ]);
});

test('hostile texts are answered at once', (t) => {
  const long = 'x'.repeat(2_000_000);
  t.is(msg(`uint8 x # ${long}`).fields[0]?.comment?.length, long.length);
  t.true(t.throws(() => msg(`uint8 x\n${long}`), { code: 'SCHEMA_SYNTAX' }).message.length < 500);
  t.true(t.throws(() => msg(`uint8 ${long}-`), { code: 'SCHEMA_SYNTAX' }).message.length < 500);
  t.is(msg(`uint8 X=${'9'.repeat(2_000_000)}`).warnings.length, 1);
  t.is(msg(`uint8[] x [${'1,'.repeat(300_000)}]`).fields.length, 1);
  t.throws(() => msg('='.repeat(2_000_000) + 'x'), { code: 'SCHEMA_SYNTAX' });
  t.is(msg('uint8 A=x\n'.repeat(100_000)).warnings.length, 1001);
  t.throws(() => msg(' '.repeat(40_000_000)), { code: 'SCHEMA_LIMIT' });
  t.throws(() => idl('module m { '.repeat(100_000)), { code: 'SCHEMA_LIMIT' });
  t.throws(() => idl(`const long A = ${'('.repeat(100_000)}`), { code: 'SCHEMA_LIMIT' });
  t.throws(() => idl(`const long A = ${'-'.repeat(100_000)}1;`), { code: 'SCHEMA_LIMIT' });
  t.throws(() => idl(`const long A = 1${'+1'.repeat(100_000)};`), { code: 'SCHEMA_LIMIT' });
  t.throws(() => idl(`typedef ${'sequence<'.repeat(100_000)}`), { code: 'SCHEMA_LIMIT' });
  t.throws(() => idl(`@x(${'('.repeat(100_000)}`), { code: 'SCHEMA_SYNTAX' });
  t.throws(() => idl(`typedef long A${'[2]'.repeat(100_000)};`), { code: 'SCHEMA_LIMIT' });
  t.throws(() => idl('@a '.repeat(100_000)), { code: 'SCHEMA_SYNTAX' });
});

test('long chains of typedefs and constants end in a definition or in an error', (t) => {
  const typedefs = (count: number): string => {
    let text = 'typedef long T0;';
    for (let i = 1; i <= count; i++) text += `typedef T${i - 1} T${i};`;
    return `module p { module msg { ${text} struct A { T${count} x; }; }; };`;
  };
  t.deepEqual(fieldTexts(idl(typedefs(100))), ['int32 x']);
  t.throws(() => idl(typedefs(50_000)), { code: 'SCHEMA_LIMIT' });
  let constants = 'const long C0 = 1;';
  for (let i = 1; i <= 50_000; i++) constants += `const long C${i} = C${i - 1};`;
  t.deepEqual(fieldTexts(idl(`module p { module msg { ${constants} struct A { long x[C50000]; }; }; };`)), [
    'int32[1] x',
  ]);
  let backwards = '';
  for (let i = 50_000; i > 0; i--) backwards += `const long C${i} = C${i - 1};`;
  t.true(idl(`module p { module msg { ${backwards} struct A { long x; }; }; };`).warnings.length > 0);
});

test('typedefs and constants of themselves are errors or left out', (t) => {
  const inModule = (text: string): string => `module p { module msg { ${text} }; };`;
  t.throws(() => idl(inModule('typedef B A; typedef A B; struct A_ { A x; };'), 'p/msg/A_'), { code: 'SCHEMA_CYCLE' });
  t.throws(() => idl(inModule('struct A { sequence<A> x; };')), { code: 'SCHEMA_CYCLE' });
  t.is(idl(inModule('const long X = Y; const long Y = X; struct A { long x; };')).warnings.length, 2);
  t.throws(() => idl(inModule('const long X = Y; const long Y = X; struct A { long x[X]; };')), {
    code: 'SCHEMA_SYNTAX',
  });
  t.throws(() => idl(inModule('typedef sequence<A> B; struct A { B x; };')), { code: 'SCHEMA_CYCLE' });
});

test('chains with much between their links do not use up the stack', (t) => {
  const inModule = (text: string): string => `module p { module msg { ${text} }; };`;
  const count = 300;
  const links = Array.from({ length: count }, (_, i) => i);
  const nested = (inner: string): string => 'sequence<'.repeat(60) + inner + '>'.repeat(60);
  const typedefs = links.map((i) => `typedef ${nested(i === 0 ? 'long' : `T${i - 1}`)} T${i};`).join('');
  t.throws(() => idl(inModule(`${typedefs} struct A { T${count - 1} x; };`)), { code: 'SCHEMA_LIMIT' });
  const structs = links.map((i) => `struct S${i} { T${i} x; };`).join('');
  t.throws(() => idl(inModule(`${typedefs} ${structs} struct A { long x; };`)), { code: 'SCHEMA_LIMIT' });
  const sums = links.map((i) => `const long P${i + 1} = ${'('.repeat(90)}P${i}${'+1)'.repeat(90)};`).reverse();
  const constants = idl(inModule(`${sums.join('')} const long P0 = 1; struct A { long x; };`));
  t.true(constants.warnings.length > 0);
  const enums = Array.from({ length: 5000 }, (_, i) => `enum E${i + 1} { @value(X${i}+1) X${i + 1} };`).reverse();
  t.throws(() => idl(inModule(`${enums.join('')} enum E0 { X0 }; struct A { E5000 x; };`)), { code: 'SCHEMA_LIMIT' });
});
