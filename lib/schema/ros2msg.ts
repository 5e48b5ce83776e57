/**
 * The line grammar of .msg texts (rosidl, "Interface definition"): `type name`, `type name default`, `type NAME=value`,
 * comments from `#`. Line by line and without backtracking, so that no text is slow.
 *
 * A line that cannot be a field is an error. A constant or a default that cannot be read is left out with a warning: it
 * takes no bytes of the payload, so the messages can be decoded without it.
 */
import type { ConstantDefinition, LiteralValue, PrimitiveName } from './definition.js';
import { jsonable, type DeclaredField, type DeclaredMessage, type DeclaredType } from './declaration.js';
import { closingQuote, parseArrayLiteral, parseLiteral } from './literals.js';
import { baseName, canonicalName, FAST_DDS, isIdentifier, packageOf, splitTypeName } from './names.js';
import { isSeparator, isSpace, lineEnd, lineWith, nextLine, skipSpace } from './sections.js';
import type { SourceText } from './source-text.js';

/** Largest count that CDR can write. */
const MAX_COUNT = 4294967295;

const PRIMITIVES: ReadonlySet<string> = new Set<PrimitiveName>([
  'bool',
  'byte',
  'char',
  'int8',
  'uint8',
  'int16',
  'uint16',
  'int32',
  'uint32',
  'int64',
  'uint64',
  'float32',
  'float64',
  'string',
  'wstring',
]);

/** ROS 1's own names of types; a package may have types with these names. */
const LEGACY: ReadonlyMap<string, string> = new Map([
  ['Header', 'std_msgs/msg/Header'],
  ['time', 'builtin_interfaces/msg/Time'],
  ['duration', 'builtin_interfaces/msg/Duration'],
]);

/** Reads the message `name` (canonical) from a part of the text. */
export function parseMessageText(source: SourceText, name: string, start: number, end: number): DeclaredMessage {
  return new MessageReader(source, name).read(start, end);
}

/** The offsets of the lines `---` in a part of the text: [line start, line end). */
export function findInterfaceBreaks(text: string, start: number, end: number): [number, number][] {
  const breaks: [number, number][] = [];
  for (let from = lineWith(text, '---', start); from >= 0 && from < end;) {
    const to = lineEnd(text, from);
    if (isInterfaceBreak(text, skipSpace(text, from, to), to)) breaks.push([from, to]);
    from = lineWith(text, '---', nextLine(text, to));
  }
  return breaks;
}

/** `---`, alone or before a comment. */
function isInterfaceBreak(text: string, first: number, to: number): boolean {
  if (!text.startsWith('---', first)) return false;
  let i = first + 3;
  while (i < to && text[i] === '-') i++;
  i = skipSpace(text, i, to);
  return i === to || text[i] === '#';
}

class MessageReader {
  readonly #source: SourceText;
  readonly #text: string;
  readonly #name: string;
  readonly #fields: DeclaredField[] = [];
  readonly #fieldNames = new Set<string>();
  readonly #constants = new Map<string, ConstantDefinition>();
  /** Comment lines that wait for the line they belong to. */
  #pending: string[] = [];
  #comment: string | undefined;
  #statements = 0;

  constructor(source: SourceText, name: string) {
    this.#source = source;
    this.#text = source.text;
    this.#name = name;
  }

  read(start: number, end: number): DeclaredMessage {
    const text = this.#text;
    for (let from = start; from < end;) {
      const to = Math.min(lineEnd(text, from), end);
      const first = skipSpace(text, from, to);
      if (first === to) this.#endOfBlock();
      else if (text[first] === '#') this.#pending.push(commentText(text.slice(first, to)));
      else this.#statement(first, to);
      from = nextLine(text, to);
    }
    if (this.#statements === 0) this.#endOfBlock();
    return {
      name: this.#name,
      extensibility: 'final',
      fields: this.#fields,
      constants: [...this.#constants.values()],
      ...(this.#comment === undefined ? {} : { comment: this.#comment }),
      offset: start,
    };
  }

  /** A blank line: the first block of comments, before any field, is the message's own. */
  #endOfBlock(): void {
    if (this.#pending.length === 0) return;
    if (this.#statements === 0 && this.#comment === undefined) this.#comment = this.#pending.join('\n');
    this.#pending = [];
  }

  #statement(first: number, to: number): void {
    if (isInterfaceBreak(this.#text, first, to)) {
      throw this.#source.error('SCHEMA_SYNTAX', `a message has no parts, so '---' cannot stand in it`, first);
    }
    if (isSeparator(this.#text, first, to)) {
      throw this.#source.error(
        'SCHEMA_SYNTAX',
        `after a line of '=' a header such as 'MSG: package/msg/Type' must stand`,
        first,
      );
    }
    this.#statements++;
    const line = new LineReader(this.#source, first, to);
    let type: DeclaredType;
    let name: string;
    try {
      type = line.readType(this.#name);
      name = line.readName();
    } catch (error) {
      if (!looksLikeConstant(this.#text.slice(first, to))) throw error;
      this.#source.warn('constant left out: its type or its name cannot be read', this.#name, first);
      this.#pending = [];
      return;
    }
    const rest = skipSpace(this.#text, line.position, to);
    if (this.#text[rest] === '=') this.#constant(type, name, first, rest + 1, to);
    else this.#field(type, name, first, rest, to);
  }

  #constant(type: DeclaredType, name: string, offset: number, from: number, to: number): void {
    const [text, trailing] = splitComment(this.#text, from, to, type.kind === 'primitive');
    const comment = this.#takeComment(trailing);
    if (type.kind !== 'primitive') {
      this.#source.warn(`constant ${name} left out: its type is not a primitive`, this.#name, offset);
      return;
    }
    const result = parseLiteral(type, text);
    if ('problem' in result) {
      this.#source.warn(`constant ${name} left out: ${result.problem}`, this.#name, offset);
      return;
    }
    const before = this.#constants.get(name);
    if (before !== undefined) {
      if (before.type.name === type.name && Object.is(before.value, result.value)) return;
      this.#source.warn(`constant ${name} left out: it has a value already`, this.#name, offset);
      return;
    }
    this.#constants.set(name, jsonable({ name, type, value: result.value, ...comment }));
  }

  #field(type: DeclaredType, name: string, offset: number, from: number, to: number): void {
    if (this.#fieldNames.has(name)) {
      throw this.#source.error('SCHEMA_DUPLICATE_FIELD', `${this.#name} has two fields ${name}`, offset);
    }
    this.#fieldNames.add(name);
    const [text, trailing] = splitComment(this.#text, from, to, true);
    const comment = this.#takeComment(trailing);
    const defaultValue = text === '' ? undefined : this.#defaultOf(type, name, text, from);
    this.#fields.push(
      jsonable({ name, type, ...(defaultValue === undefined ? {} : { defaultValue }), ...comment, offset }),
    );
  }

  #defaultOf(
    type: DeclaredType,
    name: string,
    text: string,
    offset: number,
  ): LiteralValue | readonly LiteralValue[] | undefined {
    let problem: string;
    if (type.kind === 'primitive') {
      const result = parseLiteral(type, text);
      if ('value' in result) return result.value;
      ({ problem } = result);
    } else if ((type.kind === 'array' || type.kind === 'sequence') && type.element.kind === 'primitive') {
      const result = parseArrayLiteral(type.element, text);
      if ('value' in result) {
        const count = result.value.length;
        const fits = type.kind === 'array' ? count === type.length : count <= (type.maxLength ?? MAX_COUNT);
        if (fits) return result.value;
        problem = `it has ${count} elements`;
      } else ({ problem } = result);
    } else problem = 'only primitives and arrays of them have defaults';
    this.#source.warn(`default of ${name} left out: ${problem}`, this.#name, offset);
    return undefined;
  }

  #takeComment(trailing: string | undefined): { comment?: string } {
    const lines = this.#pending;
    this.#pending = [];
    if (trailing !== undefined) lines.push(commentText(trailing));
    return lines.length === 0 ? {} : { comment: lines.join('\n') };
  }
}

/** Reads the type and the name at the front of a line. */
class LineReader {
  readonly #source: SourceText;
  readonly #text: string;
  readonly #end: number;
  position: number;

  constructor(source: SourceText, start: number, end: number) {
    this.#source = source;
    this.#text = source.text;
    this.position = start;
    this.#end = end;
  }

  readType(owner: string): DeclaredType {
    const start = this.position;
    while (this.position < this.#end && isTypeChar(this.#text.charCodeAt(this.position))) this.position++;
    const spelling = this.#text.slice(start, this.position);
    const element = this.#elementType(spelling, owner, start);
    this.#skip();
    if (this.#text[this.position] !== '[' || this.position >= this.#end) return element;
    this.position++;
    this.#skip();
    if (this.#take(']')) return { kind: 'sequence', element };
    const bounded = this.#take('<=');
    const count = this.#readCount('the number of elements');
    this.#skip();
    if (!this.#take(']')) throw this.#fail(`']' is missing`);
    if (bounded) return { kind: 'sequence', element, maxLength: count };
    return { kind: 'array', element, length: count };
  }

  readName(): string {
    this.#skip();
    const start = this.position;
    while (this.position < this.#end) {
      const code = this.#text.charCodeAt(this.position);
      if (isSpace(code) || code === 0x3d || code === 0x23) break;
      this.position++;
    }
    const name = this.#text.slice(start, this.position);
    if (name === '') throw this.#fail('the name is missing');
    if (isIdentifier(name)) return name;
    throw this.#fail(`'${name.slice(0, 40)}' is not a name`, start);
  }

  #elementType(spelling: string, owner: string, start: number): DeclaredType {
    if (spelling === 'string' || spelling === 'wstring') {
      const back = this.position;
      this.#skip();
      if (!this.#take('<=')) {
        this.position = back;
        return { kind: 'primitive', name: spelling };
      }
      const maxLength = this.#readCount('the bound of a string');
      return { kind: 'primitive', name: spelling, maxLength };
    }
    if (PRIMITIVES.has(spelling)) return { kind: 'primitive', name: spelling as PrimitiveName };
    const parts = splitTypeName(spelling);
    if (parts.length === 0 || !parts.every(isIdentifier)) {
      throw this.#fail(spelling === '' ? 'a type must stand here' : `'${spelling.slice(0, 80)}' is not a type`, start);
    }
    return { kind: 'reference', candidates: candidatesOf(parts, owner), spelling, offset: start };
  }

  #readCount(what: string): number {
    this.#skip();
    const start = this.position;
    while (this.position < this.#end && isDigit(this.#text.charCodeAt(this.position))) this.position++;
    if (this.position === start) throw this.#fail(`${what} must stand here`);
    const count = Number(this.#text.slice(start, this.position));
    if (count > MAX_COUNT) throw this.#source.error('SCHEMA_LIMIT', `${what} is above ${MAX_COUNT}`, start);
    return count;
  }

  #take(token: string): boolean {
    if (!this.#text.startsWith(token, this.position) || this.position + token.length > this.#end) return false;
    this.position += token.length;
    return true;
  }

  #skip(): void {
    this.position = skipSpace(this.#text, this.position, this.#end);
  }

  #fail(problem: string, offset: number = this.position): Error {
    return this.#source.error('SCHEMA_SYNTAX', problem, offset);
  }
}

/**
 * What a type's name may mean in the message `owner`. A bare name is of the owner's package: never another package's type
 * of that name. ROS 1's `Header`, `time` and `duration` are known where the package has none, and so is the name that
 * eProsima's recorder gives a type without a package.
 */
function candidatesOf(parts: readonly string[], owner: string): string[] {
  if (parts.length > 1) return [canonicalName(parts)];
  const [name = ''] = parts;
  const home = packageOf(owner);
  const candidates = home === '' ? [name] : [`${home}/msg/${name}`];
  const middle = owner.slice(home.length + 1, -baseName(owner).length - 1);
  if (home !== '' && middle !== 'msg' && middle !== '') candidates.push(`${home}/${middle}/${name}`);
  const legacy = LEGACY.get(name);
  if (legacy !== undefined) candidates.push(legacy);
  candidates.push(`${FAST_DDS}/msg/${name}`);
  return candidates;
}

/** Splits the rest of a line into its value (trimmed) and its comment. A `#` inside a quoted string is text. */
function splitComment(text: string, from: number, to: number, strings: boolean): [string, string | undefined] {
  let i = skipSpace(text, from, to);
  const start = i;
  const array = text[i] === '[';
  let fresh = strings;
  while (i < to) {
    const char = text[i];
    if (char === '#') return [trimmed(text, start, i), text.slice(i, to)];
    if (fresh && (char === '"' || char === "'")) {
      const close = closingQuote(text, i, to);
      if (close > 0) i = close;
      fresh = false;
    } else if (array && (char === ',' || char === '[')) fresh = true;
    else if (!isSpace(text.charCodeAt(i))) fresh = false;
    i++;
  }
  return [trimmed(text, start, to), undefined];
}

function trimmed(text: string, start: number, end: number): string {
  let last = end;
  while (last > start && isSpace(text.charCodeAt(last - 1))) last--;
  return text.slice(start, last);
}

/** `# text`: without the signs and the one blank after them. */
function commentText(comment: string): string {
  return comment.replace(/^#+ ?/, '').trimEnd();
}

/** `something NAME = value`, where something is no type or NAME no name. */
function looksLikeConstant(line: string): boolean {
  const comment = line.indexOf('#');
  const statement = comment < 0 ? line : line.slice(0, comment);
  const equals = statement.search(/(?<!<)=/);
  if (equals < 0) return false;
  return statement.slice(0, equals).trim().split(/\s+/).length === 2;
}

function isTypeChar(code: number): boolean {
  return (
    (code >= 0x61 && code <= 0x7a) ||
    (code >= 0x41 && code <= 0x5a) ||
    isDigit(code) ||
    code === 0x5f ||
    code === 0x2f ||
    code === 0x3a ||
    code === 0x2e
  );
}

function isDigit(code: number): boolean {
  return code >= 0x30 && code <= 0x39;
}
