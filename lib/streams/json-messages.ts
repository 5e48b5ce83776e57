/** JSON -> messages for the encoder: the way back from `ndjson`, and the way in for what others wrote. */
import { compileCodec } from '../cdr/codec.js';
import type { MessageCodec } from '../cdr/codec.js';
import { decodeBase64 } from '../cdr/text.js';
import { McapStreamsError } from '../errors.js';
import type { ChannelRecord, SchemaRecord } from '../mcap/records.js';
import { checkOptions } from '../options.js';
import { batched } from './batch.js';
import { wholeNumber } from './container-options.js';
import { lookUpSchema } from './definition-lookup.js';
import type { DefinitionLookup } from './definition-lookup.js';
import { JsonText } from './json-text.js';
import type { JsonItem } from './json-text.js';
import { PullTransform } from './pull-transform.js';
import type { PullCore } from './pull-transform.js';
import { STREAM_OPTIONS, readableMark, writableMark } from './stream-options.js';
import type { StreamOptions } from './stream-options.js';
import { syncCore } from './sync-core.js';

export interface JsonMessagesOptions extends StreamOptions {
  /** Schema texts for types that no channel line describes. */
  readonly definitions?: DefinitionLookup | undefined;
  /** Most bytes of a line, or of an element of an array. Default 256 MiB. */
  readonly maxLineLength?: number | undefined;
  /** Deliver arrays of up to this many messages in place of single ones. */
  readonly batch?: number | undefined;
}

/** A message read from JSON, as `encodeStream` and `Ros2Encoder` take it. */
export interface JsonMessage<T = unknown> {
  readonly topic: string;
  /** Empty where the line has none. */
  readonly schemaName: string;
  /** ns. */
  readonly logTime: bigint;
  readonly publishTime: bigint;
  readonly sequence: number;
  /** In the form that decoding gives where the type is known, else the JSON as it is. */
  readonly message: T;
  /** Only where the type is known; one object for all messages of a channel. */
  readonly channel?: ChannelRecord;
  readonly schema?: SchemaRecord;
  /** The payload, for a message that was not decoded. */
  readonly data?: Uint8Array;
}

const OPTIONS = ['definitions', 'maxLineLength', 'batch', ...STREAM_OPTIONS] as const;
const DEFAULT_MAX_LINE = 2 ** 28;

/**
 * A Transform from NDJSON, or from one array of any length, to messages: each line or element
 * `{"topic","schemaName","logTime","publishTime","sequence","message"}`. Which of the two it is, is told by the first
 * character. Types come from channel lines (`ndjson({ withChannels: true })`), else from the option `definitions`.
 *
 *     await pipeline(createReadStream('drive.ndjson'), jsonMessages(), encodeStream(), createWriteStream('drive.mcap'));
 *
 * Integers beyond 2^53 are exact. Every error is a McapStreamsError that says the line (from 1) or the element (from 0).
 */
export function jsonMessages<T = unknown>(
  options: JsonMessagesOptions & { batch: number },
): PullTransform<Uint8Array | string, JsonMessage<T>[]>;
export function jsonMessages<T = unknown>(
  options?: JsonMessagesOptions,
): PullTransform<Uint8Array | string, JsonMessage<T>>;
export function jsonMessages(options: JsonMessagesOptions = {}): PullTransform<Uint8Array | string, unknown> {
  checkOptions(options, OPTIONS, 'jsonMessages');
  const batch = wholeNumber(options.batch, 'batch', 1);
  const text = new JsonText(wholeNumber(options.maxLineLength, 'maxLineLength', 1) ?? DEFAULT_MAX_LINE);
  const reader = new MessageReader(options.definitions);
  const core = syncCore<Uint8Array | string, JsonMessage>({
    take: (chunk) => reader.messages(text.write(bufferOf(chunk))),
    finish: () => reader.messages(text.end()),
  });
  const chosen: PullCore<Uint8Array | string, unknown> = batch === undefined ? core : batched(core, batch);
  return new PullTransform(chosen, {
    readableObjectMode: true,
    signal: options.signal,
    readableHighWaterMark: readableMark(options, 'objects') ?? (batch === undefined ? undefined : 1),
    writableHighWaterMark: writableMark(options, 'bytes'),
  });
}

/** What is known of a topic with a type. */
interface Channel {
  readonly record: ChannelRecord | undefined;
  readonly schema: SchemaRecord | undefined;
  readonly codec: MessageCodec | undefined;
}

type Fields = Readonly<Record<string, unknown>>;

class MessageReader {
  readonly #definitions: DefinitionLookup | undefined;
  readonly #channels = new Map<string, Channel>();
  readonly #schemas = new Map<string, SchemaRecord>();

  constructor(definitions: DefinitionLookup | undefined) {
    this.#definitions = definitions;
  }

  *messages(items: Iterable<JsonItem>): Generator<JsonMessage, void> {
    for (const item of items) {
      let message: JsonMessage | undefined;
      try {
        message = this.#read(item.value);
      } catch (error) {
        throw error instanceof McapStreamsError
          ? error.with({ line: item.line }, `${item.where}: ${error.message}`)
          : error;
      }
      if (message !== undefined) yield message;
    }
  }

  #read(json: unknown): JsonMessage | undefined {
    if (typeof json !== 'object' || json === null || Array.isArray(json)) {
      throw bad('an object with topic, logTime and message is wanted');
    }
    const fields = json as Fields;
    const topic = fields['topic'];
    if (typeof topic !== 'string') throw bad(`topic must be a string${missing(topic)}`);
    const schemaName = fields['schemaName'] ?? '';
    if (typeof schemaName !== 'string') throw bad('schemaName must be a string', topic);
    if (!('message' in fields) && ('definition' in fields || 'definitionBase64' in fields)) {
      this.#describe(topic, schemaName, fields);
      return undefined;
    }
    const logTime = timeOf(fields['logTime'], 'logTime', topic);
    const place = { topic, schemaName, logTime };
    try {
      const publishTime =
        fields['publishTime'] === undefined ? logTime : timeOf(fields['publishTime'], 'publishTime', topic);
      const sequence = fields['sequence'] ?? 0;
      if (typeof sequence !== 'number' || sequence !== sequence >>> 0)
        throw bad('sequence must be an integer from 0 to 4294967295', topic);
      const { record, schema, codec } = this.#channel(topic, schemaName);
      const known = {
        ...(record === undefined ? {} : { channel: record }),
        ...(schema === undefined ? {} : { schema }),
      };
      const message = fields['message'];
      const data = fields['data'];
      if ((message === null || message === undefined) && data !== undefined) {
        const bytes = typeof data === 'string' ? decodeBase64(data) : undefined;
        if (bytes === undefined) throw bad('data must be base64', topic);
        return { topic, schemaName, logTime, publishTime, sequence, message: undefined, ...known, data: bytes };
      }
      if (message === undefined) throw bad('message is missing', topic);
      const value = codec === undefined ? message : codec.fromJson(notText(message, topic));
      return { topic, schemaName, logTime, publishTime, sequence, message: value, ...known };
    } catch (error) {
      throw error instanceof McapStreamsError ? error.with(place, `${topic}: ${error.message}`) : error;
    }
  }

  /** A channel's line. */
  #describe(topic: string, schemaName: string, fields: Fields): void {
    const text = fields['definition'] ?? '';
    const base64 = fields['definitionBase64'];
    const encoding = fields['encoding'] ?? 'ros2msg';
    const messageEncoding = fields['messageEncoding'] ?? 'cdr';
    const metadata = fields['metadata'] ?? {};
    const data = base64 === undefined ? text : typeof base64 === 'string' ? decodeBase64(base64) : undefined;
    if (typeof encoding !== 'string' || typeof messageEncoding !== 'string')
      throw bad('encoding and messageEncoding must be strings', topic);
    if (typeof data !== 'string' && !(data instanceof Uint8Array)) throw bad('definition must be a string', topic);
    if (typeof metadata !== 'object' || !Object.values(metadata).every(isString))
      throw bad('metadata must be an object of strings', topic);
    const bytes = typeof data === 'string' ? Buffer.from(data) : data;
    const entries = Object.entries(metadata as Readonly<Record<string, string>>);
    const hasSchema = schemaName !== '' || encoding !== '' || bytes.length > 0;
    const schema = hasSchema ? this.#schema(schemaName, encoding, bytes) : undefined;
    this.#add(topic, schemaName, messageEncoding, new Map(entries), schema);
  }

  #channel(topic: string, schemaName: string): Channel {
    const known = this.#channels.get(`${schemaName}\n${topic}`);
    if (known !== undefined) return known;
    const found = lookUpSchema(this.#definitions, schemaName);
    if (found === undefined) return { record: undefined, schema: undefined, codec: undefined };
    const schema = this.#schema(schemaName, found.encoding, found.data);
    return this.#add(topic, schemaName, 'cdr', new Map(), schema);
  }

  #add(
    topic: string,
    schemaName: string,
    messageEncoding: string,
    metadata: Map<string, string>,
    schema: SchemaRecord | undefined,
  ): Channel {
    const id = this.#channels.size + 1;
    const schemaId = schema?.id ?? 0;
    const record: ChannelRecord = { type: 'Channel', id, schemaId, topic, messageEncoding, metadata };
    let codec: MessageCodec | undefined;
    // A definition that is not ROS 2's, or is broken, is no fault of the messages: their JSON goes on as it is.
    try {
      if (schema !== undefined && messageEncoding === 'cdr') codec = compileCodec(schema);
    } catch (error) {
      if (!(error instanceof McapStreamsError)) throw error;
    }
    const channel = { record, schema, codec };
    this.#channels.set(`${schemaName}\n${topic}`, channel);
    return channel;
  }

  #schema(name: string, encoding: string, data: Uint8Array): SchemaRecord {
    const key = `${name}\n${encoding}\n${Buffer.from(data).toString('latin1')}`;
    let schema = this.#schemas.get(key);
    if (schema === undefined) {
      schema = { type: 'Schema', id: this.#schemas.size + 1, name, encoding, data };
      this.#schemas.set(key, schema);
    }
    return schema;
  }
}

/** A string would pass for JSON text. */
function notText(message: unknown, topic: string): unknown {
  if (typeof message === 'string') throw bad('message must be an object', topic);
  return message;
}

function timeOf(value: unknown, name: string, topic: string): bigint {
  const text = typeof value === 'bigint' || Number.isSafeInteger(value) ? String(value) : value;
  if (typeof text === 'string' && /^\d{1,20}$/.test(text)) {
    const time = BigInt(text);
    if (BigInt.asUintN(64, time) === time) return time;
  }
  throw bad(`${name} must be ns as a decimal string, from 0 to 2^64 - 1${missing(value)}`, topic);
}

function missing(value: unknown): string {
  return value === undefined ? ', and is missing' : '';
}

function isString(value: unknown): boolean {
  return typeof value === 'string';
}

function bad(why: string, topic?: string): McapStreamsError {
  return new McapStreamsError('ENCODE_BAD_JSON', why, { topic });
}

function bufferOf(chunk: Uint8Array | string): Buffer {
  if (typeof chunk === 'string') return Buffer.from(chunk);
  return Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
}
