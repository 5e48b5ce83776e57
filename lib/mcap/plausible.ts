/**
 * Whether bytes look like a record, for reading on in a damaged file: a record's own lengths have to fit its outer one,
 * and what follows has to look like the beginning of a record as well. Any eight bytes that are no length say a number
 * far above every limit, so that the beginnings alone tell well.
 */
import { MAGIC, OPCODE, RECORD_PREFIX } from './opcodes.js';

/** Bytes that are looked at and not taken. */
export interface Peek {
  readonly length: number;
  at(index: number): number;
}

/** `more`: it depends on bytes that have not come yet. */
export type Verdict = 'yes' | 'no' | 'more';

/** Lengths of the known fields: a number of bytes, `s` a uint32 length and so many, `L` a uint64 length and so many. */
const FIELDS: ReadonlyMap<number, readonly (number | 's' | 'L')[]> = new Map<number, readonly (number | 's' | 'L')[]>([
  [OPCODE.Header, ['s', 's']],
  [OPCODE.Footer, [20]],
  [OPCODE.Schema, [2, 's', 's', 's']],
  [OPCODE.Channel, [4, 's', 's', 's']],
  [OPCODE.Message, [22]],
  [OPCODE.Chunk, [28, 's', 'L']],
  [OPCODE.MessageIndex, [2, 's']],
  [OPCODE.ChunkIndex, [32, 's', 8, 's', 16]],
  [OPCODE.Attachment, [16, 's', 's', 'L', 4]],
  [OPCODE.AttachmentIndex, [40, 's', 's']],
  [OPCODE.Statistics, [42, 's']],
  [OPCODE.Metadata, ['s', 's']],
  [OPCODE.MetadataIndex, [16, 's']],
  [OPCODE.SummaryOffset, [17]],
  [OPCODE.DataEnd, [4]],
]);

/** Bytes that a writer may add behind the known fields. */
const PADDING = 1024;

/** A record that is searched for and says more than this is not waited for. */
const SEARCH_LIMIT = 16 * 2 ** 20;

/** A uint64; above 2^53 it is only roughly right. */
export function peekU64(bytes: Peek, at: number): number {
  let value = 0;
  for (let n = 7; n >= 0; n--) value = value * 256 + bytes.at(at + n);
  return value;
}

function peekU32(bytes: Peek, at: number): number {
  let value = 0;
  for (let n = 3; n >= 0; n--) value = value * 256 + bytes.at(at + n);
  return value;
}

/**
 * Length of the known fields of a record with `length` bytes of content at `at`: -1 when they do not fit, `undefined` when
 * that depends on bytes that have not come.
 */
export function innerLength(bytes: Peek, opcode: number, at: number, length: number): number | undefined {
  let position = 0;
  for (const field of FIELDS.get(opcode) ?? []) {
    if (typeof field === 'number') position += field;
    else {
      const size = field === 's' ? 4 : 8;
      if (position + size > length) return -1;
      if (at + position + size > bytes.length) return undefined;
      position += size + (field === 's' ? peekU32(bytes, at + position) : peekU64(bytes, at + position));
    }
    if (position > length) return -1;
  }
  return position;
}

/**
 * Whether a record's inner lengths account for its outer one, so that it may be believed before it is whole. Some writers
 * add bytes behind the known fields: `padded` allows for a few.
 */
export function lengthsAgree(
  bytes: Peek,
  opcode: number,
  at: number,
  length: number,
  padded: boolean,
): boolean | undefined {
  if (opcode === OPCODE.Message || !FIELDS.has(opcode)) return false;
  const inner = innerLength(bytes, opcode, at, length);
  return inner === undefined ? undefined : inner >= 0 && length - inner <= (padded ? PADDING : 0);
}

/**
 * Whether a record begins at `at`.
 *
 * @param known only opcodes of the specification count, as when a beginning is searched for
 */
export function isRecord(bytes: Peek, at: number, limit: number, ended: boolean, known: boolean): Verdict {
  if (at + RECORD_PREFIX > bytes.length) return ended ? 'no' : 'more';
  const opcode = bytes.at(at);
  if (opcode === 0 || (known && !FIELDS.has(opcode))) return 'no';
  const length = peekU64(bytes, at + 1);
  if (length > limit) return 'no';
  const content = at + RECORD_PREFIX;
  const inner = innerLength(bytes, opcode, content, length);
  if (inner === -1) return 'no';
  if (inner === undefined) return ended ? 'no' : 'more';
  const next = content + length;
  const exact = lengthsAgree(bytes, opcode, content, length, false) === true;
  if (exact && !known) return 'yes';
  if (next > bytes.length) {
    if (exact) return 'yes';
    // What is only searched for is not waited for without end.
    return ended || (known && length > SEARCH_LIMIT) ? 'no' : 'more';
  }
  return isBeginning(bytes, next, { limit, ended, known, afterFooter: opcode === OPCODE.Footer });
}

/** Whether what stands at `at` can follow a record: another one, the closing magic, or the end. */
function isBeginning(
  bytes: Peek,
  at: number,
  { limit, ended, known, afterFooter }: { limit: number; ended: boolean; known: boolean; afterFooter: boolean },
): Verdict {
  const left = bytes.length - at;
  if (left === 0) return ended ? 'yes' : 'more';
  const magic = isMagic(bytes, at);
  if (magic === 'yes' || afterFooter) return magic === 'more' && ended ? 'yes' : magic;
  const opcode = bytes.at(at);
  if (opcode === 0 || (known && !FIELDS.has(opcode))) return 'no';
  if (left < RECORD_PREFIX) return ended ? 'yes' : 'more';
  return peekU64(bytes, at + 1) <= limit ? 'yes' : 'no';
}

export function isMagic(bytes: Peek, at: number): Verdict {
  for (let n = 0; n < MAGIC.length; n++) {
    if (at + n >= bytes.length) return 'more';
    if (bytes.at(at + n) !== MAGIC[n]) return 'no';
  }
  return 'yes';
}

/**
 * The first place from `from` on at which a chain of records goes on, or the first place that could be one when more
 * bytes come (`certain: false`).
 */
export function findRecord(bytes: Peek, from: number, limit: number, ended: boolean): { at: number; certain: boolean } {
  for (let at = from; at < bytes.length; at++) {
    const verdict = isRecord(bytes, at, limit, ended, true);
    if (verdict === 'yes') return { at, certain: true };
    if (verdict === 'more') return { at, certain: false };
  }
  return { at: bytes.length, certain: false };
}
