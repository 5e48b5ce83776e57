/** Record contents -> record objects (MCAP specification, "Records"), in the shapes of `@mcap/core`. */
import type { Readable } from 'node:stream';
import type { McapTypes } from '@mcap/core';
import { McapStreamsError } from '../errors.js';
import { crc32 } from './crc.js';
import { describeOpcode, OPCODE } from './opcodes.js';

/** An attachment that is not held in memory. */
export interface LargeAttachmentRecord {
  readonly type: 'Attachment';
  readonly name: string;
  readonly mediaType: string;
  readonly logTime: bigint;
  readonly createTime: bigint;
  /** Bytes of `data`. */
  readonly dataLength: number;
  readonly data: Readable;
}

/** Every record, `{ type, ... }`: times and 64-bit fields are bigint (ns), maps are `Map`. */
export type McapRecord = McapTypes.TypedMcapRecord | LargeAttachmentRecord;
/** Names of all record types; `Unknown` is every opcode that the specification does not define. */
export type McapRecordType = McapRecord['type'];
export type HeaderRecord = McapTypes.TypedMcapRecords['Header'];
export type SchemaRecord = McapTypes.TypedMcapRecords['Schema'];
export type ChannelRecord = McapTypes.TypedMcapRecords['Channel'];
export type MessageRecord = McapTypes.TypedMcapRecords['Message'];
export type ChunkRecord = McapTypes.TypedMcapRecords['Chunk'];
export type AttachmentRecord = McapTypes.TypedMcapRecords['Attachment'];
export type StatisticsRecord = McapTypes.TypedMcapRecords['Statistics'];

/** One record's content inside some memory, and where in the file it stands. */
export interface RecordContent {
  readonly opcode: number;
  readonly bytes: Buffer;
  /** Over the same memory as `bytes`. */
  readonly view: DataView;
  readonly start: number;
  readonly end: number;
  /** For errors: byte offset of the record in the file; inside a chunk, that of the chunk. */
  readonly offset: number;
  /** Of an uncompressed Chunk: the CRC of its records, where it is known already. */
  readonly dataCrc?: number;
}

/** Fixed part of a Message: channel_id, sequence, log_time, publish_time. */
export const MESSAGE_FIXED_LENGTH = 22;

/** Reads the fields of one record; no read leaves it. */
class Fields {
  readonly #bytes: Buffer;
  readonly #view: DataView;
  readonly #end: number;
  readonly #record: RecordContent;
  position: number;

  constructor(record: RecordContent) {
    this.#bytes = record.bytes;
    this.#view = record.view;
    this.#end = record.end;
    this.#record = record;
    this.position = record.start;
  }

  #take(count: number, what: string): number {
    const at = this.position;
    if (count > this.#end - at) throw badRecord(this.#record, `${what} runs over its end`);
    this.position = at + count;
    return at;
  }

  u8(): number {
    return this.#view.getUint8(this.#take(1, 'a field'));
  }

  u16(): number {
    return this.#view.getUint16(this.#take(2, 'a field'), true);
  }

  u32(): number {
    return this.#view.getUint32(this.#take(4, 'a field'), true);
  }

  u64(): bigint {
    return this.#view.getBigUint64(this.#take(8, 'a field'), true);
  }

  string(): string {
    const length = this.u32();
    const at = this.#take(length, 'a string');
    return this.#bytes.toString('utf8', at, at + length);
  }

  /** A view of the next `length` bytes. */
  bytes(length: number): Uint8Array {
    const at = this.#take(length, 'its data');
    return new Uint8Array(this.#bytes.buffer, this.#bytes.byteOffset + at, length);
  }

  rest(): Uint8Array {
    return this.bytes(this.#end - this.position);
  }

  /** A length that is written as uint64 and has to fit in the record. */
  length64(): number {
    const length = this.u64();
    if (length > BigInt(this.#end - this.position)) throw badRecord(this.#record, 'its data runs over its end');
    return Number(length);
  }

  /** A map or an array: a uint32 byte length, then entries to exactly there. */
  entries(read: () => void): void {
    const length = this.u32();
    const end = this.position + length;
    if (end > this.#end) throw badRecord(this.#record, 'a map runs over its end');
    while (this.position < end) read();
    if (this.position !== end) throw badRecord(this.#record, "a map's last entry runs over the map's end");
  }

  /** Keys that stand twice: the last one counts. */
  stringMap(): Map<string, string> {
    const map = new Map<string, string>();
    this.entries(() => {
      const key = this.string();
      map.set(key, this.string());
    });
    return map;
  }

  countMap(): Map<number, bigint> {
    const map = new Map<number, bigint>();
    this.entries(() => {
      const key = this.u16();
      map.set(key, this.u64());
    });
    return map;
  }
}

/** Where a chunk's compressed records lie, and what the Chunk record says of them. */
export interface ChunkHeader {
  readonly messageStartTime: bigint;
  readonly messageEndTime: bigint;
  readonly uncompressedSize: bigint;
  readonly uncompressedCrc: number;
  readonly compression: string;
  readonly records: Uint8Array;
}

export function parseChunk(record: RecordContent): ChunkHeader {
  const fields = new Fields(record);
  return {
    messageStartTime: fields.u64(),
    messageEndTime: fields.u64(),
    uncompressedSize: fields.u64(),
    uncompressedCrc: fields.u32(),
    compression: fields.string(),
    records: fields.bytes(fields.length64()),
  };
}

/** A Chunk whose record the end of the file has cut: `records` is what there is. `undefined`: not even its fields. */
export function parseCutChunk(record: RecordContent): (ChunkHeader & { readonly records: Buffer }) | undefined {
  const fields = new Fields(record);
  try {
    const header = {
      messageStartTime: fields.u64(),
      messageEndTime: fields.u64(),
      uncompressedSize: fields.u64(),
      uncompressedCrc: fields.u32(),
      compression: fields.string(),
    };
    fields.u64();
    return { ...header, records: record.bytes.subarray(fields.position, record.end) };
  } catch (error) {
    if (error instanceof McapStreamsError) return undefined;
    throw error;
  }
}

export function parseMessage(record: RecordContent): MessageRecord {
  const { view, start, end } = record;
  if (end - start < MESSAGE_FIXED_LENGTH) throw badRecord(record, 'it is shorter than its fixed part');
  return {
    type: 'Message',
    channelId: view.getUint16(start, true),
    sequence: view.getUint32(start + 2, true),
    logTime: view.getBigUint64(start + 6, true),
    publishTime: view.getBigUint64(start + 14, true),
    data: new Uint8Array(view.buffer, view.byteOffset + start + 22, end - start - 22),
  };
}

export function parseSchema(record: RecordContent): SchemaRecord {
  const fields = new Fields(record);
  const id = fields.u16();
  const name = fields.string();
  const encoding = fields.string();
  // A schema outlives the chunk it came in: a copy does not hold on to it.
  return { type: 'Schema', id, name, encoding, data: fields.bytes(fields.u32()).slice() };
}

export function parseChannel(record: RecordContent): ChannelRecord {
  const fields = new Fields(record);
  const id = fields.u16();
  const schemaId = fields.u16();
  const topic = fields.string();
  const messageEncoding = intern(fields.string());
  const metadata = fields.stringMap();
  if (metadata.size > 0) return { type: 'Channel', id, schemaId, topic, messageEncoding, metadata };
  return Object.defineProperty(
    { type: 'Channel', id, schemaId, topic, messageEncoding },
    'metadata',
    NO_METADATA,
  ) as ChannelRecord;
}

/** An empty map takes as much memory as the rest of a channel's record: it is made when somebody asks. */
const NO_METADATA: PropertyDescriptor = {
  configurable: true,
  enumerable: true,
  get(this: object): Map<string, string> {
    const value = new Map<string, string>();
    Object.defineProperty(this, 'metadata', { value, configurable: true, enumerable: true, writable: true });
    return value;
  },
};

/** The same encoding is named by every channel: one string for all. */
const ENCODINGS = new Map<string, string>();

function intern(encoding: string): string {
  const known = ENCODINGS.get(encoding);
  if (known !== undefined) return known;
  if (ENCODINGS.size < 100) ENCODINGS.set(encoding, encoding);
  return encoding;
}

const INDEX_ENTRY = 16;

/**
 * There are as many entries as messages, of four objects each, and hardly anybody who reads all records looks at them:
 * they are made when somebody asks, from a copy, which does not hold on to the file's bytes.
 */
function parseMessageIndex(record: RecordContent): McapTypes.TypedMcapRecords['MessageIndex'] {
  const fields = new Fields(record);
  const channelId = fields.u16();
  const length = fields.u32();
  const at = fields.position;
  if (length > record.end - at) throw badRecord(record, 'a map runs over its end');
  if (length % INDEX_ENTRY !== 0) throw badRecord(record, "a map's last entry runs over the map's end");
  const bytes = Uint8Array.prototype.slice.call(record.bytes, at, at + length);
  return Object.defineProperty({ type: 'MessageIndex', channelId }, 'records', {
    configurable: true,
    enumerable: true,
    get(this: object): [bigint, bigint][] {
      const view = new DataView(bytes.buffer);
      const value = Array.from({ length: length / INDEX_ENTRY }, (_, n): [bigint, bigint] => [
        view.getBigUint64(n * INDEX_ENTRY, true),
        view.getBigUint64(n * INDEX_ENTRY + 8, true),
      ]);
      Object.defineProperty(this, 'records', { value, configurable: true, enumerable: true, writable: true });
      return value;
    },
  }) as McapTypes.TypedMcapRecords['MessageIndex'];
}

function parseAttachment(record: RecordContent, validateCrcs: boolean): AttachmentRecord {
  const fields = new Fields(record);
  const logTime = fields.u64();
  const createTime = fields.u64();
  const name = fields.string();
  const mediaType = fields.string();
  const data = fields.bytes(fields.length64());
  const covered = record.bytes.subarray(record.start, fields.position);
  const crc = fields.u32();
  if (validateCrcs && crc !== 0) {
    const actual = crc32(covered);
    if (actual !== crc) {
      throw new McapStreamsError(
        'MCAP_ATTACHMENT_CRC_MISMATCH',
        `attachment "${name}" at byte ${record.offset}: its CRC is ${hex(actual)}, the record says ${hex(crc)}`,
        { offset: record.offset },
      );
    }
  }
  return { type: 'Attachment', logTime, createTime, name, mediaType, data };
}

/**
 * One record. Fields behind the known ones are ignored, as the specification asks. Throws `MCAP_BAD_RECORD` where a
 * length runs over the record's end, `MCAP_ATTACHMENT_CRC_MISMATCH` for an attachment.
 */
export function parseRecord(record: RecordContent, validateCrcs: boolean): McapTypes.TypedMcapRecord {
  // Nearly all records are messages.
  if (record.opcode === OPCODE.Message) return parseMessage(record);
  const fields = new Fields(record);
  switch (record.opcode) {
    case OPCODE.Header:
      return { type: 'Header', profile: fields.string(), library: fields.string() };
    case OPCODE.Footer:
      return {
        type: 'Footer',
        summaryStart: fields.u64(),
        summaryOffsetStart: fields.u64(),
        summaryCrc: fields.u32(),
      };
    case OPCODE.Schema:
      return parseSchema(record);
    case OPCODE.Channel:
      return parseChannel(record);
    case OPCODE.Chunk:
      return { type: 'Chunk', ...parseChunk(record) };
    case OPCODE.MessageIndex:
      return parseMessageIndex(record);
    case OPCODE.ChunkIndex:
      return {
        type: 'ChunkIndex',
        messageStartTime: fields.u64(),
        messageEndTime: fields.u64(),
        chunkStartOffset: fields.u64(),
        chunkLength: fields.u64(),
        messageIndexOffsets: fields.countMap(),
        messageIndexLength: fields.u64(),
        compression: fields.string(),
        compressedSize: fields.u64(),
        uncompressedSize: fields.u64(),
      };
    case OPCODE.Attachment:
      return parseAttachment(record, validateCrcs);
    case OPCODE.AttachmentIndex:
      return {
        type: 'AttachmentIndex',
        offset: fields.u64(),
        length: fields.u64(),
        logTime: fields.u64(),
        createTime: fields.u64(),
        dataSize: fields.u64(),
        name: fields.string(),
        mediaType: fields.string(),
      };
    case OPCODE.Statistics:
      return {
        type: 'Statistics',
        messageCount: fields.u64(),
        schemaCount: fields.u16(),
        channelCount: fields.u32(),
        attachmentCount: fields.u32(),
        metadataCount: fields.u32(),
        chunkCount: fields.u32(),
        messageStartTime: fields.u64(),
        messageEndTime: fields.u64(),
        channelMessageCounts: fields.countMap(),
      };
    case OPCODE.Metadata:
      return { type: 'Metadata', name: fields.string(), metadata: fields.stringMap() };
    case OPCODE.MetadataIndex:
      return { type: 'MetadataIndex', offset: fields.u64(), length: fields.u64(), name: fields.string() };
    case OPCODE.SummaryOffset:
      return {
        type: 'SummaryOffset',
        groupOpcode: fields.u8(),
        groupStart: fields.u64(),
        groupLength: fields.u64(),
      };
    case OPCODE.DataEnd:
      return { type: 'DataEnd', dataSectionCrc: fields.u32() };
    default:
      return { type: 'Unknown', opcode: record.opcode, data: fields.rest() };
  }
}

export function badRecord(record: RecordContent, why: string): McapStreamsError {
  return new McapStreamsError(
    'MCAP_BAD_RECORD',
    `${describeOpcode(record.opcode)} record at byte ${record.offset}: ${why}`,
    { offset: record.offset },
  );
}

export function hex(value: number): string {
  return `0x${value.toString(16).padStart(8, '0')}`;
}
