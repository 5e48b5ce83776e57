/** Messages -> MCAP records. */
import { McapStreamsError } from '../errors.js';
import type { McapRecord } from '../mcap/records.js';
import { checkOptions } from '../options.js';
import { ENCODE_OPTIONS } from './message-encoder.js';
import type { EncodeOptions, OutgoingMessage } from './message-encoder.js';
import { PullTransform } from './pull-transform.js';
import type { Failure, Job, Producer, PullCore } from './pull-transform.js';
import { RecordEncoder } from './record-encoder.js';
import { STREAM_OPTIONS, readableMark, writableMark } from './stream-options.js';
import type { StreamOptions } from './stream-options.js';

export interface Ros2EncoderOptions extends EncodeOptions, StreamOptions {}

const OPTIONS = [...ENCODE_OPTIONS, ...STREAM_OPTIONS] as const;

/** What encoders take: a message, a record, or an array of them. */
export type EncoderInput = OutgoingMessage | McapRecord | readonly (OutgoingMessage | McapRecord)[];

/**
 * A Transform from messages to records: a message's Schema and Channel come before its first Message. Records go through,
 * each schema and channel once.
 *
 * A message's type is told by its own `channel` and `schema` (as decoded messages have them), else by the option
 * `channels`. Faults are McapStreamsError with a code `ENCODE_*` (or `SCHEMA_*`), topic and field.
 */
export class Ros2Encoder extends PullTransform<EncoderInput, McapRecord> {
  constructor(options: Ros2EncoderOptions = {}) {
    checkOptions(options, OPTIONS, 'Ros2Encoder');
    super(new EncoderCore(options), {
      writableObjectMode: true,
      readableObjectMode: true,
      signal: options.signal,
      readableHighWaterMark: readableMark(options, 'objects'),
      writableHighWaterMark: writableMark(options, 'objects'),
    });
  }
}

/** The core is its own job and producer, so that a message allocates neither. */
class EncoderCore implements PullCore<EncoderInput, McapRecord>, Job<McapRecord>, Producer<McapRecord> {
  readonly cost = 0;
  readonly ahead = false;
  readonly #encoder: RecordEncoder;
  /** Definitions that the current input asks for, to be handed out before it. */
  readonly #definitions: McapRecord[] = [];
  #waiting: EncoderInput | undefined;
  #inputs: readonly (OutgoingMessage | McapRecord)[] = [];
  #at = 0;
  #ready: McapRecord | undefined;

  constructor(options: EncodeOptions) {
    this.#encoder = new RecordEncoder(options, (record) => {
      this.#definitions.push(record);
    });
  }

  write(input: EncoderInput): void {
    this.#waiting = input;
  }

  end(): void {
    // Nothing is kept.
  }

  pull(): Job<McapRecord> | undefined {
    if (this.#waiting === undefined) return undefined;
    this.#inputs = isList(this.#waiting) ? this.#waiting : [this.#waiting];
    this.#at = 0;
    this.#waiting = undefined;
    return this;
  }

  start(): Producer<McapRecord> {
    return this;
  }

  next(): McapRecord | undefined {
    for (;;) {
      const definition = this.#definitions.shift();
      if (definition !== undefined) return definition;
      if (this.#ready !== undefined) {
        const ready = this.#ready;
        this.#ready = undefined;
        return ready;
      }
      const input = this.#inputs[this.#at++];
      if (input === undefined) return undefined;
      this.#ready = this.#encoder.encode(input);
    }
  }

  failed(): Failure {
    return 'throw';
  }
}

/** Throws ENCODE_NOT_A_MESSAGE for what is no object. */
export function isList(input: EncoderInput): input is readonly (OutgoingMessage | McapRecord)[] {
  if (typeof input !== 'object') {
    throw new McapStreamsError('ENCODE_NOT_A_MESSAGE', `an encoder takes messages and records, not ${typeof input}`);
  }
  return Array.isArray(input);
}
