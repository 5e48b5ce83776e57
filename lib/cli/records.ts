/** Records of the inputs on their way into a new recording. */
import { Readable } from 'node:stream';
import type { Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { McapRecord, McapRecordType } from '../mcap/records.js';
import type { DamageReport } from '../streams/container-options.js';
import { McapRecordParser } from '../streams/mcap-record-parser.js';
import { McapRecordWriter } from '../streams/mcap-record-writer.js';
import type { McapRecordWriterOptions } from '../streams/mcap-record-writer.js';
import { bytesOf } from './input.js';
import type { Input } from './input.js';
import { warn } from './output.js';
import type { Tail } from './tail.js';

/** What was found wrong, said as it comes. */
export class DamageLog {
  readonly #said: boolean;
  readonly reports: { readonly input: string; readonly report: DamageReport }[] = [];
  /** An input that is compressed as a whole and does not decompress to its end. */
  readonly brokenInputs: string[] = [];

  /** @param said whether it is said at once; default true */
  constructor(said = true) {
    this.#said = said;
  }

  report(input: string): (report: DamageReport) => void {
    return (report) => {
      this.reports.push({ input, report });
      if (this.#said) warn(`${input}: ${report.error.message}`);
    };
  }

  brokenInput(input: string): (error: Error) => void {
    return (error) => {
      this.brokenInputs.push(error.message);
      if (this.#said) warn(`${input}: ${error.message}`);
    };
  }

  get found(): boolean {
    return this.reports.length > 0 || this.brokenInputs.length > 0;
  }
}

export interface RecordOptions {
  readonly include?: readonly McapRecordType[] | undefined;
  readonly validateCrcs?: boolean | undefined;
  readonly attachments?: 'buffer' | 'stream' | 'skip' | undefined;
  readonly progress?: boolean;
  readonly tail?: Tail;
  /** Called with the bytes that were read, decompressed. */
  readonly onBytes?: (count: number) => void;
}

/** The records of one input; it goes on behind damage, which is said. */
export async function* recordsOf(
  input: Input,
  damage: DamageLog,
  { progress = true, tail, onBytes, ...options }: RecordOptions = {},
): AsyncGenerator<McapRecord, void> {
  const source = bytesOf(input, { onBroken: damage.brokenInput(input.name), progress, tail, onBytes });
  yield* recordsFrom(source, input.name, damage, options);
}

/** The records of bytes that are open already. */
export async function* recordsFrom(
  source: Readable,
  name: string,
  damage: DamageLog,
  options: Omit<RecordOptions, 'progress' | 'tail' | 'onBytes'>,
): AsyncGenerator<McapRecord, void> {
  const parser = new McapRecordParser({ ...options, damage: 'skip', onDamage: damage.report(name) });
  // An error of the source reaches the loop by the parser.
  pipeline(source, parser).catch(() => undefined);
  try {
    yield* parser as AsyncIterable<McapRecord>;
  } finally {
    parser.destroy();
  }
}

/** Records without those that a writer makes anew. */
export const CONTENT: readonly McapRecordType[] = [
  'Header',
  'Schema',
  'Channel',
  'Message',
  'Attachment',
  'Metadata',
  'Unknown',
  'DataEnd',
];

/** Writes records as a recording. */
export async function writeRecords(
  records: AsyncIterable<McapRecord>,
  stream: Writable,
  options: McapRecordWriterOptions,
): Promise<void> {
  await pipeline(Readable.from(records, { highWaterMark: 64 }), new McapRecordWriter(options), stream);
}
