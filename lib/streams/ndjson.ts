/** Messages, or the records of a recording, as lines of JSON. */
import { isCompressedPayload, openPayload } from './compressed-payload.js';
import { compileCodec } from '../cdr/codec.js';
import type { MessageCodec } from '../cdr/codec.js';
import { EncodeBuffer } from '../cdr/encode-buffer.js';
import { writeUtf8 } from '../cdr/text.js';
import { McapStreamsError } from '../errors.js';
import { viewOf } from '../mcap/byte-queue.js';
import { ChannelTable, unknownChannel } from '../mcap/channel-table.js';
import type { ChannelRecord, McapRecord, MessageRecord, SchemaRecord } from '../mcap/records.js';
import { checkChoice, checkOptions } from '../options.js';
import { channelLine, lineHead } from './json-line.js';
import { jsonValue } from './json-value.js';
import { locateError } from './locate.js';
import type { DecodedMessage } from './message-decoder.js';
import { PullTransform } from './pull-transform.js';
import { STREAM_OPTIONS, readableMark, writableMark } from './stream-options.js';
import type { StreamOptions } from './stream-options.js';
import { syncCore } from './sync-core.js';

export interface NdjsonOptions extends StreamOptions {
  /**
   * Whether a channel's line, with topic, type, definition and metadata, comes before its first message: `jsonMessages`
   * then needs nothing else. Default false.
   */
  readonly withChannels?: boolean | undefined;
  /**
   * A payload that does not fit its type, or a channel that is not CDR, among records: `throw` an error; `raw`: a line with
   * `"message":null`, the payload as base64 in `"data"` and the reason in `"error"`; or `skip` it. Default `throw`.
   */
  readonly undecodable?: 'throw' | 'raw' | 'skip' | undefined;
}

/** What {@link ndjson} takes, also as arrays: messages as decoding gives them, or records. */
export type NdjsonInput = NdjsonMessage | McapRecord;

/** A message to be written as a line. Without a schema its value is written as it comes. */
export type NdjsonMessage = Pick<DecodedMessage, 'topic' | 'logTime'> & Partial<DecodedMessage>;

const OPTIONS = ['withChannels', 'undecodable', ...STREAM_OPTIONS] as const;

/** A piece of output is at least so large, if its input gives as much. */
const PIECE = 64 * 1024;
/** A buffer above this is not kept. */
const MAX_KEPT = 2 ** 24;

/**
 * A Transform from messages to NDJSON, UTF-8 bytes: `{"topic","schemaName","logTime","publishTime","sequence","message"}`, a
 * line each, in the form that `codec.toJson` has.
 *
 *     await pipeline(createReadStream('drive.mcap'), decodeStream({ batch: 512 }), ndjson(), createWriteStream('drive.ndjson'));
 *
 * It takes single messages and arrays of them, and the records of McapRecordParser, whose payloads become text without
 * being decoded: the fastest way. Errors are McapStreamsError with topic and time.
 */
export function ndjson(options: NdjsonOptions = {}): PullTransform<NdjsonInput | readonly NdjsonInput[], Buffer> {
  checkOptions(options, OPTIONS, 'ndjson');
  checkChoice(options.withChannels, [true, false], 'withChannels');
  checkChoice(options.undecodable, ['throw', 'raw', 'skip'], 'undecodable');
  const writer = new LineWriter(options);
  return new PullTransform(
    syncCore({
      take: (input) => writer.pieces(Array.isArray(input) ? (input as NdjsonInput[]) : [input as NdjsonInput]),
    }),
    {
      writableObjectMode: true,
      signal: options.signal,
      readableHighWaterMark: readableMark(options, 'bytes'),
      writableHighWaterMark: writableMark(options, 'objects'),
    },
  );
}

/** What is known of one channel. */
interface Channel {
  readonly topic: string;
  readonly schemaName: string;
  /** `{"topic":..,"schemaName":..,"logTime":"`, the same in all of its lines. */
  readonly head: string;
  /** Writes values and payloads; undefined where nothing is known of the type. */
  readonly codec: MessageCodec | undefined;
  /** The same for values of which some fields were asked. */
  partial: MessageCodec | undefined;
  /** Why there is no codec. */
  readonly problem: McapStreamsError | undefined;
}

class LineWriter {
  readonly #withChannels: boolean;
  readonly #undecodable: 'throw' | 'raw' | 'skip';
  readonly #table = new ChannelTable(65535);
  readonly #channels = new Map<unknown, Channel>();
  #out = new EncodeBuffer(PIECE + 4096);
  #size = 0;

  constructor(options: NdjsonOptions) {
    this.#withChannels = options.withChannels ?? false;
    this.#undecodable = options.undecodable ?? 'throw';
  }

  *pieces(inputs: readonly NdjsonInput[]): Generator<Buffer, void> {
    for (const input of inputs) {
      const before = this.#size;
      let failed: { error: unknown } | undefined;
      try {
        this.#take(input);
      } catch (error) {
        // The lines before it go out first.
        this.#size = before;
        failed = { error };
      }
      if (this.#size >= PIECE || (failed !== undefined && this.#size > 0)) yield this.#piece();
      if (failed !== undefined) throw failed.error;
    }
    if (this.#size > 0) yield this.#piece();
  }

  #piece(): Buffer {
    const piece = Buffer.from(this.#out.u8.subarray(0, this.#size));
    this.#size = 0;
    if (this.#out.capacity > MAX_KEPT) this.#out = new EncodeBuffer(PIECE + 4096);
    return piece;
  }

  #take(input: NdjsonInput): void {
    if ('type' in input) this.#record(input);
    else this.#message(input);
  }

  #record(record: McapRecord): void {
    if (record.type === 'Schema') this.#table.addSchema(record);
    else if (record.type === 'Channel') {
      const channel = this.#table.addChannel(record);
      this.#channel(channel, channel, this.#table.schemas.get(channel.schemaId));
    } else if (record.type === 'Message') this.#messageRecord(record);
  }

  #messageRecord(record: MessageRecord): void {
    const known = this.#table.channels.get(record.channelId);
    if (known === undefined) throw unknownChannel(record.channelId);
    const { codec, topic, schemaName, head, problem } = this.#channel(
      known,
      known,
      this.#table.schemas.get(known.schemaId),
    );
    const { logTime, publishTime, sequence, data } = record;
    const begin = this.#size;
    try {
      if (codec === undefined) throw problem ?? unsupported('nothing is known of its type');
      this.#head(head, logTime, publishTime, sequence);
      const compressed = isCompressedPayload(known.messageEncoding, data, 0, data.length);
      const payload = compressed ? openPayload(data) : data;
      this.#size += codec.jsonAt(payload, viewOf(payload), 0, payload.length, this.#out, this.#size);
      this.#text('}\n');
    } catch (error) {
      this.#size = begin;
      const located = locateError(error, { topic, schemaName, logTime });
      if (this.#undecodable === 'throw' || !(located instanceof McapStreamsError)) throw located;
      if (this.#undecodable === 'raw') this.#raw(head, logTime, publishTime, sequence, data, located);
    }
  }

  #message(message: NdjsonMessage): void {
    const { topic, schemaName = '', logTime, publishTime = logTime, sequence = 0, data, error } = message;
    const key = message.channel ?? `${topic}\n${schemaName}`;
    const channel = this.#channel(key, message.channel, message.schema, topic, schemaName);
    if (data !== undefined && message.message === undefined) {
      this.#raw(channel.head, logTime, publishTime, sequence, data, error);
      return;
    }
    let { codec } = channel;
    if (message.partial === true && codec !== undefined && message.schema !== undefined) {
      codec = channel.partial ??= compileCodec(message.schema, { fields: [], unknownFields: 'ignore' });
    }
    this.#head(channel.head, logTime, publishTime, sequence);
    if (codec === undefined) this.#text(jsonValue(message.message));
    else {
      try {
        this.#size += codec.toJsonTo(message.message, this.#out, this.#size);
      } catch (cause) {
        throw locateError(cause, { topic, schemaName, logTime });
      }
    }
    this.#text('}\n');
  }

  /** What is known of the channel `key`; its line is written when it is first seen. */
  #channel(
    key: unknown,
    record: ChannelRecord | undefined,
    schema: SchemaRecord | undefined,
    topic: string = record?.topic ?? '',
    schemaName: string = schema?.name ?? '',
  ): Channel {
    const known = this.#channels.get(key);
    if (known !== undefined) return known;
    let codec: MessageCodec | undefined;
    let problem: McapStreamsError | undefined;
    if (schema !== undefined && (record === undefined || record.messageEncoding === 'cdr')) {
      try {
        codec = compileCodec(schema);
      } catch (error) {
        if (!(error instanceof McapStreamsError)) throw error;
        problem = error;
      }
    } else if (record !== undefined) {
      const encoding = JSON.stringify(record.messageEncoding);
      problem = unsupported(schema === undefined ? 'the channel has no schema' : `message encoding ${encoding}`);
    }
    const head = lineHead(topic, schemaName);
    const channel: Channel = { topic, schemaName, head, codec, partial: undefined, problem };
    this.#channels.set(key, channel);
    if (this.#withChannels && record !== undefined) this.#text(channelLine(record, schema));
    return channel;
  }

  #head(head: string, logTime: bigint, publishTime: bigint, sequence: number): void {
    this.#text(`${head}${logTime}","publishTime":"${publishTime}","sequence":${sequence},"message":`);
  }

  #raw(
    head: string,
    logTime: bigint,
    publishTime: bigint,
    sequence: number,
    data: Uint8Array,
    error: McapStreamsError | undefined,
  ): void {
    this.#head(head, logTime, publishTime, sequence);
    const reason = error === undefined ? '' : `,"error":${JSON.stringify(error.message)}`;
    this.#text(`null,"data":${jsonValue(data)}${reason}}\n`);
  }

  #text(text: string): void {
    const most = text.length * 3;
    if (this.#size + most > this.#out.capacity) this.#out.grow(this.#size, this.#size + most);
    this.#size += writeUtf8(this.#out.u8, text, this.#size, most);
  }
}

function unsupported(what: string): McapStreamsError {
  return new McapStreamsError('MCAP_UNSUPPORTED_ENCODING', `no JSON can be made of it: ${what}`);
}
