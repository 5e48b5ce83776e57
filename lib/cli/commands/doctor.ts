/** `mcap-ros2 doctor`: every fault of a recording, with its place and its code. */
import { compileCodec } from '../../cdr/codec.js';
import type { MessageCodec } from '../../cdr/codec.js';
import { McapStreamsError } from '../../errors.js';
import { isZstdFrame } from '../../mcap/compression.js';
import { OPCODE } from '../../mcap/opcodes.js';
import type { ChannelRecord, McapRecord, SchemaRecord, StatisticsRecord } from '../../mcap/records.js';
import { OpenSource } from '../../mcap/source.js';
import { openWhole } from '../../streams/whole-file-compression.js';
import { RecordCounter } from '../../streams/read-summary.js';
import { inputFiles, withPaths } from '../input.js';
import { EXIT, StdoutWriter } from '../output.js';
import type { ExitCode } from '../output.js';
import { DamageLog, recordsOf } from '../records.js';

export interface Fault {
  readonly severity: 'error' | 'warning';
  /** A code of McapStreamsError, or one of the doctor's own, in small letters. */
  readonly code: string;
  /** Byte offset in the file; null where the fault has no single place. */
  readonly offset: number | null;
  readonly message: string;
}

export async function doctor(paths: readonly string[], options: { json?: boolean }): Promise<ExitCode> {
  const inputs = await inputFiles(paths);
  const out = new StdoutWriter();
  let errors = 0;
  await withPaths(inputs, async (files) => {
    for (const [n, file] of files.entries()) {
      const name = inputs[n]?.name ?? file;
      const faults = await examine(file, name);
      const wrong = faults.filter(({ severity }) => severity === 'error').length;
      errors += wrong;
      const warnings = faults.length - wrong;
      if (options.json === true) {
        await out.write(`${JSON.stringify({ file: name, errors: wrong, warnings, faults })}\n`);
        continue;
      }
      for (const { severity, code, offset, message } of faults) {
        await out.write(`${name}: ${severity} ${code} at ${offset ?? '-'}: ${message}\n`);
      }
      await out.write(`${name}: ${wrong} errors, ${warnings} warnings\n`);
    }
  });
  await out.finish();
  return errors > 0 ? EXIT.failure : EXIT.whole;
}

async function examine(path: string, name: string): Promise<Fault[]> {
  const patient = new Patient();
  const damage = new DamageLog(false);
  try {
    for await (const record of recordsOf({ name, path }, damage, { include: INCLUDE })) patient.add(record);
  } catch (error) {
    // What is no recording at all is one fault: the others cannot be told.
    if (!(error instanceof McapStreamsError)) throw error;
    return [{ severity: 'error', code: error.code, offset: error.offset ?? 0, message: error.message }];
  }
  const faults: Fault[] = damage.reports.map(({ report: { code, offset, error } }) => ({
    severity: 'error',
    code,
    offset,
    message: error.message,
  }));
  for (const message of damage.brokenInputs) {
    faults.push({ severity: 'error', code: 'MCAP_DECOMPRESSION_FAILED', offset: null, message });
  }
  const opened = await openWhole(await OpenSource.open(path), new AbortController().signal).catch(() => undefined);
  try {
    // In a file that is damaged the counts differ for that reason.
    if (faults.length === 0 && opened !== undefined) faults.push(...(await patient.indexFaults(opened)));
  } finally {
    await opened?.close();
  }
  faults.push(...patient.contentFaults());
  return faults;
}

const INCLUDE = [
  ...RecordCounter.include,
  'Statistics',
  'ChunkIndex',
  'AttachmentIndex',
  'MetadataIndex',
  'DataEnd',
  'Footer',
] as const;

/** What is told of one recording while it passes. */
class Patient {
  readonly #counter = new RecordCounter();
  readonly #codecs = new Map<number, MessageCodec | undefined>();
  readonly #payloads = new Map<number, { error: McapStreamsError; count: number }>();
  readonly #schemaFaults: Fault[] = [];
  readonly #indexes: { offset: number; opcode: number; what: string }[] = [];
  readonly #chunkIndexes = { count: 0 };
  #statistics: StatisticsRecord | undefined;
  #summaryStart: bigint | undefined;
  #isData = true;
  #last = 0n;
  #disorder = 0;

  add(record: McapRecord): void {
    switch (record.type) {
      case 'Schema':
      case 'Header':
        break;
      case 'DataEnd':
        this.#isData = false;
        return;
      case 'Channel':
        this.#channel(record);
        break;
      case 'Message': {
        if (record.logTime < this.#last) this.#disorder++;
        else this.#last = record.logTime;
        this.#payload(record.channelId, record.data);
        break;
      }
      case 'Statistics':
        this.#statistics = record;
        return;
      case 'ChunkIndex':
        this.#chunkIndexes.count++;
        this.#indexes.push({ offset: Number(record.chunkStartOffset), opcode: OPCODE.Chunk, what: 'chunk' });
        return;
      case 'AttachmentIndex':
        this.#indexes.push({ offset: Number(record.offset), opcode: OPCODE.Attachment, what: 'attachment' });
        return;
      case 'MetadataIndex':
        this.#indexes.push({ offset: Number(record.offset), opcode: OPCODE.Metadata, what: 'metadata' });
        return;
      case 'Footer':
        this.#summaryStart = record.summaryStart;
        return;
      default:
        break;
    }
    if (this.#isData || record.type === 'Schema' || record.type === 'Channel') this.#counter.add(record);
  }

  #channel(record: ChannelRecord): void {
    if (this.#codecs.has(record.id)) return;
    const schema = this.#counter.schemas.get(record.schemaId);
    this.#codecs.set(record.id, this.#codec(record, schema));
  }

  #codec(channel: ChannelRecord, schema: SchemaRecord | undefined): MessageCodec | undefined {
    if (channel.messageEncoding !== 'cdr' || schema === undefined) return undefined;
    try {
      return compileCodec(schema);
    } catch (error) {
      if (!(error instanceof McapStreamsError)) throw error;
      const message = `topic ${channel.topic}: ${error.message}`;
      this.#schemaFaults.push({ severity: 'warning', code: error.code, offset: null, message });
      return undefined;
    }
  }

  #payload(channelId: number, data: Uint8Array): void {
    const codec = this.#codecs.get(channelId);
    // A payload that rosbag2 compressed is no fault of the recording.
    if (codec === undefined || isZstdFrame(data)) return;
    try {
      codec.decode(data);
    } catch (error) {
      if (!(error instanceof McapStreamsError)) throw error;
      const known = this.#payloads.get(channelId);
      if (known === undefined) this.#payloads.set(channelId, { error, count: 1 });
      else known.count++;
    }
  }

  /** Where the summary does not say what the data has. */
  async indexFaults(source: OpenSource): Promise<Fault[]> {
    const faults: Fault[] = [];
    const summary = Number(this.#summaryStart ?? 0n);
    if (summary === 0) {
      const message = 'there is no summary: reading by topic or time has to read everything';
      return [{ severity: 'warning', code: 'summary-missing', offset: null, message }];
    }
    const counted = this.#counter.statistics;
    for (const key of ['messageCount', 'channelCount', 'attachmentCount', 'metadataCount', 'chunkCount'] as const) {
      const said = this.#statistics?.[key];
      if (said === undefined || said === counted[key]) continue;
      const message = `the statistics say ${key} ${said}, the data has ${counted[key]}`;
      // Recorders of rosbag2 count only channels that have messages.
      const severity = key === 'channelCount' ? 'warning' : 'error';
      faults.push({ severity, code: 'statistics-wrong', offset: summary, message });
    }
    if (this.#chunkIndexes.count > 0 && this.#chunkIndexes.count !== counted.chunkCount) {
      const message = `${this.#chunkIndexes.count} chunks are indexed, the data has ${counted.chunkCount}`;
      faults.push({ severity: 'error', code: 'MCAP_BAD_INDEX', offset: summary, message });
    }
    for (const { offset, opcode, what } of this.#indexes) {
      const [there] = await source.read(offset, 1);
      if (there === opcode) continue;
      const message = `an index says that ${what} stands at byte ${offset}, another record does`;
      faults.push({ severity: 'error', code: 'MCAP_BAD_INDEX', offset, message });
    }
    return faults;
  }

  /** What a reader can live with. */
  contentFaults(): Fault[] {
    const faults = [...this.#schemaFaults];
    for (const [channelId, { error, count }] of this.#payloads) {
      const topic = this.#counter.channels.get(channelId)?.topic ?? '';
      const message = `topic ${topic}: ${error.message} (${count} messages)`;
      faults.push({ severity: 'warning', code: error.code, offset: null, message });
    }
    if (this.#disorder > 0) {
      const message = `${this.#disorder} messages are earlier than one before them`;
      faults.push({ severity: 'warning', code: 'log-time-disorder', offset: null, message });
    }
    return faults;
  }
}
