/** The summary of a recording: what its last part says of the rest (MCAP specification, "Summary Section"). */
import { McapStreamsError } from '../errors.js';
import { asBuffer, viewOf } from './byte-queue.js';
import { ChunkRecords } from './chunk-reader.js';
import { MAGIC, OPCODE, RECORD_PREFIX } from './opcodes.js';
import { parseRecord } from './records.js';
import type { ChannelRecord, HeaderRecord, McapRecord, SchemaRecord, StatisticsRecord } from './records.js';
import type { OpenSource } from './source.js';

export type ChunkIndexRecord = Extract<McapRecord, { type: 'ChunkIndex' }>;
export type AttachmentIndexRecord = Extract<McapRecord, { type: 'AttachmentIndex' }>;
export type MetadataIndexRecord = Extract<McapRecord, { type: 'MetadataIndex' }>;

export interface Summary {
  readonly header: HeaderRecord | undefined;
  readonly statistics: StatisticsRecord | undefined;
  readonly schemas: ReadonlyMap<number, SchemaRecord>;
  readonly channels: ReadonlyMap<number, ChannelRecord>;
  /** In the order of the file. */
  readonly chunkIndexes: readonly ChunkIndexRecord[];
  readonly attachmentIndexes: readonly AttachmentIndexRecord[];
  readonly metadataIndexes: readonly MetadataIndexRecord[];
  /** Byte offset behind the Header, where the data section begins. */
  readonly dataStart: number;
  /** Byte offset of the DataEnd record, as far as it can be told: the start of the summary section, or of the Footer. */
  readonly dataEnd: number;
}

/** Enough for the Footer, the magic, and most summaries, in one read. */
const TAIL = 65536;
const FOOTER_LENGTH = RECORD_PREFIX + 20 + MAGIC.length;
const DATA_END_LENGTH = RECORD_PREFIX + 4;

/**
 * Reads header, footer and summary in two or three reads. `undefined`: there is no summary, or it cannot be trusted (no
 * Footer, a record that is cut or wrong): then the recording has to be scanned. Throws `MCAP_NOT_MCAP`.
 */
export async function readIndexedSummary(source: OpenSource): Promise<Summary | undefined> {
  const head = asBuffer(await source.read(0, Math.min(TAIL / 16, source.size)));
  if (head.length < MAGIC.length || Buffer.compare(head.subarray(0, MAGIC.length), MAGIC) !== 0) {
    if (head.length >= MAGIC.length && head[5] !== MAGIC[5]) return undefined; // another version: the scan says so
    throw new McapStreamsError('MCAP_NOT_MCAP', 'the input does not begin with the MCAP magic', { offset: 0 });
  }
  const tailStart = Math.max(0, source.size - TAIL);
  const tail = asBuffer(await source.read(tailStart, source.size - tailStart));
  const footerAt = tail.length - FOOTER_LENGTH;
  if (footerAt < 0 || Buffer.compare(tail.subarray(tail.length - MAGIC.length), MAGIC) !== 0) return undefined;
  if (tail[footerAt] !== OPCODE.Footer || viewOf(tail).getUint32(footerAt + 1, true) !== 20) return undefined;
  const footerOffset = tailStart + footerAt;
  const summaryStart = Number(viewOf(tail).getBigUint64(footerAt + RECORD_PREFIX, true));
  if (summaryStart === 0) return emptySummary(head, footerOffset - DATA_END_LENGTH);
  if (summaryStart < MAGIC.length || summaryStart > footerOffset) return undefined;
  const bytes =
    summaryStart >= tailStart
      ? tail.subarray(summaryStart - tailStart, footerAt)
      : Buffer.concat([await source.read(summaryStart, tailStart - summaryStart), tail.subarray(0, footerAt)]);
  if (bytes.length !== footerOffset - summaryStart) return undefined;
  return parseSummary(head, bytes, summaryStart - DATA_END_LENGTH);
}

function emptySummary(head: Buffer, dataEnd: number): Summary {
  return { ...startOf(head), ...parts(), dataEnd };
}

function parts() {
  return {
    statistics: undefined as StatisticsRecord | undefined,
    schemas: new Map<number, SchemaRecord>(),
    channels: new Map<number, ChannelRecord>(),
    chunkIndexes: [] as ChunkIndexRecord[],
    attachmentIndexes: [] as AttachmentIndexRecord[],
    metadataIndexes: [] as MetadataIndexRecord[],
  };
}

function startOf(head: Buffer): { header: HeaderRecord | undefined; dataStart: number } {
  const none = { header: undefined, dataStart: MAGIC.length };
  if (head[MAGIC.length] !== OPCODE.Header || head.length < MAGIC.length + RECORD_PREFIX) return none;
  const length = Number(viewOf(head).getBigUint64(MAGIC.length + 1, true));
  const start = MAGIC.length + RECORD_PREFIX;
  if (start + length > head.length) return none;
  try {
    const record = parseRecord(
      { opcode: OPCODE.Header, bytes: head, view: viewOf(head), start, end: start + length, offset: MAGIC.length },
      false,
    );
    return { header: record as HeaderRecord, dataStart: start + length };
  } catch {
    return none;
  }
}

function parseSummary(head: Buffer, bytes: Buffer, dataEnd: number): Summary | undefined {
  const found = parts();
  const records = new SummaryRecords(bytes, dataEnd);
  try {
    while (records.advance()) {
      const record = parseRecord(records, false);
      switch (record.type) {
        case 'Schema':
          found.schemas.set(record.id, record);
          break;
        case 'Channel':
          found.channels.set(record.id, record);
          break;
        case 'Statistics':
          found.statistics = record;
          break;
        case 'ChunkIndex':
          found.chunkIndexes.push(record);
          break;
        case 'AttachmentIndex':
          found.attachmentIndexes.push(record);
          break;
        case 'MetadataIndex':
          found.metadataIndexes.push(record);
          break;
        default:
          break;
      }
    }
  } catch (error) {
    if (error instanceof McapStreamsError) return undefined;
    throw error;
  }
  // Channels may be repeated without their schemas: those are only known where the data section defines them.
  for (const { id, schemaId } of found.channels.values()) {
    if (schemaId !== 0 && !found.schemas.has(schemaId)) found.channels.delete(id);
  }
  found.chunkIndexes.sort((a, b) => (a.chunkStartOffset < b.chunkStartOffset ? -1 : 1));
  return { ...startOf(head), ...found, dataEnd };
}

/** The summary's records lie one after the other as those of a chunk do, but all types may stand there. */
class SummaryRecords extends ChunkRecords {
  protected override checkOpcode(): void {
    // Any.
  }
}

/** A part of the file that is read as it stands. */
export interface FileRange {
  readonly start: number;
  readonly end: number;
}

/**
 * The parts of the data section that no chunk index, attachment index or metadata index accounts for: records may stand
 * there that the summary does not tell of. `undefined` when the indexes contradict each other or the file.
 */
export function unindexedRanges(summary: Summary): FileRange[] | undefined {
  const known: FileRange[] = [];
  for (const { chunkStartOffset, chunkLength, messageIndexLength } of summary.chunkIndexes) {
    known.push({ start: Number(chunkStartOffset), end: Number(chunkStartOffset + chunkLength + messageIndexLength) });
  }
  for (const { offset, length } of [...summary.attachmentIndexes, ...summary.metadataIndexes]) {
    known.push({ start: Number(offset), end: Number(offset + length) });
  }
  known.sort((a, b) => a.start - b.start);
  const gaps: FileRange[] = [];
  let at = summary.dataStart;
  for (const { start, end } of known) {
    if (start < at || end > summary.dataEnd) return undefined;
    if (start > at) gaps.push({ start: at, end: start });
    at = end;
  }
  if (at < summary.dataEnd) gaps.push({ start: at, end: summary.dataEnd });
  return gaps;
}
