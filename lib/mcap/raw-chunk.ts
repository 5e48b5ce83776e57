/**
 * A chunk that goes from one file to another compressed as it is, and the MessageIndex records behind it.
 *
 * A parser that includes `Chunk` gives the chunk, then the records in it that it includes too, then its indexes. What is
 * in the chunk must not be written twice: records that follow are the chunk's own until their sizes add up to its size,
 * or until a record comes that cannot be in a chunk.
 */
import type { McapTypes } from '@mcap/core';
import { McapStreamsError } from '../errors.js';
import { ByteBuffer } from './growing-bytes.js';
import { RECORD_PREFIX } from './opcodes.js';
import { RecordBuilder } from './record-builder.js';
import { MESSAGE_FIXED_LENGTH } from './records.js';
import type { ChannelRecord, ChunkRecord, MessageRecord, SchemaRecord } from './records.js';

type InnerRecord = SchemaRecord | ChannelRecord | MessageRecord | McapTypes.TypedMcapRecords['Unknown'];

export class RawChunk {
  readonly record: ChunkRecord;
  readonly index: RecordBuilder<ByteBuffer>;
  readonly indexOffsets: { channelId: number; offset: number }[] = [];
  /** Bytes of the chunk's own records that have come. */
  #seen = 0;
  #indexed = false;
  #counts = new Map<number, number>();
  #fromIndex = new Map<number, number>();

  constructor(record: ChunkRecord, padding: Uint8Array | undefined) {
    this.record = record;
    this.index = new RecordBuilder(new ByteBuffer(1024), 0, padding);
  }

  /** Whether the record is in the chunk; then it counts as seen. */
  owns(record: InnerRecord): boolean {
    if (this.#indexed || BigInt(this.#seen) >= this.record.uncompressedSize) return false;
    this.#seen += sizeOf(record);
    if (record.type === 'Message') increase(this.#counts, record.channelId, 1);
    return true;
  }

  addIndex({ channelId, records }: McapTypes.TypedMcapRecords['MessageIndex']): void {
    this.#indexed = true;
    const entries = Buffer.allocUnsafe(records.length * 16);
    records.forEach(([time, offset], at) => {
      entries.writeBigUInt64LE(time, at * 16);
      entries.writeBigUInt64LE(offset, at * 16 + 8);
    });
    this.indexOffsets.push({ channelId, offset: this.index.length });
    this.index.messageIndex(channelId, entries);
    increase(this.#fromIndex, channelId, records.length);
  }

  /**
   * Messages by channel, as far as there are any.
   *
   * Throws MCAP_UNINDEXED_CHUNK where neither its messages nor its indexes have come.
   */
  messageCounts(): ReadonlyMap<number, number> {
    if (BigInt(this.#seen) >= this.record.uncompressedSize || !this.#indexed) {
      if (this.#counts.size === 0 && BigInt(this.#seen) < this.record.uncompressedSize) {
        throw new McapStreamsError(
          'MCAP_UNINDEXED_CHUNK',
          "chunks: 'raw' counts the messages of a chunk by its MessageIndex records or by its messages: " +
            "let the parser include 'MessageIndex', or 'Message' for a recording without indexes",
        );
      }
      return this.#counts;
    }
    return this.#fromIndex;
  }
}

function increase(counts: Map<number, number>, key: number, by: number): void {
  counts.set(key, (counts.get(key) ?? 0) + by);
}

function sizeOf(record: InnerRecord): number {
  switch (record.type) {
    case 'Message':
      return RECORD_PREFIX + MESSAGE_FIXED_LENGTH + record.data.length;
    case 'Schema': {
      const texts = Buffer.byteLength(record.name) + Buffer.byteLength(record.encoding);
      return RECORD_PREFIX + 2 + 12 + texts + record.data.length;
    }
    case 'Channel': {
      let size = RECORD_PREFIX + 4 + 12 + Buffer.byteLength(record.topic) + Buffer.byteLength(record.messageEncoding);
      for (const [key, value] of record.metadata) size += 8 + Buffer.byteLength(key) + Buffer.byteLength(value);
      return size;
    }
    case 'Unknown':
      return RECORD_PREFIX + record.data.length;
  }
}
