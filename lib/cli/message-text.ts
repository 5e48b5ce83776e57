/** Messages as text: what `cat` prints, as stages from batches of messages to bytes. */
import type { DecodedMessage } from '../streams/message-decoder.js';
import { csv } from '../streams/csv.js';
import { jsonValue } from '../streams/json-value.js';
import { channelLine } from '../streams/json-line.js';
import { ndjson } from '../streams/ndjson.js';
import { compileCodec } from '../cdr/codec.js';
import type { MessageCodec } from '../cdr/codec.js';
import { formatTime } from '../time.js';

export type TextFormat = 'ndjson' | 'csv' | 'json' | 'pretty';
export type TimeFormat = 'ns' | 'rfc3339' | 'seconds';
export type BytesForm = 'base64' | 'length' | 'omit';

export interface TextOptions {
  readonly format: TextFormat;
  readonly timeFormat: TimeFormat;
  readonly bytes: BytesForm;
  readonly withChannels: boolean;
  readonly fields: readonly string[] | undefined;
}

export type Batches = AsyncIterable<readonly DecodedMessage[]>;

/** Text of batches of messages. */
export function textOf(batches: Batches, options: TextOptions): AsyncIterable<string | Uint8Array> {
  const { format, timeFormat, bytes, withChannels, fields } = options;
  if (format === 'csv') return csvText(batches, timeFormat, fields);
  if (format === 'ndjson' && timeFormat === 'ns' && bytes === 'base64') return plainLines(batches, withChannels);
  return ownText(batches, options);
}

/** The form that `convert` reads back. */
async function* plainLines(batches: Batches, withChannels: boolean): AsyncGenerator<Uint8Array> {
  const stage = ndjson({ withChannels, undecodable: 'raw' });
  yield* through(batches, stage);
}

async function* csvText(
  batches: Batches,
  timeFormat: TimeFormat,
  fields: readonly string[] | undefined,
): AsyncGenerator<Uint8Array> {
  const stage = csv({ newline: '\n', fields });
  yield* through(timeFormat === 'ns' ? batches : withTimeText(batches, timeFormat), stage);
}

/** Cells hold what `String` gives of a time. */
async function* withTimeText(batches: Batches, timeFormat: TimeFormat): Batches {
  for await (const batch of batches) {
    yield batch.map((message) => ({
      ...message,
      logTime: timeText(message.logTime, timeFormat) as unknown as bigint,
      publishTime: timeText(message.publishTime, timeFormat) as unknown as bigint,
    }));
  }
}

async function* through(
  batches: Batches,
  stage: ReturnType<typeof ndjson> | ReturnType<typeof csv>,
): AsyncGenerator<Uint8Array> {
  const feeding = (async () => {
    for await (const batch of batches) {
      if (stage.destroyed) return;
      if (stage.write(batch)) continue;
      await new Promise((resolve) => stage.once('drain', resolve).once('close', resolve));
    }
    stage.end();
  })();
  feeding.catch((error: unknown) => stage.destroy(error as Error));
  try {
    for await (const piece of stage) yield piece;
  } finally {
    stage.destroy();
  }
}

async function* ownText(batches: Batches, options: TextOptions): AsyncGenerator<string> {
  const { format, withChannels } = options;
  const values = new Values(options.bytes);
  const seen = new Set<unknown>();
  let count = 0;
  for await (const batch of batches) {
    let text = '';
    const add = (item: string): void => {
      if (format === 'ndjson') text += `${item}\n`;
      else if (format === 'pretty') text += item;
      else text += count === 0 ? `[\n${item}` : `,\n${item}`;
      count++;
    };
    for (const message of batch) {
      if (withChannels && format !== 'pretty' && !seen.has(message.channel)) {
        seen.add(message.channel);
        add(channelLine(message.channel, message.schema));
      }
      add(format === 'pretty' ? prettyText(message, values, options.timeFormat) : line(message, values, options));
    }
    yield text;
  }
  if (format === 'json') yield count === 0 ? '[]\n' : '\n]\n';
}

function line(message: DecodedMessage, values: Values, { timeFormat }: TextOptions): string {
  const { topic, schemaName, logTime, publishTime, sequence, data } = message;
  const head =
    `{"topic":${JSON.stringify(topic)},"schemaName":${JSON.stringify(schemaName)},` +
    `"logTime":"${timeText(logTime, timeFormat)}","publishTime":"${timeText(publishTime, timeFormat)}",` +
    `"sequence":${sequence},"message":`;
  if (data === undefined) return `${head}${values.text(message)}}`;
  const reason = message.error === undefined ? '' : `,"error":${JSON.stringify(message.error.message)}`;
  const payload = values.bytesText(data);
  return `${head}null${payload === undefined ? '' : `,"data":${payload}`}${reason}}`;
}

function prettyText(message: DecodedMessage, values: Values, timeFormat: TimeFormat): string {
  const { topic, schemaName, logTime, sequence, data } = message;
  const time = timeText(logTime, timeFormat === 'ns' ? 'rfc3339' : timeFormat);
  const text = data === undefined ? values.text(message) : (values.bytesText(data) ?? 'null');
  const value: unknown = JSON.parse(text);
  const reason = message.error === undefined ? '' : `# ${message.error.message}\n`;
  return `${time} ${topic} ${schemaName} #${sequence}\n${reason}${JSON.stringify(value, undefined, 2)}\n\n`;
}

export function timeText(ns: bigint, format: TimeFormat): string {
  if (format === 'rfc3339') return formatTime(ns);
  if (format === 'ns') return String(ns);
  return `${ns / 1_000_000_000n}.${String(ns % 1_000_000_000n).padStart(9, '0')}`;
}

/** Values as JSON, with byte arrays in the form that is asked for. */
class Values {
  readonly #bytes: BytesForm;
  readonly #codecs = new Map<unknown, MessageCodec | undefined>();

  constructor(bytes: BytesForm) {
    this.#bytes = bytes;
  }

  text({ message, schema, partial }: DecodedMessage): string {
    if (this.#bytes !== 'base64') return jsonValue(this.#reduced(message));
    if (schema === undefined || partial === true) return jsonValue(message);
    let codec = this.#codecs.get(schema);
    if (codec === undefined && !this.#codecs.has(schema)) {
      codec = attempt(() => compileCodec(schema));
      this.#codecs.set(schema, codec);
    }
    return codec === undefined ? jsonValue(message) : Buffer.from(codec.toJson(message)).toString();
  }

  /** Undefined: it is left out. */
  bytesText(data: Uint8Array): string | undefined {
    if (this.#bytes === 'omit') return undefined;
    return this.#bytes === 'length' ? String(data.length) : jsonValue(data);
  }

  #reduced(value: unknown): unknown {
    if (typeof value !== 'object' || value === null) return value;
    if (value instanceof Uint8Array) return value.length;
    if (Array.isArray(value)) return value.map((item) => this.#reduced(item));
    if (ArrayBuffer.isView(value)) return value;
    return Object.fromEntries(
      Object.entries(value)
        .filter(([, item]) => !(this.#bytes === 'omit' && item instanceof Uint8Array))
        .map(([key, item]) => [key, this.#reduced(item)]),
    );
  }
}

function attempt<T>(work: () => T): T | undefined {
  try {
    return work();
  } catch {
    return undefined;
  }
}
