/**
 * Parts of a file in the making, in file order. A part is finished when it is its turn: then it gets its offset, and
 * what the indexes say of it is written down. The bytes that it gives end where a record ends.
 */
import { McapStreamsError } from '../errors.js';
import type { ChunkDraft } from './chunk-builder.js';
import { crc32 } from './crc.js';
import type { FileProgress } from './file-progress.js';
import { ByteBuffer, putU64 } from './growing-bytes.js';
import type { GrowingBytes } from './growing-bytes.js';
import { OPCODE, RECORD_PREFIX } from './opcodes.js';
import type { RawChunk } from './raw-chunk.js';
import { RecordBuilder } from './record-builder.js';
import type { AttachmentHead } from './record-builder.js';
import type { ChannelRecord, LargeAttachmentRecord, SchemaRecord, StatisticsRecord } from './records.js';
import type { TimeRange } from './time-range.js';

export type Part<B extends GrowingBytes> = PlainPart | ChunkPart<B> | RawChunkPart | AttachmentPart | EndPart;

/** A record outside chunks that an index names: where it begins in its part, and its length. */
export type IndexedRecord = { readonly at: number; readonly length: number } & (
  { readonly attachment: AttachmentHead; readonly dataSize: number } | { readonly metadata: string }
);

/** Records outside chunks. */
export class PlainPart {
  readonly kind = 'plain';
  /** Bytes that it holds, and that it is in the file at most. */
  readonly cost: number;
  readonly size: number;
  readonly #bytes: Uint8Array;
  readonly #places: readonly IndexedRecord[];
  readonly #file: FileProgress;

  constructor(bytes: Uint8Array, places: readonly IndexedRecord[], file: FileProgress) {
    this.cost = this.size = bytes.length;
    this.#bytes = bytes;
    this.#places = places;
    this.#file = file;
  }

  finish(): Uint8Array {
    const { offset: start, summary } = this.#file;
    for (const place of this.#places) {
      const offset = start + place.at;
      const { length } = place;
      if ('metadata' in place) summary.addMetadata(place.metadata, offset, length);
      else summary.addAttachment(place.attachment, { offset, length, dataSize: place.dataSize });
    }
    this.#file.advance(this.#bytes);
    return this.#bytes;
  }
}

/** What became of a chunk's records. */
export interface PackedRecords {
  /** Name of the compression. */
  readonly compression: string;
  readonly bytes: Uint8Array;
  /** CRC-32 of the records, and of `bytes`. Not looked at where CRCs are not written. */
  readonly crc: number;
  readonly compressedCrc: number;
}

/** Share of its size that a compressed chunk must not exceed: less gained is not worth the reader's time. */
const WORTHWHILE = 0.98;
/** Length of a Chunk record without its compression's name and its records. */
const CHUNK_FIELDS = RECORD_PREFIX + 8 + 8 + 8 + 4 + 4 + 8;

/** A chunk with its message indexes. */
export class ChunkPart<B extends GrowingBytes> {
  readonly kind = 'chunk';
  readonly cost: number;
  readonly size: number;
  readonly buffer: B;
  readonly start: number;
  readonly end: number;
  readonly #draft: ChunkDraft<B>;
  readonly #withCrc: boolean;
  readonly #file: FileProgress;
  readonly #recycle: (buffer: B) => void;

  constructor(draft: ChunkDraft<B>, withCrc: boolean, file: FileProgress, recycle: (buffer: B) => void) {
    this.buffer = draft.buffer;
    this.start = draft.start;
    this.end = draft.end;
    // Its memory, and about as much for the result.
    this.cost = draft.buffer.capacity + (draft.end - draft.start);
    this.size = draft.end - draft.start + draft.index.length + CHUNK_FIELDS;
    this.#draft = draft;
    this.#withCrc = withCrc;
    this.#file = file;
    this.#recycle = recycle;
  }

  /** The records as they are. */
  get records(): Uint8Array {
    return this.buffer.u8.subarray(this.start, this.end);
  }

  /** @param packed the compressed records; left out, they are stored as they are */
  finish(packed?: PackedRecords): Uint8Array {
    const { times, index, indexOffsets } = this.#draft;
    const { buffer, start, end } = this;
    const size = end - start;
    const crc = this.#withCrc ? (packed?.crc ?? crc32(this.records)) : 0;
    const useful = packed !== undefined && packed.bytes.length <= size * WORTHWHILE ? packed : undefined;
    const compression = useful?.compression ?? '';
    const compressedSize = useful?.bytes.length ?? size;
    const head = CHUNK_FIELDS + Buffer.byteLength(compression);
    const total = head + compressedSize + index.length;
    // Records that stay as they are do so in their memory, unless most of it is empty.
    const inPlace = useful === undefined && end + index.length <= buffer.capacity && total * 2 > buffer.capacity;
    const out = inPlace
      ? Buffer.from(buffer.u8.buffer, buffer.u8.byteOffset + start - head, total)
      : Buffer.allocUnsafe(total);
    putChunkHead(out, times, size, crc, compression, compressedSize);
    if (!inPlace) out.set(useful?.bytes ?? this.records, head);
    out.set(index, head + compressedSize);
    if (!inPlace) this.#recycle(buffer);
    const file = this.#file;
    const { offset } = file;
    file.advance(out.subarray(0, head));
    file.advanceBy(compressedSize, useful?.compressedCrc ?? crc);
    file.advance(out.subarray(head + compressedSize));
    const length = head + compressedSize;
    file.summary.addChunk({
      startTime: times.start,
      endTime: times.end,
      offset,
      length,
      indexOffsets: indexOffsets.map((entry) => ({
        channelId: entry.channelId,
        offset: entry.offset + offset + length,
      })),
      indexLength: index.length,
      compression,
      compressedSize,
      uncompressedSize: size,
    });
    return out;
  }
}

function putChunkHead(
  out: Buffer,
  { start, end }: Pick<TimeRange, 'start' | 'end'>,
  size: number,
  crc: number,
  compression: string,
  compressedSize: number,
): void {
  const view = new DataView(out.buffer, out.byteOffset);
  const name = Buffer.from(compression);
  out[0] = OPCODE.Chunk;
  putU64(view, 1, CHUNK_FIELDS - RECORD_PREFIX + name.length + compressedSize);
  view.setBigUint64(9, start, true);
  view.setBigUint64(17, end, true);
  putU64(view, 25, size);
  view.setUint32(33, crc, true);
  view.setUint32(37, name.length, true);
  out.set(name, 41);
  putU64(view, 41 + name.length, compressedSize);
}

/** A chunk of another file, as it is. */
export class RawChunkPart {
  readonly kind = 'plain';
  readonly cost: number;
  readonly size: number;
  readonly #chunk: RawChunk;
  readonly #file: FileProgress;

  constructor(chunk: RawChunk, file: FileProgress) {
    this.cost = this.size = chunk.record.records.length + chunk.index.length;
    this.#chunk = chunk;
    this.#file = file;
  }

  finish(): Uint8Array {
    const { record, index, indexOffsets } = this.#chunk;
    const { records, compression, messageStartTime, messageEndTime } = record;
    const head = CHUNK_FIELDS + Buffer.byteLength(compression);
    const length = head + records.length;
    const uncompressedSize = Number(record.uncompressedSize);
    const out = Buffer.allocUnsafe(length + index.length);
    const times = { start: messageStartTime, end: messageEndTime };
    putChunkHead(out, times, uncompressedSize, record.uncompressedCrc, compression, records.length);
    out.set(records, head);
    out.set(index.buffer.u8.subarray(0, index.length), length);
    const { offset } = this.#file;
    this.#file.advance(out);
    this.#file.summary.addChunk({
      startTime: messageStartTime,
      endTime: messageEndTime,
      offset,
      length,
      indexOffsets: indexOffsets.map((entry) => ({
        channelId: entry.channelId,
        offset: entry.offset + offset + length,
      })),
      indexLength: index.length,
      compression,
      compressedSize: records.length,
      uncompressedSize,
    });
    return out;
  }
}

/** An attachment that comes in pieces: the only record that is not handed out in one. */
export class AttachmentPart {
  readonly kind = 'attachment';
  readonly cost = 0;
  readonly record: LargeAttachmentRecord;
  readonly #file: FileProgress;
  readonly #builder: RecordBuilder<ByteBuffer>;
  #start = 0;
  #left: number;
  #crc = 0;

  constructor(record: LargeAttachmentRecord, file: FileProgress) {
    this.record = record;
    this.#file = file;
    this.#left = record.dataLength;
    this.#builder = new RecordBuilder(new ByteBuffer(256), 0, file.padding);
  }

  /** What stands before the data. */
  head(): Uint8Array {
    this.#start = this.#file.offset;
    this.#builder.attachmentHead(this.record, this.record.dataLength);
    const head = this.#take();
    if (this.#file.enableCrcs) this.#crc = crc32(head.subarray(RECORD_PREFIX));
    return head;
  }

  /** Throws MCAP_ATTACHMENT_LENGTH where there is more data than was said. */
  data(bytes: Uint8Array): Uint8Array {
    this.#left -= bytes.length;
    if (this.#left < 0) throw this.#wrongLength('more');
    if (this.#file.enableCrcs) this.#crc = crc32(bytes, this.#crc);
    this.#file.advance(bytes);
    return bytes;
  }

  /** What stands behind the data. Throws MCAP_ATTACHMENT_LENGTH where there was less of it than was said. */
  tail(): Uint8Array {
    if (this.#left > 0) throw this.#wrongLength('less');
    this.#builder.attachmentTail(this.#crc);
    const tail = this.#take();
    const { offset, summary } = this.#file;
    const { record } = this;
    summary.addAttachment(record, { offset: this.#start, length: offset - this.#start, dataSize: record.dataLength });
    return tail;
  }

  #take(): Uint8Array {
    const bytes = this.#builder.copy();
    this.#builder.length = 0;
    this.#file.advance(bytes);
    return bytes;
  }

  #wrongLength(how: string): McapStreamsError {
    const { name, dataLength } = this.record;
    return new McapStreamsError(
      'MCAP_ATTACHMENT_LENGTH',
      `attachment ${name} has ${how} data than its ${dataLength} bytes`,
    );
  }
}

/** What the end of a file repeats and counts. */
export interface FileContent {
  readonly schemas: readonly SchemaRecord[];
  readonly channels: readonly ChannelRecord[];
  messageCounts(): Map<number, bigint>;
}

/** DataEnd, the summary section, Footer and closing magic. */
export class EndPart {
  readonly kind = 'end';
  readonly cost = 0;
  readonly #content: FileContent;
  readonly #times: TimeRange;
  readonly #file: FileProgress;
  readonly #messages: number;

  constructor(content: FileContent, times: TimeRange, file: FileProgress, messages: number) {
    this.#content = content;
    this.#times = times;
    this.#file = file;
    this.#messages = messages;
  }

  *pieces(): Generator<Uint8Array, void, undefined> {
    const file = this.#file;
    const builder = new RecordBuilder(new ByteBuffer(64));
    builder.dataEnd(file.enableCrcs ? file.crc : 0);
    const dataEnd = builder.copy();
    file.offset += dataEnd.length;
    yield dataEnd;
    const { schemas, channels } = this.#content;
    for (const piece of file.summary.pieces(file.offset, schemas, channels, this.#statistics())) {
      file.offset += piece.length;
      yield piece;
    }
  }

  #statistics(): StatisticsRecord {
    const { schemas, channels } = this.#content;
    const { chunkCount, attachmentCount, metadataCount } = this.#file.summary;
    return {
      type: 'Statistics',
      messageCount: BigInt(this.#messages),
      schemaCount: schemas.length,
      channelCount: channels.length,
      attachmentCount,
      metadataCount,
      chunkCount,
      messageStartTime: this.#times.start,
      messageEndTime: this.#times.end,
      channelMessageCounts: this.#content.messageCounts(),
    };
  }
}
