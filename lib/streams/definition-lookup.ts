/** The option `definitions`: schema texts by the name of the type, where a recording or a line of JSON has none. */
import { normalizeTypeName } from '../schema/names.js';

/** A schema's text, with the types that it needs: `ros2msg` where it is a string, unless it is plainly IDL. */
export type SchemaText = string | { readonly encoding: string; readonly data: string | Uint8Array };

/** Schema texts by name: what `standardDefinitions` and `loadDefinitions` give, a Map, an object, or a function. */
export type DefinitionLookup =
  ((name: string) => SchemaText | undefined) | ReadonlyMap<string, SchemaText> | Readonly<Record<string, SchemaText>>;

/** The schema of a type, in any spelling of its name; undefined where it is not there. */
export function lookUpSchema(
  definitions: DefinitionLookup | undefined,
  name: string,
): { name: string; encoding: string; data: Uint8Array } | undefined {
  const text = lookUpText(definitions, name);
  if (text === undefined) return undefined;
  const { encoding, data } = typeof text === 'string' ? { encoding: encodingOf(text), data: text } : text;
  return { name, encoding, data: typeof data === 'string' ? new TextEncoder().encode(data) : data };
}

/** The text of a type, in any spelling of its name; undefined where it is not there. */
export function lookUpText(definitions: DefinitionLookup | undefined, name: string): SchemaText | undefined {
  if (definitions === undefined || name === '') return undefined;
  const canonical = normalizeTypeName(name);
  for (const spelling of new Set([name, canonical, canonical.replace('/msg/', '/')])) {
    const text = one(definitions, spelling);
    if (text !== undefined) return text;
  }
  return undefined;
}

function one(definitions: DefinitionLookup, name: string): SchemaText | undefined {
  if (typeof definitions === 'function') return definitions(name);
  if (definitions instanceof Map) return (definitions as ReadonlyMap<string, SchemaText>).get(name);
  return Object.hasOwn(definitions, name) ? (definitions as Readonly<Record<string, SchemaText>>)[name] : undefined;
}

function encodingOf(text: string): string {
  return /^=+\s*\nIDL: /.test(text) || /^\s*module\s+\w+\s*\{/m.test(text) ? 'ros2idl' : 'ros2msg';
}
