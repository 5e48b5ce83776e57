/** The names that IDL texts declare, and what a name means where it is used (OMG IDL 4.2, 7.5). */
import { scopedName, type DeclarationOf, type IdlDeclaration, type IdlName } from './idl-ast.js';
import { canonicalName, splitTypeName } from './names.js';
import type { SourceText } from './source-text.js';

/** An enumerator: the enum it belongs to, and which of its members it is. */
export interface EnumeratorPlace {
  readonly kind: 'enumerator';
  readonly owner: DeclarationOf<'enum'>;
  readonly index: number;
}

export class IdlNames {
  readonly #source: SourceText;
  /** By scoped name, all but the second and later of one name. */
  readonly #declarations = new Map<string, IdlDeclaration>();
  /** In the scope around their enum and in the enum's own. */
  readonly #enumerators = new Map<string, EnumeratorPlace>();
  /** Keys in the message table, by scoped name. */
  readonly #keys = new Map<string, string>();

  constructor(source: SourceText, declarations: readonly IdlDeclaration[]) {
    this.#source = source;
    const canonicalNames = new Set<string>();
    for (const declaration of declarations) {
      const scoped = scopedName(declaration.modules, declaration.name);
      const before = this.#declarations.get(scoped);
      if (before !== undefined) {
        this.#checkSame(before, declaration);
        continue;
      }
      this.#declarations.set(scoped, declaration);
      if (declaration.kind === 'struct' || declaration.kind === 'unsupported') {
        // a::B and a::msg::B have one canonical name and are two types: the second keeps its own name as its key.
        const canonical = canonicalOf(declaration);
        this.#keys.set(scoped, canonicalNames.has(canonical) ? scoped : canonical);
        canonicalNames.add(canonical);
      } else if (declaration.kind === 'enum') {
        declaration.members.forEach(({ name }, index) => {
          const place: EnumeratorPlace = { kind: 'enumerator', owner: declaration, index };
          this.#enumerators.set(scopedName(declaration.modules, name), place);
          this.#enumerators.set(`${scoped}::${name}`, place);
        });
      }
    }
  }

  /** Each name's declaration, in the order of the text. */
  declarations(): Iterable<IdlDeclaration> {
    return this.#declarations.values();
  }

  /** The key of a struct in the message table: its canonical name, if no other has it. */
  keyOf(declaration: IdlDeclaration): string {
    return this.#keys.get(scopedName(declaration.modules, declaration.name)) ?? canonicalOf(declaration);
  }

  findDeclaration(name: IdlName): IdlDeclaration | undefined {
    return find(name, (scoped) => this.#declarations.get(scoped));
  }

  findValue(name: IdlName): DeclarationOf<'const'> | EnumeratorPlace | undefined {
    return find(name, (scoped) => {
      const declaration = this.#declarations.get(scoped);
      return declaration?.kind === 'const' ? declaration : this.#enumerators.get(scoped);
    });
  }

  /** Recorders repeat declarations. Two structs are compared when they are declared, all others by their text. */
  #checkSame(before: IdlDeclaration, again: IdlDeclaration): void {
    if (before.kind === 'struct' && again.kind === 'struct') return;
    if (before.kind === again.kind && this.#textOf(before) === this.#textOf(again)) return;
    const problem = `${canonicalOf(again)} is defined twice with different content`;
    throw this.#source.error('SCHEMA_CONFLICTING_DEFINITIONS', problem, again.offset);
  }

  #textOf({ offset, end }: IdlDeclaration): string {
    return this.#source.text.slice(offset, end).replace(/\s+/g, ' ');
  }
}

/** The canonical name of what is declared. */
export function canonicalOf({ modules, name }: IdlDeclaration): string {
  return canonicalName(splitTypeName(scopedName(modules, name)));
}

/** What a name means: looked up from the innermost module outwards, then among the constants of the struct itself. */
function find<T>({ parts, absolute, scope }: IdlName, get: (scoped: string) => T | undefined): T | undefined {
  const { modules, struct } = scope;
  const last = parts.join('::');
  if (absolute) return get(last);
  for (let depth = modules.length; depth >= 0; depth--) {
    const found = get(scopedName(modules.slice(0, depth), last));
    if (found !== undefined) return found;
  }
  return struct === undefined ? undefined : get(`${scopedName(modules, struct)}_Constants::${last}`);
}
