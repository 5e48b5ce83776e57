/** Record objects -> their bytes (MCAP specification, "Records"), one behind the other in a buffer that is used again. */
import type { McapTypes } from '@mcap/core';
import { crc32 } from './crc.js';
import { putU64 } from './growing-bytes.js';
import type { GrowingBytes } from './growing-bytes.js';
import { MAGIC, OPCODE, RECORD_PREFIX } from './opcodes.js';
import type { ChannelRecord, SchemaRecord, StatisticsRecord } from './records.js';

/** Fields of an attachment but its data. */
export interface AttachmentHead {
  readonly name: string;
  readonly mediaType: string;
  readonly logTime: bigint;
  readonly createTime: bigint;
}

/** What an AttachmentIndex says beside the fields of its attachment. */
export interface AttachmentPlace {
  readonly offset: number;
  readonly length: number;
  readonly dataSize: number;
}

/** What a ChunkIndex says. */
export interface ChunkPlace {
  readonly startTime: bigint;
  readonly endTime: bigint;
  readonly offset: number;
  readonly length: number;
  /** Channel ids and the offsets of their MessageIndex records. */
  readonly indexOffsets: readonly { readonly channelId: number; readonly offset: number }[];
  readonly indexLength: number;
  readonly compression: string;
  readonly compressedSize: number;
  readonly uncompressedSize: number;
}

export class RecordBuilder<B extends GrowingBytes = GrowingBytes> {
  buffer: B;
  /** End of what has been written. */
  length: number;
  /** Bytes behind the fields of each record, as a later version of the format may have them: for tests. */
  readonly #padding: Uint8Array | undefined;
  #start = 0;

  constructor(buffer: B, length = 0, padding?: Uint8Array) {
    this.buffer = buffer;
    this.length = length;
    this.#padding = padding;
  }

  /** The bytes from `start` on; a copy of its own. */
  copy(start = 0): Uint8Array {
    const copy = Buffer.allocUnsafe(this.length - start);
    copy.set(this.buffer.u8.subarray(start, this.length));
    return copy;
  }

  magic(): void {
    this.bytes(MAGIC);
  }

  header(profile: string, library: string): void {
    this.#begin(OPCODE.Header);
    this.#string(profile);
    this.#string(library);
    this.#end();
  }

  schema({ id, name, encoding, data }: SchemaRecord): void {
    this.#begin(OPCODE.Schema);
    this.#u16(id);
    this.#string(name);
    this.#string(encoding);
    this.#u32(data.length);
    this.bytes(data);
    this.#end();
  }

  channel({ id, schemaId, topic, messageEncoding, metadata }: ChannelRecord): void {
    this.#begin(OPCODE.Channel);
    this.#u16(id);
    this.#u16(schemaId);
    this.#string(topic);
    this.#string(messageEncoding);
    this.#map(metadata);
    this.#end();
  }

  metadata({ name, metadata }: McapTypes.TypedMcapRecords['Metadata']): void {
    this.#begin(OPCODE.Metadata);
    this.#string(name);
    this.#map(metadata);
    this.#end();
  }

  unknown(opcode: number, data: Uint8Array): void {
    this.#begin(opcode);
    this.bytes(data);
    this.#end();
  }

  /** A whole attachment; `withCrc` false leaves its CRC 0. */
  attachment(head: AttachmentHead, data: Uint8Array, withCrc: boolean): void {
    const start = this.length + RECORD_PREFIX;
    this.#attachmentFields(head, data.length);
    this.bytes(data);
    this.#u32(withCrc ? crc32(this.buffer.u8.subarray(start, this.length)) : 0);
    this.#end();
  }

  /** The beginning of an attachment of which `dataLength` bytes and the CRC follow by other ways. */
  attachmentHead(head: AttachmentHead, dataLength: number): void {
    const start = this.length;
    this.#attachmentFields(head, dataLength);
    const rest = dataLength + 4 + (this.#padding?.length ?? 0);
    putU64(this.buffer.view, start + 1, this.length - start - RECORD_PREFIX + rest);
  }

  attachmentTail(crc: number): void {
    this.#u32(crc);
    if (this.#padding !== undefined) this.bytes(this.#padding);
  }

  attachmentIndex({ name, mediaType, logTime, createTime }: AttachmentHead, place: AttachmentPlace): void {
    this.#begin(OPCODE.AttachmentIndex);
    this.#u64(place.offset);
    this.#u64(place.length);
    this.#time(logTime);
    this.#time(createTime);
    this.#u64(place.dataSize);
    this.#string(name);
    this.#string(mediaType);
    this.#end();
  }

  metadataIndex(name: string, offset: number, length: number): void {
    this.#begin(OPCODE.MetadataIndex);
    this.#u64(offset);
    this.#u64(length);
    this.#string(name);
    this.#end();
  }

  /** A MessageIndex of entries that are written already. */
  messageIndex(channelId: number, entries: Uint8Array): void {
    this.#begin(OPCODE.MessageIndex);
    this.#u16(channelId);
    this.#u32(entries.length);
    this.bytes(entries);
    this.#end();
  }

  chunkIndex(place: ChunkPlace): void {
    this.#begin(OPCODE.ChunkIndex);
    this.#time(place.startTime);
    this.#time(place.endTime);
    this.#u64(place.offset);
    this.#u64(place.length);
    this.#u32(place.indexOffsets.length * 10);
    for (const { channelId, offset } of place.indexOffsets) {
      this.#u16(channelId);
      this.#u64(offset);
    }
    this.#u64(place.indexLength);
    this.#string(place.compression);
    this.#u64(place.compressedSize);
    this.#u64(place.uncompressedSize);
    this.#end();
  }

  statistics(statistics: StatisticsRecord): void {
    this.#begin(OPCODE.Statistics);
    this.#time(statistics.messageCount);
    this.#u16(statistics.schemaCount);
    this.#u32(statistics.channelCount);
    this.#u32(statistics.attachmentCount);
    this.#u32(statistics.metadataCount);
    this.#u32(statistics.chunkCount);
    this.#time(statistics.messageStartTime);
    this.#time(statistics.messageEndTime);
    this.#u32(statistics.channelMessageCounts.size * 10);
    for (const [channelId, count] of statistics.channelMessageCounts) {
      this.#u16(channelId);
      this.#time(count);
    }
    this.#end();
  }

  summaryOffset(groupOpcode: number, groupStart: number, groupLength: number): void {
    this.#begin(OPCODE.SummaryOffset);
    this.#u8(groupOpcode);
    this.#u64(groupStart);
    this.#u64(groupLength);
    this.#end();
  }

  /** DataEnd and Footer may not be longer than the specification says. */
  dataEnd(crc: number): void {
    this.#begin(OPCODE.DataEnd);
    this.#u32(crc);
    this.#close();
  }

  /** A Footer up to its CRC, which covers these bytes, too. */
  footerHead(summaryStart: number, summaryOffsetStart: number): void {
    this.#begin(OPCODE.Footer);
    this.#u64(summaryStart);
    this.#u64(summaryOffsetStart);
    putU64(this.buffer.view, this.#start + 1, 20);
  }

  footerTail(crc: number): void {
    this.#u32(crc);
  }

  bytes(bytes: Uint8Array): void {
    const at = this.#reserve(bytes.length);
    this.buffer.u8.set(bytes, at);
  }

  #attachmentFields({ name, mediaType, logTime, createTime }: AttachmentHead, dataLength: number): void {
    this.#begin(OPCODE.Attachment);
    this.#time(logTime);
    this.#time(createTime);
    this.#string(name);
    this.#string(mediaType);
    this.#u64(dataLength);
  }

  #begin(opcode: number): void {
    this.#start = this.#reserve(RECORD_PREFIX);
    this.buffer.u8[this.#start] = opcode;
  }

  #end(): void {
    if (this.#padding !== undefined) this.bytes(this.#padding);
    this.#close();
  }

  #close(): void {
    putU64(this.buffer.view, this.#start + 1, this.length - this.#start - RECORD_PREFIX);
  }

  #reserve(count: number): number {
    const at = this.length;
    const end = at + count;
    if (end > this.buffer.capacity) this.buffer.grow(at, end);
    this.length = end;
    return at;
  }

  #u8(value: number): void {
    const at = this.#reserve(1);
    this.buffer.u8[at] = value;
  }

  #u16(value: number): void {
    const at = this.#reserve(2);
    this.buffer.view.setUint16(at, value, true);
  }

  #u32(value: number): void {
    const at = this.#reserve(4);
    this.buffer.view.setUint32(at, value, true);
  }

  #u64(value: number): void {
    const at = this.#reserve(8);
    putU64(this.buffer.view, at, value);
  }

  #time(value: bigint): void {
    const at = this.#reserve(8);
    this.buffer.view.setBigUint64(at, value, true);
  }

  #string(text: string): void {
    const bytes = Buffer.from(text);
    this.#u32(bytes.length);
    this.bytes(bytes);
  }

  #map(map: ReadonlyMap<string, string>): void {
    const at = this.#reserve(4);
    for (const [key, value] of map) {
      this.#string(key);
      this.#string(value);
    }
    this.buffer.view.setUint32(at, this.length - at - 4, true);
  }
}
