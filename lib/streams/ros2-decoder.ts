/** Records -> decoded messages. */
import { McapStreamsError } from '../errors.js';
import type { McapRecord } from '../mcap/records.js';
import { checkChoice, checkOptions } from '../options.js';
import { DECODE_OPTIONS, MessageDecoder } from './message-decoder.js';
import type { DecodedMessage, DecodeOptions, DecodeStats } from './message-decoder.js';
import { PullTransform } from './pull-transform.js';
import type { Failure, Job, Producer, PullCore } from './pull-transform.js';
import { STREAM_OPTIONS, readableMark, writableMark } from './stream-options.js';
import type { StreamOptions } from './stream-options.js';

export interface Ros2DecoderOptions extends DecodeOptions, StreamOptions {
  /** Hand on every record that is not a message, in its place. Default false: they are taken in and left out. */
  readonly passRecords?: boolean | undefined;
}

const OPTIONS = [...DECODE_OPTIONS, ...STREAM_OPTIONS, 'passRecords'] as const;

/**
 * A Transform from records, as McapRecordParser or `@mcap/core` give them, to decoded messages. `Out` is a message; with
 * `passRecords` also a record.
 */
export class Ros2Decoder<Out = DecodedMessage> extends PullTransform<McapRecord, Out> {
  /** What has been decoded so far. */
  readonly stats: DecodeStats;

  constructor(options: Ros2DecoderOptions = {}) {
    checkOptions(options, OPTIONS, 'Ros2Decoder');
    checkChoice(options.passRecords, [true, false], 'passRecords');
    const decoder = new MessageDecoder(options, 0xffff);
    const core = new DecoderCore(decoder, options.passRecords ?? false);
    super(core as unknown as PullCore<McapRecord, Out>, {
      writableObjectMode: true,
      readableObjectMode: true,
      signal: options.signal,
      readableHighWaterMark: readableMark(options, 'objects'),
      writableHighWaterMark: writableMark(options, 'objects'),
    });
    this.stats = decoder.stats;
  }
}

type Output = DecodedMessage | McapRecord;

/** One record in, one output or none: the core is its own job and producer, so that a record allocates neither. */
class DecoderCore implements PullCore<McapRecord, Output>, Job<Output>, Producer<Output> {
  readonly cost = 0;
  readonly ahead = false;
  readonly #decoder: MessageDecoder;
  readonly #passRecords: boolean;
  #waiting: McapRecord | undefined;
  #current: McapRecord | undefined;

  constructor(decoder: MessageDecoder, passRecords: boolean) {
    this.#decoder = decoder;
    this.#passRecords = passRecords;
  }

  write(record: McapRecord): void {
    this.#waiting = record;
  }

  end(): void {
    // Nothing is kept.
  }

  pull(): Job<Output> | undefined {
    if (this.#waiting === undefined) return undefined;
    this.#current = this.#waiting;
    this.#waiting = undefined;
    return this;
  }

  start(): Producer<Output> {
    return this;
  }

  next(): Output | undefined {
    const record = this.#current;
    this.#current = undefined;
    if (record === undefined) return undefined;
    switch (record.type) {
      case 'Message':
        return this.#decoder.decodeRecord(record);
      case 'Schema':
        this.#decoder.addSchema(record);
        break;
      case 'Channel':
        this.#decoder.addChannel(record);
        break;
      default:
        if (typeof record.type !== 'string') {
          throw new McapStreamsError('MCAP_BAD_RECORD', 'Ros2Decoder takes records, { type: "Message", ... }');
        }
    }
    return this.#passRecords ? record : undefined;
  }

  failed(): Failure {
    return 'throw';
  }
}
