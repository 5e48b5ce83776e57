/**
 * The synchronous core of everything that writes MCAP: records in, parts of a file out.
 *
 * It checks each record before a byte of it is written, gathers messages in the open chunk, and hands out parts in file
 * order. A chunk's part may be compressed anywhere; only when it is its turn is it finished, which is when it gets its
 * offset. So chunks can be compressed ahead, and the core counts its own offset: it needs no seeking.
 */
import type { McapTypes } from '@mcap/core';
import { McapStreamsError } from '../errors.js';
import { ChunkBuilder, MESSAGE_HEAD, putMessageHead } from './chunk-builder.js';
import type { ChannelState } from './chunk-builder.js';
import type { GrowingBytes } from './growing-bytes.js';
import { FileProgress } from './file-progress.js';

import { RawChunk } from './raw-chunk.js';
import { RecordBuilder } from './record-builder.js';
import {
  checkAttachment,
  checkMessage,
  checkMetadata,
  checkStamps,
  checkUnknown,
  checkData,
  invalid,
} from './record-checks.js';
import type { LargeAttachmentRecord, McapRecord, MessageRecord } from './records.js';
import type { SummarySettings } from './summary-index.js';
import { TimeRange } from './time-range.js';
import { AttachmentPart, ChunkPart, EndPart, PlainPart, RawChunkPart } from './writer-parts.js';
import type { IndexedRecord, Part } from './writer-parts.js';
import { WriterChannels } from './writer-channels.js';

export interface WriterSettings extends SummarySettings {
  readonly useChunks: boolean;
  /** Bytes of uncompressed records at which a chunk is closed. */
  readonly chunkSize: number;
  readonly useMessageIndex: boolean;
  /** Whether ids stay as they come; else they are numbered from 1 in the order of their appearance. */
  readonly preserveIds: boolean;
  /** Whether Chunk records are written as they are, instead of the records in them. */
  readonly rawChunks: boolean;
  /** In place of what a Header record says. */
  readonly profile: string | undefined;
  readonly library: string | undefined;
}

/** What a Header says where neither a record nor an option does. */
export interface HeaderDefaults {
  readonly profile: string;
  readonly library: string;
}

/** Records outside chunks are handed out when so many bytes of them are there. */
const PLAIN_BYTES = 65536;
/** At most so much are a ChunkIndex without its map, and all of a summary that does not grow. */
const CHUNK_INDEX_BYTES = 400;
const SUMMARY_BYTES = 500;
/** Chunks up to this size get their memory at once. */
const EAGER_BYTES = 2 ** 20;

export class RecordWriter<B extends GrowingBytes> {
  /** What has been written so far. */
  readonly stats: { messages: number; chunks: number; records: number } = {
    messages: 0,
    chunks: 0,
    records: 0,
  };
  readonly #settings: WriterSettings;
  readonly #defaults: HeaderDefaults;
  readonly #makeBuffer: (size: number) => B;
  readonly #file: FileProgress;
  readonly #channels: WriterChannels;
  readonly #plain: RecordBuilder<B>;
  #places: IndexedRecord[] = [];
  readonly #chunk: ChunkBuilder<B> | undefined;
  /** Where messages go: the open chunk, or between other records. */
  readonly #target: RecordBuilder<B>;
  readonly #times = new TimeRange();
  readonly #parts: Part<B>[] = [];
  readonly #free: B[] = [];
  #raw: RawChunk | undefined;
  #plainCuts = 0;
  #definitionBytes = 0;
  #started = false;
  #ended = false;

  /** @param makeBuffer memory of that many bytes, for chunks */
  constructor(settings: WriterSettings, defaults: HeaderDefaults, makeBuffer: (size: number) => B) {
    this.#settings = settings;
    this.#defaults = defaults;
    this.#makeBuffer = makeBuffer;
    this.#channels = new WriterChannels(settings.preserveIds);
    this.#file = new FileProgress(settings);
    this.#plain = new RecordBuilder(makeBuffer(4096), 0, settings.padRecords);
    this.#chunk = settings.useChunks
      ? new ChunkBuilder(this.#memory(), settings.useMessageIndex, settings.padRecords)
      : undefined;
    this.#target = this.#chunk?.records ?? this.#plain;
  }

  /** A number for the messages that no part has yet, the same for as long as they are gathered; none: undefined. */
  get openMark(): number | undefined {
    if (this.#chunk !== undefined) return this.#chunk.hasMessages ? this.stats.chunks : undefined;
    return this.#plain.length > 0 ? this.#plainCuts : undefined;
  }

  /** Bytes of the file that no part has yet, if it were to end now: open records, and at most so much of a summary. */
  get openBytes(): number {
    const channels = this.#channels.channels.length;
    const chunks = this.stats.chunks - this.#file.summary.chunkCount + 1;
    const open = (this.#chunk?.size ?? 0) + (this.#chunk?.indexSize ?? 0) + this.#plain.length;
    const summary = this.#definitionBytes + this.#file.summary.length + SUMMARY_BYTES;
    return open + summary + channels * 10 + chunks * (CHUNK_INDEX_BYTES + channels * 10);
  }

  /** Takes a record. What a writer makes itself (indexes, statistics, the file's end) is ignored. */
  add(record: McapRecord): void {
    if (this.#ended) throw new McapStreamsError('MCAP_WRITE_AFTER_END', `a ${record.type} record came after the end`);
    this.stats.records++;
    switch (record.type) {
      case 'Message':
        if (this.#raw?.owns(record) === true) return;
        this.#message(record);
        return;
      case 'Header':
        if (!this.#started) this.#start(record.profile, record.library);
        return;
      case 'Schema': {
        this.#define();
        const owned = this.#raw?.owns(record) === true;
        const written = this.#channels.addSchema(record);
        const before = this.#target.length;
        if (written !== undefined && !owned) this.#target.schema(written);
        this.#definitionBytes += this.#target.length - before;
        this.#cutLongPlain();
        return;
      }
      case 'Channel': {
        this.#define();
        const owned = this.#raw?.owns(record) === true;
        const written = this.#channels.addChannel(record);
        const before = this.#target.length;
        if (written !== undefined && !owned) this.#target.channel(written);
        this.#definitionBytes += this.#target.length - before;
        this.#cutLongPlain();
        return;
      }
      case 'Unknown':
        if (this.#raw?.owns(record) === true) return;
        checkUnknown(record);
        this.#besides(() => {
          this.#plain.unknown(record.opcode, record.data);
        });
        return;
      case 'Attachment':
        this.#attachment(record);
        return;
      case 'Metadata':
        this.#metadata(record);
        return;
      case 'Chunk':
        if (this.#settings.rawChunks) this.#rawChunk(record);
        return;
      case 'MessageIndex':
        this.#raw?.addIndex(record);
        return;
      case 'ChunkIndex':
      case 'AttachmentIndex':
      case 'Statistics':
      case 'MetadataIndex':
      case 'SummaryOffset':
      case 'DataEnd':
      case 'Footer':
        this.#endRaw();
        return;
      default:
        throw invalid('a record has a type: { type: "Message", ... }');
    }
  }

  /** The channel that messages of an id belong to. Throws MCAP_UNKNOWN_CHANNEL. */
  channel(channelId: number): ChannelState {
    return this.#channels.state(channelId);
  }

  /**
   * The memory that the next message's data is to be written into, from `dataStart` on. It is not a message yet: until
   * `closeMessage`, nothing has happened.
   */
  openMessage(): B {
    if (this.#ended) throw new McapStreamsError('MCAP_WRITE_AFTER_END', 'a message came after the end');
    if (!this.#started || this.#raw !== undefined) this.#begin();
    const { buffer, length } = this.#target;
    const end = length + MESSAGE_HEAD;
    if (end > buffer.capacity) buffer.grow(length, end);
    return buffer;
  }

  get dataStart(): number {
    return this.#target.length + MESSAGE_HEAD;
  }

  /** Makes a message of the `dataLength` bytes that were written from `dataStart` on. The stamps are checked first. */
  closeMessage(
    channel: ChannelState,
    sequence: number,
    logTime: bigint,
    publishTime: bigint,
    dataLength: number,
  ): void {
    checkStamps(sequence, logTime, publishTime, channel.topic);
    const size = MESSAGE_HEAD + dataLength;
    const chunk = this.#chunk;
    if (chunk === undefined) {
      const plain = this.#plain;
      putMessageHead(plain.buffer, plain.length, channel.id, sequence, logTime, publishTime, dataLength);
      plain.length += size;
      this.#times.add(logTime);
    } else {
      if (size > this.#settings.chunkSize && chunk.hasMessages) this.#moveToNextChunk(size);
      chunk.closeMessage(channel, sequence, logTime, publishTime, dataLength);
    }
    channel.count++;
    this.stats.messages++;
    if (chunk === undefined) this.#cutLongPlain();
    else if (chunk.size >= this.#settings.chunkSize) this.#cutChunk();
  }

  /** Hands out what is gathered, as if a chunk were full. */
  cut(): void {
    if (this.#chunk?.hasMessages === true) this.#cutChunk();
    else this.#cutPlain();
  }

  /** No more records come: indexes, statistics and the file's end follow. */
  end(): void {
    if (this.#ended) return;
    this.#begin();
    if (this.#chunk?.hasMessages === true) this.#cutChunk();
    // Definitions of channels without messages need no chunk.
    if (this.#chunk !== undefined && this.#chunk.size > 0) this.#plain.bytes(this.#chunk.takeDefinitions());
    this.#plainEnd();
  }

  /** Whether a part is complete. */
  get hasPart(): boolean {
    return this.#parts.length > 0;
  }

  /** The next part in file order. */
  next(): Part<B> | undefined {
    return this.#parts.shift();
  }

  /** Takes back a chunk's memory. */
  recycle(buffer: B): void {
    if (this.#free.length < 4 && buffer.capacity <= 4 * Math.max(this.#settings.chunkSize, EAGER_BYTES)) {
      this.#free.push(buffer);
    }
  }

  /** Gives temporary files back. */
  close(): void {
    this.#file.close();
  }

  #start(profile: string, library: string): void {
    this.#started = true;
    this.#plain.magic();
    this.#plain.header(this.#settings.profile ?? profile, this.#settings.library ?? library);
    this.#cutPlain();
  }

  /** What every record but a Header needs before it. */
  #begin(): void {
    if (!this.#started) this.#start(this.#defaults.profile, this.#defaults.library);
    this.#endRaw();
  }

  #message(record: MessageRecord): void {
    const channel = this.#channels.state(record.channelId);
    checkMessage(record, channel.topic);
    const { data } = record;
    const chunk = this.#chunk;
    const tooLarge = MESSAGE_HEAD + data.length > this.#settings.chunkSize;
    if (tooLarge && chunk?.hasMessages === true) this.#cutChunk();
    const buffer = this.openMessage();
    const at = this.#target.length + MESSAGE_HEAD;
    const end = at + data.length;
    if (end > buffer.capacity) buffer.grow(at, end);
    buffer.u8.set(data, at);
    this.closeMessage(channel, record.sequence, record.logTime, record.publishTime, data.length);
  }

  /** A message that turned out larger than a chunk gets one of its own. */
  #moveToNextChunk(size: number): void {
    const { buffer, length } = this.#target;
    const from = buffer.u8;
    this.#cutChunk();
    const next = this.#target.buffer;
    const start = this.#target.length;
    if (start + size > next.capacity) next.grow(start, start + size);
    next.u8.set(from.subarray(length + MESSAGE_HEAD, length + size), start + MESSAGE_HEAD);
  }

  /** A definition may be that of a raw chunk: it does not end it. */
  #define(): void {
    if (!this.#started) this.#begin();
  }

  /** A record outside chunks. It stands before the messages of the chunk that is open. */
  #besides(write: () => void): void {
    this.#begin();
    write();
    this.#cutLongPlain();
  }

  #attachment(record: McapTypes.TypedMcapRecords['Attachment'] | LargeAttachmentRecord): void {
    checkAttachment(record);
    this.#begin();
    if ('dataLength' in record) {
      this.#cutPlain();
      this.#parts.push(new AttachmentPart(record, this.#file));
      return;
    }
    const { data } = record;
    checkData(data, `the data of attachment ${record.name}`);
    this.#besides(() => {
      const at = this.#plain.length;
      this.#plain.attachment(record, data, this.#settings.enableCrcs);
      this.#places.push({ attachment: record, dataSize: data.length, at, length: this.#plain.length - at });
    });
  }

  #metadata(record: McapTypes.TypedMcapRecords['Metadata']): void {
    checkMetadata(record);
    this.#besides(() => {
      const at = this.#plain.length;
      this.#plain.metadata(record);
      this.#places.push({ metadata: record.name, at, length: this.#plain.length - at });
    });
  }

  #rawChunk(record: McapTypes.TypedMcapRecords['Chunk']): void {
    checkData(record.records, 'the records of a chunk');
    this.#begin();
    if (this.#chunk?.hasMessages === true) this.#cutChunk();
    this.#cutPlain();
    this.#raw = new RawChunk(record, this.#settings.padRecords);
  }

  #endRaw(): void {
    const raw = this.#raw;
    if (raw === undefined) return;
    this.#raw = undefined;
    for (const [channelId, count] of raw.messageCounts()) {
      this.#channels.count(channelId, count);
      this.stats.messages += count;
    }
    const times = new TimeRange();
    if (raw.messageCounts().size > 0) {
      times.add(raw.record.messageStartTime);
      times.add(raw.record.messageEndTime);
    }
    this.#times.include(times);
    this.stats.chunks++;
    this.#parts.push(new RawChunkPart(raw, this.#file));
  }

  #cutChunk(): void {
    if (this.#chunk === undefined) return;
    this.#cutPlain();
    const draft = this.#chunk.take(this.#memory());
    this.#times.include(draft.times);
    this.stats.chunks++;
    const recycle = (buffer: B): void => {
      this.recycle(buffer);
    };
    this.#parts.push(new ChunkPart(draft, this.#settings.enableCrcs, this.#file, recycle));
  }

  #cutLongPlain(): void {
    if (this.#plain.length >= PLAIN_BYTES) this.#cutPlain();
  }

  #cutPlain(): void {
    if (this.#plain.length === 0) return;
    this.#plainCuts++;
    this.#parts.push(new PlainPart(this.#plain.copy(), this.#places, this.#file));
    this.#plain.length = 0;
    this.#places = [];
  }

  #plainEnd(): void {
    this.#cutPlain();
    this.#ended = true;
    this.#parts.push(new EndPart(this.#channels, this.#times, this.#file, this.stats.messages));
  }

  #memory(): B {
    // With room for the last message and for the indexes.
    const size = Math.ceil(Math.min(this.#settings.chunkSize, EAGER_BYTES) * 1.25) + PLAIN_BYTES;
    return this.#free.pop() ?? this.#makeBuffer(size);
  }
}
