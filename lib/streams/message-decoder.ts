/**
 * Records -> decoded messages: the part that `decodeStream` and `Ros2Decoder` share. It knows the channels, chooses a
 * codec for each, and applies the policies for what cannot be decoded.
 */
import { checkCodecOptions, compileCodec } from '../cdr/codec.js';
import type { CodecOptions, MessageCodec } from '../cdr/codec.js';
import { McapStreamsError } from '../errors.js';
import { ChannelTable, unknownChannel } from '../mcap/channel-table.js';
import type { ChunkQuery } from '../mcap/chunk-selection.js';
import { channelFilter, SELECTION_OPTIONS } from '../mcap/filter.js';
import type { ChannelFilter, Selection } from '../mcap/filter.js';
import { badRecord, MESSAGE_FIXED_LENGTH } from '../mcap/records.js';
import type { ChannelRecord, MessageRecord, RecordContent, SchemaRecord } from '../mcap/records.js';
import type { RawMessage } from './raw-message.js';
import { viewOf } from '../mcap/byte-queue.js';
import { checkChoice } from '../options.js';
import { isCompressedPayload, openPayload, ZSTD_FIRST } from './compressed-payload.js';
import { lookUpSchema } from './definition-lookup.js';
import type { DefinitionLookup } from './definition-lookup.js';

/** One message of a recording with its value. */
export interface DecodedMessage<T = unknown> {
  readonly topic: string;
  /** Name of the schema as recorded; empty for a channel without one. */
  readonly schemaName: string;
  /** The channel's record, one object for all of its messages. */
  readonly channel: ChannelRecord;
  readonly schema: SchemaRecord | undefined;
  /** ns since the recording's epoch. */
  readonly logTime: bigint;
  readonly publishTime: bigint;
  readonly sequence: number;
  /** The value; `undefined` where a policy `raw` let an undecoded message pass. */
  readonly message: T;
  /** Only where `fields` selected some of the fields. */
  readonly partial?: true;
  /** The payload, only with `message: undefined`. */
  readonly data?: Uint8Array;
  /** Why it was not decoded, if that was an error. */
  readonly error?: McapStreamsError;
}

/** Decodes the payloads of one channel. */
export interface MessageDecoderCodec {
  decode(data: Uint8Array): unknown;
}

/** Answers with a codec for the channels that it takes, `undefined` for the others. Asked once a channel. */
export type DecoderFactory = (
  channel: ChannelRecord,
  schema: SchemaRecord | undefined,
) => MessageDecoderCodec | undefined;

/** A channel whose messages could not be decoded. */
export interface ChannelReport {
  readonly topic: string;
  readonly schemaName: string;
  readonly channel: ChannelRecord;
  /** The first error. */
  readonly error: McapStreamsError;
  /** Messages that met an error; grows while the stream goes on. */
  readonly count: number;
}

export interface DecodeOptions extends Selection, CodecOptions {
  /**
   * What a payload does that does not fit its type, or a schema that is none. `throw`: an error; `raw`: the message
   * goes on with `message: undefined`, `data` and `error`; `skip`: it is left out. Default `throw`.
   */
  readonly undecodable?: 'throw' | 'raw' | 'skip' | undefined;
  /** Called at the first such message of a channel; the report's `count` goes on counting. */
  readonly onUndecodable?: ((report: ChannelReport) => void) | undefined;
  /** The same for channels that no decoder takes, by their message encoding or schema encoding. Default `throw`. */
  readonly unsupported?: 'throw' | 'raw' | 'skip' | undefined;
  readonly onUnsupported?: ((report: ChannelReport) => void) | undefined;
  /**
   * Whether all chunks are read for their definitions. Default false: chunks that hold nothing selected are passed over,
   * as told by their message indexes.
   */
  readonly eagerDefinitions?: boolean | undefined;
  /**
   * Schema texts by the name of the type, where a recording's own is missing or empty: what `standardDefinitions` or
   * `loadDefinitions` give, a Map, an object or a function.
   */
  readonly definitions?: DefinitionLookup | undefined;
  /** Factories for other encodings, asked in order before the built-in ROS 2 one. */
  readonly decoders?: readonly DecoderFactory[] | undefined;
}

const CODEC_OPTIONS = ['int64', 'time', 'arrays', 'fields', 'wstring'] as const;

/** What is wrong with a text that another one of the same type may make up for. */
const LACKING: readonly string[] = ['SCHEMA_EMPTY', 'SCHEMA_UNKNOWN_TYPE', 'SCHEMA_ROOT_NOT_FOUND'];

export const DECODE_OPTIONS: readonly string[] = [
  ...SELECTION_OPTIONS,
  ...CODEC_OPTIONS,
  'undecodable',
  'onUndecodable',
  'unsupported',
  'onUnsupported',
  'decoders',
  'eagerDefinitions',
  'definitions',
];

export interface DecodeStats {
  /** Messages handed on, undecoded ones included. */
  messages: number;
  /** Channels with messages that could not be decoded. */
  readonly undecodable: ChannelReport[];
  /** Channels with messages that no decoder took. */
  readonly unsupported: ChannelReport[];
}

/** What a channel's payloads are decoded with. */
type Decoder = Pick<MessageCodec, 'decodeAt'>;

/** What is known of one channel. */
class Channel {
  readonly record: ChannelRecord;
  readonly schema: SchemaRecord | undefined;
  readonly selected: boolean;
  /** Set when the first message has chosen it. */
  decoder: Decoder | undefined;
  partial = false;
  /** Why no message of the channel can be decoded. */
  problem: McapStreamsError | undefined;
  reports: { undecodable?: { count: number }; unsupported?: { count: number } } | undefined;

  constructor(record: ChannelRecord, schema: SchemaRecord | undefined, selected: boolean) {
    this.record = record;
    this.schema = schema;
    this.selected = selected;
  }
}

export class MessageDecoder {
  readonly stats: DecodeStats = { messages: 0, undecodable: [], unsupported: [] };
  readonly #options: DecodeOptions;
  readonly #codecOptions: CodecOptions;
  #table: ChannelTable;
  readonly #maxChannels: number;
  /** By record, for messages that come with theirs. */
  readonly #byRecord = new Map<ChannelRecord, Channel>();
  readonly #filter: ChannelFilter;
  readonly #startTime: bigint;
  readonly #endTime: bigint | undefined;
  readonly #inTime: boolean;
  /** By channel id: what a message needs is one array access away. */
  readonly #channels: (Channel | undefined)[] = [];

  constructor(options: DecodeOptions, maxChannels: number) {
    checkChoice(options.undecodable, ['throw', 'raw', 'skip'], 'undecodable');
    checkChoice(options.unsupported, ['throw', 'raw', 'skip'], 'unsupported');
    checkChoice(options.eagerDefinitions, [true, false], 'eagerDefinitions');
    this.#options = options;
    this.#codecOptions = pickCodecOptions(options);
    checkCodecOptions(this.#codecOptions, 'decodeStream');
    this.#table = new ChannelTable(maxChannels);
    this.#maxChannels = maxChannels;
    this.#filter = channelFilter(options);
    this.#startTime = options.startTime ?? 0n;
    this.#endTime = options.endTime;
    this.#inTime = options.startTime !== undefined || options.endTime !== undefined;
  }

  /** What is selected. */
  get selected(): ChunkQuery {
    return { filter: this.#filter, startTime: this.#startTime, endTime: this.#endTime };
  }

  /** What is selected, where not all is. */
  get query(): ChunkQuery | undefined {
    const { topics, schemaNames, eagerDefinitions } = this.#options;
    if (eagerDefinitions === true || (topics === undefined && schemaNames === undefined && !this.#inTime))
      return undefined;
    return this.selected;
  }

  /** Takes in definitions from a summary: those of a damaged chunk may stand nowhere else. */
  preload(schemas: Iterable<SchemaRecord>, channels: Iterable<ChannelRecord>): void {
    for (const schema of schemas) this.addSchema(schema);
    for (const channel of channels) this.addChannel(channel);
  }

  /** Another recording follows: its ids are its own. */
  forget(): void {
    this.#table = new ChannelTable(this.#maxChannels);
    this.#channels.length = 0;
  }

  addSchema(schema: SchemaRecord, offset?: number): void {
    this.#table.addSchema(schema, offset);
  }

  addChannel(record: ChannelRecord, offset?: number): void {
    const channel = this.#table.addChannel(record, offset);
    if (this.#channels[channel.id] !== undefined) return;
    const schema = this.#table.schemas.get(channel.schemaId);
    const entry = new Channel(channel, schema, this.#filter(channel, schema));
    this.#channels[channel.id] = entry;
    if (channel.schemaId !== 0 && schema === undefined) {
      // An error of this channel only, and only if it has messages.
      entry.problem = missingSchema(channel);
    }
  }

  /** A Message record where it lies in the container: nothing is copied and no view is made for it. */
  decode(record: RecordContent): DecodedMessage | undefined {
    const { view, start, end } = record;
    if (end - start < MESSAGE_FIXED_LENGTH) throw badRecord(record, 'it is shorter than its fixed part');
    const channel = this.#channels[view.getUint16(start, true)];
    if (channel === undefined) throw unknownChannel(view.getUint16(start, true), record.offset);
    if (!channel.selected) return undefined;
    const logTime = view.getBigUint64(start + 6, true);
    if (this.#inTime && !this.#isInTime(logTime)) return undefined;
    const sequence = view.getUint32(start + 2, true);
    const publishTime = view.getBigUint64(start + 14, true);
    return this.#message(
      channel,
      sequence,
      logTime,
      publishTime,
      record.bytes,
      view,
      start + MESSAGE_FIXED_LENGTH,
      end,
    );
  }

  /** A Message record object. */
  decodeRecord(record: MessageRecord): DecodedMessage | undefined {
    const channel = this.#channels[record.channelId];
    if (channel === undefined) throw unknownChannel(record.channelId);
    const { sequence, logTime, publishTime, data } = record;
    if (!channel.selected || (this.#inTime && !this.#isInTime(logTime))) return undefined;
    return this.#message(channel, sequence, logTime, publishTime, data, viewOf(data), 0, data.length);
  }

  /** A selected message that comes with its channel. */
  decodeRaw({ channel: record, schema, sequence, logTime, publishTime, data }: RawMessage): DecodedMessage | undefined {
    let channel = this.#byRecord.get(record);
    if (channel === undefined) {
      channel = new Channel(record, schema, true);
      this.#byRecord.set(record, channel);
      if (record.schemaId !== 0 && schema === undefined) channel.problem = missingSchema(record);
    }
    return this.#message(channel, sequence, logTime, publishTime, data, viewOf(data), 0, data.length);
  }

  #isInTime(logTime: bigint): boolean {
    return logTime >= this.#startTime && (this.#endTime === undefined || logTime < this.#endTime);
  }

  #message(
    channel: Channel,
    sequence: number,
    logTime: bigint,
    publishTime: bigint,
    bytes: Uint8Array,
    view: DataView,
    start: number,
    end: number,
  ): DecodedMessage | undefined {
    const decoder = channel.decoder ?? this.#prepare(channel);
    let message: unknown;
    try {
      message =
        bytes[start] === ZSTD_FIRST && isCompressedPayload(channel.record.messageEncoding, bytes, start, end)
          ? this.#decodeCompressed(decoder, bytes.subarray(start, end))
          : decoder.decodeAt(bytes, view, start, end);
    } catch (error) {
      return this.#undecoded(channel, sequence, logTime, publishTime, bytes.subarray(start, end), error);
    }
    this.stats.messages++;
    const { record, schema } = channel;
    const schemaName = schema?.name ?? '';
    if (channel.partial) {
      return {
        topic: record.topic,
        schemaName,
        channel: record,
        schema,
        logTime,
        publishTime,
        sequence,
        message,
        partial: true,
      };
    }
    return { topic: record.topic, schemaName, channel: record, schema, logTime, publishTime, sequence, message };
  }

  /** A payload of rosbag2's compression mode MESSAGE. */
  #decodeCompressed(decoder: Decoder, data: Uint8Array): unknown {
    const payload = openPayload(data);
    return decoder.decodeAt(payload, viewOf(payload), 0, payload.length);
  }

  /** Chooses the channel's decoder. One that cannot be had becomes one that throws why. */
  #prepare(channel: Channel): Decoder {
    try {
      if (channel.problem !== undefined) throw channel.problem;
      return (channel.decoder = this.#choose(channel));
    } catch (error) {
      return (channel.decoder = {
        decodeAt: () => {
          throw error;
        },
      });
    }
  }

  #choose(channel: Channel): Decoder {
    const { record, schema } = channel;
    for (const factory of this.#options.decoders ?? []) {
      const codec = factory(record, schema);
      if (codec !== undefined) {
        return { decodeAt: (bytes, _view, start, end) => decodeWith(codec, bytes.subarray(start, end)) };
      }
    }
    if (record.messageEncoding !== 'cdr') {
      throw unsupported(`message encoding ${JSON.stringify(record.messageEncoding)} is not supported, only "cdr"`);
    }
    if (schema === undefined) throw unsupported('the channel has no schema');
    try {
      const codec = this.#compile(schema);
      channel.partial = codec.partial;
      return codec;
    } catch (error) {
      if (error instanceof McapStreamsError && error.code === 'SCHEMA_UNSUPPORTED_ENCODING') {
        throw unsupported(
          `schema encoding ${JSON.stringify(schema.encoding)} is not supported, only "ros2msg", "ros2idl" and "omgidl"`,
        );
      }
      throw error;
    }
  }

  /** The codec of a schema; of the option `definitions` where the schema has no text, or one without a type it needs. */
  #compile(schema: SchemaRecord): MessageCodec {
    const { definitions } = this.#options;
    const other = definitions === undefined ? undefined : lookUpSchema(definitions, schema.name);
    if (other !== undefined && !schema.data.some((byte) => byte > 32)) return compileCodec(other, this.#codecOptions);
    try {
      return compileCodec(schema, this.#codecOptions);
    } catch (error) {
      const lacks = error instanceof McapStreamsError && LACKING.includes(error.code);
      if (other === undefined || !lacks) throw error;
      return compileCodec(other, this.#codecOptions);
    }
  }

  #undecoded(
    channel: Channel,
    sequence: number,
    logTime: bigint,
    publishTime: bigint,
    data: Uint8Array,
    cause: unknown,
  ): DecodedMessage | undefined {
    const { record, schema } = channel;
    const schemaName = schema?.name ?? '';
    // Errors that are not ours (an option that the codec refuses, a decoder's own) stop the stream as they are.
    if (!(cause instanceof McapStreamsError)) throw cause;
    const kind = cause.code === 'MCAP_UNSUPPORTED_ENCODING' ? 'unsupported' : 'undecodable';
    const policy = this.#options[kind] ?? 'throw';
    const error = locate(cause, `${record.topic} (${schemaName || 'no schema'}) at ${logTime}`, {
      topic: record.topic,
      schemaName,
      logTime,
    });
    if (policy === 'throw') {
      throw locate(error, undefined, {}, ` (option ${kind}: 'raw' or 'skip' goes on)`);
    }
    const reports = (channel.reports ??= {});
    const known = reports[kind];
    if (known !== undefined) known.count++;
    else {
      const report = { topic: record.topic, schemaName, channel: record, error, count: 1 };
      reports[kind] = report;
      this.stats[kind].push(report);
      (kind === 'undecodable' ? this.#options.onUndecodable : this.#options.onUnsupported)?.(report);
    }
    if (policy === 'skip') return undefined;
    this.stats.messages++;
    return {
      topic: record.topic,
      schemaName,
      channel: record,
      schema,
      logTime,
      publishTime,
      sequence,
      message: undefined,
      data,
      error,
    };
  }
}

function pickCodecOptions(options: DecodeOptions): CodecOptions {
  const entries = CODEC_OPTIONS.filter((name) => options[name] !== undefined).map((name) => [name, options[name]]);
  return Object.fromEntries(entries) as CodecOptions;
}

function missingSchema(channel: ChannelRecord): McapStreamsError {
  const why = `channel ${channel.id} names schema ${channel.schemaId}, which is not defined`;
  return new McapStreamsError('SCHEMA_MISSING', why, { topic: channel.topic });
}

function unsupported(why: string): McapStreamsError {
  return new McapStreamsError('MCAP_UNSUPPORTED_ENCODING', why);
}

/** A user's codec may throw anything: for the policies it is an undecodable payload. */
function decodeWith(codec: MessageDecoderCodec, data: Uint8Array): unknown {
  try {
    return codec.decode(data);
  } catch (error) {
    if (error instanceof McapStreamsError) throw error;
    throw new McapStreamsError('CDR_DECODER_FAILED', error instanceof Error ? error.message : String(error), {
      cause: error,
    });
  }
}

function locate(
  error: McapStreamsError,
  where: string | undefined,
  details: { topic?: string; schemaName?: string; logTime?: bigint },
  behind = '',
): McapStreamsError {
  const message = `${where === undefined ? '' : `${where}: `}${error.message}${behind}`;
  return error.with(details, message);
}
