/** Schemas to definitions, each content once: the one entry to this room. */
import { McapStreamsError } from '../errors.js';
import type { MessageDefinition, SchemaSource } from './definition.js';
import { parseSchemaText } from './schema-text.js';
import { SourceText } from './source-text.js';

/** Texts longer than this are no schema: the largest real one has 200 kB. */
const MAX_TEXT = 2 ** 25;

/** So much of texts, in UTF-16 units, and so many of them are remembered. */
const MAX_CACHED_TEXT = 2 ** 24;
const MAX_CACHED_SCHEMAS = 4096;

type Outcome = { readonly definition: MessageDefinition } | { readonly error: McapStreamsError };

/** By content, oldest use first. */
const cache = new Map<string, Outcome>();
let cachedText = 0;

/**
 * The definition that a schema's text gives.
 *
 * Takes `ros2msg` (MCAP registry: .msg texts, also the raw .srv and .action texts that rosbag2 stores), `ros2idl` and
 * `omgidl`. A name in any spelling; the result's is canonical. Equal content gives the same object, whatever the schema's
 * id; a fault gives the same error again without parsing. Do not change the result.
 *
 * @throws McapStreamsError with a `SCHEMA_*` code, schemaName and, where a line is at fault, line and column
 */
export function parseSchema(schema: SchemaSource): MessageDefinition {
  const { name, encoding, data } = schema;
  const size = typeof data === 'string' ? data.length : data.byteLength;
  if (size > MAX_TEXT) {
    throw new McapStreamsError('SCHEMA_LIMIT', `${name}: the text is longer than ${MAX_TEXT} bytes`, {
      schemaName: name,
    });
  }
  // A byte order mark is no part of the text: TextDecoder leaves it out.
  const text = typeof data === 'string' ? data.replace(/^\ufeff/, '') : new TextDecoder().decode(data);
  const key = `${name}\0${encoding}\0${text}`;
  let outcome = cache.get(key);
  if (outcome === undefined) {
    outcome = attempt(name, encoding, text);
    cachedText += key.length;
  } else cache.delete(key);
  cache.set(key, outcome);
  trim();
  if ('error' in outcome) throw outcome.error;
  return outcome.definition;
}

function attempt(name: string, encoding: string, text: string): Outcome {
  try {
    return { definition: parse(new SourceText(name, text), encoding) };
  } catch (error) {
    if (error instanceof McapStreamsError) return { error };
    throw error;
  }
}

function parse(source: SourceText, encoding: string): MessageDefinition {
  const isIdl = encoding === 'ros2idl' || encoding === 'omgidl';
  // A .msg text may be empty and mean it (std_msgs/msg/Empty); DDS recorders write an empty text for a type they do not know.
  if (source.text.trim() === '' && (isIdl || (encoding === 'ros2msg' && source.schemaName.includes('::')))) {
    throw source.error('SCHEMA_EMPTY', 'the schema has no text', -1);
  }
  if (encoding === 'ros2msg') return parseSchemaText(source, 'MSG', 'final');
  if (encoding === 'ros2idl') return parseSchemaText(source, 'IDL', 'final');
  if (encoding === 'omgidl') return parseSchemaText(source, 'IDL', 'appendable');
  const problem = `schema encoding '${encoding}' is not ros2msg, ros2idl or omgidl`;
  throw source.error('SCHEMA_UNSUPPORTED_ENCODING', problem, -1);
}

/** Forgets the schemas that were not asked for longest. */
function trim(): void {
  for (const key of cache.keys()) {
    if (cache.size <= MAX_CACHED_SCHEMAS && cachedText <= MAX_CACHED_TEXT) break;
    cache.delete(key);
    cachedText -= key.length;
  }
}
