/** A Chunk record -> the records inside it (MCAP specification, "Chunk"). */
import { McapStreamsError } from '../errors.js';
import { asBuffer, viewOf } from './byte-queue.js';
import type { Decompressors } from './compression.js';
import { crc32 } from './crc.js';
import { decompressOnThread, ThreadLost } from './compression-pool.js';
import type { GatherRooms } from './gather-rooms.js';
import { describeOpcode, OPCODE, RECORD_PREFIX } from './opcodes.js';
import { findRecord } from './plausible.js';
import type { ChunkHeader, RecordContent } from './records.js';
import { badRecord, hex } from './records.js';

export interface ChunkLimits {
  /** Chunks that are larger than this when decompressed are an error. Bytes. */
  readonly maxChunkSize: number;
  readonly validateCrcs: boolean;
}

/** How chunks are decompressed. */
export interface ChunkOpener extends ChunkLimits {
  readonly decompressors: Decompressors;
  /** Threads that may be used; 0: all is done here. */
  readonly threads: number;
  /** Whose memory may be lent to them. */
  readonly rooms?: GatherRooms | undefined;
}

/**
 * Decompresses a chunk and verifies what its record says of it. Throws (or rejects with) `MCAP_CHUNK_TOO_LARGE`,
 * before anything is allocated, `MCAP_UNSUPPORTED_COMPRESSION`, `MCAP_DECOMPRESSION_FAILED`,
 * `MCAP_CHUNK_SIZE_MISMATCH`, `MCAP_CHUNK_CRC_MISMATCH`.
 *
 * @param onThread whether another thread is to do it; then the answer is a promise
 * @param dataCrc the CRC of an uncompressed chunk's records, where it is known already
 */
export function openChunk(
  chunk: ChunkHeader,
  offset: number,
  opener: ChunkOpener,
  onThread: boolean,
  dataCrc?: number,
): ChunkRecords | Promise<ChunkRecords> {
  const { decompressors } = opener;
  if (chunk.uncompressedSize > BigInt(opener.maxChunkSize)) {
    throw chunkError(
      'MCAP_CHUNK_TOO_LARGE',
      offset,
      `it says that it has ${chunk.uncompressedSize} bytes uncompressed; maxChunkSize is ${opener.maxChunkSize}`,
    );
  }
  const size = Number(chunk.uncompressedSize);
  const decompress = decompressors.find(chunk.compression);
  if (decompress === undefined) {
    throw chunkError(
      'MCAP_UNSUPPORTED_COMPRESSION',
      offset,
      `its compression is ${JSON.stringify(chunk.compression)}; known are ${decompressors.names.join(', ')}`,
    );
  }
  const withCrc = opener.validateCrcs && chunk.uncompressedCrc !== 0;
  const check = (bytes: Uint8Array, knownCrc = dataCrc): ChunkRecords => {
    if (bytes.length !== size) {
      throw chunkError('MCAP_CHUNK_SIZE_MISMATCH', offset, `it has ${bytes.length} bytes uncompressed, not ${size}`);
    }
    if (withCrc) {
      const crc = knownCrc ?? crc32(bytes);
      if (crc !== chunk.uncompressedCrc) {
        throw chunkError(
          'MCAP_CHUNK_CRC_MISMATCH',
          offset,
          `its CRC is ${hex(crc)}, the record says ${hex(chunk.uncompressedCrc)}`,
        );
      }
    }
    return new ChunkRecords(asBuffer(bytes), offset);
  };
  const failed = (error: unknown): never => {
    if (error instanceof McapStreamsError) throw error;
    const why = error instanceof Error ? error.message : String(error);
    throw chunkError(
      'MCAP_DECOMPRESSION_FAILED',
      offset,
      `it does not decompress as ${chunk.compression}: ${why}`,
      error,
    );
  };
  const here = (): ChunkRecords | Promise<ChunkRecords> => {
    let bytes: Uint8Array | Promise<Uint8Array>;
    try {
      bytes = decompress(chunk.records, size);
    } catch (error) {
      return failed(error);
    }
    return bytes instanceof Promise ? bytes.then((whole) => check(whole), failed) : check(bytes);
  };
  if (!onThread) return here();
  const { compression, records } = chunk;
  const { rooms, threads } = opener;
  const lent = rooms?.has(records.buffer) ?? false;
  return decompressOnThread({ compression, bytes: records, size, withCrc, lent }, threads).then(
    ({ bytes, crc, returned }) => {
      if (returned !== undefined) rooms?.restore(returned);
      return check(bytes, crc);
    },
    // What was lent to a thread that is lost is lost with it.
    (error: unknown) => (error instanceof ThreadLost && records.length > 0 ? here() : failed(error)),
  );
}

/**
 * Steps through the records of one decompressed chunk: after `advance()` returns true, the record is bytes
 * `[start, end)` of `bytes`. The object itself is the record, so that a step allocates nothing.
 */
export class ChunkRecords implements RecordContent {
  readonly bytes: Buffer;
  readonly view: DataView;
  /** Offset of the chunk in the file. */
  readonly offset: number;
  /** Where the record begins, with its opcode. */
  #at = 0;
  opcode = 0;
  start = 0;
  end = 0;

  constructor(bytes: Buffer, offset: number) {
    this.bytes = bytes;
    this.view = viewOf(bytes);
    this.offset = offset;
  }

  advance(): boolean {
    const at = this.end;
    this.#at = at;
    const { view } = this;
    const left = view.byteLength - at;
    if (left === 0) return false;
    if (left < RECORD_PREFIX) {
      throw chunkError('MCAP_BAD_RECORD', this.offset, `${left} bytes are left over behind its last record`);
    }
    const opcode = view.getUint8(at);
    const length = view.getUint32(at + 1, true) + view.getUint32(at + 5, true) * 2 ** 32;
    this.opcode = opcode;
    this.start = at + RECORD_PREFIX;
    if (opcode !== OPCODE.Message) this.checkOpcode(opcode);
    if (length > left - RECORD_PREFIX) {
      this.end = view.byteLength;
      throw badRecord(this, `inside the chunk its ${length} bytes run over the chunk's end`);
    }
    this.end = this.start + length;
    return true;
  }

  /** The same records from the first on. */
  again(): ChunkRecords {
    return new ChunkRecords(this.bytes, this.offset);
  }

  /**
   * After `advance()` has thrown: goes to the next place where a chain of records goes on.
   *
   * @returns the bytes passed over
   */
  resync(limit: number): number {
    const { bytes } = this;
    const from = this.#at;
    const { at } = findRecord({ length: bytes.length, at: (index) => bytes[index] ?? 0 }, from + 1, limit, true);
    this.end = at;
    return at - from;
  }

  /** Schema, Channel and Message belong in a chunk; what the specification does not know may stand there too. */
  protected checkOpcode(opcode: number): void {
    if (opcode === OPCODE.Schema || opcode === OPCODE.Channel || opcode > OPCODE.DataEnd) return;
    if (opcode === 0) throw chunkError('MCAP_BAD_OPCODE', this.offset, 'a record in it has opcode 0');
    throw chunkError('MCAP_UNEXPECTED_RECORD', this.offset, `a ${describeOpcode(opcode)} record stands in it`);
  }
}

function chunkError(code: McapStreamsError['code'], offset: number, what: string, cause?: unknown): McapStreamsError {
  return new McapStreamsError(code, `chunk at byte ${offset}: ${what}`, { offset, cause });
}
