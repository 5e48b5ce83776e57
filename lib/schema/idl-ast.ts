/** What IDL texts say, before any name is looked up: names may be used before they are declared, and files in any order. */
import type { Extensibility, PrimitiveType } from './definition.js';

/** A name where it is used: `a::B`, `::a::B` from the outside. */
export interface IdlName {
  readonly parts: readonly string[];
  readonly absolute: boolean;
  /** Names of the modules around, outermost first, and of the struct. */
  readonly scope: IdlScope;
  readonly offset: number;
}

export interface IdlScope {
  readonly modules: readonly string[];
  /** The struct that a member stands in: rosidl keeps a struct's constants in a module `Struct_Constants`. */
  readonly struct?: string;
}

export type IdlExpression = { readonly offset: number; readonly depth: number } & (
  | { readonly kind: 'literal'; readonly value: bigint | number | string | boolean }
  | { readonly kind: 'name'; readonly name: IdlName }
  | { readonly kind: 'unary'; readonly operator: string; readonly operand: IdlExpression }
  | { readonly kind: 'binary'; readonly operator: string; readonly left: IdlExpression; readonly right: IdlExpression }
);

export type IdlType =
  | PrimitiveType
  | { readonly kind: 'text'; readonly name: 'string' | 'wstring'; readonly bound: IdlExpression }
  | { readonly kind: 'sequence'; readonly element: IdlType; readonly bound?: IdlExpression }
  | { readonly kind: 'array'; readonly element: IdlType; readonly size: IdlExpression }
  | { readonly kind: 'named'; readonly name: IdlName }
  | { readonly kind: 'unsupported'; readonly construct: string; readonly offset: number };

export interface IdlMember {
  readonly name: string;
  readonly type: IdlType;
  readonly annotations: IdlAnnotations;
  readonly offset: number;
}

/** The annotations that mean something here; all others are read over. */
export interface IdlAnnotations {
  readonly defaultValue?: IdlExpression;
  readonly optional?: boolean;
  readonly key?: boolean;
  readonly unit?: string;
  readonly comment?: string;
  readonly extensibility?: Extensibility;
  readonly bitBound?: IdlExpression;
  /** An enumerator's number. */
  readonly value?: IdlExpression;
}

export type IdlDeclaration = {
  readonly modules: readonly string[];
  readonly name: string;
  readonly annotations: IdlAnnotations;
  readonly offset: number;
  /** Where its text ends. */
  readonly end: number;
} & (
  | { readonly kind: 'struct'; readonly members: readonly IdlMember[] }
  | { readonly kind: 'typedef'; readonly type: IdlType }
  | { readonly kind: 'const'; readonly type: IdlType; readonly value: IdlExpression }
  | { readonly kind: 'enum'; readonly members: readonly IdlEnumerator[] }
  | { readonly kind: 'unsupported'; readonly construct: string }
);

/** A declaration of one kind. */
export type DeclarationOf<K extends IdlDeclaration['kind']> = Extract<IdlDeclaration, { kind: K }>;

export interface IdlEnumerator {
  readonly name: string;
  readonly value?: IdlExpression;
  readonly comment?: string;
  readonly offset: number;
}

/** `a::msg::B`: the key of a declaration. */
export function scopedName(modules: readonly string[], name: string): string {
  return modules.length === 0 ? name : `${modules.join('::')}::${name}`;
}
