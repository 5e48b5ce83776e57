/** Messages of one type as CSV (RFC 4180). */
import type * as CsvStringify from 'csv-stringify/sync';
import { McapStreamsError, OptionError } from '../errors.js';
import { lazily } from '../mcap/lazy.js';
import { checkChoice, checkOptions } from '../options.js';
import type { SchemaSource } from '../schema/definition.js';
import { parseSchema } from '../schema/registry.js';
import { columnsOf } from './csv-columns.js';
import type { ColumnSet } from './csv-columns.js';
import { locateError } from './locate.js';
import type { DecodedMessage } from './message-decoder.js';
import { PullTransform } from './pull-transform.js';
import { STREAM_OPTIONS, readableMark, writableMark } from './stream-options.js';
import type { StreamOptions } from './stream-options.js';
import { syncCore } from './sync-core.js';

export interface CsvOptions extends StreamOptions {
  /** A field with an array: its elements become rows, one each. A message with none has no row. */
  readonly explode?: string | undefined;
  /** Paths of the fields that become columns, such as `pose.position`. Default: all. */
  readonly fields?: readonly string[] | undefined;
  /** The type, where the header is wanted even if no message comes. Default: that of the first message. */
  readonly schema?: SchemaSource | undefined;
  /** Whether the first row names the columns. Default true. */
  readonly header?: boolean | undefined;
  /** Between cells. Default `,`. */
  readonly delimiter?: string | undefined;
  /** Between rows. Default CRLF, as RFC 4180 has it. */
  readonly newline?: '\r\n' | '\n' | undefined;
}

/** What {@link csv} takes, also as arrays: messages as decoding gives them. */
export type CsvInput = Pick<DecodedMessage, 'topic' | 'logTime' | 'message'> & Partial<DecodedMessage>;

const OPTIONS = ['explode', 'fields', 'schema', 'header', 'delimiter', 'newline', ...STREAM_OPTIONS] as const;

/** Columns of the message around its value. */
const HEAD = ['topic', 'logTime', 'publishTime', 'sequence'] as const;

const stringifier = lazily('csv-stringify/sync') as () => typeof CsvStringify;

/** So many rows are written at once. */
const MAX_ROWS = 512;

/**
 * A Transform from the messages of one type, single or in arrays, to CSV as UTF-8 bytes.
 *
 *     await pipeline(createReadStream('drive.mcap'), decodeStream({ topics: '/odom', batch: 512 }), csv(), createWriteStream('odom.csv'));
 *
 * Columns are `topic,logTime,publishTime,sequence` (times in ns) and then those of the type, by its definition: nested
 * names `pose.position.x`, fixed arrays `covariance[0]`, other arrays as JSON text or, with `explode`, as rows. A message of
 * another type is an error: a type is a file.
 */
export function csv(options: CsvOptions = {}): PullTransform<CsvInput | readonly CsvInput[], Buffer> {
  checkOptions(options, OPTIONS, 'csv');
  checkChoice(options.header, [true, false], 'header');
  checkChoice(options.newline, ['\r\n', '\n'], 'newline');
  if (options.delimiter !== undefined && !/^[^"\r\n]+$/.test(options.delimiter))
    throw new OptionError('OPTION_INVALID', 'option delimiter takes text without quotes and newlines');
  const writer = new RowWriter(options);
  return new PullTransform(
    syncCore({
      take: (input) => writer.pieces(Array.isArray(input) ? (input as CsvInput[]) : [input as CsvInput]),
      finish: () => writer.finish(),
    }),
    {
      writableObjectMode: true,
      signal: options.signal,
      readableHighWaterMark: readableMark(options, 'bytes'),
      writableHighWaterMark: writableMark(options, 'objects'),
    },
  );
}

class RowWriter {
  readonly #options: CsvOptions;
  #type: (ColumnSet & { name: string }) | undefined;
  /** What the columns were made from last, so that a message's type is seen to be the same at once. */
  #schema: SchemaSource | undefined;
  #rows: string[][] = [];

  constructor(options: CsvOptions) {
    this.#options = options;
    if (options.schema !== undefined) this.#setType(options.schema);
  }

  *pieces(messages: readonly CsvInput[]): Generator<Buffer, void> {
    for (const message of messages) {
      try {
        yield* this.#message(message);
      } catch (error) {
        if (this.#rows.length > 0) yield this.#piece();
        const { topic, schemaName, logTime } = message;
        throw locateError(error, { topic, schemaName, logTime });
      }
    }
    if (this.#rows.length > 0) yield this.#piece();
  }

  *finish(): Generator<Buffer, void> {
    if (this.#rows.length > 0) yield this.#piece();
  }

  *#message(message: CsvInput): Generator<Buffer, void> {
    if (message.message === undefined && message.data !== undefined)
      throw message.error ?? new McapStreamsError('ENCODE_WRONG_KIND', 'the message was not decoded');
    const { columns, elements } = this.#typeOf(message);
    const { topic, logTime, publishTime = logTime, sequence = 0, message: value } = message;
    const head = [topic, String(logTime), String(publishTime), String(sequence)];
    if (elements === undefined) {
      this.#rows.push([...head, ...columns.map(({ cell }) => cell(value))]);
    } else {
      const list = elements(value);
      const shared = columns.map(({ of, cell }) => (of === 'message' ? cell(value) : ''));
      for (let index = 0; index < list.length; index++) {
        const cells = columns.map(({ of, cell }, place) =>
          of === 'message' ? (shared[place] ?? '') : cell(of === 'index' ? index : list[index]),
        );
        this.#rows.push([...head, ...cells]);
        if (this.#rows.length >= MAX_ROWS) yield this.#piece();
      }
    }
    if (this.#rows.length >= MAX_ROWS) yield this.#piece();
  }

  #typeOf({ schema }: CsvInput): ColumnSet {
    if (schema === undefined) {
      if (this.#type !== undefined) return this.#type;
      throw new McapStreamsError(
        'SCHEMA_MISSING',
        'the columns come from a schema: give the message one, or csv() the option schema',
      );
    }
    if (this.#type === undefined) return this.#setType(schema);
    if (schema !== this.#schema) {
      const { name } = parseSchema(schema);
      if (name !== this.#type.name) {
        const why = `the columns are those of ${this.#type.name}, this is a ${name}: csv() takes one type`;
        throw new McapStreamsError('ENCODE_WRONG_KIND', why);
      }
      this.#schema = schema;
    }
    return this.#type;
  }

  #setType(schema: SchemaSource): ColumnSet {
    const definition = parseSchema(schema);
    const set = columnsOf(definition, this.#options.explode, this.#options.fields);
    this.#schema = schema;
    this.#type = { ...set, name: definition.name };
    if (this.#options.header !== false) this.#rows.push([...HEAD, ...set.columns.map(({ name }) => name)]);
    return this.#type;
  }

  #piece(): Buffer {
    const rows = this.#rows;
    this.#rows = [];
    const text = stringifier().stringify(rows, {
      delimiter: this.#options.delimiter ?? ',',
      record_delimiter: this.#options.newline ?? '\r\n',
      // The library looks for whole row ends only.
      quoted_match: /[\r\n]/,
    });
    return Buffer.from(text);
  }
}
