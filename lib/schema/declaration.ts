/**
 * What a text declares, before names are looked up: the form between the parsers (ros2msg, IDL) and the resolver.
 * Places are offsets into the text, so that lines are counted only when something is wrong.
 */
import type {
  ConstantDefinition,
  EnumType,
  Extensibility,
  FieldDefinition,
  LiteralValue,
  PrimitiveType,
} from './definition.js';
import type { SourceText } from './source-text.js';

/** A type by name. The first candidate that is declared is meant. */
export interface ReferenceType {
  readonly kind: 'reference';
  /** Keys in the table of messages, canonical names, best first. */
  readonly candidates: readonly string[];
  /** As the text spells it. */
  readonly spelling: string;
  readonly offset: number;
}

/** A construct without a ROS 2 form: an error only where the root needs it. */
export interface UnsupportedType {
  readonly kind: 'unsupported';
  /** E.g. `union U`. */
  readonly construct: string;
  readonly offset: number;
}

export type DeclaredType =
  | PrimitiveType
  | EnumType
  | ReferenceType
  | UnsupportedType
  | { readonly kind: 'array'; readonly element: DeclaredType; readonly length: number }
  | { readonly kind: 'sequence'; readonly element: DeclaredType; readonly maxLength?: number };

/** Everything of a field but its type, which stays to be looked up. */
export interface DeclaredField extends Omit<FieldDefinition, 'type'> {
  readonly type: DeclaredType;
  readonly offset: number;
}

export interface DeclaredMessage {
  /** Canonical name. */
  readonly name: string;
  readonly extensibility: Extensibility;
  readonly fields: readonly DeclaredField[];
  readonly constants: readonly ConstantDefinition[];
  readonly comment?: string;
  /** Set where the type itself is a construct without a ROS 2 form, such as a union. */
  readonly unsupported?: UnsupportedType;
  readonly offset: number;
}

/** Messages by key. A Map, because a type may be named `__proto__`. */
export type MessageTable = Map<string, DeclaredMessage>;

/**
 * Puts a message into the table. The same declaration twice is fine: recorders write such texts.
 *
 * @throws McapStreamsError SCHEMA_CONFLICTING_DEFINITIONS where another declaration has the key
 */
export function declareMessage(source: SourceText, table: MessageTable, key: string, message: DeclaredMessage): void {
  const before = table.get(key);
  if (before === undefined) table.set(key, message);
  else if (contentOf(before) !== contentOf(message)) {
    const problem = `${message.name} is defined twice with different content`;
    throw source.error('SCHEMA_CONFLICTING_DEFINITIONS', problem, message.offset);
  }
}

/** What two equal declarations have in common: all but comments, places and spelling. */
function contentOf(message: DeclaredMessage): string {
  return JSON.stringify(message, (key, value: unknown) =>
    key === 'comment' || key === 'offset' || key === 'spelling' ? undefined : value,
  );
}

/** How many arrays and sequences are inside one another. */
export function depthOf(type: DeclaredType): number {
  let depth = 0;
  for (let inner = type; inner.kind === 'array' || inner.kind === 'sequence'; inner = inner.element) depth++;
  return depth;
}

/** A field or constant that `JSON.stringify` takes, whatever its value. */
export function jsonable<T extends { value?: LiteralValue } | { defaultValue?: FieldDefinition['defaultValue'] }>(
  object: T,
): T {
  const literal = 'value' in object ? object.value : 'defaultValue' in object ? object.defaultValue : undefined;
  const values = Array.isArray(literal) ? (literal as readonly unknown[]) : [literal];
  if (values.every((value) => jsonLiteral(value) === value)) return object;
  const toJSON = function (this: T): object {
    return Object.fromEntries(
      Object.entries(this).map(([key, value]: [string, unknown]) => [
        key,
        Array.isArray(value) ? value.map(jsonLiteral) : jsonLiteral(value),
      ]),
    );
  };
  return Object.defineProperty(object, 'toJSON', { value: toJSON, enumerable: false });
}

/** JSON has no 64-bit integers, no infinities and no NaN: they become texts there. */
function jsonLiteral(value: unknown): unknown {
  if (typeof value === 'bigint') return value.toString();
  return typeof value === 'number' && !Number.isFinite(value) ? String(value) : value;
}
