import test from 'ava';
import fc from 'fast-check';
import { parseSchema } from '../../lib/schema/registry.js';
import type {
  FieldType,
  LiteralValue,
  MessageDefinition,
  PrimitiveName,
  PrimitiveType,
} from '../../lib/schema/definition.js';
import { SEP } from '../helpers/definitions.js';

/** What is printed: types refer to later types only, so that there is no cycle. */
interface RandomField {
  readonly name: string;
  readonly type: PrimitiveType | number;
  readonly array: undefined | { readonly kind: 'array' | 'sequence' | 'bounded'; readonly count: number };
  readonly defaultValue: LiteralValue | LiteralValue[] | undefined;
}

interface RandomMessage {
  readonly package: string;
  readonly fields: readonly RandomField[];
  readonly constants: readonly { readonly name: string; readonly type: PrimitiveType; readonly value: LiteralValue }[];
}

const INTEGERS: readonly [PrimitiveName, bigint, bigint][] = [
  ['byte', 0n, 255n],
  ['char', 0n, 255n],
  ['int8', -128n, 127n],
  ['uint8', 0n, 255n],
  ['int16', -32768n, 32767n],
  ['uint16', 0n, 65535n],
  ['int32', -2147483648n, 2147483647n],
  ['uint32', 0n, 4294967295n],
  ['int64', -(2n ** 63n), 2n ** 63n - 1n],
  ['uint64', 0n, 2n ** 64n - 1n],
];

const identifier = fc.oneof(
  fc.stringMatching(/^[A-Za-z_][A-Za-z0-9_]{0,8}$/),
  fc.constantFrom('__proto__', 'constructor', 'class', 'string', 'time', 'A__B', 'a_', 'MSG', 'nan'),
);

/** A primitive type with a value of it. */
const primitiveAndValues: fc.Arbitrary<{ type: PrimitiveType; values: LiteralValue[] }> = fc.oneof(
  fc.constantFrom(...INTEGERS).chain(([name, min, max]) =>
    fc.array(fc.bigInt({ min, max }), { minLength: 5, maxLength: 5 }).map((values) => ({
      type: { kind: 'primitive' as const, name },
      values: values.map((value) => (name.endsWith('64') ? value : Number(value))),
    })),
  ),
  fc.array(fc.boolean(), { minLength: 5, maxLength: 5 }).map((values) => ({
    type: { kind: 'primitive' as const, name: 'bool' as const },
    values,
  })),
  fc.array(fc.double(), { minLength: 5, maxLength: 5 }).map((values) => ({
    type: { kind: 'primitive' as const, name: 'float64' as const },
    values,
  })),
  fc.array(fc.float(), { minLength: 5, maxLength: 5 }).map((values) => ({
    type: { kind: 'primitive' as const, name: 'float32' as const },
    values,
  })),
  fc
    .tuple(
      fc.constantFrom<PrimitiveName>('string', 'wstring'),
      fc.option(fc.integer({ min: 60, max: 200 }), { nil: undefined }),
      fc.array(fc.string({ maxLength: 12, unit: 'binary' }), { minLength: 5, maxLength: 5 }),
    )
    .map(([name, maxLength, values]) => ({
      type: { kind: 'primitive' as const, name, ...(maxLength === undefined ? {} : { maxLength }) },
      values,
    })),
);

const field = (last: number, index: number): fc.Arbitrary<RandomField> =>
  fc
    .record({
      name: identifier,
      primitive: primitiveAndValues,
      reference: fc.option(fc.integer({ min: index + 1, max: Math.max(index + 1, last) }), { nil: undefined }),
      array: fc.option(
        fc.record({
          kind: fc.constantFrom('array' as const, 'sequence' as const, 'bounded' as const),
          count: fc.nat(5),
        }),
        { nil: undefined },
      ),
      hasDefault: fc.boolean(),
    })
    .map(({ name, primitive, reference, array, hasDefault }) => {
      if (reference !== undefined && reference <= last)
        return { name, type: reference, array, defaultValue: undefined };
      const { type, values } = primitive;
      const value = array === undefined ? values[0] : values.slice(0, array.count);
      return { name, type, array, defaultValue: hasDefault ? value : undefined };
    });

const messages: fc.Arbitrary<RandomMessage[]> = fc.integer({ min: 0, max: 4 }).chain((last) =>
  fc.tuple(
    ...Array.from({ length: last + 1 }, (_, index) =>
      fc.record({
        package: fc.constantFrom('p', 'other_msgs', 'Q9'),
        fields: fc.uniqueArray(field(last, index), { selector: ({ name }) => name, maxLength: 5 }),
        constants: fc.uniqueArray(
          fc
            .tuple(identifier, primitiveAndValues)
            .map(([name, { type, values }]) => ({ name, type, value: values[0] ?? 0 })),
          { selector: ({ name }) => name, maxLength: 3 },
        ),
      }),
    ),
  ),
);

/** Prints with whatever choices a list of numbers makes. */
class Printer {
  readonly #messages: readonly RandomMessage[];
  readonly #choices: readonly number[];
  #next = 0;
  readonly #end: string;

  constructor(all: readonly RandomMessage[], choices: readonly number[]) {
    this.#messages = all;
    this.#choices = choices;
    this.#end = this.#pick(['\n', '\r\n', '\r']);
  }

  name(index: number): string {
    return `${this.#messages[index]?.package ?? ''}/msg/T${index}`;
  }

  text(): string {
    const rest = this.#messages.map((_, index) => index).slice(1);
    // Some order of the dependencies.
    const order = rest.map((index) => ({ index, key: this.#number(1000) })).sort((a, b) => a.key - b.key);
    const headers = [`MSG: ${this.name(0)}${this.#end}`, `${SEP}${this.#end}MSG: ${this.name(0)}${this.#end}`];
    const root = this.#body(0);
    // A text that begins with the separator has no root but those that headers name.
    let text = this.#pick(root === '' ? headers : ['', '\ufeff', ...headers]) + root;
    for (const { index } of order) {
      text += this.#pick([SEP, '===', `${SEP} \t`]) + this.#end;
      text += `MSG:${this.#blank(0)}${this.#spelling(index)}${this.#blank(0)}${this.#end}`;
      text += this.#body(index);
    }
    return text;
  }

  #body(index: number): string {
    const message = this.#messages[index];
    const fields = (message?.fields ?? []).map((item) => this.#fieldLine(item, index));
    const constants = (message?.constants ?? []).map(({ name, type, value }) => {
      const literal = this.#literal(type.name, value, false);
      return `${this.#type(type)}${this.#blank(1)}${name}${this.#blank(0)}=${this.#blank(0)}${literal}`;
    });
    const lines: string[] = [];
    while (fields.length + constants.length > 0) {
      const line =
        this.#number(2) === 0 ? (fields.shift() ?? constants.shift()) : (constants.shift() ?? fields.shift());
      if (this.#number(4) === 0)
        lines.push(this.#pick(['', ' \t', '# a comment', `  #${SEP}`, '# MSG: p/msg/T0', '#"', '\u00a0']));
      lines.push(`${this.#blank(0)}${line ?? ''}${this.#blank(0)}${this.#pick(['', '', '# c', `# it's "x`])}`);
    }
    return lines.map((line) => line + this.#end).join('');
  }

  #fieldLine({ name, type, array, defaultValue }: RandomField, owner: number): string {
    const element = typeof type === 'number' ? this.#spelling(type, this.#messages[owner]?.package) : this.#type(type);
    const brackets = { array: `[${array?.count ?? 0}]`, sequence: '[]', bounded: `[<=${array?.count ?? 0}]` };
    const suffix = array === undefined ? '' : brackets[array.kind];
    const line = `${element}${suffix}${this.#blank(1)}${name}`;
    if (defaultValue === undefined || typeof type === 'number') return line;
    if (!Array.isArray(defaultValue)) return `${line}${this.#blank(1)}${this.#literal(type.name, defaultValue, false)}`;
    const elements = defaultValue.map(
      (value) => this.#blank(0) + this.#literal(type.name, value, true) + this.#blank(0),
    );
    return `${line}${this.#blank(1)}[${elements.join(',')}]`;
  }

  #spelling(index: number, home?: string): string {
    const own = this.#messages[index]?.package ?? '';
    const forms = [
      `${own}/T${index}`,
      `${own}/msg/T${index}`,
      `${own}::msg::T${index}`,
      `${own}::msg::dds_::T${index}_`,
    ];
    return this.#pick(home === own ? [...forms, `T${index}`] : forms);
  }

  #type({ name, maxLength }: PrimitiveType): string {
    return maxLength === undefined ? name : `${name}<=${maxLength}`;
  }

  #literal(name: PrimitiveName, value: LiteralValue, inArray: boolean): string {
    if (typeof value === 'string') return this.#string(value, inArray);
    if (typeof value === 'boolean') {
      return this.#pick(value ? ['true', 'True', 'TRUE', '1'] : ['false', 'False', 'FALSE', '0']);
    }
    if (name.startsWith('float')) {
      const number = Number(value);
      if (Number.isNaN(number)) return this.#pick(['nan', 'NaN', 'NAN']);
      if (!Number.isFinite(number))
        return (number < 0 ? '-' : this.#pick(['', '+'])) + this.#pick(['inf', 'Infinity', 'INF']);
      return Object.is(number, -0) ? '-0.0' : String(number);
    }
    const integer = BigInt(value);
    const magnitude = integer < 0n ? -integer : integer;
    const digits = this.#pick([
      String(magnitude),
      `0x${magnitude.toString(16)}`,
      `0X${magnitude.toString(16).toUpperCase()}`,
      `0b${magnitude.toString(2)}`,
      `0o${magnitude.toString(8)}`,
      `00${magnitude}`,
    ]);
    return integer < 0n ? `-${digits}` : this.#pick(['', '', '+']) + digits;
  }

  #string(value: string, inArray: boolean): string {
    if (!inArray && /^[A-Za-z0-9/._-]+( [A-Za-z0-9/._-]+)*$/.test(value) && this.#number(2) === 0) return value;
    const quote = this.#pick([`"`, `'`]);
    let text = '';
    for (const char of value) {
      const code = char.codePointAt(0) ?? 0;
      if (char === quote || char === '\\') text += `\\${char}`;
      else if (code < 32 || (code >= 0x7f && code < 0xa1)) text += `\\x${code.toString(16).padStart(2, '0')}`;
      else if (code > 0xffff && this.#number(2) === 0) text += `\\U${code.toString(16).padStart(8, '0')}`;
      else if (code > 0xff && code <= 0xffff && this.#number(2) === 0)
        text += `\\u${code.toString(16).padStart(4, '0')}`;
      else text += char;
    }
    return quote + text + quote;
  }

  #blank(minimum: number): string {
    const blanks = ['', ' ', '\t', '  ', ' \t ', '\u00a0'];
    return this.#pick(blanks.slice(minimum));
  }

  #pick<T>(options: readonly T[]): T {
    const picked = options[this.#number(options.length)];
    if (picked === undefined) throw new Error('nothing to pick from');
    return picked;
  }

  #number(below: number): number {
    return (this.#choices[this.#next++ % this.#choices.length] ?? 0) % below;
  }
}

/** The definition that must come back. */
function expectedDefinition(all: readonly RandomMessage[], index: number): MessageDefinition {
  const message = all[index];
  if (message === undefined) throw new Error('no such message');
  return {
    name: `${message.package}/msg/T${index}`,
    extensibility: 'final',
    fields: message.fields.map(({ name, type, array, defaultValue }) => {
      const element: FieldType =
        typeof type === 'number' ? { kind: 'message', definition: expectedDefinition(all, type) } : type;
      return {
        name,
        type: arrayOf(element, array),
        ...(defaultValue === undefined ? {} : { defaultValue }),
      };
    }),
    constants: message.constants,
    warnings: [],
  };
}

function arrayOf(element: FieldType, array: RandomField['array']): FieldType {
  if (array === undefined) return element;
  const { kind, count } = array;
  if (kind === 'array') return { kind, element, length: count };
  return kind === 'sequence' ? { kind, element } : { kind: 'sequence', element, maxLength: count };
}

/** Without comments, and as plain objects. */
function withoutComments(definition: MessageDefinition): MessageDefinition {
  const type = (fieldType: FieldType): FieldType => {
    if (fieldType.kind === 'message') return { ...fieldType, definition: withoutComments(fieldType.definition) };
    if (fieldType.kind === 'array' || fieldType.kind === 'sequence')
      return { ...fieldType, element: type(fieldType.element) };
    return fieldType;
  };
  const strip = <T extends { comment?: string }>(object: T): Omit<T, 'comment'> => {
    const copy = { ...object };
    delete copy.comment;
    return copy;
  };
  return {
    ...strip(definition),
    fields: definition.fields.map((item) => ({ ...strip(item), type: type(item.type) })),
    constants: definition.constants.map(strip),
  };
}

test('whatever definitions are printed as .msg text, in whatever shape, are parsed back', (t) => {
  fc.assert(
    fc.property(messages, fc.array(fc.nat(10_000), { minLength: 20, maxLength: 200 }), (all, choices) => {
      const printer = new Printer(all, choices);
      const data = printer.text();
      const definition = parseSchema({ name: printer.name(0), encoding: 'ros2msg', data });
      t.deepEqual(withoutComments(definition), expectedDefinition(all, 0), data);
    }),
    { numRuns: 500 },
  );
});

test('whatever text is given, there is a definition or an error of a schema', (t) => {
  const pieces = fc.constantFrom(
    ...[
      'uint8',
      ' ',
      'x',
      '\n',
      '[',
      ']',
      '<=',
      '5',
      '=',
      '"',
      "'",
      '#',
      'p/A',
      'MSG: p/msg/A',
      SEP,
      '---',
      '\\',
      '\r',
      '{',
      '}',
      '@default(',
      ')',
    ],
    ...[
      'module p',
      'module msg',
      'struct A',
      ';',
      ',',
      '<',
      '>',
      'sequence',
      'string',
      'const long',
      'typedef',
      'enum',
      '::',
      'union U switch(long)',
      '/*',
      '//',
    ],
  );
  fc.assert(
    fc.property(
      fc.array(fc.oneof({ weight: 9, arbitrary: pieces }, { weight: 1, arbitrary: fc.string({ unit: 'binary' }) })),
      fc.constantFrom('ros2msg', 'ros2idl', 'omgidl'),
      fc.constantFrom('p/msg/A', 'p/srv/A_Event', 'A'),
      (parts, encoding, name) => {
        try {
          parseSchema({ name, encoding, data: parts.join('') });
        } catch (error) {
          t.regex(String((error as { code?: string }).code), /^SCHEMA_/);
        }
      },
    ),
    { numRuns: 3000 },
  );
});
