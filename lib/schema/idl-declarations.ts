/**
 * From IDL's declarations to messages: names looked up from the inside out, typedefs put in, sizes and constants worked
 * out. Structs keep references, which the resolver follows.
 */
import type {
  ConstantDefinition,
  EnumType,
  Extensibility,
  LiteralValue,
  PrimitiveName,
  PrimitiveType,
} from './definition.js';
import { declareMessage, jsonable, type DeclaredField, type DeclaredType, type MessageTable } from './declaration.js';
import {
  scopedName,
  type IdlDeclaration,
  type IdlExpression,
  type IdlMember,
  type IdlName,
  type IdlType,
} from './idl-ast.js';
import type { IdlValue } from './idl-expression.js';
import { evaluate, literalOfEnum, literalOfType, literalsOfText } from './idl-values.js';
import { INTEGER_RANGES, type LiteralResult } from './literals.js';
import { canonicalName, normalizeTypeName, splitTypeName } from './names.js';
import type { SourceText } from './source-text.js';

/** Typedefs of typedefs, constants of constants: more is no real text, and would use up the stack. */
const MAX_CHAIN = 256;

/** Largest count that CDR can write. */
const MAX_COUNT = 4294967295n;

type Kind = IdlDeclaration['kind'];
type Of<K extends Kind> = Extract<IdlDeclaration, { kind: K }>;

/** Declares all structs of the text in the table. `extensibility` is that of a struct without an annotation. */
export function declareIdl(
  source: SourceText,
  table: MessageTable,
  declarations: readonly IdlDeclaration[],
  extensibility: Extensibility,
): void {
  new IdlScopes(source, declarations).declare(table, extensibility);
}

class IdlScopes {
  readonly #source: SourceText;
  readonly #declarations: readonly IdlDeclaration[];
  /** All but the second and later of one name. */
  readonly #byName = new Map<string, IdlDeclaration>();
  /** Enumerators, in the scope around their enum and in the enum's own. */
  readonly #enumerators = new Map<string, { readonly owner: Of<'enum'>; readonly index: number }>();
  /** Keys in the message table, by scoped name. */
  readonly #keys = new Map<string, string>();
  readonly #constants = new Map<IdlDeclaration, LiteralResult<IdlValue>>();
  readonly #enums = new Map<IdlDeclaration, EnumType>();
  readonly #typedefs = new Map<IdlDeclaration, DeclaredType>();
  readonly #open = new Set<IdlDeclaration>();

  constructor(source: SourceText, declarations: readonly IdlDeclaration[]) {
    this.#source = source;
    this.#declarations = declarations;
    const canonicalNames = new Set<string>();
    for (const declaration of declarations) {
      const scoped = scopedName(declaration.modules, declaration.name);
      const before = this.#byName.get(scoped);
      if (before !== undefined) {
        this.#checkSame(before, declaration);
        continue;
      }
      this.#byName.set(scoped, declaration);
      // a::B and a::msg::B have one canonical name and are two types: the second keeps its own name as its key.
      const canonical = canonicalOf(declaration);
      if (declaration.kind === 'struct' || declaration.kind === 'unsupported') {
        this.#keys.set(scoped, canonicalNames.has(canonical) ? scoped : canonical);
        canonicalNames.add(canonical);
      }
      if (declaration.kind !== 'enum') continue;
      declaration.members.forEach(({ name }, index) => {
        this.#enumerators.set(scopedName(declaration.modules, name), { owner: declaration, index });
        this.#enumerators.set(`${scoped}::${name}`, { owner: declaration, index });
      });
    }
  }

  declare(table: MessageTable, extensibility: Extensibility): void {
    const constants = this.#constantsByModule();
    for (const declaration of this.#declarations) {
      const { kind, modules, name, annotations, offset } = declaration;
      if (kind !== 'struct' && kind !== 'unsupported') continue;
      const scoped = scopedName(modules, name);
      const comment = annotations.comment === undefined ? {} : { comment: annotations.comment };
      const unsupported =
        kind === 'unsupported' ? { unsupported: { kind, construct: declaration.construct, offset } as const } : {};
      const canonical = canonicalOf(declaration);
      declareMessage(this.#source, table, this.#keys.get(scoped) ?? canonical, {
        name: canonical,
        extensibility: annotations.extensibility ?? extensibility,
        fields: kind === 'struct' ? this.#fields(declaration, canonical) : [],
        constants: constants.get(`${scoped}_Constants`) ?? [],
        ...comment,
        ...unsupported,
        offset,
      });
    }
  }

  /** The constants of each module, in order: those of `X_Constants` belong to the struct X beside it. */
  #constantsByModule(): Map<string, ConstantDefinition[]> {
    const modules = new Map<string, ConstantDefinition[]>();
    for (const declaration of this.#byName.values()) {
      if (declaration.kind !== 'const') continue;
      const home = declaration.modules.join('::');
      const owner = normalizeTypeName(home).replace(/_Constants$/, '');
      const result = this.#constantValue(declaration);
      const type = this.#constantType(declaration);
      if ('problem' in result || type === undefined) {
        const problem = 'problem' in result ? result.problem : 'its type is no primitive';
        this.#source.warn(`constant ${declaration.name} left out: ${problem}`, owner, declaration.offset);
        continue;
      }
      const list = modules.get(home) ?? [];
      modules.set(home, list);
      const { comment } = declaration.annotations;
      const value = result.value;
      list.push(jsonable({ name: declaration.name, type, value, ...(comment === undefined ? {} : { comment }) }));
    }
    return modules;
  }

  #fields(declaration: Of<'struct'>, owner: string): DeclaredField[] {
    const names = new Set<string>();
    return declaration.members.map((member) => {
      const { name, annotations, offset } = member;
      if (names.has(name)) {
        throw this.#source.error('SCHEMA_DUPLICATE_FIELD', `${owner} has two fields ${name}`, offset);
      }
      names.add(name);
      if (annotations.optional === true) {
        return { name, type: { kind: 'unsupported', construct: `@optional member ${name}`, offset }, offset };
      }
      const type = this.#type(member.type, 0);
      const defaultValue = this.#defaultOf(member, type, owner);
      return jsonable({
        name,
        type,
        ...(defaultValue === undefined ? {} : { defaultValue }),
        ...(annotations.key === true ? { key: true } : {}),
        ...(annotations.unit === undefined ? {} : { unit: annotations.unit }),
        ...(annotations.comment === undefined ? {} : { comment: annotations.comment }),
        offset,
      });
    });
  }

  #defaultOf(member: IdlMember, type: DeclaredType, owner: string): LiteralValue | LiteralValue[] | undefined {
    const expression = member.annotations.defaultValue;
    if (expression === undefined) return undefined;
    const result = this.#literal(expression, type);
    if ('value' in result) return result.value;
    this.#source.warn(`default of ${member.name} left out: ${result.problem}`, owner, member.offset);
    return undefined;
  }

  #literal(expression: IdlExpression, type: DeclaredType): LiteralResult<LiteralValue | LiteralValue[]> {
    const evaluated = evaluate(expression, this.#valueOf);
    const isFloat = type.kind === 'primitive' && (type.name === 'float32' || type.name === 'float64');
    const special = 'problem' in evaluated && isFloat ? specialFloat(expression) : undefined;
    if ('problem' in evaluated && special === undefined) return evaluated;
    const value = 'value' in evaluated ? evaluated.value : (special ?? 0);
    if (type.kind === 'primitive') return literalOfType(type, value);
    if (type.kind === 'enum') return literalOfEnum(type, value);
    if ((type.kind === 'array' || type.kind === 'sequence') && type.element.kind === 'primitive') {
      const literals = literalsOfText(type.element, value);
      if ('problem' in literals) return literals;
      const count = literals.value.length;
      const fits = type.kind === 'array' ? count === type.length : count <= (type.maxLength ?? count);
      return fits ? literals : { problem: `it has ${count} elements` };
    }
    return { problem: 'only primitives, enums and arrays of primitives have defaults' };
  }

  #type(type: IdlType, chain: number): DeclaredType {
    switch (type.kind) {
      case 'primitive':
      case 'unsupported':
        return type;
      case 'text':
        return { kind: 'primitive', name: type.name, maxLength: this.#size(type.bound, 'the bound of a string') };
      case 'sequence': {
        const element = this.#type(type.element, chain);
        if (type.bound === undefined) return { kind: 'sequence', element };
        return { kind: 'sequence', element, maxLength: this.#size(type.bound, 'the bound of a sequence') };
      }
      case 'array':
        return {
          kind: 'array',
          element: this.#type(type.element, chain),
          length: this.#size(type.size, `an array's size`),
        };
      case 'named':
        return this.#named(type.name, chain);
    }
  }

  #named(name: IdlName, chain: number): DeclaredType {
    const scoped = this.#lookUp(name, (candidate) => this.#byName.has(candidate));
    const declaration = scoped === undefined ? undefined : this.#byName.get(scoped);
    const spelling = (name.absolute ? '::' : '') + name.parts.join('::');
    const { offset } = name;
    switch (declaration?.kind) {
      case undefined:
        return { kind: 'reference', candidates: [canonicalName(splitTypeName(spelling))], spelling, offset };
      case 'struct':
      case 'unsupported':
        return { kind: 'reference', candidates: [this.#keys.get(scoped ?? '') ?? spelling], spelling, offset };
      case 'enum':
        return this.#enum(declaration);
      case 'typedef':
        return this.#typedef(declaration, chain);
      case 'const':
        throw this.#source.error('SCHEMA_UNKNOWN_TYPE', `${spelling} is a constant and no type`, offset);
    }
  }

  #typedef(declaration: Of<'typedef'>, chain: number): DeclaredType {
    const known = this.#typedefs.get(declaration);
    if (known !== undefined) return known;
    if (this.#open.has(declaration)) {
      throw this.#source.error('SCHEMA_CYCLE', `typedef ${declaration.name} is made of itself`, declaration.offset);
    }
    if (chain >= MAX_CHAIN) {
      throw this.#source.error('SCHEMA_LIMIT', `more than ${MAX_CHAIN} typedefs of one another`, declaration.offset);
    }
    this.#open.add(declaration);
    const type = this.#type(declaration.type, chain + 1);
    this.#open.delete(declaration);
    this.#typedefs.set(declaration, type);
    return type;
  }

  #enum(declaration: Of<'enum'>): EnumType {
    const known = this.#enums.get(declaration);
    if (known !== undefined) return known;
    let next = 0n;
    const values = declaration.members.map((member) => {
      const result = member.value === undefined ? undefined : evaluate(member.value, this.#valueOf);
      if (result !== undefined && (!('value' in result) || typeof result.value !== 'bigint')) {
        throw this.#source.error(
          'SCHEMA_SYNTAX',
          `the value of enumerator ${member.name} is no integer`,
          member.offset,
        );
      }
      const value = result === undefined ? next : (result.value as bigint);
      next = value + 1n;
      return value;
    });
    const bound = declaration.annotations.bitBound;
    const bits = bound === undefined ? 32 : this.#size(bound, '@bit_bound');
    const sign = values.some((value) => value < 0n) ? 'int' : 'uint';
    const underlying = `${sign}${bits <= 8 ? 8 : bits <= 16 ? 16 : 32}` as const;
    const members = declaration.members.map(({ name, comment }, i): ConstantDefinition => ({
      name,
      type: { kind: 'primitive', name: underlying },
      value: Number(values[i] ?? 0n),
      ...(comment === undefined ? {} : { comment }),
    }));
    const type: EnumType = { kind: 'enum', name: canonicalOf(declaration), underlying, members };
    this.#enums.set(declaration, type);
    return type;
  }

  /** The value of a constant or an enumerator. */
  readonly #valueOf = (name: IdlName): LiteralResult<IdlValue> => {
    const spelling = name.parts.join('::');
    const scoped = this.#lookUp(
      name,
      (candidate) => this.#byName.get(candidate)?.kind === 'const' || this.#enumerators.has(candidate),
    );
    if (scoped === undefined) return { problem: `${spelling} is no constant` };
    const declaration = this.#byName.get(scoped);
    if (declaration?.kind === 'const') {
      const result = this.#constantValue(declaration);
      const isInteger = INTEGER_RANGES.has(this.#constantType(declaration)?.name ?? 'string');
      // Literals are in their type's form; expressions count integers in bigint.
      return 'value' in result && isInteger ? { value: BigInt(result.value) } : result;
    }
    const enumerator = this.#enumerators.get(scoped);
    if (enumerator === undefined || this.#open.has(enumerator.owner)) return { problem: `${spelling} has no value` };
    this.#open.add(enumerator.owner);
    const value = this.#enum(enumerator.owner).members[enumerator.index]?.value;
    this.#open.delete(enumerator.owner);
    return { value: BigInt(Number(value)) };
  };

  #constantValue(declaration: Of<'const'>): LiteralResult {
    const known = this.#constants.get(declaration);
    if (known !== undefined) return known;
    if (this.#open.has(declaration) || this.#open.size > MAX_CHAIN) {
      return { problem: `${declaration.name} is made of itself, or of too many constants` };
    }
    this.#open.add(declaration);
    const result = this.#literal(declaration.value, this.#type(declaration.type, 0));
    this.#open.delete(declaration);
    const single: LiteralResult =
      'problem' in result
        ? result
        : isSingle(result.value)
          ? { value: result.value }
          : { problem: 'not a single value' };
    this.#constants.set(declaration, single);
    return single;
  }

  /** A constant's type; an enum's is its integer. */
  #constantType(declaration: Of<'const'>): PrimitiveType | undefined {
    const type = this.#type(declaration.type, 0);
    if (type.kind === 'enum') return { kind: 'primitive', name: type.underlying satisfies PrimitiveName };
    return type.kind === 'primitive' ? type : undefined;
  }

  #size(expression: IdlExpression, what: string): number {
    const result = evaluate(expression, this.#valueOf);
    const value = 'value' in result ? result.value : undefined;
    const bigint = typeof value === 'number' && Number.isInteger(value) ? BigInt(value) : value;
    if (typeof bigint !== 'bigint' || bigint < 0n) {
      const problem = 'problem' in result ? result.problem : 'it is no integer from 0';
      throw this.#source.error('SCHEMA_SYNTAX', `${what} cannot be read: ${problem}`, expression.offset);
    }
    if (bigint > MAX_COUNT)
      throw this.#source.error('SCHEMA_LIMIT', `${what} is above ${MAX_COUNT}`, expression.offset);
    return Number(bigint);
  }

  /** The scoped name that is meant: from the innermost module outwards, then the constants of the struct itself. */
  #lookUp(name: IdlName, exists: (scoped: string) => boolean): string | undefined {
    const { modules, struct } = name.scope;
    const last = name.parts.join('::');
    if (name.absolute) return exists(last) ? last : undefined;
    for (let depth = modules.length; depth >= 0; depth--) {
      const candidate = scopedName(modules.slice(0, depth), last);
      if (exists(candidate)) return candidate;
    }
    const own = struct === undefined ? undefined : `${scopedName(modules, struct)}_Constants::${last}`;
    return own !== undefined && exists(own) ? own : undefined;
  }

  /** Recorders repeat declarations. Two structs are compared when they are declared, all others by their text. */
  #checkSame(before: IdlDeclaration, again: IdlDeclaration): void {
    if (before.kind === 'struct' && again.kind === 'struct') return;
    if (before.kind === again.kind && this.#textOf(before) === this.#textOf(again)) return;
    const name = canonicalOf(again);
    throw this.#source.error(
      'SCHEMA_CONFLICTING_DEFINITIONS',
      `${name} is defined twice with different content`,
      again.offset,
    );
  }

  #textOf({ offset, end }: IdlDeclaration): string {
    return this.#source.text.slice(offset, end).replace(/\s+/g, ' ');
  }
}

function isSingle(value: LiteralValue | readonly LiteralValue[]): value is LiteralValue {
  return !Array.isArray(value);
}

function canonicalOf({ modules, name }: IdlDeclaration): string {
  return canonicalName(splitTypeName(scopedName(modules, name)));
}

/** `nan`, `inf` and `-inf`, as rosidl writes them. */
function specialFloat(expression: IdlExpression): number | undefined {
  if (expression.kind === 'unary') {
    const value = specialFloat(expression.operand);
    return value !== undefined && expression.operator === '-' ? -value : value;
  }
  if (expression.kind !== 'name' || expression.name.parts.length !== 1) return undefined;
  const name = expression.name.parts[0]?.toLowerCase();
  return name === 'nan' ? Number.NaN : name === 'inf' || name === 'infinity' ? Number.POSITIVE_INFINITY : undefined;
}
