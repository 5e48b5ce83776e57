/**
 * The container's synchronous core: bytes in, in any split; records out, as they lie in the file.
 *
 * A record is handed out when it is whole. Chunks come as they are, compressed (see chunk-reader.ts). Lengths are checked
 * against `maxRecordLength` before anything waits for them, records that are not wanted are passed over without being
 * kept, and the order that the specification demands (Header, data section, DataEnd, summary section, Footer, magic)
 * is verified, as are the CRCs of the data and summary sections.
 */
import { McapStreamsError } from '../errors.js';
import { ByteQueue } from './byte-queue.js';
import { crc32 } from './crc.js';
import { describeOpcode, MAGIC, OPCODE, RECORD_PREFIX } from './opcodes.js';
import type { RecordContent } from './records.js';
import { hex } from './records.js';

export interface RecordReaderOptions {
  /** Records longer than this are an error, unless they are passed over. Bytes. */
  readonly maxRecordLength: number;
  readonly validateCrcs: boolean;
  /** Which records are handed out; the others are passed over without being kept. */
  readonly wants: (opcode: number) => boolean;
}

/** Where in the file the reader stands. */
type Section = 'magic' | 'header' | 'data' | 'summary' | 'end-magic' | 'done';

/** Records that belong before DataEnd. */
const DATA_ONLY = new Set<number>([
  OPCODE.Message,
  OPCODE.Chunk,
  OPCODE.MessageIndex,
  OPCODE.Attachment,
  OPCODE.Metadata,
  OPCODE.DataEnd,
]);

export class RecordReader {
  readonly #options: RecordReaderOptions;
  readonly #queue = new ByteQueue();
  #section: Section = 'magic';
  /** Byte offset in the file of the queue's first byte. */
  #offset = 0;
  #ended = false;
  /** Bytes of an unwanted record that are still to be passed over. */
  #toSkip = 0;
  /** CRC of the section so far. */
  #crc = 0;

  constructor(options: RecordReaderOptions) {
    this.#options = options;
  }

  /** Byte offset in the file up to which records have been handed out. */
  get offset(): number {
    return this.#offset;
  }

  /** The bytes are kept until their records are handed out, and must not be changed afterwards. */
  append(bytes: Uint8Array): void {
    this.#queue.append(bytes);
  }

  /** No more bytes come. */
  end(): void {
    this.#ended = true;
  }

  /**
   * The next record, or `undefined`: more bytes are needed, or after `end()` the file is over. Throws `MCAP_*`; after
   * that it gives nothing more.
   */
  next(): RecordContent | undefined {
    for (;;) {
      if (this.#toSkip > 0 && !this.#skip()) return this.#wait();
      switch (this.#section) {
        case 'magic':
          if (!this.#startMagic()) return this.#wait();
          break;
        case 'end-magic':
          if (!this.#endMagic()) return this.#wait();
          break;
        case 'done':
          if (this.#queue.length > 0) throw this.#error('MCAP_TRAILING_DATA', 'bytes follow the closing magic');
          return undefined;
        default: {
          const record = this.#record(this.#section);
          if (record === undefined) return this.#wait();
          if (record !== 'skipped') return record;
        }
      }
    }
  }

  #record(section: 'header' | 'data' | 'summary'): RecordContent | 'skipped' | undefined {
    const queue = this.#queue;
    if (queue.length < 1) return undefined;
    const opcode = queue.at(0);
    this.#checkOrder(section, opcode);
    if (queue.length < RECORD_PREFIX) return undefined;
    let low = 0;
    let high = 0;
    for (let n = 0; n < 4; n++) {
      low += queue.at(1 + n) * 2 ** (8 * n);
      high += queue.at(5 + n) * 2 ** (8 * n);
    }
    const length = high * 2 ** 32 + low;
    const wanted = this.#options.wants(opcode) || opcode === OPCODE.Footer || opcode === OPCODE.DataEnd;
    if (length > (wanted ? this.#options.maxRecordLength : Number.MAX_SAFE_INTEGER)) {
      throw this.#error(
        'MCAP_RECORD_TOO_LARGE',
        `${describeOpcode(opcode)} record says that it has ${length} bytes; maxRecordLength is ${this.#options.maxRecordLength}`,
      );
    }
    if (!wanted) {
      this.#toSkip = RECORD_PREFIX + length;
      return 'skipped';
    }
    if (queue.length < RECORD_PREFIX + length) return undefined;
    const { span, start } = queue.take(RECORD_PREFIX + length);
    const record: RecordContent = {
      opcode,
      bytes: span.bytes,
      view: span.view,
      start: start + RECORD_PREFIX,
      end: start + RECORD_PREFIX + length,
      offset: this.#offset,
    };
    this.#pass(record, section, start);
    this.#offset += RECORD_PREFIX + length;
    if (!this.#options.wants(opcode)) return 'skipped';
    return record;
  }

  /** Follows the sections and their CRCs; `from` is where the record begins, with its opcode. */
  #pass(record: RecordContent, section: Section, from: number): void {
    const { opcode, view, start, end } = record;
    if (section === 'header') this.#section = 'data';
    if (opcode === OPCODE.DataEnd) {
      const said = end - start < 4 ? 0 : view.getUint32(start, true);
      if (this.#options.validateCrcs && said !== 0 && said !== this.#crc) {
        throw this.#error(
          'MCAP_DATA_CRC_MISMATCH',
          `the CRC of the data section is ${hex(this.#crc)}, DataEnd says ${hex(said)}`,
        );
      }
      this.#section = 'summary';
      this.#crc = 0;
      return;
    }
    if (opcode === OPCODE.Footer) {
      if (end - start < 20) throw this.#error('MCAP_BAD_RECORD', 'the Footer is shorter than its fields');
      const said = view.getUint32(start + 16, true);
      // The summary CRC covers the Footer up to the field itself.
      const crc = crc32(record.bytes.subarray(from, start + 16), this.#crc);
      if (this.#options.validateCrcs && said !== 0 && said !== crc) {
        throw this.#error(
          'MCAP_SUMMARY_CRC_MISMATCH',
          `the CRC of the summary section is ${hex(crc)}, the Footer says ${hex(said)}`,
        );
      }
      this.#section = 'end-magic';
      return;
    }
    this.#addCrc(record.bytes.subarray(from, end));
  }

  #addCrc(bytes: Uint8Array): void {
    if (this.#options.validateCrcs) this.#crc = crc32(bytes, this.#crc);
  }

  #skip(): boolean {
    const taken = this.#queue.drain(this.#toSkip, (part) => {
      this.#addCrc(part);
    });
    this.#offset += taken;
    this.#toSkip -= taken;
    if (this.#toSkip > 0) return false;
    if (this.#section === 'header') this.#section = 'data';
    return true;
  }

  #checkOrder(section: 'header' | 'data' | 'summary', opcode: number): void {
    if (opcode === 0) throw this.#error('MCAP_BAD_OPCODE', 'a record has opcode 0');
    const name = describeOpcode(opcode);
    if (section === 'header') {
      if (opcode !== OPCODE.Header) {
        throw this.#error('MCAP_MISSING_RECORD', `the first record is ${name}, not a Header`);
      }
      return;
    }
    if (opcode === OPCODE.Header) throw this.#error('MCAP_UNEXPECTED_RECORD', 'a second Header');
    if (section === 'data' && opcode === OPCODE.Footer) {
      throw this.#error('MCAP_MISSING_RECORD', 'the Footer follows the data section without a DataEnd');
    }
    if (section === 'summary' && DATA_ONLY.has(opcode)) {
      throw this.#error('MCAP_UNEXPECTED_RECORD', `a ${name} record stands after DataEnd`);
    }
  }

  #startMagic(): boolean {
    const have = Math.min(this.#queue.length, MAGIC.length);
    for (let n = 0; n < have; n++) {
      if (this.#queue.at(n) === MAGIC[n]) continue;
      // Byte 5 is the version; all else is what makes the file an MCAP.
      if (n === 5) {
        throw this.#error(
          'MCAP_UNSUPPORTED_VERSION',
          `MCAP version ${JSON.stringify(String.fromCharCode(this.#queue.at(n)))} is not supported, only "0"`,
        );
      }
      throw this.#error('MCAP_NOT_MCAP', 'the input does not begin with the MCAP magic');
    }
    if (have < MAGIC.length) return false;
    this.#passMagic('header');
    return true;
  }

  #endMagic(): boolean {
    const have = Math.min(this.#queue.length, MAGIC.length);
    for (let n = 0; n < have; n++) {
      if (this.#queue.at(n) !== MAGIC[n]) {
        throw this.#error('MCAP_BAD_END_MAGIC', 'the Footer is not followed by the MCAP magic');
      }
    }
    if (have < MAGIC.length) return false;
    this.#passMagic('done');
    return true;
  }

  #passMagic(section: Section): void {
    this.#queue.drain(MAGIC.length, (part) => {
      this.#addCrc(part);
    });
    this.#offset += MAGIC.length;
    this.#section = section;
  }

  /** More bytes are needed. When none come, the file is cut. */
  #wait(): RecordContent | undefined {
    if (!this.#ended) return undefined;
    if (this.#section === 'magic' && this.#queue.length === 0) {
      throw this.#error('MCAP_NOT_MCAP', 'the input is empty');
    }
    const at = this.#offset + this.#queue.length;
    throw this.#error('MCAP_TRUNCATED', `the input ends at byte ${at}, ${WHERE[this.#section]}`);
  }

  #error(code: McapStreamsError['code'], what: string): McapStreamsError {
    return new McapStreamsError(code, `${what} (at byte ${this.#offset})`, { offset: this.#offset });
  }
}

const WHERE: Record<Section, string> = {
  magic: 'inside the magic',
  header: 'before the Header is whole',
  data: 'inside the data section',
  summary: 'inside the summary section',
  'end-magic': 'inside the closing magic',
  done: 'after the closing magic',
};
