/** Which parts of a recording are read, told by its summary, so that what is not selected is not. */
import { OPCODE, RECORD_PREFIX } from './opcodes.js';
import type { ChunkQuery } from './chunk-selection.js';
import type { OpenSource } from './source.js';
import type { ChunkIndexRecord, FileRange, Summary } from './summary.js';
import { unindexedRanges } from './summary.js';

/** A part of the plan: bytes of the file that begin and end at a record. */
export interface Segment extends FileRange {
  /** The chunk that it is, with the indexes behind it; `undefined`: records outside chunks. */
  readonly chunk?: ChunkIndexRecord;
}

export interface ReadPlan {
  readonly segments: readonly Segment[];
  readonly chunksSkipped: number;
}

/** Longer parts without an index are read on to the end: it could not be seen beforehand that they end where they should. */
const LARGE_GAP = 2 ** 20;

/**
 * The parts to read. `undefined`: the indexes contradict each other, so that the whole has to be read.
 *
 * @param query what is selected; `undefined`: everything
 */
export function planOf(summary: Summary, query: ChunkQuery | undefined): ReadPlan | undefined {
  const gaps = unindexedRanges(summary);
  if (gaps === undefined) return undefined;
  const segments: Segment[] = gaps.map(({ start, end }) => ({ start, end }));
  let chunksSkipped = 0;
  for (const chunk of summary.chunkIndexes) {
    if (query !== undefined && !isNeeded(chunk, summary, query)) {
      chunksSkipped++;
      continue;
    }
    const start = Number(chunk.chunkStartOffset);
    segments.push({ start, end: start + Number(chunk.chunkLength + chunk.messageIndexLength), chunk });
  }
  segments.sort((a, b) => a.start - b.start);
  const large = segments.findIndex(({ start, end, chunk }) => chunk === undefined && end - start > LARGE_GAP);
  if (large < 0) return { segments, chunksSkipped };
  const from = segments[large]?.start ?? 0;
  return { segments: [...segments.slice(0, large), { start: from, end: summary.dataEnd }], chunksSkipped };
}

function isNeeded(chunk: ChunkIndexRecord, summary: Summary, { filter, startTime, endTime }: ChunkQuery): boolean {
  if (chunk.messageIndexOffsets.size === 0) return true;
  const outside = chunk.messageEndTime < startTime || (endTime !== undefined && chunk.messageStartTime >= endTime);
  for (const id of chunk.messageIndexOffsets.keys()) {
    const channel = summary.channels.get(id);
    if (channel === undefined) return true;
    if (!outside && filter(channel, summary.schemas.get(channel.schemaId))) return true;
  }
  return false;
}

/** Bytes and where they stand in the file. */
export interface LocatedBytes {
  readonly offset: number;
  readonly bytes: Uint8Array;
}

/** The first read; each is twice the one before up to the source's largest, so that whoever stops early reads little. */
const FIRST_READ_BYTES = 2 ** 18;
/** So many bytes are read along rather than asked for in a read of their own. */
const NEAR = 32768;

/** A segment, or what one read takes of it where it is longer than a read. */
interface Piece extends FileRange {
  readonly segment: Segment;
}

interface Read {
  readonly start: number;
  end: number;
  readonly pieces: Piece[];
}

/** The reads of a plan: near parts joined, long ones cut. */
function readsOf(segments: readonly Segment[], largest: number): Read[] {
  const reads: Read[] = [];
  for (const segment of segments) {
    for (let start = segment.start; start < segment.end;) {
      const end = Math.min(segment.end, start + largest);
      const piece = { segment, start, end };
      const most = Math.min(largest, FIRST_READ_BYTES * 2 ** Math.max(0, reads.length - 1));
      const last = reads.at(-1);
      if (last !== undefined && start - last.end <= NEAR && end - last.start <= most) {
        last.end = end;
        last.pieces.push(piece);
      } else reads.push({ start, end, pieces: [piece] });
      start = end;
    }
  }
  return reads;
}

/**
 * The bytes of a plan's parts, with the next reads under way while one is consumed. Where something does not stand where its
 * index says, everything behind the last part that did is read.
 */
export async function* readPlan(
  source: OpenSource,
  plan: ReadPlan,
  dataStart: number,
  end: number,
): AsyncGenerator<LocatedBytes> {
  const reads = readsOf(plan.segments, source.largestRead);
  const ahead: Promise<Uint8Array>[] = [];
  const start = (n: number): void => {
    const read = reads[n];
    if (read === undefined) return;
    const bytes = source.read(read.start, read.end - read.start);
    bytes.catch(() => undefined); // told when it is awaited
    ahead[n] = bytes;
  };
  start(0);
  let inPlaceTo = dataStart;
  for (let n = 0; n < reads.length; n++) {
    start(n + 1);
    const read = reads[n];
    const bytes = await ahead[n];
    if (read === undefined || bytes === undefined) return;
    ahead[n] = Promise.resolve(new Uint8Array(0));
    for (const piece of read.pieces) {
      const { segment } = piece;
      if (piece.start === segment.start && !isInPlace(segment, bytes, read.start)) {
        // What the indexes said of the bytes before it may be wrong as well: some writers count attachments short.
        yield* readRange(source, inPlaceTo, end);
        return;
      }
      inPlaceTo = piece.end;
      const from = piece.start - read.start;
      yield { offset: piece.start, bytes: bytes.subarray(from, Math.min(piece.end - read.start, bytes.length)) };
    }
  }
}

/** Everything in `[start, end)`, in large reads. */
export async function* readRange(source: OpenSource, start: number, end: number): AsyncGenerator<LocatedBytes> {
  let next: Promise<Uint8Array> | undefined;
  for (let offset = start; offset < end;) {
    const bytes = await (next ?? source.read(offset, Math.min(SCAN_BYTES, end - offset)));
    if (bytes.length === 0) return;
    const after = offset + bytes.length;
    next = after < end ? source.read(after, Math.min(SCAN_BYTES, end - after)) : undefined;
    next?.catch(() => undefined);
    yield { offset, bytes };
    offset = after;
  }
}

const SCAN_BYTES = 2 ** 18;

/** Whether a part begins with the record that it should: a chunk, or records that end where it ends. */
function isInPlace(segment: Segment, bytes: Uint8Array, offset: number): boolean {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  let at = segment.start - offset;
  if (segment.chunk !== undefined) {
    if (at + RECORD_PREFIX > bytes.length || bytes[at] !== OPCODE.Chunk) return false;
    return view.getBigUint64(at + 1, true) + BigInt(RECORD_PREFIX) === segment.chunk.chunkLength;
  }
  const end = segment.end - offset;
  if (end > bytes.length) return true; // a long part: it is read on to the end in any case
  while (at < end) {
    if (at + RECORD_PREFIX > end || bytes[at] === 0) return false;
    at += RECORD_PREFIX + Number(view.getBigUint64(at + 1, true));
  }
  return at === end;
}
