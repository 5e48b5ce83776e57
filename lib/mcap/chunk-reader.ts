/** A Chunk record -> the records inside it (MCAP specification, "Chunk"). */
import { McapStreamsError } from '../errors.js';
import { asBuffer, viewOf } from './byte-queue.js';
import type { Decompressors } from './compression.js';
import { crc32 } from './crc.js';
import { describeOpcode, OPCODE, RECORD_PREFIX } from './opcodes.js';
import type { ChunkHeader, RecordContent } from './records.js';
import { badRecord, hex } from './records.js';

export interface ChunkLimits {
  /** Chunks that are larger than this when decompressed are an error. Bytes. */
  readonly maxChunkSize: number;
  readonly validateCrcs: boolean;
}

/**
 * Decompresses a chunk and verifies what its record says of it. Throws (or rejects with) `MCAP_CHUNK_TOO_LARGE`,
 * before anything is allocated, `MCAP_UNSUPPORTED_COMPRESSION`, `MCAP_DECOMPRESSION_FAILED`,
 * `MCAP_CHUNK_SIZE_MISMATCH`, `MCAP_CHUNK_CRC_MISMATCH`.
 */
export function openChunk(
  chunk: ChunkHeader,
  offset: number,
  decompressors: Decompressors,
  limits: ChunkLimits,
): ChunkRecords | Promise<ChunkRecords> {
  if (chunk.uncompressedSize > BigInt(limits.maxChunkSize)) {
    throw chunkError(
      'MCAP_CHUNK_TOO_LARGE',
      offset,
      `it says that it has ${chunk.uncompressedSize} bytes uncompressed; maxChunkSize is ${limits.maxChunkSize}`,
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
  const check = (bytes: Uint8Array): ChunkRecords => {
    if (bytes.length !== size) {
      throw chunkError('MCAP_CHUNK_SIZE_MISMATCH', offset, `it has ${bytes.length} bytes uncompressed, not ${size}`);
    }
    if (limits.validateCrcs && chunk.uncompressedCrc !== 0) {
      const crc = crc32(bytes);
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
  let bytes: Uint8Array | Promise<Uint8Array>;
  try {
    bytes = decompress(chunk.records, size);
  } catch (error) {
    return failed(error);
  }
  return bytes instanceof Promise ? bytes.then(check, failed) : check(bytes);
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
    if (opcode !== OPCODE.Message) this.#checkOpcode(opcode);
    if (length > left - RECORD_PREFIX) {
      this.end = view.byteLength;
      throw badRecord(this, `inside the chunk its ${length} bytes run over the chunk's end`);
    }
    this.end = this.start + length;
    return true;
  }

  /** Schema, Channel and Message belong in a chunk; what the specification does not know may stand there too. */
  #checkOpcode(opcode: number): void {
    if (opcode === OPCODE.Schema || opcode === OPCODE.Channel || opcode > OPCODE.DataEnd) return;
    if (opcode === 0) throw chunkError('MCAP_BAD_OPCODE', this.offset, 'a record in it has opcode 0');
    throw chunkError('MCAP_UNEXPECTED_RECORD', this.offset, `a ${describeOpcode(opcode)} record stands in it`);
  }
}

function chunkError(code: McapStreamsError['code'], offset: number, what: string, cause?: unknown): McapStreamsError {
  return new McapStreamsError(code, `chunk at byte ${offset}: ${what}`, { offset, cause });
}
