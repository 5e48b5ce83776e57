import test from 'ava';
import fc from 'fast-check';
import { parseSchema } from '../../lib/schema/registry.js';
import type { LiteralValue, PrimitiveName, PrimitiveType } from '../../lib/schema/definition.js';
import { SEP } from '../helpers/definitions.js';
import {
  Choices,
  choices,
  expectedDefinition,
  messages,
  withoutComments,
  type RandomField,
  type RandomMessage,
} from '../helpers/random-definitions.js';

/** Prints with whatever choices a list of numbers makes. */
class Printer {
  readonly #messages: readonly RandomMessage[];
  readonly #choices: Choices;
  readonly #end: string;

  constructor(all: readonly RandomMessage[], numbers: readonly number[]) {
    this.#messages = all;
    this.#choices = new Choices(numbers);
    this.#end = this.#choices.pick(['\n', '\r\n', '\r']);
  }

  name(index: number): string {
    return `${this.#messages[index]?.package ?? ''}/msg/T${index}`;
  }

  text(): string {
    const rest = this.#messages.map((_, index) => index).slice(1);
    const headers = [`MSG: ${this.name(0)}${this.#end}`, `${SEP}${this.#end}MSG: ${this.name(0)}${this.#end}`];
    const root = this.#body(0);
    // A text that begins with the separator has no root but those that headers name.
    let text = this.#choices.pick(root === '' ? headers : ['', '\ufeff', ...headers]) + root;
    for (const index of this.#choices.shuffle(rest)) {
      text += this.#choices.pick([SEP, '===', `${SEP} \t`]) + this.#end;
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
        this.#choices.below(2) === 0 ? (fields.shift() ?? constants.shift()) : (constants.shift() ?? fields.shift());
      if (this.#choices.below(4) === 0)
        lines.push(this.#choices.pick(['', ' \t', '# a comment', `  #${SEP}`, '# MSG: p/msg/T0', '#"', '\u00a0']));
      lines.push(`${this.#blank(0)}${line ?? ''}${this.#blank(0)}${this.#choices.pick(['', '', '# c', `# it's "x`])}`);
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
    return this.#choices.pick(home === own ? [...forms, `T${index}`] : forms);
  }

  #type({ name, maxLength }: PrimitiveType): string {
    return maxLength === undefined ? name : `${name}<=${maxLength}`;
  }

  #literal(name: PrimitiveName, value: LiteralValue, inArray: boolean): string {
    if (typeof value === 'string') return this.#string(value, inArray);
    if (typeof value === 'boolean') {
      return this.#choices.pick(value ? ['true', 'True', 'TRUE', '1'] : ['false', 'False', 'FALSE', '0']);
    }
    if (name.startsWith('float')) {
      const number = Number(value);
      if (Number.isNaN(number)) return this.#choices.pick(['nan', 'NaN', 'NAN']);
      if (!Number.isFinite(number))
        return (number < 0 ? '-' : this.#choices.pick(['', '+'])) + this.#choices.pick(['inf', 'Infinity', 'INF']);
      return Object.is(number, -0) ? '-0.0' : String(number);
    }
    const integer = BigInt(value);
    const magnitude = integer < 0n ? -integer : integer;
    const digits = this.#choices.pick([
      String(magnitude),
      `0x${magnitude.toString(16)}`,
      `0X${magnitude.toString(16).toUpperCase()}`,
      `0b${magnitude.toString(2)}`,
      `0o${magnitude.toString(8)}`,
      `00${magnitude}`,
    ]);
    return integer < 0n ? `-${digits}` : this.#choices.pick(['', '', '+']) + digits;
  }

  #string(value: string, inArray: boolean): string {
    if (!inArray && /^[A-Za-z0-9/._-]+( [A-Za-z0-9/._-]+)*$/.test(value) && this.#choices.below(2) === 0) return value;
    const quote = this.#choices.pick([`"`, `'`]);
    let text = '';
    for (const char of value) {
      const code = char.codePointAt(0) ?? 0;
      if (char === quote || char === '\\') text += `\\${char}`;
      else if (code < 32 || (code >= 0x7f && code < 0xa1)) text += `\\x${code.toString(16).padStart(2, '0')}`;
      else if (code > 0xffff && this.#choices.below(2) === 0) text += `\\U${code.toString(16).padStart(8, '0')}`;
      else if (code > 0xff && code <= 0xffff && this.#choices.below(2) === 0)
        text += `\\u${code.toString(16).padStart(4, '0')}`;
      else text += char;
    }
    return quote + text + quote;
  }

  #blank(minimum: number): string {
    const blanks = ['', ' ', '\t', '  ', ' \t ', '\u00a0'];
    return this.#choices.pick(blanks.slice(minimum));
  }
}

test('whatever definitions are printed as .msg text, in whatever shape, are parsed back', (t) => {
  fc.assert(
    fc.property(messages, choices, (all, numbers) => {
      const printer = new Printer(all, numbers);
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
