/**
 * What is known at the end of a file and written behind its data: indexes, statistics, repeated definitions, and the
 * offsets of all of them (MCAP specification, "Summary Section").
 */
import { crc32 } from './crc.js';
import { ByteBuffer } from './growing-bytes.js';
import { OPCODE } from './opcodes.js';
import { RecordBuilder } from './record-builder.js';
import type { AttachmentHead, AttachmentPlace, ChunkPlace } from './record-builder.js';
import type { ChannelRecord, SchemaRecord, StatisticsRecord } from './records.js';
import { SpilledRecords } from './spilled-records.js';

export interface SummarySettings {
  readonly useStatistics: boolean;
  readonly useSummaryOffsets: boolean;
  readonly repeatSchemas: boolean;
  readonly repeatChannels: boolean;
  readonly useAttachmentIndex: boolean;
  readonly useMetadataIndex: boolean;
  readonly useChunkIndex: boolean;
  readonly enableCrcs: boolean;
  /** Bytes of an index that are kept in memory; the rest goes to a temporary file. */
  readonly maxIndexBytes: number;
  /** Bytes behind the fields of records, for tests. */
  readonly padRecords: Uint8Array | undefined;
}

/** Definitions are repeated in pieces of about this size. */
const PIECE = 65536;

export class SummaryIndex {
  chunkCount = 0;
  attachmentCount = 0;
  metadataCount = 0;
  readonly #settings: SummarySettings;
  readonly #chunks: SpilledRecords;
  readonly #attachments: SpilledRecords;
  readonly #metadata: SpilledRecords;
  readonly #builder: RecordBuilder<ByteBuffer>;

  constructor(settings: SummarySettings) {
    this.#settings = settings;
    this.#chunks = new SpilledRecords(settings.maxIndexBytes);
    this.#attachments = new SpilledRecords(settings.maxIndexBytes);
    this.#metadata = new SpilledRecords(settings.maxIndexBytes);
    this.#builder = new RecordBuilder(new ByteBuffer(1024), 0, settings.padRecords);
  }

  /** Bytes of the indexes so far. */
  get length(): number {
    return this.#chunks.length + this.#attachments.length + this.#metadata.length;
  }

  addChunk(place: ChunkPlace): void {
    this.chunkCount++;
    if (!this.#settings.useChunkIndex) return;
    this.#builder.chunkIndex(place);
    this.#store(this.#chunks);
  }

  addAttachment(head: AttachmentHead, place: AttachmentPlace): void {
    this.attachmentCount++;
    if (!this.#settings.useAttachmentIndex) return;
    this.#builder.attachmentIndex(head, place);
    this.#store(this.#attachments);
  }

  addMetadata(name: string, offset: number, length: number): void {
    this.metadataCount++;
    if (!this.#settings.useMetadataIndex) return;
    this.#builder.metadataIndex(name, offset, length);
    this.#store(this.#metadata);
  }

  /**
   * The summary section, Footer and closing magic, in pieces that end where a record ends.
   *
   * @param start offset of the summary section
   */
  *pieces(
    start: number,
    schemas: Iterable<SchemaRecord>,
    channels: Iterable<ChannelRecord>,
    statistics: StatisticsRecord,
  ): Generator<Uint8Array, void, undefined> {
    const { useStatistics, repeatSchemas, repeatChannels, useSummaryOffsets, enableCrcs } = this.#settings;
    const builder = this.#builder;
    const offsets: { opcode: number; start: number; length: number }[] = [];
    let offset = start;
    let crc = 0;
    const groups: [number, Iterable<Uint8Array>][] = [
      [
        OPCODE.Schema,
        this.#serialize(repeatSchemas ? schemas : [], (schema) => {
          builder.schema(schema);
        }),
      ],
      [
        OPCODE.Channel,
        this.#serialize(repeatChannels ? channels : [], (channel) => {
          builder.channel(channel);
        }),
      ],
      [
        OPCODE.Statistics,
        this.#serialize(useStatistics ? [statistics] : [], (record) => {
          builder.statistics(record);
        }),
      ],
      [OPCODE.MetadataIndex, this.#metadata.pieces()],
      [OPCODE.AttachmentIndex, this.#attachments.pieces()],
      [OPCODE.ChunkIndex, this.#chunks.pieces()],
    ];
    for (const [opcode, pieces] of groups) {
      const groupStart = offset;
      for (const piece of pieces) {
        if (enableCrcs) crc = crc32(piece, crc);
        offset += piece.length;
        yield piece;
      }
      if (offset > groupStart) offsets.push({ opcode, start: groupStart, length: offset - groupStart });
    }
    if (useSummaryOffsets) {
      for (const group of offsets) builder.summaryOffset(group.opcode, group.start, group.length);
    }
    builder.footerHead(offset === start ? 0 : start, useSummaryOffsets ? offset : 0);
    builder.footerTail(enableCrcs ? crc32(builder.buffer.u8.subarray(0, builder.length), crc) : 0);
    builder.magic();
    yield this.#take();
  }

  /** Gives memory and temporary files back. */
  close(): void {
    this.#chunks.close();
    this.#attachments.close();
    this.#metadata.close();
  }

  *#serialize<T>(records: Iterable<T>, write: (record: T) => void): Generator<Uint8Array, void, undefined> {
    for (const record of records) {
      write(record);
      if (this.#builder.length >= PIECE) yield this.#take();
    }
    if (this.#builder.length > 0) yield this.#take();
  }

  #take(): Uint8Array {
    const bytes = this.#builder.copy();
    this.#builder.length = 0;
    return bytes;
  }

  #store(index: SpilledRecords): void {
    index.append(this.#builder.buffer.u8.subarray(0, this.#builder.length));
    this.#builder.length = 0;
  }
}
