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

/** IDL's names of the primitive types. */
const SPELLINGS = new Map<PrimitiveName, string[]>([
  ['bool', ['boolean']],
  ['byte', ['octet']],
  ['char', ['char']],
  ['int8', ['int8']],
  ['uint8', ['uint8']],
  ['int16', ['int16', 'short']],
  ['uint16', ['uint16', 'unsigned short']],
  ['int32', ['int32', 'long']],
  ['uint32', ['uint32', 'unsigned long']],
  ['int64', ['int64', 'long long']],
  ['uint64', ['uint64', 'unsigned long long']],
  ['float32', ['float']],
  ['float64', ['double']],
]);

/** Prints as a list of tokens, and joins them with any space and any comment. */
class IdlPrinter {
  readonly #messages: readonly RandomMessage[];
  readonly #choices: Choices;
  #typedefs = 0;

  constructor(all: readonly RandomMessage[], numbers: readonly number[]) {
    this.#messages = all;
    this.#choices = new Choices(numbers);
  }

  text(): string {
    const all = this.#messages.map((_, index) => index);
    return this.#choices
      .shuffle(all)
      .map(
        (index) =>
          this.#choices.pick([`${SEP}\nIDL: p/msg/T${index}\n`, `${SEP}  \nIDL: x/Y\n\n`]) +
          this.#join(this.#file(index)),
      )
      .join('\n');
  }

  #file(index: number): string[] {
    const message = this.#messages[index];
    const before: string[] = [];
    const members = (message?.fields ?? []).flatMap((field) => this.#member(field, index, before));
    const constants = (message?.constants ?? []).flatMap(({ name, type, value }) => [
      ...['const', ...this.#type(type), name, '=', ...this.#literal(type.name, value), ';'],
    ]);
    const module = constants.length === 0 ? [] : ['module', `T${index}_Constants`, '{', ...constants, '}', ';'];
    const body = [...before, ...module, ...this.#noise(), 'struct', `T${index}`, '{', ...members, '}', ';'];
    return ['module', message?.package ?? '', '{', 'module', 'msg', '{', ...body, '}', ';', '}', ';'];
  }

  #member(field: RandomField, owner: number, before: string[]): string[] {
    const { name, type, array, defaultValue } = field;
    const element = typeof type === 'number' ? this.#reference(type, owner) : this.#type(type);
    const annotation =
      defaultValue === undefined || typeof type === 'number' ? [] : this.#default(type.name, defaultValue);
    const noise = this.#noise();
    if (array === undefined) return [...noise, ...annotation, ...element, name, ';'];
    const size = this.#size(array.count);
    if (array.kind === 'array') {
      if (this.#choices.below(2) === 0) return [...noise, ...annotation, ...element, name, '[', ...size, ']', ';'];
      const alias = `alias_${owner}_${this.#typedefs++}`;
      before.push('typedef', ...element, alias, '[', ...size, ']', ';');
      return [...annotation, alias, name, ';'];
    }
    const bound = array.kind === 'bounded' ? [',', ...size] : [];
    return [...annotation, ...noise, 'sequence', '<', ...element, ...bound, '>', name, ';'];
  }

  #reference(index: number, owner: number): string[] {
    const home = this.#messages[index]?.package ?? '';
    const forms = [
      [home, '::', 'msg', '::', `T${index}`],
      ['::', home, '::', 'msg', '::', `T${index}`],
    ];
    return this.#choices.pick(home === this.#messages[owner]?.package ? [...forms, [`T${index}`]] : forms);
  }

  #type({ name, maxLength }: PrimitiveType): string[] {
    if (maxLength !== undefined) return [name, '<', ...this.#size(maxLength), '>'];
    return this.#choices.pick(SPELLINGS.get(name) ?? [name]).split(' ');
  }

  #size(count: number): string[] {
    return this.#choices.pick([
      [`${count}`],
      [`0x${count.toString(16)}`],
      ['(', `${count + 2}`, '-', '2', ')'],
      ['1', '*', `${count}`],
    ]);
  }

  #default(name: PrimitiveName, value: LiteralValue | LiteralValue[]): string[] {
    const literal = Array.isArray(value)
      ? [quote(`(${value.map(pythonText).join(', ')})`)]
      : this.#literal(name, value);
    return ['@', 'default', '(', ...this.#choices.pick([['value', '='], []]), ...literal, ')'];
  }

  #literal(name: PrimitiveName, value: LiteralValue): string[] {
    if (typeof value === 'boolean') return [value ? 'TRUE' : 'FALSE'];
    if (typeof value === 'string') {
      const half = Array.from(value)
        .slice(0, value.length / 2)
        .join('');
      const whole = [quote(value)];
      return this.#choices.pick([
        whole,
        [quote(half), quote(value.slice(half.length))],
        name === 'wstring' ? [`L${quote(value)}`] : whole,
      ]);
    }
    if (name.startsWith('float')) {
      const number = Number(value);
      const sign = number < 0 || Object.is(number, -0) ? ['-'] : [];
      const size = Math.abs(number);
      if (Number.isNaN(size)) return ['nan'];
      if (!Number.isFinite(size)) return [...sign, 'inf'];
      // An integer has no sign at zero.
      return [...sign, Number.isInteger(size) && size < 1e20 ? `${size}.` : String(size)];
    }
    const integer = BigInt(value);
    const size = integer < 0n ? -integer : integer;
    return [
      ...(integer < 0n ? ['-'] : []),
      this.#choices.pick([String(size), `0x${size.toString(16)}`, `0${size.toString(8)}`]),
    ];
  }

  #noise(): string[] {
    return this.#choices.pick([
      [],
      [],
      ['@', 'verbatim', '(', 'language', '=', '"comment"', ',', 'text', '=', '"a }; \\" //"', '"b"', ')'],
      ['@', 'transfer_mode', '(', 'SHMEM_REF', ')'],
      ['@', 'my', '::', 'own', '(', '{', '1', '}', ')'],
      ['@', 'range', '(', 'min', '=', '-', '1', ',', 'max', '=', '0.5', ')'],
    ]);
  }

  #join(tokens: readonly string[]): string {
    const spaces = [' ', '\n', '\t', '\r\n', ' /* } " */ ', '// ; {\n', '\n#pragma x { \\\n more\n', '/**/', '\u00a0'];
    let text = '';
    tokens.forEach((token, i) => {
      const tight = i > 0 && /^[^\w".]|[^\w".]$/.test(`${tokens[i - 1]?.at(-1) ?? ''}${token.charAt(0)}`);
      text += (tight && this.#choices.below(2) === 0 ? '' : this.#choices.pick(spaces)) + token;
    });
    return text;
  }
}

function quote(text: string): string {
  return `"${escape(text, '"')}"`;
}

/** As Python's repr() writes a value of a tuple. */
function pythonText(value: LiteralValue): string {
  if (typeof value === 'boolean') return value ? 'True' : 'False';
  if (typeof value === 'string') return `'${escape(value, "'")}'`;
  if (typeof value === 'number' && !Number.isFinite(value)) {
    return Number.isNaN(value) ? 'nan' : value < 0 ? '-inf' : 'inf';
  }
  return Object.is(value, -0) ? '-0.0' : String(value);
}

function escape(text: string, quotes: string): string {
  let escaped = '';
  for (const char of text) {
    const code = char.codePointAt(0) ?? 0;
    if (char === quotes || char === '\\') escaped += `\\${char}`;
    else escaped += code < 32 ? `\\x${code.toString(16).padStart(2, '0')}` : char;
  }
  return escaped;
}

/** IDL has no way to write a constant that is nan or infinite; some tools read `inf` as a name. */
function forIdl(all: readonly RandomMessage[]): RandomMessage[] {
  return all.map((message) => ({
    ...message,
    constants: message.constants.filter(({ value }) => typeof value !== 'number' || Number.isFinite(value)),
  }));
}

test('whatever definitions are printed as IDL, in whatever order and with whatever between, are parsed back', (t) => {
  fc.assert(
    fc.property(messages, choices, (random, numbers) => {
      const all = forIdl(random);
      const data = new IdlPrinter(all, numbers).text();
      const definition = parseSchema({ name: `${all[0]?.package ?? ''}/msg/T0`, encoding: 'ros2idl', data });
      t.deepEqual(withoutComments(definition), expectedDefinition(all, 0), data);
    }),
    { numRuns: 500 },
  );
});
