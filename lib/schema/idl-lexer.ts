/**
 * Tokens of IDL texts (OMG IDL 4.2, section 7.2). Comments and preprocessor lines are space: the recorded text is whole
 * already, so an `#include` says nothing.
 */
import { isSpace } from './sections.js';
import type { SourceText } from './source-text.js';

export type TokenKind = 'name' | 'number' | 'string' | 'char' | 'punctuation' | 'end';

export interface Token {
  readonly kind: TokenKind;
  /** As it stands; of a string or character what is between the quotes, escapes not decoded. */
  readonly text: string;
  readonly offset: number;
}

const NUMBER = /0[xX][0-9a-fA-F]+[lLuU]*|(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?[dDfFlLuU]*/y;
const NAME = /[A-Za-z_][A-Za-z0-9_]*/y;

/** Reads a part of a text token by token. */
export class IdlLexer {
  readonly source: SourceText;
  readonly #text: string;
  readonly #end: number;
  #position: number;
  #token: Token;
  #previousEnd: number;

  constructor(source: SourceText, start: number, end: number) {
    this.source = source;
    this.#text = source.text;
    this.#position = start;
    this.#end = end;
    this.#previousEnd = start;
    this.#token = this.#scan();
  }

  /** The token that is next. */
  get token(): Token {
    return this.#token;
  }

  /** Where the token before it ended. */
  get previousEnd(): number {
    return this.#previousEnd;
  }

  /** Goes past the next token and returns it. */
  next(): Token {
    const token = this.#token;
    this.#previousEnd = this.#position;
    this.#token = this.#scan();
    return token;
  }

  /** Goes past the next token if it is this name or punctuation. */
  take(text: string): boolean {
    if (!this.at(text)) return false;
    this.next();
    return true;
  }

  at(text: string): boolean {
    const { kind } = this.#token;
    return (kind === 'name' || kind === 'punctuation') && this.#token.text === text;
  }

  /** Goes past this name or punctuation, which must stand here. */
  expect(text: string): Token {
    if (!this.at(text)) throw this.unexpected(`'${text}'`);
    return this.next();
  }

  /** Any name; keywords are names too where a name must stand, as ROS 2 packages have fields `sequence` and `module`. */
  expectName(what: string): Token {
    if (this.#token.kind !== 'name') throw this.unexpected(what);
    return this.next();
  }

  unexpected(wanted: string): Error {
    const { kind, text, offset } = this.#token;
    const found = kind === 'end' ? 'the text ends' : `'${text.slice(0, 40)}' stands`;
    return this.source.error('SCHEMA_SYNTAX', `${found} where ${wanted} must stand`, offset);
  }

  #scan(): Token {
    const text = this.#text;
    const offset = this.#skipSpace();
    if (offset >= this.#end) {
      this.#position = this.#end;
      return { kind: 'end', text: '', offset: this.#end };
    }
    const char = text.charAt(offset);
    if (char === '"') return this.#quoted('string', offset, offset);
    if (char === "'") return this.#quoted('char', offset, offset);
    if (char === 'L' && text[offset + 1] === '"') return this.#quoted('string', offset, offset + 1);
    if (char === 'L' && text[offset + 1] === "'") return this.#quoted('char', offset, offset + 1);
    const name = match(NAME, text, offset);
    if (name !== undefined) return this.#make('name', name, offset);
    const number = match(NUMBER, text, offset);
    if (number !== undefined) return this.#make('number', number, offset);
    const pair = text.slice(offset, offset + 2);
    return this.#make('punctuation', pair === '::' || pair === '<<' ? pair : char, offset);
  }

  #make(kind: TokenKind, text: string, offset: number): Token {
    this.#position = offset + text.length;
    return { kind, text, offset };
  }

  #quoted(kind: TokenKind, offset: number, quote: number): Token {
    const text = this.#text;
    let i = quote + 1;
    while (i < this.#end && text[i] !== text[quote]) i += text[i] === '\\' ? 2 : 1;
    if (i >= this.#end)
      throw this.source.error('SCHEMA_SYNTAX', `the ${kind === 'char' ? 'character' : kind} does not end`, offset);
    this.#position = i + 1;
    return { kind, text: text.slice(quote + 1, i), offset };
  }

  #skipSpace(): number {
    const text = this.#text;
    let i = this.#position;
    while (i < this.#end) {
      const code = text.charCodeAt(i);
      if (isSpace(code)) i++;
      else if (code === 0x2f && text[i + 1] === '/') i = this.#lineEnd(i, false);
      else if (code === 0x2f && text[i + 1] === '*') {
        const close = text.indexOf('*/', i + 2);
        if (close < 0 || close + 2 > this.#end) throw this.source.error('SCHEMA_SYNTAX', 'the comment does not end', i);
        i = close + 2;
      } else if (code === 0x23) i = this.#lineEnd(i, true);
      else break;
    }
    return i;
  }

  /** The end of the line; a preprocessor line goes on after a backslash at its end. */
  #lineEnd(from: number, preprocessor: boolean): number {
    const text = this.#text;
    let i = from;
    while (i < this.#end) {
      if (text[i] === '\n' || text[i] === '\r') {
        if (!preprocessor || text[i - 1] !== '\\') break;
        if (text[i] === '\r' && text[i + 1] === '\n') i++;
      }
      i++;
    }
    return i;
  }
}

function match(pattern: RegExp, text: string, offset: number): string | undefined {
  pattern.lastIndex = offset;
  return pattern.exec(text)?.[0];
}
