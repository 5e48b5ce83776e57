/**
 * zstd on libuv's own threads (@mongodb-js/zstd, prebuilt): nothing has to be started and compiled for it, which a thread of
 * ours and wasm need 100 ms of CPU time for. `node:zlib` has an asynchronous zstd from 22.15 on; it makes a context for each
 * call and gained nothing (200,000 small messages, Node 26: 290 ms, with this 263).
 */
import { loadAddon } from './addon.js';
import { asBuffer } from './byte-queue.js';
import { mostContent } from './zstd-frame.js';

interface Binding {
  decompress(frame: Buffer): Promise<Buffer>;
}

/** Larger chunks are left to threads and wasm, which write into memory of the size that is known. Bytes. */
const LARGEST = 4 * 2 ** 20;

let binding: Binding | null | undefined;

/**
 * Whether a chunk of `size` bytes can be decompressed so. What the frame may grow to is known before: the library takes no
 * bound of ours.
 */
export function isNative(compression: string, frame: Uint8Array, size: number): boolean {
  if (compression !== 'zstd' || size > LARGEST) return false;
  if (binding === undefined) binding = loadAddon('@mongodb-js/zstd') as Binding | null;
  return binding !== null && mostContent(frame) <= 4 * size + LARGEST / 4;
}

/** So many at once at most: libuv has four threads, and they read files too. */
const MOST_AT_ONCE = 3;
let running = 0;
const queue: (() => void)[] = [];

/**
 * Decompresses a frame for which `isNative` said yes. One more at once than there are `threads`: while this thread waits, its
 * core is free.
 */
export async function decompressNatively(frame: Uint8Array, threads: number): Promise<Buffer> {
  if (running >= Math.min(threads + 1, MOST_AT_ONCE)) await new Promise<void>((resolve) => queue.push(resolve));
  else running++;
  try {
    const content = await binding?.decompress(asBuffer(frame));
    if (content === undefined) throw new Error('there is no native zstd');
    // A Buffer that native code made has a hidden class of its own, and everything that reads chunks would have to know two.
    return Buffer.from(content.buffer, content.byteOffset, content.length);
  } finally {
    const next = queue.shift();
    if (next === undefined) running--;
    else next();
  }
}

/** Whether there is something of libuv's that a reader may be waiting for. */
export function isNativeBusy(): boolean {
  return running > 0;
}
