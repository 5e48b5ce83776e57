/** Definitions as TypeScript: tsc takes the output of every standard type, and it is the type of what decoding gives. */
import test from 'ava';
import ts from 'typescript';
import { compileCodec, definitionToTypeScript, parseSchema, standardDefinitions } from '../../lib/index.js';
import type { TypeScriptOptions } from '../../lib/index.js';

function print(data: string, options?: TypeScriptOptions, encoding = 'ros2msg'): string {
  return definitionToTypeScript(parseSchema({ name: 't/msg/T', encoding, data }), options);
}

/** What tsc says of modules under `strict`. */
function check(files: ReadonlyMap<string, string>): string[] {
  const options: ts.CompilerOptions = {
    strict: true,
    exactOptionalPropertyTypes: true,
    noUncheckedIndexedAccess: true,
    noEmit: true,
    target: ts.ScriptTarget.ES2022,
    lib: ['lib.es2022.d.ts'],
    types: [],
    module: ts.ModuleKind.ESNext,
  };
  const host = ts.createCompilerHost(options);
  const plain = ts.createCompilerHost(options);
  host.getSourceFile = (name, version) => {
    const text = files.get(name);
    return text === undefined ? plain.getSourceFile(name, version) : ts.createSourceFile(name, text, version);
  };
  host.fileExists = (name) => files.has(name) || plain.fileExists(name);
  host.readFile = (name) => files.get(name) ?? plain.readFile(name);
  const program = ts.createProgram([...files.keys()], options, host);
  return ts
    .getPreEmitDiagnostics(program)
    .map(({ file, messageText }) => `${file?.fileName ?? ''}: ${ts.flattenDiagnosticMessageText(messageText, '\n')}`);
}

/** A value as an expression of literals: tsc finds a property too many or too few in it. */
function expression(value: unknown): string {
  if (typeof value === 'bigint') return `${value}n`;
  if (typeof value === 'string') return JSON.stringify(value);
  if (typeof value !== 'object' || value === null) return String(value);
  if (Array.isArray(value)) return `[${value.map(expression).join(', ')}]`;
  if (ArrayBuffer.isView(value)) return `new ${value.constructor.name}(0)`;
  return `{ ${Object.entries(value)
    .map(([name, item]) => `${JSON.stringify(name)}: ${expression(item)}`)
    .join(', ')} }`;
}

/** A value with an element in every array, so that their types are seen. */
function sample(schema: Parameters<typeof compileCodec>[0], options: TypeScriptOptions): unknown {
  const codec = compileCodec(schema, options as object);
  const filled = (fields: typeof codec.definition): Record<string, unknown> => {
    const value: Record<string, unknown> = {};
    for (const { name, type } of fields.fields) {
      if (type.kind === 'sequence' && type.element.kind === 'message') value[name] = [filled(type.element.definition)];
      else if (type.kind === 'sequence' && type.element.kind === 'primitive') {
        const { name: primitive } = type.element;
        value[name] = primitive.endsWith('string') ? ['x'] : primitive === 'bool' ? [true] : [1];
      } else if (type.kind === 'message') value[name] = filled(type.definition);
    }
    return value;
  };
  return codec.decode(codec.encode(filled(codec.definition)));
}

test('an interface has the comments, sizes, bounds and defaults of the schema', (t) => {
  const text = print(
    '# A thing.\n\n# in metres */\nfloat64[9] covariance\nstring<=5 name "x"\nint64[<=3] ids\nuint8 A=1\nt/P p\n===\nMSG: t/P\n',
  );
  t.regex(text, /\/\*\*\n \* t\/msg\/T\n/);
  t.regex(text, / {3}\* in metres \* \/\n {3}\* float64: 9 elements\n {3}\*\/\n {2}covariance: Float64Array;/);
  t.regex(text, /at most 5 bytes\n {3}\* Default: "x"\n {3}\*\/\n {2}name: string;/);
  t.regex(text, /int64: at most 3 of elements \*\/\n {2}ids: BigInt64Array;/);
  t.regex(text, /export const T = \{\n {2}\/\*\* uint8 \*\/\n {2}A: 1,\n\} as const;/);
  t.regex(text, /export type P = Record<string, never>;/);
});

test('units of IDL stand in the comment, enums are numbers with their names beside', (t) => {
  const text = print(
    'module t { module msg { enum E { A, B }; struct T { @unit("m/s") double v; E e; sequence<E> es; }; }; };',
    {},
    'ros2idl',
  );
  t.regex(text, /Unit: m\/s\n {3}\*\/\n {2}v: number;/);
  t.regex(text, /A = 0, B = 1 \*\/\n {2}e: number;/);
  t.regex(text, /es: Uint32Array;/);
});

test('options of the codec change the types', (t) => {
  const text = 'int64 a\nuint64[] b\nbuiltin_interfaces/Time s\nint64 C=5';
  t.regex(
    print(text, { int64: 'string', time: 'bigint' }),
    /a: string;[\s\S]*b: string\[\];[\s\S]*s: bigint;[\s\S]*C: "5"/,
  );
  t.notRegex(print(text, { time: 'bigint' }), /interface Time/);
  t.throws(() => print(text, { int32: 1 } as object), { instanceOf: TypeError, message: /int64/ });
});

test('names that are taken get their package before them', (t) => {
  const text = print(
    'a/Foo x\nb/Foo y\nstd_msgs/String s\n===\nMSG: a/Foo\nuint8 v\n===\nMSG: b/Foo\nuint8 v\n===\nMSG: std_msgs/String\nstring data',
  );
  for (const name of ['AFoo', 'BFoo', 'StdMsgsString']) t.regex(text, new RegExp(`interface ${name} `));
  t.deepEqual(check(new Map([['/names.ts', text]])), []);
});

for (const options of [{}, { int64: 'string', time: 'bigint' }, { int64: 'number' }] as const) {
  test(`every standard type compiles under strict and takes what the decoder returns ${JSON.stringify(options)}`, (t) => {
    const files = new Map<string, string>();
    for (const [name, schema] of standardDefinitions('jazzy')) {
      const definition = parseSchema(schema);
      const text = definitionToTypeScript(definition, options);
      const type = /export (?:interface|type) (\w+)/.exec(text)?.[1] ?? '';
      const value = expression(sample(schema, options));
      files.set(`/${name.replaceAll('/', '_')}.ts`, `${text}\nexport const sample: ${type} = ${value};\n`);
    }
    t.true(files.size > 140);
    t.deepEqual(check(files), []);
  });
}

test('a value of another form does not compile', (t) => {
  const text = print('uint8 a\nfloat32[] b');
  const errors = check(new Map([['/a.ts', `${text}\nexport const x: T = { a: 1, b: new Float64Array(1), c: 2 };`]]));
  t.true(errors.length > 0);
});
