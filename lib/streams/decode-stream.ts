/** MCAP bytes -> decoded messages, in one stage: the record parser and the ROS 2 decoder fused. */
import { pipeline } from 'node:stream';
import type { ChunkQuery } from '../mcap/chunk-selection.js';
import { OPCODE } from '../mcap/opcodes.js';
import { parseChannel, parseSchema } from '../mcap/records.js';
import type { RecordContent } from '../mcap/records.js';
import { checkOptions } from '../options.js';
import { batched } from './batch.js';
import { ContainerCore } from './container-core.js';
import type { RecordHandler } from './container-core.js';
import { CONTAINER_OPTIONS, containerSettings, wholeNumber } from './container-options.js';
import type { ContainerOptions, ContainerStats } from './container-options.js';
import { readLargerPieces } from './larger-pieces.js';
import { DECODE_OPTIONS, MessageDecoder } from './message-decoder.js';
import type { DecodedMessage, DecodeOptions, DecodeStats } from './message-decoder.js';
import { PullTransform } from './pull-transform.js';
import type { PullCore } from './pull-transform.js';
import { INPUT_BYTES, STREAM_OPTIONS, readableMark, writableMark } from './stream-options.js';
import type { StreamOptions } from './stream-options.js';

export interface DecodeStreamOptions extends ContainerOptions, DecodeOptions, StreamOptions {
  /** Deliver arrays of up to this many messages in place of single ones. */
  readonly batch?: number | undefined;
}

const OPTIONS = [...CONTAINER_OPTIONS, ...DECODE_OPTIONS, ...STREAM_OPTIONS, 'batch'] as const;

/** What `decodeStream` reads from: a stream of bytes or anything that yields them. */
export type ByteSource = NodeJS.ReadableStream | AsyncIterable<Uint8Array> | Iterable<Uint8Array>;

/** The stage that {@link decodeStream} gives. `Out` is a message, or an array of them with the option `batch`. */
export class DecodeStream<Out = DecodedMessage> extends PullTransform<Uint8Array, Out> {
  readonly #container: ContainerStats;
  readonly #decoder: DecodeStats;

  constructor(options: DecodeStreamOptions = {}) {
    checkOptions(options, OPTIONS, 'decodeStream');
    const decoder = new MessageDecoder(options, containerSettings(options).maxChannels);
    const core = new ContainerCore(new DecodeHandler(decoder), options);
    const batch = wholeNumber(options.batch, 'batch', 1);
    super((batch === undefined ? core : batched(core, batch)) as PullCore<Uint8Array, Out>, {
      readableObjectMode: true,
      signal: options.signal,
      maxJobs: core.maxJobs,
      maxCost: core.maxCost,
      // A batch is a buffer by itself.
      readableHighWaterMark: readableMark(options, 'objects') ?? (batch === undefined ? undefined : 1),
      writableHighWaterMark: writableMark(options, 'bytes') ?? INPUT_BYTES,
    });
    if (options.writableHighWaterMark === undefined) readLargerPieces(this);
    this.#container = core.stats;
    this.#decoder = decoder.stats;
  }

  /** What has been read and decoded so far. */
  get stats(): ContainerStats & DecodeStats {
    return { ...this.#container, ...this.#decoder };
  }
}

/**
 * A Transform from the bytes of an MCAP file to its decoded messages, in file order.
 *
 *     await pipeline(createReadStream('drive.mcap'), decodeStream({ topics: ['/imu'] }), sink);
 *
 * With a source as its first argument it reads from there, so that the function itself is a stage too:
 *
 *     await pipeline(createReadStream('drive.mcap'), decodeStream, sink);
 *     for await (const { message } of decodeStream<Imu>(createReadStream('drive.mcap'))) ...
 *
 * Faults are `McapStreamsError` with code, topic, field, offset; the options `damage`, `undecodable` and `unsupported`
 * say which of them end the stream. A wrong option is a TypeError.
 */
export function decodeStream<T = unknown>(
  options: DecodeStreamOptions & { batch: number },
): DecodeStream<DecodedMessage<T>[]>;
export function decodeStream<T = unknown>(options?: DecodeStreamOptions): DecodeStream<DecodedMessage<T>>;
export function decodeStream<T = unknown>(
  source: ByteSource,
  options: DecodeStreamOptions & { batch: number },
): DecodeStream<DecodedMessage<T>[]>;
export function decodeStream<T = unknown>(
  source: ByteSource,
  options?: DecodeStreamOptions,
): DecodeStream<DecodedMessage<T>>;
export function decodeStream(
  first?: ByteSource | DecodeStreamOptions,
  second?: DecodeStreamOptions,
): DecodeStream<unknown> {
  if (!isSource(first)) return new DecodeStream(first);
  const stage = new DecodeStream<unknown>(second);
  // An error of either side destroys the other; whoever reads the stage gets it.
  pipeline(first, stage, () => undefined);
  return stage;
}

function isSource(value: ByteSource | DecodeStreamOptions | undefined): value is ByteSource {
  return value !== undefined && (Symbol.asyncIterator in value || Symbol.iterator in value || 'pipe' in value);
}

/** Records of a container -> decoded messages. */
export class DecodeHandler implements RecordHandler<DecodedMessage> {
  readonly #decoder: MessageDecoder;

  readonly query: ChunkQuery | undefined;

  constructor(decoder: MessageDecoder) {
    this.#decoder = decoder;
    this.query = decoder.query;
  }

  wants(opcode: number): boolean {
    return opcode === OPCODE.Message || opcode === OPCODE.Schema || opcode === OPCODE.Channel;
  }

  handle(record: RecordContent): DecodedMessage | undefined {
    if (record.opcode === OPCODE.Message) return this.#decoder.decode(record);
    if (record.opcode === OPCODE.Schema) this.#decoder.addSchema(parseSchema(record), record.offset);
    else this.#decoder.addChannel(parseChannel(record), record.offset);
    return undefined;
  }
}
