/** The thread side of compression-pool.ts: one chunk at a time, in either direction, with its CRCs. */
import { workerData } from 'node:worker_threads';
import type { MessagePort } from 'node:worker_threads';
import { asBuffer } from './byte-queue.js';
import { compressorOf } from './compressors.js';
import { builtInDecompressors } from './compression.js';
import { crc32 } from './crc.js';

/** A chunk to decompress. */
export interface DecompressTask {
  readonly compression: string;
  readonly bytes: Uint8Array;
  readonly size: number;
  readonly withCrc: boolean;
  /** Whether the whole memory of `bytes` is lent, and comes back with the result. Otherwise a thread gets a copy. */
  readonly lent: boolean;
}

/** A chunk to compress: `bytes` and the memory around them are lent, and come back with the result. */
export interface CompressTask {
  readonly compression: string;
  readonly level: number | undefined;
  readonly bytes: Uint8Array;
  readonly withCrc: boolean;
}

export interface Decompressed {
  readonly bytes: Uint8Array;
  /** CRC-32 of `bytes`, where it was asked for. */
  readonly crc: number | undefined;
  /** What was lent, where it has been away. */
  readonly returned?: ArrayBuffer;
}

export interface Compressed {
  readonly bytes: Uint8Array;
  /** CRC-32 of what was compressed, and of the result. */
  readonly crc: number;
  readonly compressedCrc: number;
  /** What was compressed, in its memory. */
  readonly lent: Uint8Array;
}

export type Request =
  | { readonly id: number; readonly decompress: DecompressTask }
  | { readonly id: number; readonly compress: CompressTask };

/** What became of a request. */
export type Reply =
  | { readonly ready: true }
  | { readonly id: number; readonly result: Decompressed | Compressed }
  | { readonly id: number; readonly error: string };

const port = workerData as MessagePort;

async function decompress({ compression, bytes, size, withCrc, lent }: DecompressTask): Promise<Decompressed> {
  const find = builtInDecompressors().find(compression);
  if (find === undefined) throw new Error(`no decompressor for ${compression}`);
  const whole = await find(asBuffer(bytes), size);
  const result = { bytes: ownMemory(whole), crc: withCrc ? crc32(whole) : undefined };
  return lent ? { ...result, returned: bytes.buffer as ArrayBuffer } : result;
}

async function compress({ compression, level, bytes, withCrc }: CompressTask): Promise<Compressed> {
  const run = compressorOf(compression, level);
  if (run === undefined) throw new Error(`no compressor for ${compression}`);
  const packed = await run(asBuffer(bytes));
  return {
    // What a native module has allocated cannot be handed over on newer Nodes.
    bytes: compression === 'lz4' ? Uint8Array.prototype.slice.call(packed) : ownMemory(packed),
    crc: withCrc ? crc32(bytes) : 0,
    compressedCrc: withCrc ? crc32(packed) : 0,
    lent: bytes,
  };
}

/** Only memory that is wholly the chunk's own can be handed over. */
function ownMemory(bytes: Uint8Array): Uint8Array {
  return bytes.byteLength === bytes.buffer.byteLength ? bytes : Uint8Array.prototype.slice.call(bytes);
}

async function answer(request: Request): Promise<void> {
  const { id } = request;
  try {
    const result = 'decompress' in request ? await decompress(request.decompress) : await compress(request.compress);
    const memory = [result.bytes.buffer as ArrayBuffer];
    if ('compress' in request) memory.push(request.compress.bytes.buffer as ArrayBuffer);
    else if (request.decompress.lent) memory.push(request.decompress.bytes.buffer as ArrayBuffer);
    port.postMessage({ id, result } satisfies Reply, memory);
  } catch (error) {
    const reply: Reply = { id, error: error instanceof Error ? error.message : String(error) };
    port.postMessage(reply);
  }
}

port.on('message', (request: Request) => {
  void answer(request);
});
port.postMessage({ ready: true } satisfies Reply);
