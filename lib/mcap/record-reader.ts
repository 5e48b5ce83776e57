/**
 * The container's synchronous core: bytes in, in any split; records out, as they lie in the file.
 *
 * A record is handed out when it is whole. Chunks come as they are, compressed (see chunk-reader.ts). Lengths are checked
 * against `maxRecordLength` before anything waits for them, records that are not wanted are passed over without being
 * kept, and the order that the specification demands (Header, data section, DataEnd, summary section, Footer, magic)
 * is verified, as are the CRCs of the data and summary sections.
 *
 * With `recover` a fault is handed out as damage and the reader goes on at the next place where a chain of records goes
 * on. It then believes a record only when what follows it looks like a record too, so that a wrong length does not
 * swallow what stands behind it.
 */
import { McapStreamsError } from '../errors.js';
import type { McapErrorCode } from '../errors.js';
import { ByteQueue } from './byte-queue.js';
import { crc32 } from './crc.js';
import { chunkRoom, gatherAhead } from './gathering.js';
import type { RoomFor } from './gathering.js';
import { describeOpcode, MAGIC, OPCODE, RECORD_PREFIX } from './opcodes.js';
import { findRecord, isMagic, isRecord, lengthsAgree, peekU64 } from './plausible.js';
import { orderError } from './record-order.js';
import type { RecordSection } from './record-order.js';
import type { RecordContent } from './records.js';
import { hex } from './records.js';
import { SectionSums } from './section-sums.js';

export interface RecordReaderOptions {
  /** Records longer than this are an error, unless they are passed over. Bytes. */
  readonly maxRecordLength: number;
  readonly validateCrcs: boolean;
  /** Which records are handed out; the others are passed over without being kept. */
  readonly wants: (opcode: number) => boolean;
  /** Whether attachments longer than this come in parts. Bytes of the record. Default: none. */
  readonly splitAttachmentsFrom?: number | undefined;
  /** Default: chunks are gathered in memory of their own. */
  readonly roomFor?: RoomFor | undefined;
  /** Whether the reader goes on behind a fault. Default false: it throws. */
  readonly recover?: boolean | undefined;
}

/** What the reader hands out beside records. */
export interface Damage {
  readonly damage: McapStreamsError;
  /** Bytes that were passed over. */
  readonly bytes: number;
}

/** What there is of the last record of a cut file, a Chunk. */
export interface CutChunk {
  readonly cutChunk: RecordContent;
}

/** A part of an attachment that is too large for memory: bytes of the record's content. */
export interface AttachmentPart {
  readonly part: Uint8Array;
  /** Offset of the record in the file. */
  readonly offset: number;
  /** Bytes of the record's content that are still to come. */
  readonly left: number;
}

export type ReaderItem = RecordContent | Damage | CutChunk | AttachmentPart;

/** Where in the file the reader stands. */
type Section = RecordSection | 'magic' | 'end-magic' | 'cut' | 'done';

/** A record whose lengths do not agree is waited for up to here. Bytes. */
const MOST_WAITED = 64 * 2 ** 20;
/** So much without a record behind a message speaks for the message. Bytes. */
const GAP = 65536;

/** A fault, thrown inside and handed out as damage where `recover` says so. */
class Fault extends Error {
  readonly error: McapStreamsError;
  /** Whether the place of the next record is unknown. */
  readonly lost: boolean;

  constructor(error: McapStreamsError, lost: boolean) {
    super(error.message);
    this.error = error;
    this.lost = lost;
  }
}

export class RecordReader {
  readonly #options: RecordReaderOptions;
  readonly #queue = new ByteQueue();
  #section: Section = 'magic';
  /** Byte offset in the file of the queue's first byte. */
  #offset = 0;
  #ended = false;
  /** Bytes of an unwanted record that are still to be passed over. */
  #toSkip = 0;
  /** Bytes of an attachment that are still to be handed out in parts, and where its record stands. */
  #toSplit = 0;
  #splitOffset = 0;
  readonly #sums = new SectionSums();
  /** The fault behind which a record is searched for, and how many bytes have been passed over. */
  #search: { error: McapStreamsError; bytes: number } | undefined;
  /** A search goes on when so many bytes are there. */
  #searchFrom = 0;
  /** Order faults are told once a section. */
  readonly #told = new Set<string>();
  #cutBytes = 0;
  #validateSections: boolean;
  /** Where the bytes stand that come after so many more. */
  #jump: { after: number; offset: number } | undefined;
  #finished = false;
  #ragged = false;

  constructor(options: RecordReaderOptions) {
    this.#options = options;
    this.#validateSections = options.validateCrcs;
  }

  /** Byte offset in the file up to which records have been handed out. */
  get offset(): number {
    return this.#offset;
  }

  /** The bytes are kept until their records are handed out, and must not be changed afterwards. */
  append(bytes: Uint8Array): void {
    this.#queue.append(bytes);
  }

  /**
   * The bytes that come next stand at another place of the file, where a record begins. What was passed over is not
   * missed, but the CRCs of the sections can no longer be told.
   */
  seek(offset: number): void {
    const { length } = this.#queue;
    if (offset === this.#offset + length) return;
    this.#validateSections = false;
    this.#jump = { after: length, offset };
    this.#advance(0);
  }

  /**
   * The data section is over, though its end was not read.
   *
   * @param ragged whether the beginning of a record may be left
   */
  finish(ragged: boolean): void {
    this.#finished = true;
    this.#ragged = ragged;
    this.#ended = true;
  }

  /** No more bytes come. */
  end(): void {
    this.#ended = true;
  }

  #advance(count: number): void {
    this.#offset += count;
    if (this.#jump === undefined) return;
    this.#jump.after -= count;
    if (this.#jump.after > 0) return;
    this.#offset = this.#jump.offset - this.#jump.after;
    this.#jump = undefined;
  }

  /**
   * The next item, or `undefined`: more bytes are needed, or after `end()` the file is over. Throws `MCAP_*`; with
   * `recover` only where the input is no MCAP at all. After a throw it gives nothing more.
   */
  next(): ReaderItem | undefined {
    for (;;) {
      try {
        const item = this.#step();
        if (item !== 'again') return item;
      } catch (fault) {
        if (!(fault instanceof Fault)) throw fault;
        if (this.#options.recover !== true) throw fault.error;
        if (!fault.lost) return { damage: fault.error, bytes: 0 };
        this.#search = { error: fault.error, bytes: 0 };
        this.#searchFrom = 0;
      }
    }
  }

  #step(): ReaderItem | 'again' | undefined {
    if (this.#search !== undefined) return this.#searching(this.#search);
    if (this.#toSplit > 0) return this.#part();
    if (this.#toSkip > 0) return this.#skip() ? 'again' : this.#wait();
    switch (this.#section) {
      case 'magic':
        return this.#startMagic() ? 'again' : this.#wait();
      case 'end-magic':
        return this.#endMagic() ? 'again' : this.#wait();
      case 'cut':
        return this.#afterCut();
      case 'done':
        return this.#afterEnd();
      default:
        return this.#record(this.#section) ?? this.#wait();
    }
  }

  #record(section: RecordSection): RecordContent | 'again' | undefined {
    const queue = this.#queue;
    const { maxRecordLength, wants, recover } = this.#options;
    if (queue.length < 1) return undefined;
    const opcode = queue.at(0);
    if (opcode === 0) throw this.#fault('MCAP_BAD_OPCODE', 'a record has opcode 0', true);
    this.#checkMagic(section);
    if (recover !== true) this.#checkOrder(section, opcode);
    if (queue.length < RECORD_PREFIX) return undefined;
    const length = peekU64(queue, 1);
    const split = opcode === OPCODE.Attachment && length > (this.#options.splitAttachmentsFrom ?? Infinity);
    const kept = !split && (wants(opcode) || opcode === OPCODE.Footer || opcode === OPCODE.DataEnd);
    if (length > (kept ? maxRecordLength : Number.MAX_SAFE_INTEGER)) {
      throw this.#fault(
        'MCAP_RECORD_TOO_LARGE',
        `${describeOpcode(opcode)} record says that it has ${length} bytes; maxRecordLength is ${maxRecordLength}`,
        true,
      );
    }
    if (recover === true) {
      if (!this.#isBelieved(opcode, length)) return undefined;
      this.#checkOrder(section, opcode);
    } else if (opcode === OPCODE.Attachment && !kept) {
      // It will not be seen whole: its length is believed only if the lengths inside it say the same.
      const agree = lengthsAgree(queue, opcode, RECORD_PREFIX, length, true);
      if (agree === undefined) return undefined;
      if (!agree) throw this.#fault('MCAP_BAD_RECORD', 'the lengths of an Attachment do not agree', true);
    }
    if (split && wants(opcode)) {
      this.#splitOffset = this.#offset;
      this.#toSplit = length;
      this.#drop(RECORD_PREFIX);
      return 'again';
    }
    if (kept && queue.length < RECORD_PREFIX + length) {
      this.#gatherAhead(opcode, RECORD_PREFIX + length);
      return undefined;
    }
    if (section === 'header') this.#section = 'data';
    if (!kept) {
      this.#toSkip = RECORD_PREFIX + length;
      return 'again';
    }
    const { span, start } = queue.take(
      RECORD_PREFIX + length,
      opcode === OPCODE.Chunk ? () => chunkRoom(queue, RECORD_PREFIX + length, this.#options.roomFor) : undefined,
    );
    const record: RecordContent & { dataCrc?: number } = {
      opcode,
      bytes: span.bytes,
      view: span.view,
      start: start + RECORD_PREFIX,
      end: start + RECORD_PREFIX + length,
      offset: this.#offset,
    };
    this.#advance(RECORD_PREFIX + length);
    this.#pass(record, start);
    return wants(opcode) ? record : 'again';
  }

  /** The record at the front, of `count` bytes, is not whole yet. */
  #gatherAhead(opcode: number, count: number): void {
    // Behind a fault, records found inside a chunk would lie in a room that is used again.
    const roomFor = this.#options.recover === true ? undefined : this.#options.roomFor;
    if (!gatherAhead(this.#queue, opcode, count, roomFor) || !this.#validateSections) return;
    const front = this.#queue.front();
    if (front !== undefined) this.#sums.addPart(front.span, front.start, front.end, count, this.#offset);
  }

  /** Whether a record can be handed out: false when it takes more bytes to tell. Throws when it is none. */
  #isBelieved(opcode: number, length: number): boolean {
    // Whether the magic follows a Footer is asked when it is its turn.
    if (opcode === OPCODE.Footer && length >= 20 && length < 1024) return true;
    const verdict = isRecord(this.#queue, 0, this.#options.maxRecordLength, this.#ended, false);
    if (verdict === 'yes') return true;
    const end = RECORD_PREFIX + length;
    if (verdict === 'more') {
      // What does not agree is waited for until it can be seen whole, but not for ever.
      if (end <= MOST_WAITED || opcode === OPCODE.Message) return false;
    } else {
      if (this.#ended && this.#queue.length < end) return false; // cut, see #wait
      if (opcode === OPCODE.Message && this.#queue.length >= end) {
        // A message says nothing of its own length. If the next record is found inside it, it is wrong, else what follows.
        const { at, certain } = findRecord(this.#queue.contiguous(), 1, this.#options.maxRecordLength, this.#ended);
        if (certain ? at >= end : this.#ended || this.#queue.length >= end + GAP) return true;
        if (!certain) return false;
      }
    }
    throw this.#fault('MCAP_BAD_RECORD', `the length of a ${describeOpcode(opcode)} record, ${length}, is wrong`, true);
  }

  /** Follows the sections and their CRCs; `from` is where the record begins, with its opcode. */
  #pass(record: RecordContent & { dataCrc?: number }, from: number): void {
    const { opcode, view, start, end } = record;
    if (opcode === OPCODE.DataEnd) {
      const { crc } = this.#sums;
      this.#section = 'summary';
      this.#sums.clear();
      const said = end - start < 4 ? 0 : view.getUint32(start, true);
      this.#checkCrc('MCAP_DATA_CRC_MISMATCH', 'data section', crc, said, record.offset);
      return;
    }
    if (opcode === OPCODE.Footer) {
      this.#section = 'end-magic';
      if (end - start < 20) throw this.#fault('MCAP_BAD_RECORD', 'the Footer is shorter than its fields', false);
      // The summary CRC covers the Footer up to the field itself.
      const crc = crc32(record.bytes.subarray(from, start + 16), this.#sums.crc);
      this.#checkCrc(
        'MCAP_SUMMARY_CRC_MISMATCH',
        'summary section',
        crc,
        view.getUint32(start + 16, true),
        record.offset,
      );
      return;
    }
    if (opcode !== OPCODE.Chunk || !this.#validateSections) {
      this.#addCrc(record.bytes.subarray(from, end));
      return;
    }
    const dataCrc = this.#sums.addChunk(record, from, end, record.offset);
    if (dataCrc !== undefined) record.dataCrc = dataCrc;
  }

  #checkCrc(code: McapErrorCode, what: string, crc: number, said: number, offset: number): void {
    if (!this.#validateSections || said === 0 || said === crc) return;
    const message = `the CRC of the ${what} is ${hex(crc)}, the file says ${hex(said)} (at byte ${offset})`;
    throw new Fault(new McapStreamsError(code, message, { offset }), false);
  }

  #addCrc(bytes: Uint8Array): void {
    if (this.#validateSections) this.#sums.add(bytes);
  }

  #drop(count: number): number {
    const taken = this.#queue.drain(count, (part) => {
      this.#addCrc(part);
    });
    this.#advance(taken);
    return taken;
  }

  #skip(): boolean {
    this.#toSkip -= this.#drop(this.#toSkip);
    return this.#toSkip === 0;
  }

  #part(): ReaderItem | undefined {
    const count = Math.min(this.#toSplit, this.#queue.length);
    if (count === 0) return this.#wait();
    let part: Uint8Array | undefined;
    // One piece at a time, where it lies.
    this.#queue.drain(Math.min(count, this.#queue.firstLength), (bytes) => {
      part = bytes;
    });
    if (part === undefined) return undefined;
    this.#addCrc(part);
    this.#advance(part.length);
    this.#toSplit -= part.length;
    return { part, offset: this.#splitOffset, left: this.#toSplit };
  }

  #checkMagic(section: RecordSection): void {
    if (section === 'header' || isMagic(this.#queue, 0) !== 'yes') return;
    const code = section === 'data' ? 'MCAP_MISSING_DATA_END' : 'MCAP_MISSING_FOOTER';
    const fault = this.#fault(code, 'the closing magic stands where a record should', false);
    this.#drop(MAGIC.length);
    this.#section = 'done';
    throw fault;
  }

  #checkOrder(section: RecordSection, opcode: number): void {
    const wrong = orderError(section, opcode);
    if (wrong === undefined) return;
    this.#orderFault(wrong.code, wrong.what);
    if (section === 'header') this.#section = 'data';
  }

  /** Records in a wrong order can be read all the same: with `recover` that is told once, and reading goes on. */
  #orderFault(code: McapErrorCode, what: string): void {
    const id = `${code} ${this.#section}`;
    if (this.#options.recover === true && this.#told.has(id)) return;
    this.#told.add(id);
    throw this.#fault(code, what, false);
  }

  #startMagic(): boolean {
    const have = Math.min(this.#queue.length, MAGIC.length);
    for (let n = 0; n < have; n++) {
      if (this.#queue.at(n) === MAGIC[n]) continue;
      // Byte 5 is the version; all else is what makes the file an MCAP.
      if (n !== 5) throw this.#fault('MCAP_NOT_MCAP', 'the input does not begin with the MCAP magic', false).error;
      const version = JSON.stringify(String.fromCharCode(this.#queue.at(n)));
      const what = `MCAP version ${version} is not supported, only "0"`;
      throw this.#fault('MCAP_UNSUPPORTED_VERSION', what, false).error;
    }
    if (have < MAGIC.length) return false;
    this.#drop(MAGIC.length);
    this.#section = 'header';
    return true;
  }

  #endMagic(): boolean {
    const verdict = isMagic(this.#queue, 0);
    if (verdict === 'more') return false;
    if (verdict === 'no') throw this.#fault('MCAP_BAD_END_MAGIC', 'the Footer is not followed by the MCAP magic', true);
    this.#section = 'done';
    this.#drop(MAGIC.length);
    return true;
  }

  #afterEnd(): Damage | undefined {
    if (this.#queue.length === 0) return undefined;
    const { error } = this.#fault('MCAP_TRAILING_DATA', 'bytes follow the closing magic', false);
    if (this.#options.recover !== true) throw error;
    const bytes = this.#drop(this.#queue.length);
    if (this.#told.has('trailing')) return undefined;
    this.#told.add('trailing');
    return { damage: error, bytes };
  }

  /** Passes over bytes until a chain of records goes on. */
  #searching(search: { error: McapStreamsError; bytes: number }): Damage | 'again' | undefined {
    const queue = this.#queue;
    if (!this.#ended && queue.length < this.#searchFrom) return undefined;
    // The fault's own place is not tried again.
    const from = search.bytes === 0 ? 1 : 0;
    const { at, certain } = findRecord(queue.contiguous(), from, this.#options.maxRecordLength, this.#ended);
    search.bytes += this.#drop(at);
    if (!certain) {
      // Twice as much before the same place is tried again: a search costs no more than reading.
      this.#searchFrom = Math.max(2 * queue.length, 64);
      if (!this.#ended) return undefined;
    }
    this.#search = undefined;
    if (this.#section === 'header' || this.#section === 'end-magic') this.#section = 'data';
    if (!certain) this.#section = 'done';
    return { damage: search.error, bytes: search.bytes };
  }

  /** More bytes are needed. When none come, the file is cut. */
  #wait(): CutChunk | undefined {
    if (!this.#ended) return undefined;
    const between = this.#queue.length === 0 && this.#toSkip === 0 && this.#toSplit === 0;
    if (this.#finished && (between || this.#ragged)) return undefined;
    if (this.#section === 'magic' && this.#queue.length === 0) {
      throw this.#fault('MCAP_NOT_MCAP', 'the input is empty', false).error;
    }
    const inside = this.#toSkip > 0 || this.#toSplit > 0;
    const cutChunk = inside ? undefined : this.#cutChunk();
    if (cutChunk !== undefined) return { cutChunk };
    // With bytes left a length may have been wrong: then a record is searched for among them.
    const searchable = !inside && this.#queue.length > 0 && this.#section !== 'magic';
    const fault = this.#truncated(searchable && this.#section !== 'end-magic');
    if (!fault.lost) this.#section = 'done';
    this.#toSkip = this.#toSplit = 0;
    throw fault;
  }

  #truncated(lost: boolean): Fault {
    const at = this.#offset + this.#queue.length;
    return this.#fault('MCAP_TRUNCATED', `the input ends at byte ${at}, ${WHERE[this.#section]}`, lost);
  }

  /** What was whole in the last chunk has come out: now the cut itself is told. */
  #afterCut(): Damage {
    const fault = this.#truncated(false);
    this.#section = 'done';
    if (this.#options.recover !== true) throw fault.error;
    return { damage: fault.error, bytes: this.#cutBytes };
  }

  /** The beginning of a Chunk at the end of the file, whose lengths agree: it is cut and not wrong. */
  #cutChunk(): RecordContent | undefined {
    const queue = this.#queue;
    if (this.#section === 'magic' || this.#section === 'end-magic') return undefined;
    if (queue.length <= RECORD_PREFIX || queue.at(0) !== OPCODE.Chunk) return undefined;
    if (lengthsAgree(queue, OPCODE.Chunk, RECORD_PREFIX, peekU64(queue, 1), true) !== true) return undefined;
    const offset = this.#offset;
    const count = queue.length;
    const { span, start } = queue.take(count);
    this.#advance(count);
    this.#cutBytes = count;
    this.#section = 'cut';
    return {
      opcode: OPCODE.Chunk,
      bytes: span.bytes,
      view: span.view,
      start: start + RECORD_PREFIX,
      end: start + count,
      offset,
    };
  }

  #fault(code: McapErrorCode, what: string, lost: boolean): Fault {
    return new Fault(new McapStreamsError(code, `${what} (at byte ${this.#offset})`, { offset: this.#offset }), lost);
  }
}

const WHERE: Record<Section, string> = {
  magic: 'inside the magic',
  header: 'before the Header is whole',
  data: 'inside the data section',
  summary: 'inside the summary section',
  'end-magic': 'inside the closing magic',
  cut: 'inside a chunk',
  done: 'after the closing magic',
};
