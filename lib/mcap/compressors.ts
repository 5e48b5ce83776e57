/**
 * Compression of chunks by name: the other direction of compression.ts.
 *
 * zstd is `node:zlib` where it has it (318 MB/s at level 3, against 244 MB/s of wasm) and `@foxglove/wasm-zstd` elsewhere;
 * lz4 frames are `lz4-napi`. Both are loaded when a chunk first asks for them.
 */
import { createRequire } from 'node:module';
import * as zlib from 'node:zlib';
import { compiled } from './lazy.js';

/** Compresses the records of one chunk. The bytes are valid until the result is there. */
export type Compress = (bytes: Uint8Array) => Uint8Array | Promise<Uint8Array>;

/** zstd's own default. */
export const DEFAULT_ZSTD_LEVEL = 3;

interface ZlibZstd {
  zstdCompressSync?: (
    bytes: Uint8Array,
    options: { params: Record<number, number>; pledgedSrcSize: number; chunkSize: number },
  ) => Buffer;
  constants: { ZSTD_c_compressionLevel?: number };
}

const { zstdCompressSync, constants } = zlib as unknown as ZlibZstd;

type CompressAtLevel = (bytes: Uint8Array, level: number) => Uint8Array;

/** Whether `node:zlib` has zstd. */
export const hasNodeZstd: boolean = zstdCompressSync !== undefined;

const nodeZstd: CompressAtLevel | undefined =
  zstdCompressSync &&
  ((bytes, level) => {
    const room = mostCompressed(bytes.length);
    const packed = zstdCompressSync(bytes, {
      params: { [constants.ZSTD_c_compressionLevel ?? 100]: level },
      // So that the frame says its content's size: some readers need it.
      pledgedSrcSize: bytes.length,
      // One piece of memory for all of it: pieces are garbage, 64 MB of it before V8 looks.
      chunkSize: room,
    });
    return fitted(packed, room);
  });

/** What zstd needs at most for so many bytes (ZSTD_compressBound), and some more, so that no second piece is asked for. */
function mostCompressed(size: number): number {
  return size + Math.floor(size / 256) + 1024;
}

/** The same bytes in memory of their size, which is cut short where it lies, unless it is Node's pool for small Buffers. */
function fitted(bytes: Buffer, room: number): Uint8Array {
  const memory = bytes.buffer as ArrayBuffer & { transfer?: (length: number) => ArrayBuffer };
  if (memory.transfer === undefined || memory.byteLength !== room || room < Buffer.poolSize) return bytes;
  return new Uint8Array(memory.transfer(bytes.length));
}

let wasmZstd: CompressAtLevel | undefined;

async function loadWasmZstd(): Promise<CompressAtLevel> {
  const { default: zstd } = await import('@foxglove/wasm-zstd');
  await compiled(zstd.isLoaded);
  return (wasmZstd = (bytes, level) => zstd.compress(bytes, level));
}

function zstd(level: number): Compress {
  return (bytes) => {
    const run = nodeZstd ?? wasmZstd;
    return run === undefined ? loadWasmZstd().then((loaded) => loaded(bytes, level)) : run(bytes, level);
  };
}

let lz4Frame: ((bytes: Buffer) => Buffer) | undefined;

/** The content's size and checksum are left out: the Chunk record has both. */
function lz4(bytes: Uint8Array): Uint8Array {
  lz4Frame ??= (createRequire(import.meta.url)('lz4-napi') as { compressFrameSync: (bytes: Buffer) => Buffer })
    .compressFrameSync;
  return lz4Frame(Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength));
}

/** The built-in compressor of that name in the MCAP registry. */
export function compressorOf(compression: string, level: number | undefined): Compress | undefined {
  if (compression === 'zstd') return zstd(level ?? DEFAULT_ZSTD_LEVEL);
  return compression === 'lz4' ? lz4 : undefined;
}
