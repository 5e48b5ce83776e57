/** Constant expressions of IDL (OMG IDL 4.2, 7.4.1.4.3): read into trees, and their operators. */
import type { IdlExpression, IdlName } from './idl-ast.js';
import type { IdlLexer, Token } from './idl-lexer.js';
import { unescapeString } from './literals.js';

export type IdlValue = bigint | number | string | boolean;

/** Parts inside one another: more is no real expression. */
const MAX_EXPRESSION_DEPTH = 100;

/** Integers beyond this are of no type, and only slow. */
const MAX_MAGNITUDE = 2n ** 128n;

const BINARY: readonly (readonly string[])[] = [['|'], ['^'], ['&'], ['<<', '>>'], ['+', '-'], ['*', '/', '%']];

/** Reads an expression. `readName` reads a scoped name at the lexer's place. */
export function readExpression(lexer: IdlLexer, readName: () => IdlName): IdlExpression {
  return new ExpressionReader(lexer, readName).binary(0, 0);
}

/** Reads an expression where `>` ends it: the bound in `sequence<T, N>`. Only parentheses let `>>` in there. */
export function readBound(lexer: IdlLexer, readName: () => IdlName): IdlExpression {
  return new ExpressionReader(lexer, readName, true).binary(0, 0);
}

class ExpressionReader {
  readonly #lexer: IdlLexer;
  readonly #readName: () => IdlName;
  #angle: boolean;

  constructor(lexer: IdlLexer, readName: () => IdlName, angle = false) {
    this.#lexer = lexer;
    this.#readName = readName;
    this.#angle = angle;
  }

  binary(level: number, nesting: number): IdlExpression {
    const operators = BINARY[level];
    if (operators === undefined) return this.#unary(nesting);
    let left = this.binary(level + 1, nesting);
    for (;;) {
      const operator = this.#takeOperator(operators);
      if (operator === undefined) return left;
      const right = this.binary(level + 1, nesting);
      const depth = 1 + Math.max(left.depth, right.depth);
      const { offset } = left;
      this.#check(depth, offset);
      left = { kind: 'binary', operator, left, right, offset, depth };
    }
  }

  #takeOperator(operators: readonly string[]): string | undefined {
    for (const operator of operators) {
      if (operator === '>>') {
        // Two tokens, so that `sequence<sequence<T>>` needs no blank.
        if (this.#angle || !this.#lexer.at('>')) continue;
        this.#lexer.next();
        this.#lexer.expect('>');
        return operator;
      }
      if (this.#lexer.take(operator)) return operator;
    }
    return undefined;
  }

  #unary(nesting: number): IdlExpression {
    const lexer = this.#lexer;
    const { kind, text, offset } = lexer.token;
    this.#check(nesting, offset);
    if (kind === 'punctuation' && (text === '-' || text === '+' || text === '~')) {
      lexer.next();
      const operand = this.#unary(nesting + 1);
      this.#check(operand.depth + 1, offset);
      return { kind: 'unary', operator: text, operand, offset, depth: operand.depth + 1 };
    }
    if (kind === 'punctuation' && text === '(') {
      lexer.next();
      const angle = this.#angle;
      this.#angle = false;
      const inner = this.binary(0, nesting + 1);
      this.#angle = angle;
      lexer.expect(')');
      return inner;
    }
    return this.#primary();
  }

  #primary(): IdlExpression {
    const lexer = this.#lexer;
    const { token } = lexer;
    const { offset } = token;
    switch (token.kind) {
      case 'number':
        lexer.next();
        return { kind: 'literal', value: numberValue(lexer, token), offset, depth: 0 };
      case 'char':
        lexer.next();
        return { kind: 'literal', value: BigInt(unescapeString(token.text).codePointAt(0) ?? 0), offset, depth: 0 };
      case 'string':
        return { kind: 'literal', value: readStrings(lexer), offset, depth: 0 };
      case 'name': {
        const lower = token.text.toLowerCase();
        if (lower === 'true' || lower === 'false') {
          lexer.next();
          return { kind: 'literal', value: lower === 'true', offset, depth: 0 };
        }
        return { kind: 'name', name: this.#readName(), offset, depth: 0 };
      }
      default:
        if (token.text === '::') return { kind: 'name', name: this.#readName(), offset, depth: 0 };
        throw lexer.unexpected('a value');
    }
  }

  #check(depth: number, offset: number): void {
    if (depth <= MAX_EXPRESSION_DEPTH) return;
    throw this.#lexer.source.error(
      'SCHEMA_LIMIT',
      `an expression is nested more than ${MAX_EXPRESSION_DEPTH} deep`,
      offset,
    );
  }
}

/** Strings side by side are one. */
export function readStrings(lexer: IdlLexer): string {
  const parts: string[] = [];
  while (lexer.token.kind === 'string') parts.push(unescapeString(lexer.next().text));
  return parts.join('');
}

/** The value of an operator, or what is wrong with it. */
export function applyUnary(operator: string, value: IdlValue): IdlValue | undefined {
  if (typeof value === 'bigint') return operator === '-' ? -value : operator === '~' ? ~value : value;
  if (typeof value !== 'number' || operator === '~') return undefined;
  return operator === '-' ? -value : value;
}

/** The value of an operator, or undefined where it has none (wrong kinds, a division by zero, far too large). */
export function applyBinary(operator: string, left: IdlValue, right: IdlValue): IdlValue | undefined {
  if (typeof left === 'bigint' && typeof right === 'bigint') {
    const value = applyInteger(operator, left, right);
    return value === undefined || value >= MAX_MAGNITUDE || value <= -MAX_MAGNITUDE ? undefined : value;
  }
  if (!isNumeric(left) || !isNumeric(right)) return undefined;
  const [a, b] = [Number(left), Number(right)];
  switch (operator) {
    case '+':
      return a + b;
    case '-':
      return a - b;
    case '*':
      return a * b;
    case '/':
      return b === 0 ? undefined : a / b;
    default:
      return undefined;
  }
}

function applyInteger(operator: string, left: bigint, right: bigint): bigint | undefined {
  switch (operator) {
    case '|':
      return left | right;
    case '^':
      return left ^ right;
    case '&':
      return left & right;
    case '<<':
      return right >= 0n && right < 64n ? left << right : undefined;
    case '>>':
      return right >= 0n && right < 64n ? left >> right : undefined;
    case '+':
      return left + right;
    case '-':
      return left - right;
    case '*':
      return left * right;
    case '/':
      return right === 0n ? undefined : left / right;
    case '%':
      return right === 0n ? undefined : left % right;
    default:
      return undefined;
  }
}

function isNumeric(value: IdlValue): value is bigint | number {
  return typeof value === 'bigint' || typeof value === 'number';
}

/** Integers: decimal, `0x` hexadecimal, `0` octal (7.2.6.1). Floating and fixed-point: 7.2.6.4 and 7.2.6.5. */
function numberValue(lexer: IdlLexer, token: Token): bigint | number {
  const { text } = token;
  if (text.length > 400) throw lexer.source.error('SCHEMA_LIMIT', 'a number has too many digits', token.offset);
  if (/^0[xX]/.test(text)) return BigInt(text.replace(/[lLuU]+$/, ''));
  const digits = text.replace(/[dDfFlLuU]+$/, '');
  if (!/^\d+$/.test(digits) || /[dDfF]$/.test(text)) return Number(digits);
  return /^0[0-7]+$/.test(digits) ? BigInt(`0o${digits.slice(1)}`) : BigInt(digits);
}
