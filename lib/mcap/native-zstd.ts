/**
 * zstd on libuv's own threads: nothing has to be started and compiled for it, which a thread of ours and wasm need 100 ms of CPU
 * time for. From Node 22.15 on `node:zlib` has it, on older ones `@mongodb-js/zstd`, which is prebuilt.
 *
 * Measured on Node 26, against that library there: 300 MB of big payloads 375 -> 307 ms, on one core with one thread 549 -> 446 (436
 * without threads); small messages the same; 28 MiB more after 6 GB of both, as V8 collects less often.
 *
 * Compression is done so where `node:zlib` has no zstd: the library takes a fifth less time than wasm, and a quarter more than Node's
 * newer zstd on a thread of ours.
 */
import * as zlib from 'node:zlib';
import { loadAddon } from './addon.js';
import { asBuffer } from './byte-queue.js';
import { hasNodeZstd } from './compressors.js';
import { mostContent, withContentSize } from './zstd-frame.js';

interface Binding {
  decompress(frame: Buffer): Promise<Buffer>;
  compress(content: Buffer, level: number): Promise<Buffer>;
}

const { zstdDecompress } = zlib as unknown as {
  zstdDecompress?: (
    frame: Uint8Array,
    options: { chunkSize: number; maxOutputLength: number },
    done: (error: Error | null, content: Buffer) => void,
  ) => void;
};

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
  return (zstdDecompress !== undefined || load() !== null) && mostContent(frame) <= 4 * size + LARGEST / 4;
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
 * Decompresses a frame of `size` bytes for which `isNative` said yes; whoever calls sees whether there are so many. One more at once than there are `threads`: while this thread waits, its
 * core is free.
 */
export async function decompressNatively(frame: Uint8Array, size: number, threads: number): Promise<Buffer> {
  decompressing++;
  try {
    return await inTurn(threads + 1, () => (zstdDecompress === undefined ? byLibrary(frame) : byNode(frame, size)));
  } finally {
    decompressing--;
  }
}

async function byLibrary(frame: Uint8Array): Promise<Buffer> {
  const { buffer, byteOffset, length } = await loaded().decompress(asBuffer(frame));
  // A Buffer that native code made has a hidden class of its own, and everything that reads chunks would have to know two.
  return Buffer.from(buffer, byteOffset, length);
}

/** With some room to spare: where all of it is filled, Node asks for a second piece, by a second way to a thread and back. */
const ROOM = 64;

function byNode(frame: Uint8Array, size: number): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    zstdDecompress?.(frame, { chunkSize: size + ROOM, maxOutputLength: size + ROOM }, (error, content) => {
      if (error === null) resolve(content);
      else reject(error);
    });
  });
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
