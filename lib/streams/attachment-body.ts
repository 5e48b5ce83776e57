/**
 * Attachments that are too large for memory: the parts of one record -> a record whose `data` is a Readable.
 *
 * `flow` hands the record on at once, and the input waits for whoever reads its data. `spool` keeps the data in a
 * temporary file and hands the record on when it is whole and its CRC is right, so that nobody has to read it.
 */
import { closeSync, createReadStream, mkdtempSync, openSync, rmSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { McapStreamsError } from '../errors.js';
import { crc32 } from '../mcap/crc.js';
import { peekU64 } from '../mcap/plausible.js';
import { hex } from '../mcap/records.js';
import type { LargeAttachmentRecord } from '../mcap/records.js';
import type { AttachmentPart } from '../mcap/record-reader.js';

/** Fields before the data, read when they are all there. */
interface Head {
  readonly logTime: bigint;
  readonly createTime: bigint;
  readonly name: string;
  readonly mediaType: string;
  readonly dataLength: number;
  /** Where the data begins. */
  readonly length: number;
}

/** Where the data goes. */
interface Sink {
  readonly data: Readable;
  /** `undefined`, or a promise that is fulfilled when more may come. */
  write(bytes: Uint8Array): Promise<void> | undefined;
  end(): void;
  fail(error: Error): void;
}

export class AttachmentAssembler {
  readonly #mode: 'flow' | 'spool';
  readonly #validateCrcs: boolean;
  #head: Head | undefined;
  #headBytes = Buffer.alloc(0);
  #sink: Sink | undefined;
  #crc = 0;
  #dataLeft = 0;
  #tail = Buffer.alloc(0);

  constructor(mode: 'flow' | 'spool', validateCrcs: boolean) {
    this.#mode = mode;
    this.#validateCrcs = validateCrcs;
  }

  /**
   * Takes the next part.
   *
   * @returns the record, when it is to be handed on, and what to wait for before the next part
   */
  add({ part, offset, left }: AttachmentPart): { record?: LargeAttachmentRecord; wait?: Promise<void> } {
    let bytes: Uint8Array = part;
    const result: { record?: LargeAttachmentRecord; wait?: Promise<void> } = {};
    if (this.#head === undefined) {
      this.#headBytes = Buffer.concat([this.#headBytes, part]);
      const head = parseHead(this.#headBytes);
      if (head === undefined) return result;
      this.#head = head;
      this.#dataLeft = head.dataLength;
      this.#crc = crc32(this.#headBytes.subarray(0, head.length));
      bytes = this.#headBytes.subarray(head.length);
      this.#sink = this.#mode === 'flow' ? flowSink() : spoolSink();
      if (this.#mode === 'flow') result.record = recordOf(head, this.#sink);
    }
    const count = Math.min(this.#dataLeft, bytes.length);
    if (count > 0) {
      const data = bytes.subarray(0, count);
      this.#dataLeft -= count;
      if (this.#validateCrcs) this.#crc = crc32(data, this.#crc);
      const wait = this.#sink?.write(data);
      if (wait !== undefined) result.wait = wait;
    }
    if (this.#tail.length < 4) this.#tail = Buffer.concat([this.#tail, bytes.subarray(count, count + 4)]);
    if (left === 0) this.#finish(this.#head, offset, result);
    return result;
  }

  /** The rest will not come. */
  fail(error: Error): void {
    this.#sink?.fail(error);
    this.#sink = undefined;
  }

  #finish(head: Head, offset: number, result: { record?: LargeAttachmentRecord }): void {
    const said = this.#tail.length < 4 ? 0 : this.#tail.readUInt32LE();
    if (this.#validateCrcs && said !== 0 && said !== this.#crc) {
      const error = new McapStreamsError(
        'MCAP_ATTACHMENT_CRC_MISMATCH',
        `attachment "${head.name}" at byte ${offset}: its CRC is ${hex(this.#crc)}, the record says ${hex(said)}`,
        { offset },
      );
      this.fail(error);
      throw error;
    }
    const sink = this.#sink;
    this.#sink = undefined;
    sink?.end();
    if (this.#mode === 'spool' && sink !== undefined) result.record = recordOf(head, sink);
  }
}

function recordOf({ logTime, createTime, name, mediaType, dataLength }: Head, sink: Sink): LargeAttachmentRecord {
  return { type: 'Attachment', logTime, createTime, name, mediaType, dataLength, data: sink.data };
}

function parseHead(bytes: Buffer): Head | undefined {
  let at = 16;
  const texts: string[] = [];
  for (let n = 0; n < 2; n++) {
    if (at + 4 > bytes.length) return undefined;
    const length = bytes.readUInt32LE(at);
    at += 4;
    if (at + length > bytes.length) return undefined;
    texts.push(bytes.toString('utf8', at, (at += length)));
  }
  if (at + 8 > bytes.length) return undefined;
  const [name = '', mediaType = ''] = texts;
  const dataLength = peekU64({ length: 8, at: (n) => bytes[at + n] ?? 0 }, 0);
  return {
    logTime: bytes.readBigUInt64LE(0),
    createTime: bytes.readBigUInt64LE(8),
    name,
    mediaType,
    dataLength,
    length: at + 8,
  };
}

function flowSink(): Sink {
  let release: (() => void) | undefined;
  const data = new Readable({
    read() {
      release?.();
      release = undefined;
    },
    destroy(error, callback) {
      // Whoever does not want the data any more does not hold up what follows.
      release?.();
      release = undefined;
      callback(error);
    },
  });
  // Its errors come out of the stage as well: nobody is forced to listen here.
  data.on('error', () => undefined);
  return {
    data,
    write(bytes) {
      if (data.destroyed || data.push(bytes)) return undefined;
      return new Promise((resolve) => {
        release = resolve;
      });
    },
    end() {
      if (!data.destroyed) data.push(null);
    },
    fail(error) {
      data.destroy(error);
    },
  };
}

/** Files whose data nobody has read. */
const FORGOTTEN = new FinalizationRegistry<number>((fd) => {
  closeSync(fd);
});

function spoolSink(): Sink {
  const folder = mkdtempSync(join(tmpdir(), 'mcap-attachment-'));
  const path = join(folder, 'data');
  const fd = openSync(path, 'wx+', 0o600);
  // Open, and gone from the folder: nothing is left behind however the process ends.
  rmSync(folder, { recursive: true });
  let data: Readable | undefined;
  let closed = false;
  return {
    get data() {
      if (data === undefined) {
        const reader = createReadStream('', { fd, start: 0 });
        FORGOTTEN.register(reader, fd, reader);
        reader.on('close', () => FORGOTTEN.unregister(reader));
        data = reader;
      }
      return data;
    },
    write(bytes) {
      for (let at = 0; at < bytes.length;) at += writeSync(fd, bytes, at);
      return undefined;
    },
    end() {
      // The reader closes the file.
    },
    fail() {
      if (!closed && data === undefined) closeSync(fd);
      closed = true;
    },
  };
}
