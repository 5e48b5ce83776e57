/**
 * The grammar of IDL texts (OMG IDL 4.2 building blocks "core data types" and "annotations"), as ROS 2 (`ros2idl`) and
 * DDS recorders (`omgidl`) write them. Constructs that have no ROS 2 form are read over and remembered, so that they are
 * an error only for a type that needs them.
 */
import { readAnnotations, skipBalanced } from './idl-annotations.js';
import type {
  IdlAnnotations,
  IdlDeclaration,
  IdlEnumerator,
  IdlExpression,
  IdlMember,
  IdlName,
  IdlScope,
  IdlType,
} from './idl-ast.js';
import { readBound, readExpression } from './idl-expression.js';
import { IdlLexer } from './idl-lexer.js';
import type { PrimitiveName } from './definition.js';
import type { SourceText } from './source-text.js';

/** Modules, types and arrays inside one another. */
const MAX_NESTING = 64;

/** Names of types that are one word. `long`, `unsigned`, `string` and `sequence` go on. */
const WORDS: ReadonlyMap<string, PrimitiveName> = new Map<string, PrimitiveName>([
  ['boolean', 'bool'],
  ['octet', 'byte'],
  ['char', 'char'],
  ['wchar', 'wchar'],
  ['float', 'float32'],
  ['double', 'float64'],
  ['short', 'int16'],
  ['int8', 'int8'],
  ['uint8', 'uint8'],
  ['int16', 'int16'],
  ['uint16', 'uint16'],
  ['int32', 'int32'],
  ['uint32', 'uint32'],
  ['int64', 'int64'],
  ['uint64', 'uint64'],
]);

/** Declarations of IDL that are not data of ROS 2. */
const UNSUPPORTED: ReadonlySet<string> = new Set([
  'union',
  'bitmask',
  'bitset',
  'interface',
  'valuetype',
  'exception',
  'native',
  'abstract',
  'local',
  'component',
]);

/** Reads the declarations of a part of the text, outermost first. */
export function parseIdlText(source: SourceText, start: number, end: number): IdlDeclaration[] {
  return new IdlReader(source, start, end).read();
}

class IdlReader {
  readonly #source: SourceText;
  readonly #lexer: IdlLexer;
  readonly #declarations: IdlDeclaration[] = [];
  #modules: readonly string[] = [];
  #struct: string | undefined;

  constructor(source: SourceText, start: number, end: number) {
    this.#source = source;
    this.#lexer = new IdlLexer(source, start, end);
  }

  read(): IdlDeclaration[] {
    const lexer = this.#lexer;
    for (;;) {
      if (lexer.token.kind === 'end') {
        if (this.#modules.length === 0) return this.#declarations;
        throw lexer.unexpected(`the '}' of module ${this.#modules.at(-1) ?? ''}`);
      }
      if (lexer.take(';')) continue;
      if (this.#modules.length > 0 && lexer.take('}')) {
        this.#modules = this.#modules.slice(0, -1);
        continue;
      }
      this.#declaration();
    }
  }

  #declaration(): void {
    const lexer = this.#lexer;
    const annotations = this.#annotations();
    if (lexer.take(';')) return;
    const { text, offset } = lexer.token;
    const keyword = lexer.token.kind === 'name' ? text : '';
    if (UNSUPPORTED.has(keyword)) {
      this.#unsupported(annotations);
      return;
    }
    switch (keyword) {
      case 'module':
        lexer.next();
        if (this.#modules.length >= MAX_NESTING) {
          throw this.#source.error('SCHEMA_LIMIT', `modules are nested more than ${MAX_NESTING} deep`, offset);
        }
        this.#modules = [...this.#modules, lexer.expectName(`a module's name`).text];
        lexer.expect('{');
        break;
      case 'struct':
        this.#structure(annotations);
        break;
      case 'enum':
        this.#enumeration(annotations);
        break;
      case 'typedef': {
        lexer.next();
        const element = this.#type(0);
        do {
          const name = lexer.expectName(`a type's name`);
          const type = this.#arraySizes(element);
          this.#add({ kind: 'typedef', name: name.text, annotations, type, offset });
        } while (lexer.take(','));
        lexer.expect(';');
        break;
      }
      case 'const': {
        lexer.next();
        const type = this.#type(0);
        const name = lexer.expectName(`a constant's name`).text;
        lexer.expect('=');
        this.#add({ kind: 'const', name, annotations, type, value: this.#expression(), offset });
        lexer.expect(';');
        break;
      }
      default:
        throw lexer.unexpected('a declaration (module, struct, enum, typedef, const)');
    }
  }

  #structure(annotations: IdlAnnotations): void {
    const lexer = this.#lexer;
    const { offset } = lexer.next();
    const name = lexer.expectName(`a struct's name`).text;
    if (lexer.take(';')) return;
    if (lexer.at(':')) {
      while (!lexer.at('{')) if (lexer.next().kind === 'end') throw lexer.unexpected(`'{'`);
      skipBalanced(lexer);
      this.#add({ kind: 'unsupported', name, annotations, construct: `inheritance of struct ${name}`, offset });
      return;
    }
    lexer.expect('{');
    this.#struct = name;
    const members: IdlMember[] = [];
    while (!lexer.take('}')) this.#member(members);
    this.#struct = undefined;
    this.#add({ kind: 'struct', name, annotations, members, offset });
  }

  #member(members: IdlMember[]): void {
    const lexer = this.#lexer;
    if (lexer.take(';')) return;
    const annotations = this.#annotations();
    const element = this.#type(0);
    do {
      const { text: name, offset } = lexer.expectName(`a member's name`);
      members.push({ name, type: this.#arraySizes(element), annotations, offset });
    } while (lexer.take(','));
    lexer.expect(';');
  }

  #enumeration(annotations: IdlAnnotations): void {
    const lexer = this.#lexer;
    const { offset } = lexer.next();
    const name = lexer.expectName(`an enum's name`).text;
    if (lexer.take(';')) return;
    lexer.expect('{');
    const members: IdlEnumerator[] = [];
    while (!lexer.take('}')) {
      const { value, comment } = this.#annotations();
      const member = lexer.expectName(`an enumerator's name`);
      // `NAME = 5` is not IDL, but some tools write it.
      const explicit = lexer.take('=') ? this.#expression() : value;
      members.push({
        name: member.text,
        offset: member.offset,
        ...(explicit === undefined ? {} : { value: explicit }),
        ...(comment === undefined ? {} : { comment }),
      });
      if (!lexer.at('}')) lexer.expect(',');
    }
    this.#add({ kind: 'enum', name, annotations, members, offset });
  }

  /** Reads over a declaration up to its `;`, brackets and all. */
  #unsupported(annotations: IdlAnnotations): void {
    const lexer = this.#lexer;
    const { text: keyword, offset } = lexer.next();
    while (lexer.token.kind === 'name' && UNSUPPORTED.has(lexer.token.text)) lexer.next();
    const name = lexer.expectName(`the name of a ${keyword}`).text;
    let declared = false;
    while (!lexer.at(';')) {
      if (lexer.token.kind === 'end') throw lexer.unexpected(`';'`);
      if (lexer.at('{')) {
        skipBalanced(lexer);
        declared = true;
        break;
      }
      if (lexer.at('(')) skipBalanced(lexer);
      else lexer.next();
    }
    // Without a body it only announces the name.
    if (declared || keyword === 'native') {
      this.#add({ kind: 'unsupported', name, annotations, construct: `${keyword} ${name}`, offset });
    }
  }

  #type(nesting: number): IdlType {
    const lexer = this.#lexer;
    const { text, offset, kind } = lexer.token;
    if (nesting > MAX_NESTING) {
      throw this.#source.error('SCHEMA_LIMIT', `types are nested more than ${MAX_NESTING} deep`, offset);
    }
    if (lexer.at('@')) {
      this.#annotations();
      return this.#type(nesting + 1);
    }
    if (kind !== 'name') return this.#named();
    const word = WORDS.get(text);
    if (word !== undefined) {
      lexer.next();
      return { kind: 'primitive', name: word };
    }
    switch (text) {
      case 'long':
      case 'unsigned':
        return this.#integer();
      case 'string':
      case 'wstring':
        lexer.next();
        return this.#bound((bound) =>
          bound === undefined ? { kind: 'primitive', name: text } : { kind: 'text', name: text, bound },
        );
      case 'sequence': {
        lexer.next();
        lexer.expect('<');
        const element = this.#type(nesting + 1);
        const bound = lexer.take(',') ? readBound(lexer, this.#name) : undefined;
        lexer.expect('>');
        return { kind: 'sequence', element, ...(bound === undefined ? {} : { bound }) };
      }
      case 'map':
      case 'fixed':
      case 'any':
      case 'Object':
        return this.#unsupportedType(text);
      default:
        return this.#named();
    }
  }

  /** `long`, `long long`, `long double` and the unsigned ones. */
  #integer(): IdlType {
    const lexer = this.#lexer;
    const { offset } = lexer.token;
    const unsigned = lexer.take('unsigned');
    if (unsigned && lexer.take('short')) return { kind: 'primitive', name: 'uint16' };
    lexer.expect('long');
    if (lexer.take('long')) return { kind: 'primitive', name: unsigned ? 'uint64' : 'int64' };
    if (!unsigned && lexer.take('double')) return { kind: 'unsupported', construct: 'long double', offset };
    return { kind: 'primitive', name: unsigned ? 'uint32' : 'int32' };
  }

  #bound(make: (bound: IdlExpression | undefined) => IdlType): IdlType {
    if (!this.#lexer.take('<')) return make(undefined);
    const bound = readBound(this.#lexer, this.#name);
    this.#lexer.expect('>');
    return make(bound);
  }

  /** `map<K, V>`, `fixed<5, 2>`, `any`: a name in front of one of these is a type of the user's. */
  #unsupportedType(keyword: string): IdlType {
    const lexer = this.#lexer;
    const { offset } = lexer.token;
    if (keyword === 'Object' || keyword === 'any') {
      lexer.next();
      return { kind: 'unsupported', construct: keyword, offset };
    }
    const named = this.#named();
    if (!lexer.take('<')) return named;
    for (let depth = 1; depth > 0;) {
      const token = lexer.next();
      if (token.kind === 'end') throw lexer.unexpected(`'>'`);
      if (token.kind !== 'punctuation') continue;
      if (token.text === '<') depth++;
      else if (token.text === '>') depth--;
    }
    return { kind: 'unsupported', construct: keyword, offset };
  }

  #named(): IdlType {
    return { kind: 'named', name: this.#name() };
  }

  readonly #name = (): IdlName => {
    const lexer = this.#lexer;
    const { offset } = lexer.token;
    const absolute = lexer.take('::');
    const parts = [lexer.expectName('a type or a name').text];
    while (lexer.take('::')) parts.push(lexer.expectName('a name').text);
    return { parts, absolute, scope: this.#scope(), offset };
  };

  /** `[2][3]` after a name: the first is the outermost. */
  #arraySizes(element: IdlType): IdlType {
    const lexer = this.#lexer;
    const sizes: IdlExpression[] = [];
    while (lexer.take('[')) {
      sizes.push(this.#expression());
      lexer.expect(']');
      if (sizes.length > MAX_NESTING) {
        throw this.#source.error(
          'SCHEMA_LIMIT',
          `an array has more than ${MAX_NESTING} dimensions`,
          lexer.token.offset,
        );
      }
    }
    return sizes.reduceRight<IdlType>((type, size) => ({ kind: 'array', element: type, size }), element);
  }

  #expression(): IdlExpression {
    return readExpression(this.#lexer, this.#name);
  }

  #annotations(): IdlAnnotations {
    return this.#lexer.at('@') ? readAnnotations(this.#lexer, this.#name) : {};
  }

  #scope(): IdlScope {
    return this.#struct === undefined ? { modules: this.#modules } : { modules: this.#modules, struct: this.#struct };
  }

  #add(declaration: DistributiveOmit<IdlDeclaration, 'modules' | 'end'>): void {
    this.#declarations.push({ ...declaration, modules: this.#modules, end: this.#lexer.previousEnd });
  }
}

type DistributiveOmit<T, K extends PropertyKey> = T extends unknown ? Omit<T, K> : never;
