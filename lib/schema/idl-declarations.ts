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
import {
  declareMessage,
  depthOf,
  jsonable,
  type DeclaredField,
  type DeclaredType,
  type MessageTable,
} from './declaration.js';
import {
  scopedName,
  type DeclarationOf,
  type IdlDeclaration,
  type IdlEnumerator,
  type IdlExpression,
  type IdlMember,
  type IdlName,
  type IdlType,
} from './idl-ast.js';
import { canonicalOf, IdlNames } from './idl-names.js';
import type { IdlValue } from './idl-expression.js';
import { evaluate, literalOfEnum, literalOfType, literalsOfText, specialFloat } from './idl-values.js';
import { INTEGER_RANGES, type LiteralResult } from './literals.js';
import { canonicalName, normalizeTypeName, splitTypeName } from './names.js';
import { MAX_DEPTH } from './resolve.js';
import type { SourceText } from './source-text.js';

/** Typedefs of typedefs, constants of constants, with all between: more is no real text, and would use up the stack. */
const MAX_CHAIN = 400;

/** Largest count that CDR can write. */
const MAX_COUNT = 4294967295n;

/** Declares all structs of the text in the table. `extensibility` is that of a struct without an annotation. */
export function declareIdl(
  source: SourceText,
  table: MessageTable,
  declarations: readonly IdlDeclaration[],
  extensibility: Extensibility,
): void {
  new IdlConverter(source, declarations).declare(table, declarations, extensibility);
}

/** Turns declarations into messages, each typedef, enum and constant worked out once. */
class IdlConverter {
  readonly #source: SourceText;
  readonly #names: IdlNames;
  readonly #constants = new Map<IdlDeclaration, LiteralResult>();
  readonly #enums = new Map<IdlDeclaration, EnumType>();
  readonly #typedefs = new Map<IdlDeclaration, DeclaredType>();
  readonly #open = new Set<IdlDeclaration>();
  /** The values so far of enums that are being worked out. */
  readonly #openEnums = new Map<IdlDeclaration, bigint[]>();
  #chain = 0;

  constructor(source: SourceText, declarations: readonly IdlDeclaration[]) {
    this.#source = source;
    this.#names = new IdlNames(source, declarations);
  }

  declare(table: MessageTable, declarations: readonly IdlDeclaration[], extensibility: Extensibility): void {
    const constants = this.#constantsByModule();
    for (const declaration of declarations) {
      const { kind, modules, name, annotations, offset } = declaration;
      if (kind !== 'struct' && kind !== 'unsupported') continue;
      const scoped = scopedName(modules, name);
      const comment = annotations.comment === undefined ? {} : { comment: annotations.comment };
      const unsupported =
        kind === 'unsupported' ? { unsupported: { kind, construct: declaration.construct, offset } as const } : {};
      const canonical = canonicalOf(declaration);
      declareMessage(this.#source, table, this.#names.keyOf(declaration), {
        name: canonical,
        extensibility: annotations.extensibility ?? extensibility,
        fields: kind === 'struct' ? this.#fields(declaration, canonical) : [],
        // As DDS sees it the struct's name ends in `_`, that of the module does not.
        constants: constants.get(`${scoped}_Constants`) ?? constants.get(scoped.replace(/_$/, '_Constants')) ?? [],
        ...comment,
        ...unsupported,
        offset,
      });
    }
  }

  /** The constants of each module, in order: those of `X_Constants` belong to the struct X beside it. */
  #constantsByModule(): Map<string, ConstantDefinition[]> {
    const modules = new Map<string, ConstantDefinition[]>();
    for (const declaration of this.#names.declarations()) {
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

  #fields(declaration: DeclarationOf<'struct'>, owner: string): DeclaredField[] {
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
      const type = this.#type(member.type);
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

  #type(type: IdlType): DeclaredType {
    switch (type.kind) {
      case 'primitive':
      case 'unsupported':
        return type;
      case 'text':
        return { kind: 'primitive', name: type.name, maxLength: this.#size(type.bound, 'the bound of a string') };
      case 'sequence': {
        const element = this.#element(type.element);
        if (type.bound === undefined) return { kind: 'sequence', element };
        return { kind: 'sequence', element, maxLength: this.#size(type.bound, 'the bound of a sequence') };
      }
      case 'array':
        return {
          kind: 'array',
          element: this.#element(type.element),
          length: this.#size(type.size, `an array's size`),
        };
      case 'named':
        return this.#named(type.name);
    }
  }

  /** An array's or sequence's element: the parser limits how deep these nest, here they only count. */
  #element(type: IdlType): DeclaredType {
    this.#chain++;
    const element = this.#type(type);
    this.#chain--;
    return element;
  }

  #named(name: IdlName): DeclaredType {
    const declaration = this.#names.findDeclaration(name);
    const spelling = (name.absolute ? '::' : '') + name.parts.join('::');
    const { offset } = name;
    switch (declaration?.kind) {
      case undefined:
        return { kind: 'reference', candidates: [canonicalName(splitTypeName(spelling))], spelling, offset };
      case 'struct':
      case 'unsupported':
        return { kind: 'reference', candidates: [this.#names.keyOf(declaration)], spelling, offset };
      case 'enum':
        return this.#enum(declaration);
      case 'typedef':
        return this.#typedef(declaration);
      case 'const':
        throw this.#source.error('SCHEMA_UNKNOWN_TYPE', `${spelling} is a constant and no type`, offset);
    }
  }

  #typedef(declaration: DeclarationOf<'typedef'>): DeclaredType {
    const known = this.#typedefs.get(declaration);
    if (known !== undefined) return known;
    const { name, offset } = declaration;
    if (this.#open.has(declaration)) {
      throw this.#source.error('SCHEMA_CYCLE', `typedef ${name} is made of itself`, offset);
    }
    this.#open.add(declaration);
    const type = this.#deeper(1, offset, () => this.#type(declaration.type));
    this.#open.delete(declaration);
    if (depthOf(type) > MAX_DEPTH) {
      throw this.#source.error('SCHEMA_LIMIT', `typedef ${name} is nested more than ${MAX_DEPTH} deep`, offset);
    }
    this.#typedefs.set(declaration, type);
    return type;
  }

  #enum(declaration: DeclarationOf<'enum'>): EnumType {
    const known = this.#enums.get(declaration);
    if (known !== undefined) return known;
    const values: bigint[] = [];
    this.#openEnums.set(declaration, values);
    for (const member of declaration.members) values.push(this.#enumeratorValue(member, values.at(-1)));
    this.#openEnums.delete(declaration);
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

  #enumeratorValue({ name, value, offset }: IdlEnumerator, before: bigint | undefined): bigint {
    if (value === undefined) return before === undefined ? 0n : before + 1n;
    const result = this.#deeper(value.depth + 1, offset, () => evaluate(value, this.#valueOf));
    if ('value' in result && typeof result.value === 'bigint') return result.value;
    throw this.#source.error('SCHEMA_SYNTAX', `the value of enumerator ${name} is no integer`, offset);
  }

  /** The value of a constant or an enumerator. */
  readonly #valueOf = (name: IdlName): LiteralResult<IdlValue> => {
    const spelling = name.parts.join('::');
    const found = this.#names.findValue(name);
    if (found === undefined) return { problem: `${spelling} is no constant` };
    if (found.kind === 'const') {
      const result = this.#constantValue(found);
      const isInteger = INTEGER_RANGES.has(this.#constantType(found)?.name ?? 'string');
      // Literals are in their type's form; expressions count integers in bigint.
      return 'value' in result && isInteger ? { value: BigInt(result.value) } : result;
    }
    const { owner, index } = found;
    const open = this.#openEnums.get(owner);
    const value = open === undefined ? this.#enum(owner).members[index]?.value : open[index];
    return value === undefined ? { problem: `${spelling} has no value yet` } : { value: BigInt(value) };
  };

  #constantValue(declaration: DeclarationOf<'const'>): LiteralResult {
    const known = this.#constants.get(declaration);
    if (known !== undefined) return known;
    const levels = declaration.value.depth + 2;
    if (this.#open.has(declaration) || this.#chain + levels > MAX_CHAIN) {
      return { problem: `${declaration.name} is made of itself, or of too many constants` };
    }
    this.#open.add(declaration);
    const result = this.#deeper(levels, declaration.offset, () =>
      this.#literal(declaration.value, this.#type(declaration.type)),
    );
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
  #constantType(declaration: DeclarationOf<'const'>): PrimitiveType | undefined {
    const type = this.#type(declaration.type);
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

  /** Runs what may come back here, so that the levels in between are counted. */
  #deeper<T>(levels: number, offset: number, run: () => T): T {
    this.#chain += levels;
    if (this.#chain > MAX_CHAIN) {
      throw this.#source.error('SCHEMA_LIMIT', 'typedefs or constants are made of too many others', offset);
    }
    const result = run();
    this.#chain -= levels;
    return result;
  }
}

function isSingle(value: LiteralValue | readonly LiteralValue[]): value is LiteralValue {
  return !Array.isArray(value);
}
