/**
 * zstd on libuv's own threads (@mongodb-js/zstd, prebuilt): nothing has to be started and compiled for it, which a thread of
 * ours and wasm need 100 ms of CPU time for. `node:zlib` has an asynchronous zstd from 22.15 on; it makes a context for each
 * call and gained nothing (200,000 small messages, Node 26: 290 ms, with this 263).
 *
 * Compression is done so where `node:zlib` has no zstd: this library takes a fifth less time than wasm, and a quarter more than Node's
 * newer zstd on a thread of ours.
 */
import { loadAddon } from './addon.js';
import { asBuffer } from './byte-queue.js';
import { hasNodeZstd } from './compressors.js';
import { mostContent, withContentSize } from './zstd-frame.js';

interface Binding {
  decompress(frame: Buffer): Promise<Buffer>;
  compress(content: Buffer, level: number): Promise<Buffer>;
}

/** Larger chunks are left to threads and wasm, which write into memory of the size that is known. Bytes. */
const LARGEST = 4 * 2 ** 20;

/**
 * So many small chunks of a stream are worth the way to another thread and back: where Node has no zstd, this one would have to
 * load wasm for them, often for the last chunk of a recording alone (30 ms on two cores).
 */
export const FEW_SMALL: number = hasNodeZstd ? 0 : 16;

let binding: Binding | null | undefined;

/**
 * Whether a chunk of `size` bytes can be decompressed so. What the frame may grow to is known before: the library takes no
 * bound of ours.
 */
export function isNative(compression: string, frame: Uint8Array, size: number): boolean {
  if (compression !== 'zstd' || size > LARGEST) return false;
  return load() !== null && mostContent(frame) <= 4 * size + LARGEST / 4;
}

/** Whether chunks are compressed so. */
export function compressesNatively(compression: string): boolean {
  return compression === 'zstd' && !hasNodeZstd && load() !== null;
}

function load(): Binding | null {
  if (binding === undefined) binding = loadAddon('@mongodb-js/zstd') as Binding | null;
  return binding;
}

/** So many at once at most: libuv has four threads, and they read files too. */
const MOST_AT_ONCE = 3;
let running = 0;
/** Frames that a reader waits for; a writer's are among those running. */
let decompressing = 0;
const queue: (() => void)[] = [];

/** Waits until less than `most` are running, in order. */
async function inTurn<T>(most: number, run: () => Promise<T>): Promise<T> {
  if (running >= Math.min(most, MOST_AT_ONCE)) await new Promise<void>((resolve) => queue.push(resolve));
  else running++;
  try {
    return await run();
  } finally {
    const next = queue.shift();
    if (next === undefined) running--;
    else next();
  }
}

/**
 * Decompresses a frame for which `isNative` said yes. One more at once than there are `threads`: while this thread waits, its
 * core is free.
 */
export async function decompressNatively(frame: Uint8Array, threads: number): Promise<Buffer> {
  decompressing++;
  try {
    const { buffer, byteOffset, length } = await inTurn(threads + 1, () => loaded().decompress(asBuffer(frame)));
    // A Buffer that native code made has a hidden class of its own, and everything that reads chunks would have to know two.
    return Buffer.from(buffer, byteOffset, length);
  } finally {
    decompressing--;
  }
}

/**
 * Compresses what `compressesNatively` said yes for, into one frame that says its content's size. Two more at once than there are
 * `threads`: what is done is not seen before this thread has a turn of its event loop, and the next ones have begun then.
 */
export async function compressNatively(content: Uint8Array, level: number, threads: number): Promise<Uint8Array> {
  const frame = await inTurn(threads + 2, () => loaded().compress(asBuffer(content), level));
  return withContentSize(frame, content.length);
}

function loaded(): Binding {
  const library = load();
  if (library === null) throw new Error('there is no native zstd');
  return library;
}

/** Whether there is something of libuv's that a reader may be waiting for. */
export function isNativeBusy(): boolean {
  return decompressing > 0;
}
