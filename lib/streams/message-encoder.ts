/**
 * Messages -> channels, ids, sequence numbers and codecs: the part that `encodeStream` and `Ros2Encoder` share. What it
 * does with the bytes is the affair of whoever has it.
 */
import { compileCodec } from '../cdr/codec.js';
import type { CodecOptions, MessageCodec } from '../cdr/codec.js';
import { McapStreamsError } from '../errors.js';
import { ChannelTable, unknownChannel } from '../mcap/channel-table.js';
import type { ChannelState } from '../mcap/chunk-builder.js';
import { checkTime, MAX_ID } from '../mcap/record-checks.js';
import type { ChannelRecord, McapRecord, MessageRecord, SchemaRecord } from '../mcap/records.js';
import { checkChoice } from '../options.js';
import { declaredChannel, definitionOf } from './channel-declarations.js';
import type { ChannelDeclarations } from './channel-declarations.js';
import type { DefinitionLookup } from './definition-lookup.js';
import { OutgoingChannels } from './outgoing-channels.js';
import type { Define, OutgoingChannel } from './outgoing-channels.js';

/** A message to be written. One that `decodeStream` or `Ros2Decoder` gave is one. */
export interface OutgoingMessage<T = unknown> {
  readonly topic: string;
  /** ns since the recording's epoch. */
  readonly logTime: bigint;
  /** The value; `undefined` where `data` is to be written as it is. */
  readonly message?: T;
  /** Default: `logTime`. */
  readonly publishTime?: bigint | undefined;
  /** Default: a counter per channel, from 0. */
  readonly sequence?: number | undefined;
  /** The channel's record, as decoded messages have it: its metadata is kept. */
  readonly channel?: ChannelRecord | undefined;
  readonly schema?: SchemaRecord | undefined;
  /** Name of the type, looked up in `definitions` where nothing else says what the topic's type is. */
  readonly schemaName?: string | undefined;
  /** The payload, for a message that was not decoded. */
  readonly data?: Uint8Array | undefined;
  readonly partial?: boolean | undefined;
}

/** Encodes the values of one channel. */
export interface MessageEncoderCodec {
  encode(value: unknown): Uint8Array;
}

/** Answers with a codec for the channels that it takes, `undefined` for the others. Asked once a channel. */
export type EncoderFactory = (
  channel: ChannelRecord,
  schema: SchemaRecord | undefined,
) => MessageEncoderCodec | undefined;

export interface EncodeOptions {
  /** What is not said by the messages themselves: the types of topics. */
  readonly channels?: ChannelDeclarations | undefined;
  /** Schema texts by the name of the type. */
  readonly definitions?: DefinitionLookup | undefined;
  /** Factories for other encodings, asked in order before the built-in ROS 2 one. */
  readonly encoders?: readonly EncoderFactory[] | undefined;
  /**
   * Whether it is an error when two schemas or channels come with one id, as from two recordings. Default false: the
   * second one gets another id. Ids that are free are kept in any case.
   */
  readonly preserveIds?: boolean | undefined;
  /** A property that the type does not have: `error` (default), or `ignore` it. */
  readonly unknownFields?: 'error' | 'ignore' | undefined;
  /** CDR encoding. Default `CDR_LE`, as ROS 2 has it. */
  readonly encapsulation?: CodecOptions['encapsulation'];
  /** Form of wide strings; as for the codec. */
  readonly wstring?: CodecOptions['wstring'];
}

export const ENCODE_OPTIONS = [
  'channels',
  'definitions',
  'encoders',
  'preserveIds',
  'unknownFields',
  'encapsulation',
  'wstring',
] as const;

/** How a channel's values become bytes: by a ROS 2 codec, which can write in place, or by an encoder of the user's. */
export type ValueEncoder =
  | { readonly cdr: MessageCodec; readonly own?: undefined }
  | { readonly cdr?: undefined; readonly own: MessageEncoderCodec };

/** What is known of a topic's channel. */
export class EncodedChannel {
  readonly outgoing: OutgoingChannel;
  readonly schemaName: string;
  /** Of the message that chose the channel: another schema or topic beside the same channel record is another channel. */
  readonly schema: SchemaRecord | undefined;
  readonly topic: string;
  /** The channel record of that message. */
  readonly source: ChannelRecord | undefined;
  encoder: ValueEncoder | undefined;
  /** Of the writer, where messages go straight into the file. */
  state: ChannelState | undefined;

  constructor(outgoing: OutgoingChannel, topic: string, schema: SchemaRecord | undefined, source?: ChannelRecord) {
    this.outgoing = outgoing;
    this.schemaName = outgoing.schema?.name ?? '';
    this.topic = topic;
    this.schema = schema;
    this.source = source;
  }
}

export class MessageEncoder {
  readonly #options: EncodeOptions;
  readonly #codecOptions: CodecOptions;
  readonly #outgoing: OutgoingChannels;
  /** By the id in the channel record of a message: the last one that had it. A lookup by the record costs 30 ns more. */
  readonly #lastById: (EncodedChannel | undefined)[] = [];
  /** By the channel record of a message. */
  readonly #byRecord = new WeakMap<ChannelRecord, EncodedChannel>();
  /** Of messages without a channel record. */
  readonly #byTopic = new Map<string, EncodedChannel>();
  readonly #encoders = new WeakMap<OutgoingChannel, ValueEncoder>();
  /** What has passed as records. */
  readonly #passed = new ChannelTable(MAX_ID);
  readonly #passedSchemas = new Map<number, SchemaRecord>();
  readonly #passedChannels = new Map<number, OutgoingChannel>();

  constructor(options: EncodeOptions, define: Define) {
    checkChoice(options.preserveIds, [true, false], 'preserveIds');
    this.#options = options;
    this.#codecOptions = {
      ...(options.unknownFields === undefined ? {} : { unknownFields: options.unknownFields }),
      ...(options.encapsulation === undefined ? {} : { encapsulation: options.encapsulation }),
      ...(options.wstring === undefined ? {} : { wstring: options.wstring }),
    };
    this.#outgoing = new OutgoingChannels(define, options.preserveIds ?? false);
  }

  /** The channel that a message goes to. It is defined if it is new. */
  channelOf(message: OutgoingMessage): EncodedChannel {
    const { channel: record, topic } = message;
    if (record !== undefined) {
      const last = this.#lastById[record.id];
      if (last?.source === record && last.topic === topic && last.schema === message.schema) return last;
      let channel = this.#byRecord.get(record);
      if (channel?.topic !== topic || channel.schema !== message.schema) {
        checkTopic(topic);
        channel = this.#ofRecord(record, message);
        this.#byRecord.set(record, channel);
      }
      if (record.id >= 0 && record.id <= MAX_ID) this.#lastById[record.id] = channel;
      return channel;
    }
    const known = this.#byTopic.get(topic);
    if (known !== undefined && known.schema === message.schema) return known;
    checkTopic(topic);
    const made = this.#ofTopic(message);
    this.#byTopic.set(topic, made);
    return made;
  }

  /** What encodes the values of a channel. Throws ENCODE_UNSUPPORTED_ENCODING, or SCHEMA_* for a schema that is none. */
  encoderOf(channel: EncodedChannel): ValueEncoder {
    if (channel.encoder !== undefined) return channel.encoder;
    let encoder = this.#encoders.get(channel.outgoing);
    if (encoder === undefined) {
      encoder = this.#choose(channel.outgoing);
      this.#encoders.set(channel.outgoing, encoder);
    }
    return (channel.encoder = encoder);
  }

  /** A record on its way through, with the ids that its schema and channel have in the output; nothing if it is known. */
  pass(record: McapRecord): Exclude<McapRecord, SchemaRecord | ChannelRecord> | undefined {
    switch (record.type) {
      case 'Schema': {
        this.#passed.addSchema(record);
        this.#passedSchemas.set(record.id, this.#outgoing.schema(record, record.id));
        return undefined;
      }
      case 'Channel': {
        this.#passed.requireSchema(record);
        this.#passed.addChannel(record);
        const schema = this.#passedSchemas.get(record.schemaId);
        const outgoing = this.#outgoing.channel(record, schema, record.id);
        this.#passedChannels.set(record.id, outgoing);
        return undefined;
      }
      case 'Message':
        return this.#passMessage(record);
      default:
        return record;
    }
  }

  #passMessage(record: MessageRecord): MessageRecord {
    const channel = this.#passedChannels.get(record.channelId);
    if (channel === undefined) throw unknownChannel(record.channelId);
    return channel.record.id === record.channelId ? record : { ...record, channelId: channel.record.id };
  }

  #ofRecord(record: ChannelRecord, { topic, schema: given }: OutgoingMessage): EncodedChannel {
    const schemaRecord = given ?? this.#passed.schemas.get(record.schemaId);
    const schema = schemaRecord && this.#outgoing.schema(schemaRecord, schemaRecord.id);
    const content = { topic, messageEncoding: record.messageEncoding, metadata: new Map(record.metadata) };
    // Under another topic it is another channel.
    const outgoing = this.#outgoing.channel(content, schema, topic === record.topic ? record.id : undefined);
    return new EncodedChannel(outgoing, topic, given, record);
  }

  #ofTopic({ topic, schema: given, schemaName }: OutgoingMessage): EncodedChannel {
    if (given !== undefined) {
      const schema = this.#outgoing.schema(given, given.id);
      const content = { topic, messageEncoding: 'cdr', metadata: new Map<string, string>() };
      return new EncodedChannel(this.#outgoing.channel(content, schema), topic, given);
    }
    const { channels, definitions } = this.#options;
    const declared = declaredChannel(topic, channels, definitions);
    if (declared !== undefined) {
      const schema = declared.schema && this.#outgoing.schema(declared.schema);
      return new EncodedChannel(this.#outgoing.channel({ topic, ...declared }, schema), topic, undefined);
    }
    const known = this.#outgoing.known(topic);
    if (known !== undefined) return new EncodedChannel(known, topic, undefined);
    if (schemaName !== undefined && definitions !== undefined) {
      const schema = this.#outgoing.schema(definitionOf(topic, schemaName, definitions));
      const content = { topic, messageEncoding: 'cdr', metadata: new Map<string, string>() };
      return new EncodedChannel(this.#outgoing.channel(content, schema), topic, undefined);
    }
    throw new McapStreamsError(
      'ENCODE_UNKNOWN_TOPIC',
      `nothing says what type topic ${topic} has: declare it, ` +
        `channels: { ${JSON.stringify(topic)}: { schemaName: 'pkg/msg/Type' } } with definitions, ` +
        "or { fields: { temperature: 'float32' } }",
      { topic },
    );
  }

  #choose({ record, schema }: OutgoingChannel): ValueEncoder {
    for (const factory of this.#options.encoders ?? []) {
      const own = factory(record, schema);
      if (own !== undefined) return { own };
    }
    const { topic, messageEncoding } = record;
    if (messageEncoding !== 'cdr') {
      const why = `message encoding ${JSON.stringify(messageEncoding)} needs an encoder, see the option encoders`;
      throw new McapStreamsError('ENCODE_UNSUPPORTED_ENCODING', `topic ${topic}: ${why}`, { topic });
    }
    if (schema === undefined) {
      throw new McapStreamsError('ENCODE_UNSUPPORTED_ENCODING', `topic ${topic}: its channel has no schema`, { topic });
    }
    try {
      return { cdr: compileCodec(schema, this.#codecOptions) };
    } catch (error) {
      throw error instanceof McapStreamsError ? error.with({ topic }, `topic ${topic}: ${error.message}`) : error;
    }
  }
}

/** Whether an input is a record: messages have no `type`. */
export function isRecord(input: McapRecord | OutgoingMessage): input is McapRecord {
  return 'type' in input && typeof input.type === 'string';
}

/** What has to be true of a message before anything is written for it. */
export function checkOutgoing(message: OutgoingMessage): void {
  if (message.partial === true) {
    const { topic } = message;
    const why = 'was decoded with the option fields: it is not the whole message';
    throw new McapStreamsError('ENCODE_PARTIAL_MESSAGE', `a message on ${topic} ${why}`, { topic });
  }
  if (typeof message.logTime !== 'bigint') checkTime(message.logTime, 'logTime', message.topic);
}

/** The payload of a message that was not decoded; `undefined` where it has a value. */
export function undecodedData(message: OutgoingMessage): Uint8Array | undefined {
  if (message.message !== undefined) return undefined;
  const { data, topic } = message;
  if (data instanceof Uint8Array) return data;
  throw new McapStreamsError('ENCODE_NOT_A_MESSAGE', `a message on ${topic} has neither message nor data`, { topic });
}

/** The bytes that a user's encoder gives. Throws ENCODE_ENCODER_FAILED. */
export function encodeWith(codec: MessageEncoderCodec, value: unknown): Uint8Array {
  try {
    const bytes: unknown = codec.encode(value);
    if (bytes instanceof Uint8Array) return bytes;
    throw new TypeError(`the encoder gave ${typeof bytes}, not a Uint8Array`);
  } catch (error) {
    if (error instanceof McapStreamsError) throw error;
    const why = error instanceof Error ? error.message : String(error);
    throw new McapStreamsError('ENCODE_ENCODER_FAILED', why, { cause: error });
  }
}

/** An error with the message that it is of. */
export function locateEncodeError(error: unknown, { topic, logTime }: OutgoingMessage, schemaName: string): unknown {
  if (!(error instanceof McapStreamsError)) return error;
  return error.with(
    { topic, schemaName, logTime },
    `${topic} (${schemaName || 'no schema'}) at ${logTime}: ${error.message}`,
  );
}

function checkTopic(topic: unknown): void {
  if (typeof topic === 'string') return;
  throw new McapStreamsError(
    'ENCODE_NOT_A_MESSAGE',
    'what is encoded is a record, { type: "Message", ... }, or a message, { topic, logTime, message }',
  );
}
