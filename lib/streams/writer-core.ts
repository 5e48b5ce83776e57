/**
 * The core of every stage that writes MCAP bytes: parts of the file become jobs, chunks are compressed ahead and on
 * other threads where that pays, and each is finished when it is its turn.
 */
import { McapStreamsError } from '../errors.js';
import type { ChunkPart, PackedRecords } from '../mcap/writer-parts.js';
import { compressOnThread, ThreadLost, threadsHaveRoom } from '../mcap/compression-pool.js';
import type { Compress } from '../mcap/compressors.js';
import { crc32 } from '../mcap/crc.js';
import { compressesNatively, FEW_SMALL } from '../mcap/native-zstd.js';
import { restore } from '../mcap/growing-bytes.js';
import type { GrowingBytes } from '../mcap/growing-bytes.js';
import { RecordWriter } from '../mcap/record-writer.js';
import type { AttachmentPart, EndPart, Part } from '../mcap/writer-parts.js';
import { AttachmentReader } from './attachment-reader.js';
import type { Job, Producer } from './pull-transform.js';
import type { WriterStreamSettings } from './writer-options.js';

/** So much is compressed here before threads are asked: a short recording does not wait for their start. */
const INLINE_BYTES = 2 * 2 ** 20;
/** Smaller chunks are not worth the way to another thread and back. */
const SMALL_CHUNK = 32768;

/** What has been written so far. */
export interface WriterStats {
  /** Bytes that have left the stage. */
  bytes: number;
  /** Records that have come in. */
  readonly records: number;
  readonly messages: number;
  readonly chunks: number;
  /** Size of the file, were it to end now, at most: what is not compressed yet counts as it is. */
  readonly sizeBound: number;
}

export class WriterCore<B extends GrowingBytes> {
  readonly writer: RecordWriter<B>;
  /** For PullTransform. */
  readonly maxJobs: number;
  readonly maxCost: number;
  readonly #settings: WriterStreamSettings;
  #attachment: AttachmentReader | undefined;
  #bytes = 0;
  #bytesChunked = 0;
  /** Chunks below SMALL_CHUNK. */
  #smallChunks = 0;
  /** Bytes of the jobs that have been cut and not read. */
  #pending = 0;

  constructor(settings: WriterStreamSettings, makeBuffer: (size: number) => B) {
    this.#settings = settings;
    this.writer = new RecordWriter(settings.writer, settings.header, makeBuffer);
    // Two for each thread, one that is read out, one that this thread works on.
    this.maxJobs = settings.threads === 0 ? 1 : 2 * settings.threads + 2;
    this.maxCost = settings.maxBufferedBytes;
  }

  get stats(): WriterStats {
    const sizeBound = this.#bytes + this.#pending + this.writer.openBytes;
    return { bytes: this.#bytes, ...this.writer.stats, sizeBound };
  }

  pull(): Job<Uint8Array> | undefined {
    if (this.#attachment !== undefined) {
      const job = this.#attachment.nextJob();
      if (job !== undefined) return this.#counted(job, 0);
      this.#attachment = undefined;
    }
    const part = this.writer.next();
    return part && this.#partJob(part);
  }

  #partJob(part: Part<B>): Job<Uint8Array> | undefined {
    switch (part.kind) {
      case 'plain':
        return this.#counted({ cost: part.cost, ahead: false, start: () => once(() => part.finish()) }, part.size);
      case 'chunk':
        return this.#counted(this.#chunkJob(part), part.size);
      case 'attachment':
        return this.#attachmentJob(part);
      case 'end':
        return this.#counted(endJob(part), 0);
    }
  }

  close(): void {
    this.#attachment?.close();
    this.writer.close();
  }

  #attachmentJob(part: AttachmentPart): Job<Uint8Array> | undefined {
    this.#attachment = new AttachmentReader(part);
    return this.pull();
  }

  #chunkJob(part: ChunkPart<B>): Job<Uint8Array> {
    const { compression, threads } = this.#settings;
    const { compress } = compression;
    if (compress === undefined) return { cost: part.cost, ahead: false, start: () => once(() => part.finish()) };
    const size = part.end - part.start;
    const small = size < SMALL_CHUNK;
    const threaded = compression.threaded && threads > 0 && (!small || this.#smallChunks < FEW_SMALL);
    // libuv's threads are there without a start.
    const native = threaded && compressesNatively(compression.name);
    const ahead = native || (threaded && !small && this.#bytesChunked >= INLINE_BYTES);
    this.#bytesChunked += size;
    if (small) this.#smallChunks++;
    return {
      cost: part.cost,
      ahead,
      start: () => {
        // Where all threads have one more to go on with, this thread helps rather than wait for them.
        const away = native || (ahead && threadsHaveRoom(threads));
        const packed = away ? this.#packOnThread(part, compress) : this.#pack(part, compress);
        if (packed instanceof Promise) {
          return packed.then((done) => once(() => part.finish(done)), compressionFailed);
        }
        return once(() => part.finish(packed));
      },
    };
  }

  #pack(part: ChunkPart<B>, compress: Compress): PackedRecords | Promise<PackedRecords> {
    const { records } = part;
    const { name } = this.#settings.compression;
    const withCrc = this.#settings.writer.enableCrcs;
    const done = (bytes: Uint8Array): PackedRecords => {
      if (!(bytes instanceof Uint8Array)) throw new TypeError('a compressor gives a Uint8Array');
      return {
        compression: name,
        bytes,
        crc: withCrc ? crc32(part.records) : 0,
        compressedCrc: withCrc ? crc32(bytes) : 0,
      };
    };
    try {
      const bytes = compress(records);
      return bytes instanceof Promise ? bytes.then(done) : done(bytes);
    } catch (error) {
      return compressionFailed(error);
    }
  }

  async #packOnThread(part: ChunkPart<B>, compress: Compress): Promise<PackedRecords> {
    const { compression, threads, writer } = this.#settings;
    const { name, level } = compression;
    const task = { compression: name, level, bytes: part.records, withCrc: writer.enableCrcs };
    try {
      const { bytes, crc, compressedCrc, lent } = await compressOnThread(task, threads);
      restore(part.buffer, lent.buffer);
      return { compression: name, bytes, crc, compressedCrc };
    } catch (error) {
      // No thread has had its memory: it is still here.
      if (error instanceof ThreadLost && task.bytes.length > 0) return await this.#pack(part, compress);
      throw error;
    }
  }

  #counted(job: Job<Uint8Array>, size: number): Job<Uint8Array> {
    this.#pending += size;
    const count = (producer: Producer<Uint8Array>): Producer<Uint8Array> => ({
      next: () => {
        const bytes = producer.next();
        if (bytes !== undefined) this.#bytes += bytes.length;
        else this.#pending -= size;
        return bytes;
      },
    });
    return {
      cost: job.cost,
      ahead: job.ahead,
      start: () => {
        const producer = job.start();
        return producer instanceof Promise ? producer.then(count) : count(producer);
      },
    };
  }
}

function compressionFailed(error: unknown): never {
  const why = error instanceof Error ? error.message : String(error);
  throw new McapStreamsError('MCAP_COMPRESSION_FAILED', `a chunk does not compress: ${why}`, { cause: error });
}

/** The output of one call, made when it is asked for. */
function once(make: () => Uint8Array): Producer<Uint8Array> {
  let done = false;
  return {
    next: () => {
      if (done) return undefined;
      done = true;
      return make();
    },
  };
}

function endJob(part: EndPart): Job<Uint8Array> {
  const pieces = part.pieces();
  return {
    cost: part.cost,
    ahead: false,
    start: () => ({
      next: () => pieces.next().value ?? undefined,
    }),
  };
}
