/** `mcap-ros2 recover`: what is sound in a damaged recording, as a recording that is whole and indexed. */
import { crc32 } from '../../mcap/crc.js';
import { builtInDecompressors } from '../../mcap/compression.js';
import { OPCODE, RECORD_PREFIX } from '../../mcap/opcodes.js';
import type { ChunkRecord, McapRecord } from '../../mcap/records.js';
import { formatTime } from '../../time.js';
import type { DamageReport } from '../../streams/container-options.js';
import { IdMapper } from '../id-mapper.js';
import { inputFiles } from '../input.js';
import type { Input } from '../input.js';
import { withOutput } from '../output-file.js';
import type { OutputOptions } from '../output-file.js';
import { EXIT, note, UsageError } from '../output.js';
import type { ExitCode } from '../output.js';
import { CONTENT, DamageLog, recordsOf, writeRecords } from '../records.js';
import { formatBytes } from '../table.js';
import { Tail } from '../tail.js';

export interface RecoverOptions extends OutputOptions {
  /** Keep what a chunk with a wrong CRC still gives. */
  readonly keepSuspect?: boolean | undefined;
  readonly json?: boolean | undefined;
}

/** The metadata record that says which messages are not to be trusted. */
const SUSPECT = 'mcap-ros2:suspect';

/** Faults behind the data: nothing but the index is lost. */
const INDEX_ONLY: ReadonlySet<string> = new Set([
  'MCAP_SUMMARY_CRC_MISMATCH',
  'MCAP_TRAILING_DATA',
  'MCAP_BAD_END_MAGIC',
  'MCAP_MISSING_FOOTER',
  'MCAP_MISSING_DATA_END',
  'MCAP_BAD_INDEX',
]);

export async function recover(paths: readonly string[], options: RecoverOptions): Promise<ExitCode> {
  if (options.json === true && (options.output === undefined || options.output === '-')) {
    throw new UsageError('--json prints the report on stdout: the recording goes to a file, -o FILE');
  }
  const inputs = await inputFiles(paths);
  const rescue = new Rescue(options.keepSuspect ?? false);
  await withOutput(options, inputs, 'binary', async (stream) => {
    await writeRecords(rescue.records(inputs), stream, {});
  });
  const report = rescue.report();
  if (options.json === true) process.stdout.write(`${JSON.stringify(report)}\n`);
  else note(sentence(report));
  return report.dataLost ? EXIT.dataLoss : EXIT.whole;
}

interface Span {
  start: bigint;
  end: bigint;
}

function widen(span: Span | undefined, start: bigint, end: bigint): Span {
  if (span === undefined) return { start, end };
  return { start: start < span.start ? start : span.start, end: end > span.end ? end : span.end };
}

class Rescue {
  readonly #keepSuspect: boolean;
  readonly #damage = new DamageLog();
  readonly #mapper = new IdMapper();
  readonly #kept = { messages: 0, channels: 0, attachments: 0, metadata: 0 };
  readonly #suspect = { chunks: 0, messages: 0, span: undefined as Span | undefined };
  readonly #lost = { bytes: 0, chunks: 0, messages: 0, span: undefined as Span | undefined };
  /** Whether the recordings themselves say how many messages there were. */
  #counted = true;
  #dataLost = false;
  #indexLost = false;

  constructor(keepSuspect: boolean) {
    this.#keepSuspect = keepSuspect;
  }

  async *records(inputs: readonly Input[]): AsyncGenerator<McapRecord> {
    for (const [n, input] of inputs.entries()) {
      this.#mapper.nextInput();
      yield* this.#file(input, n === 0);
    }
    const { chunks, messages, span } = this.#suspect;
    if (chunks === 0) return;
    const times = span === undefined ? [] : Object.entries({ start: String(span.start), end: String(span.end) });
    yield {
      type: 'Metadata',
      name: SUSPECT,
      metadata: new Map([
        ['reason', 'the CRC of their chunks is wrong'],
        ['chunks', String(chunks)],
        ['messages', String(messages)],
        ...times.map(([key, value]): [string, string] => [key, value]),
      ]),
    };
  }

  async *#file(input: Input, isFirst: boolean): AsyncGenerator<McapRecord> {
    const before = this.#damage.reports.length;
    const tail = new Tail();
    const include = [...CONTENT, 'Statistics', 'ChunkIndex', 'Footer'] as const;
    const records = recordsOf(input, this.#damage, {
      include: this.#keepSuspect ? [...include, 'Chunk'] : include,
      validateCrcs: !this.#keepSuspect,
      tail,
    });
    const seen: FileEnd = { dataEnd: false, summaryStart: 0n, expected: undefined, chunks: new Map() };
    let messages = 0;
    /** Messages still to come of a chunk that is not to be trusted. */
    let suspect = 0;
    for await (const record of records) {
      switch (record.type) {
        case 'Header':
          if (isFirst) yield record;
          break;
        case 'Schema': {
          const { record: schema, added } = this.#mapper.schema(record);
          if (added && record.id !== 0) yield schema;
          break;
        }
        case 'Channel': {
          const { record: channel, added } = this.#mapper.channel(record);
          if (!added) break;
          this.#kept.channels++;
          yield channel;
          break;
        }
        case 'Message':
          messages++;
          this.#kept.messages++;
          if (suspect > 0) {
            suspect--;
            this.#suspect.messages++;
            this.#suspect.span = widen(this.#suspect.span, record.logTime, record.logTime);
          }
          yield { ...record, channelId: this.#mapper.channelId(record.channelId) };
          break;
        case 'Attachment':
          this.#kept.attachments++;
          yield record;
          break;
        case 'Metadata':
          this.#kept.metadata++;
          yield record;
          break;
        case 'Chunk':
          suspect = await suspectMessages(record);
          if (suspect > 0) this.#suspect.chunks++;
          break;
        case 'DataEnd':
          seen.dataEnd = true;
          break;
        case 'Statistics':
          seen.expected = record.messageCount;
          break;
        case 'ChunkIndex':
          seen.chunks.set(record.chunkStartOffset, record);
          break;
        case 'Footer':
          seen.summaryStart = record.summaryStart;
          break;
        default:
          yield record;
      }
    }
    this.#account(this.#damage.reports.slice(before), seen, messages, tail);
  }

  #account(found: DamageLog['reports'], seen: FileEnd, messages: number, tail: Tail): void {
    let lost = this.#damage.brokenInputs.length > 0;
    for (const { report } of found) {
      if (isIndexOnly(report, seen, tail)) {
        this.#indexLost = true;
        continue;
      }
      lost = true;
      this.#lost.bytes += report.bytes;
      this.#lost.chunks += report.chunks;
      this.#lost.messages += report.messages;
      const chunk = seen.chunks.get(BigInt(report.offset));
      if (chunk === undefined) continue;
      this.#lost.span = widen(this.#lost.span, chunk.messageStartTime, chunk.messageEndTime);
    }
    if (seen.summaryStart === 0n) this.#indexLost = true;
    if (seen.expected !== undefined && lost) {
      this.#lost.messages = Math.max(this.#lost.messages, Number(seen.expected) - messages);
    } else if (lost) this.#counted = false;
    this.#dataLost ||= lost || this.#suspect.chunks > 0;
  }

  report(): RecoverReport {
    const { bytes, chunks, messages, span } = this.#lost;
    return {
      recovered: this.#kept,
      lost: {
        messages: this.#counted ? messages : null,
        chunks,
        bytes,
        startTime: span === undefined ? null : String(span.start),
        endTime: span === undefined ? null : String(span.end),
      },
      suspect: { chunks: this.#suspect.chunks, messages: this.#suspect.messages },
      dataLost: this.#dataLost,
      indexLost: this.#indexLost,
      damage: this.#damage.reports.map(({ input, report: { code, offset, error } }) => ({
        input,
        code,
        offset,
        message: error.message,
      })),
    };
  }
}

interface FileEnd {
  dataEnd: boolean;
  summaryStart: bigint;
  /** Messages, as the statistics say. */
  expected: bigint | undefined;
  readonly chunks: Map<bigint, { readonly messageStartTime: bigint; readonly messageEndTime: bigint }>;
}

export interface RecoverReport {
  readonly recovered: {
    readonly messages: number;
    readonly channels: number;
    readonly attachments: number;
    readonly metadata: number;
  };
  readonly lost: {
    /** Null: nothing in the recording says how many there were. */
    readonly messages: number | null;
    readonly chunks: number;
    readonly bytes: number;
    /** ns; null where no index says what times the lost chunks had. */
    readonly startTime: string | null;
    readonly endTime: string | null;
  };
  readonly suspect: { readonly chunks: number; readonly messages: number };
  readonly dataLost: boolean;
  readonly indexLost: boolean;
  readonly damage: readonly {
    readonly input: string;
    readonly code: string;
    readonly offset: number;
    readonly message: string;
  }[];
}

function isIndexOnly(report: DamageReport, seen: FileEnd, tail: Tail): boolean {
  if (INDEX_ONLY.has(report.code)) return true;
  if (seen.summaryStart > 0n && BigInt(report.offset) >= seen.summaryStart) return true;
  if (report.code !== 'MCAP_TRUNCATED') return false;
  if (seen.dataEnd) return true;
  // A file that ends between two records has lost what can be made anew, unless not even the Header is there.
  if (report.bytes === 0) return report.offset > 8;
  const opcode = tail.at(report.offset);
  return opcode === OPCODE.MessageIndex || opcode === OPCODE.DataEnd;
}

/** Messages of a chunk whose records do not have the CRC that it says; 0 of one that is sound. */
async function suspectMessages(chunk: ChunkRecord): Promise<number> {
  const { compression, records, uncompressedSize, uncompressedCrc } = chunk;
  if (uncompressedCrc === 0) return 0;
  try {
    const decompress = builtInDecompressors().find(compression);
    const bytes = decompress === undefined ? records : await decompress(records, Number(uncompressedSize));
    return crc32(bytes) === uncompressedCrc ? 0 : countMessages(bytes);
  } catch {
    // It does not decompress: that is damage of its own, and gives nothing.
    return 0;
  }
}

function countMessages(bytes: Uint8Array): number {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  let count = 0;
  for (let at = 0; at + RECORD_PREFIX <= bytes.length;) {
    if (bytes[at] === OPCODE.Message) count++;
    at += RECORD_PREFIX + Number(view.getBigUint64(at + 1, true));
  }
  return count;
}

function sentence({ recovered, lost, suspect, dataLost, indexLost }: RecoverReport): string {
  const { messages, channels, attachments } = recovered;
  const kept = `recovered ${messages} messages of ${channels} channels, ${attachments} attachments`;
  const flagged =
    suspect.chunks > 0
      ? `; ${suspect.messages} messages of ${suspect.chunks} chunks with a wrong CRC are kept, flagged in the metadata ${SUSPECT}`
      : '';
  if (!dataLost) return `${kept}; ${indexLost ? 'only the index was missing' : 'nothing was lost'}`;
  const times =
    lost.startTime === null || lost.endTime === null
      ? ''
      : `, from ${formatTime(BigInt(lost.startTime))} to ${formatTime(BigInt(lost.endTime))}`;
  const count = lost.messages === null ? 'an unknown number of messages' : `${lost.messages} messages`;
  return `${kept}; lost ${count}, ${lost.chunks} chunks, ${formatBytes(lost.bytes)}${times}${flagged}`;
}
