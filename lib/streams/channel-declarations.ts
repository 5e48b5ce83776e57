/** What the options `channels` and `definitions` say of a topic: the schema that its messages have. */
import { McapStreamsError, OptionError } from '../errors.js';
import { checkOptions } from '../options.js';
import { definitionToRos2Msg } from '../schema/print.js';
import { parseSchema } from '../schema/registry.js';
import { completeText } from './complete-text.js';
import { lookUpText } from './definition-lookup.js';
import type { DefinitionLookup, SchemaText } from './definition-lookup.js';

/** Fields in the order of the message: `{ temperature: 'float32', stamp: 'builtin_interfaces/Time' }`. */
export type FieldDeclarations = Readonly<Record<string, string>>;

/** A topic that is to be written. */
export interface ChannelDeclaration {
  /** Name of the type: `sensor_msgs/msg/Imu`. With neither `schema` nor `fields` it is looked up in `definitions`. */
  readonly schemaName?: string | undefined;
  /** The schema's text, or its fields. */
  readonly schema?: SchemaText | FieldDeclarations | undefined;
  /** The fields, declared in code; types are those of a .msg text. */
  readonly fields?: FieldDeclarations | undefined;
  /** Default `cdr`. Others need an encoder, see `encoders`. */
  readonly messageEncoding?: string | undefined;
  /** Metadata of the channel, such as `offered_qos_profiles`. */
  readonly metadata?: Readonly<Record<string, string>> | ReadonlyMap<string, string> | undefined;
}

/** Declarations by topic; a string is the name of a type. */
export type ChannelDeclarations =
  | Readonly<Record<string, ChannelDeclaration | string>>
  | ReadonlyMap<string, ChannelDeclaration | string>
  | ((topic: string) => ChannelDeclaration | string | undefined);

export interface DeclaredSchema {
  readonly name: string;
  readonly encoding: string;
  readonly data: Uint8Array;
}

export interface DeclaredChannel {
  readonly messageEncoding: string;
  readonly metadata: Map<string, string>;
  readonly schema: DeclaredSchema | undefined;
}

const KEYS = ['schemaName', 'schema', 'fields', 'messageEncoding', 'metadata'] as const;

/** The channel that is declared for a topic, or `undefined`. */
export function declaredChannel(
  topic: string,
  channels: ChannelDeclarations | undefined,
  definitions: DefinitionLookup | undefined,
): DeclaredChannel | undefined {
  const found = lookUp(channels, topic);
  if (found === undefined) return undefined;
  const declaration: ChannelDeclaration = typeof found === 'string' ? { schemaName: found } : normal(found);
  checkOptions(declaration, KEYS, `channels[${JSON.stringify(topic)}]`);
  const { messageEncoding = 'cdr', metadata = {} } = declaration;
  return {
    messageEncoding,
    metadata: new Map(isMap(metadata) ? metadata : Object.entries(metadata)),
    schema: declaredSchema(topic, declaration, messageEncoding, definitions),
  };
}

/** A type by its name. Throws SCHEMA_MISSING. */
export function definitionOf(topic: string, name: string, definitions: DefinitionLookup | undefined): DeclaredSchema {
  const text = lookUpText(definitions, name);
  if (text === undefined) {
    const why =
      definitions === undefined
        ? 'there are no definitions: use the option `definitions`'
        : 'definitions has no such name';
    throw new McapStreamsError('SCHEMA_MISSING', `topic ${topic}: no text for type ${name}, ${why}`, {
      topic,
      schemaName: name,
    });
  }
  return schemaOf(name, text, definitions);
}

/** Fields may stand in place of a declaration: none of its keys, and all values are strings. */
function normal(found: ChannelDeclaration): ChannelDeclaration {
  const entries = Object.entries(found);
  const isFields =
    entries.length > 0 && entries.every(([key, value]) => typeof value === 'string' && !KEYS.includes(key as 'fields'));
  return isFields ? { fields: found as FieldDeclarations } : found;
}

function declaredSchema(
  topic: string,
  { schemaName, schema, fields }: ChannelDeclaration,
  messageEncoding: string,
  definitions: DefinitionLookup | undefined,
): DeclaredSchema | undefined {
  if (fields !== undefined && schema !== undefined) {
    throw new OptionError('OPTION_INVALID', `channels[${JSON.stringify(topic)}] has both schema and fields`);
  }
  const declared = fields ?? (schema !== undefined && isFieldDeclarations(schema) ? schema : undefined);
  if (declared !== undefined) return schemaOfFields(topic, schemaName, declared, definitions);
  if (schema !== undefined) {
    if (schemaName !== undefined) return schemaOf(schemaName, schema as SchemaText, definitions);
    throw new OptionError('OPTION_INVALID', `channels[${JSON.stringify(topic)}] has a schema and no schemaName`);
  }
  if (schemaName !== undefined) return definitionOf(topic, schemaName, definitions);
  if (messageEncoding !== 'cdr') return undefined;
  throw new OptionError('OPTION_INVALID', `channels[${JSON.stringify(topic)}] needs schemaName, schema or fields`);
}

function isFieldDeclarations(schema: SchemaText | FieldDeclarations): schema is FieldDeclarations {
  return typeof schema === 'object' && !('data' in schema && 'encoding' in schema);
}

function schemaOf(name: string, text: SchemaText, definitions: DefinitionLookup | undefined): DeclaredSchema {
  if (typeof text !== 'string') {
    return { name, encoding: text.encoding, data: typeof text.data === 'string' ? Buffer.from(text.data) : text.data };
  }
  const isIdl = /^=+\s*\nIDL: /.test(text) || /^\s*module\s+\w+\s*\{/m.test(text);
  if (isIdl) return { name, encoding: 'ros2idl', data: Buffer.from(text) };
  return { name, encoding: 'ros2msg', data: Buffer.from(completed(name, text, definitions)) };
}

function completed(name: string, text: string, definitions: DefinitionLookup | undefined): string {
  return completeText(name, text, (type) => {
    const found = lookUpText(definitions, type);
    return typeof found === 'string' ? found : undefined;
  });
}

/** The text of fields, with the types that they need. */
function schemaOfFields(
  topic: string,
  schemaName: string | undefined,
  fields: FieldDeclarations,
  definitions: DefinitionLookup | undefined,
): DeclaredSchema {
  const name = schemaName ?? nameFor(topic);
  const lines = Object.entries(fields).map(([field, type]) => `${type} ${field}\n`);
  const data = completed(name, lines.join(''), definitions);
  try {
    // Printed anew it holds the built-in types, too, so that any reader can do with it.
    const text = definitionToRos2Msg(parseSchema({ name, encoding: 'ros2msg', data }));
    return { name, encoding: 'ros2msg', data: Buffer.from(text) };
  } catch (error) {
    if (!(error instanceof McapStreamsError)) throw error;
    throw error.with({ topic }, `topic ${topic}: ${error.message}`);
  }
}

/** A name for a type that has none: `/robot/temperature` is `generated_msgs/msg/RobotTemperature`. */
function nameFor(topic: string): string {
  const words = topic.split(/[^A-Za-z0-9]+/).filter((word) => word !== '');
  const type = words.map((word) => word.charAt(0).toUpperCase() + word.slice(1)).join('');
  return `generated_msgs/msg/${/^[A-Za-z]/.test(type) ? type : `Topic${type}`}`;
}

type Table<T> = ((key: string) => T | undefined) | ReadonlyMap<string, T> | Readonly<Record<string, T>>;

function lookUp<T>(table: Table<T> | undefined, key: string): T | undefined {
  if (table === undefined) return undefined;
  if (typeof table === 'function') return table(key);
  if (isMap(table)) return table.get(key);
  return Object.hasOwn(table, key) ? table[key] : undefined;
}

function isMap<T>(table: ReadonlyMap<string, T> | Readonly<Record<string, T>>): table is ReadonlyMap<string, T> {
  return table instanceof Map;
}
