/** Annotations of IDL (OMG IDL 4.2, 8.3; DDS-XTypes 7.3.1.2): those that mean something here, the rest is read over. */
import type { Extensibility } from './definition.js';
import type { IdlAnnotations, IdlExpression, IdlName } from './idl-ast.js';
import { readExpression } from './idl-expression.js';
import type { IdlLexer } from './idl-lexer.js';

type Mutable<T> = { -readonly [K in keyof T]: T[K] };

/** Annotations whose parameters are read; of all others they may be anything. */
const KNOWN: ReadonlySet<string> = new Set([
  'default',
  'optional',
  'key',
  'unit',
  'verbatim',
  'extensibility',
  'final',
  'appendable',
  'mutable',
  'bit_bound',
  'value',
]);

/** Reads all annotations that stand here. */
export function readAnnotations(lexer: IdlLexer, readName: () => IdlName): IdlAnnotations {
  const found: Mutable<IdlAnnotations> = {};
  const comments: string[] = [];
  while (lexer.take('@')) {
    // Older tools write `@Key` and `@Extensibility`.
    const name = readAnnotationName(lexer).toLowerCase();
    if (name === 'annotation') {
      // `@annotation Name { ... };` declares one.
      lexer.expectName(`an annotation's name`);
      skipBalanced(lexer);
    } else if (!KNOWN.has(name)) {
      if (lexer.at('(')) skipBalanced(lexer);
    } else {
      const parameters = lexer.at('(') ? readParameters(lexer, readName) : new Map<string, IdlExpression>();
      apply(found, comments, name, parameters);
    }
  }
  if (comments.length > 0) found.comment = comments.join('\n');
  return found;
}

/** Goes past an opening bracket, its closing one and all between. */
export function skipBalanced(lexer: IdlLexer): void {
  const open = lexer.next();
  for (let depth = 1; depth > 0;) {
    const token = lexer.next();
    if (token.kind === 'end') throw lexer.source.error('SCHEMA_SYNTAX', `'${open.text}' is not closed`, open.offset);
    if (token.kind !== 'punctuation') continue;
    if ('([{'.includes(token.text)) depth++;
    else if (')]}'.includes(token.text)) depth--;
  }
}

function readAnnotationName(lexer: IdlLexer): string {
  lexer.take('::');
  let name = lexer.expectName(`an annotation's name`).text;
  while (lexer.take('::')) name += `::${lexer.expectName(`an annotation's name`).text}`;
  return name;
}

/** `(expression)`, under the name `value`, or `(name=expression, ...)`. */
function readParameters(lexer: IdlLexer, readName: () => IdlName): Map<string, IdlExpression> {
  const parameters = new Map<string, IdlExpression>();
  lexer.expect('(');
  while (!lexer.take(')')) {
    const expression = readExpression(lexer, readName);
    if (expression.kind === 'name' && lexer.take('=')) {
      parameters.set(expression.name.parts.join('::'), readExpression(lexer, readName));
    } else parameters.set('value', expression);
    if (!lexer.at(')')) lexer.expect(',');
  }
  return parameters;
}

function apply(
  found: Mutable<IdlAnnotations>,
  comments: string[],
  name: string,
  parameters: ReadonlyMap<string, IdlExpression>,
): void {
  const value = parameters.get('value');
  switch (name) {
    case 'default':
      if (value !== undefined) found.defaultValue = value;
      break;
    case 'optional':
      found.optional = !isFalse(value);
      break;
    case 'key':
      found.key = !isFalse(value);
      break;
    case 'unit':
      if (value?.kind === 'literal') found.unit = String(value.value);
      break;
    case 'verbatim': {
      const language = parameters.get('language');
      const text = parameters.get('text') ?? value;
      if (text?.kind !== 'literal' || (language?.kind === 'literal' && language.value !== 'comment')) break;
      comments.push(String(text.value));
      break;
    }
    case 'bit_bound':
      if (value !== undefined) found.bitBound = value;
      break;
    case 'value':
      if (value !== undefined) found.value = value;
      break;
    case 'extensibility': {
      const kind =
        value?.kind === 'name' ? EXTENSIBILITIES.get((value.name.parts.at(-1) ?? '').toLowerCase()) : undefined;
      if (kind !== undefined) found.extensibility = kind;
      break;
    }
    default: {
      const kind = EXTENSIBILITIES.get(name);
      if (kind !== undefined) found.extensibility = kind;
    }
  }
}

const EXTENSIBILITIES: ReadonlyMap<string, Extensibility> = new Map([
  ['final', 'final'],
  ['final_extensibility', 'final'],
  ['appendable', 'appendable'],
  ['extensible_extensibility', 'appendable'],
  ['mutable', 'mutable'],
  ['mutable_extensibility', 'mutable'],
]);

function isFalse(value: IdlExpression | undefined): boolean {
  return value?.kind === 'literal' && (value.value === false || value.value === 0n);
}
