/** Constants of IDL: expressions to values, and values to literals of a type. */
import type { EnumType, LiteralValue, PrimitiveType } from './definition.js';
import type { IdlExpression, IdlName } from './idl-ast.js';
import { applyBinary, applyUnary, type IdlValue } from './idl-expression.js';
import {
  floatOfType,
  integerOfType,
  parseArrayLiteral,
  parseLiteral,
  stringOfType,
  type LiteralResult,
} from './literals.js';

/** Evaluates an expression; `valueOf` gives a constant's value by name. */
export function evaluate(
  expression: IdlExpression,
  valueOf: (name: IdlName) => LiteralResult<IdlValue>,
): LiteralResult<IdlValue> {
  switch (expression.kind) {
    case 'literal':
      return { value: expression.value };
    case 'name':
      return valueOf(expression.name);
    case 'unary': {
      const operand = evaluate(expression.operand, valueOf);
      if ('problem' in operand) return operand;
      return resultOf(applyUnary(expression.operator, operand.value), expression.operator);
    }
    case 'binary': {
      const left = evaluate(expression.left, valueOf);
      if ('problem' in left) return left;
      const right = evaluate(expression.right, valueOf);
      if ('problem' in right) return right;
      return resultOf(applyBinary(expression.operator, left.value, right.value), expression.operator);
    }
  }
}

/** A value as a literal of a primitive type, if it is in its range. */
export function literalOfType(type: PrimitiveType, value: IdlValue): LiteralResult {
  switch (type.name) {
    case 'string':
    case 'wstring':
      return typeof value === 'string' ? stringOfType(type, value) : { problem: 'not a string' };
    case 'bool':
      if (typeof value === 'boolean') return { value };
      return value === 0n || value === 1n ? { value: value === 1n } : { problem: 'not a boolean' };
    case 'float32':
    case 'float64':
      if (typeof value === 'bigint' || typeof value === 'number') return floatOfType(type.name, Number(value));
      return typeof value === 'string' ? parseLiteral(type, value) : { problem: `not a number of type ${type.name}` };
    default:
      if (typeof value === 'bigint') return integerOfType(type.name, value);
      if (typeof value === 'string' && value.length === 1 && (type.name === 'char' || type.name === 'wchar')) {
        return integerOfType(type.name, BigInt(value.charCodeAt(0)));
      }
      return { problem: `not an integer of type ${type.name}` };
  }
}

/** A value as an enumerator's number. */
export function literalOfEnum(type: EnumType, value: IdlValue): LiteralResult {
  let numbers = enumerators.get(type);
  if (numbers === undefined) {
    numbers = new Map<IdlValue, LiteralValue>();
    for (const member of type.members)
      numbers.set(member.name, member.value).set(BigInt(Number(member.value)), member.value);
    enumerators.set(type, numbers);
  }
  const found = numbers.get(value);
  return found === undefined ? { problem: `not an enumerator of ${type.name}` } : { value: found };
}

/** Each enum's numbers, by name and by number. */
const enumerators = new WeakMap<EnumType, Map<IdlValue, LiteralValue>>();

/** The default of an array: rosidl writes Python's form of a tuple into a string, `"(1, 2)"`. */
export function literalsOfText(type: PrimitiveType, value: IdlValue): LiteralResult<LiteralValue[]> {
  if (typeof value !== 'string' || !/^[([]/.test(value)) return { problem: 'not the text of an array' };
  return parseArrayLiteral(type, `[${value.slice(1, -1)}]`);
}

function resultOf(value: IdlValue | undefined, operator: string): LiteralResult<IdlValue> {
  return value === undefined ? { problem: `${operator} has no value here` } : { value };
}

/** `nan`, `inf` and `-inf`, as rosidl writes them. */
export function specialFloat(expression: IdlExpression): number | undefined {
  if (expression.kind === 'unary') {
    const value = specialFloat(expression.operand);
    return value !== undefined && expression.operator === '-' ? -value : value;
  }
  if (expression.kind !== 'name' || expression.name.parts.length !== 1) return undefined;
  const name = expression.name.parts[0]?.toLowerCase();
  return name === 'nan' ? Number.NaN : name === 'inf' || name === 'infinity' ? Number.POSITIVE_INFINITY : undefined;
}
