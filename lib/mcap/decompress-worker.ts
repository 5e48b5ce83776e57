/** The thread side of decompress-pool.ts: one chunk at a time, with its CRC. */
import { parentPort } from 'node:worker_threads';
import { asBuffer } from './byte-queue.js';
import { builtInDecompressors } from './compression.js';
import { crc32 } from './crc.js';

/** A chunk to decompress. */
export interface Request {
  readonly id: number;
  readonly compression: string;
  readonly bytes: Uint8Array;
  readonly size: number;
  readonly withCrc: boolean;
}

/** What became of it. */
export type Reply =
  | { readonly id: number; readonly bytes: Uint8Array; readonly crc: number | undefined }
  | { readonly id: number; readonly error: string };

async function decompress({ id, compression, bytes, size, withCrc }: Request): Promise<void> {
  try {
    const find = builtInDecompressors().find(compression);
    if (find === undefined) throw new Error(`no decompressor for ${compression}`);
    const whole = await find(asBuffer(bytes), size);
    const crc = withCrc ? crc32(whole) : undefined;
    // Only memory that is wholly the chunk's own can be handed over.
    const own = whole.byteLength === whole.buffer.byteLength ? whole : Uint8Array.prototype.slice.call(whole);
    const reply: Reply = { id, bytes: own, crc };
    parentPort?.postMessage(reply, [own.buffer as ArrayBuffer]);
  } catch (error) {
    const reply: Reply = { id, error: error instanceof Error ? error.message : String(error) };
    parentPort?.postMessage(reply);
  }
}

parentPort?.on('message', (request: Request) => {
  void decompress(request);
});
