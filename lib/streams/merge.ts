/** Several recordings as one, by log time. */
import type { RecordingSource } from '../mcap/source.js';
import type { ChannelRecord, McapRecord, SchemaRecord } from '../mcap/records.js';
import { checkChoice, checkOptions } from '../options.js';
import { BatchReadable } from './batch-readable.js';
import { CONTAINER_OPTIONS, containerSettings, emptyStats, wholeNumber } from './container-options.js';
import type { ContainerOptions, ContainerStats } from './container-options.js';
import { DECODE_OPTIONS, MessageDecoder } from './message-decoder.js';
import type { DecodedMessage, DecodeOptions } from './message-decoder.js';
import { rawInLogTimeOrder } from './read-recording.js';
import type { RawMessage } from './raw-message.js';
import { mergeSorted } from './sorted-runs.js';
import { readableMark } from './stream-options.js';
import type { StreamOptions } from './stream-options.js';

export interface MergeRecordingsOptions
  extends ContainerOptions, DecodeOptions, Omit<StreamOptions, 'writableHighWaterMark'> {
  /** Deliver records in place of decoded messages: schemas and channels before their first message. Default false. */
  readonly records?: boolean | undefined;
  readonly limit?: number | undefined;
  readonly batch?: number | undefined;
}

const OPTIONS = [
  ...CONTAINER_OPTIONS,
  ...DECODE_OPTIONS,
  'signal',
  'highWaterMark',
  'readableHighWaterMark',
  'records',
  'limit',
  'batch',
] as const;

/**
 * A Readable of the messages of several recordings, by log time; those of one time in the order of the inputs. Equal schemas
 * and equal channels become one, all ids are given anew. Each input is read as `readRecording` reads it, the budget
 * `maxBufferedBytes` is shared.
 */
export function mergeRecordings(
  inputs: readonly RecordingSource[],
  options: MergeRecordingsOptions & { records: true },
): BatchReadable<McapRecord>;
export function mergeRecordings<T = unknown>(
  inputs: readonly RecordingSource[],
  options?: MergeRecordingsOptions,
): BatchReadable<DecodedMessage<T>>;
export function mergeRecordings(
  inputs: readonly RecordingSource[],
  options: MergeRecordingsOptions = {},
): BatchReadable<unknown> {
  checkOptions(options, OPTIONS, 'mergeRecordings');
  checkChoice(options.records, [true, false], 'records');
  const batch = wholeNumber(options.batch, 'batch', 1);
  const limit = wholeNumber(options.limit, 'limit', 0) ?? Infinity;
  const { maxChannels, maxBufferedBytes } = containerSettings(options);
  const decoder = new MessageDecoder(options, maxChannels);
  const shared = {
    ...options,
    maxBufferedBytes: Math.max(1, Math.floor(maxBufferedBytes / Math.max(1, inputs.length))),
  };
  return new BatchReadable<unknown>((signal) => merged(inputs, shared, decoder, options.records === true, signal), {
    inBatches: batch !== undefined,
    limit,
    highWaterMark: readableMark(options, 'objects'),
    signal: options.signal,
  });
}

async function* merged(
  inputs: readonly RecordingSource[],
  options: MergeRecordingsOptions,
  decoder: MessageDecoder,
  asRecords: boolean,
  signal: AbortSignal,
): AsyncGenerator<unknown[]> {
  const stats: ContainerStats = emptyStats();
  const sources = inputs.map((input) => {
    const progress = { container: stats, source: { bytesRead: 0, reads: 0 } };
    return rawInLogTimeOrder(input, options, decoder.selected, progress, signal);
  });
  const ids = new Remapper();
  for await (const batch of mergeSorted(sources, false)) {
    const out: unknown[] = [];
    for (const raw of batch) {
      const { message, added } = ids.remap(raw);
      if (!asRecords) {
        const decoded = decoder.decodeRaw(message);
        if (decoded !== undefined) out.push(decoded);
        continue;
      }
      const { channel, sequence, logTime, publishTime, data } = message;
      out.push(...added, { type: 'Message', channelId: channel.id, sequence, logTime, publishTime, data });
    }
    if (out.length > 0) yield out;
  }
}

/** Gives schemas and channels ids of their own, one for those that are equal. */
export class Remapper {
  readonly #channels = new Map<ChannelRecord, { channel: ChannelRecord; schema: SchemaRecord | undefined }>();
  readonly #byContent = new Map<string, { channel: ChannelRecord; schema: SchemaRecord | undefined }>();
  readonly #schemas = new Map<string, SchemaRecord>();

  /** The message with its new channel, and the records that have to come before it. */
  remap(raw: RawMessage): { message: RawMessage; added: McapRecord[] } {
    const added: McapRecord[] = [];
    let known = this.#channels.get(raw.channel);
    if (known === undefined) {
      known = this.#channel(raw.channel, raw.schema, added);
      this.#channels.set(raw.channel, known);
    }
    return { message: { ...raw, ...known }, added };
  }

  #channel(channel: ChannelRecord, schema: SchemaRecord | undefined, added: McapRecord[]) {
    const mapped = schema && this.#schema(schema, added);
    const { topic, messageEncoding, metadata } = channel;
    const entries = [...metadata].sort(([a], [b]) => (a < b ? -1 : 1));
    const content = JSON.stringify([
      topic,
      messageEncoding,
      mapped?.id ?? channel.schemaId,
      mapped === undefined,
      entries,
    ]);
    let known = this.#byContent.get(content);
    if (known === undefined) {
      const schemaId = mapped?.id ?? 0;
      known = {
        channel: { type: 'Channel', id: this.#byContent.size + 1, schemaId, topic, messageEncoding, metadata },
        schema: mapped,
      };
      this.#byContent.set(content, known);
      added.push(known.channel);
    }
    return known;
  }

  #schema(schema: SchemaRecord, added: McapRecord[]): SchemaRecord {
    const content = JSON.stringify([schema.name, schema.encoding, Buffer.from(schema.data).toString('latin1')]);
    let known = this.#schemas.get(content);
    if (known === undefined) {
      known = { ...schema, id: this.#schemas.size + 1 };
      this.#schemas.set(content, known);
      added.push(known);
    }
    return known;
  }
}
