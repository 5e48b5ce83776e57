/**
 * zstd on libuv's own threads (@mongodb-js/zstd, prebuilt): nothing has to be started and compiled for it, which a thread of
 * ours and wasm need 100 ms of CPU time for. `node:zlib` has an asynchronous zstd from 22.15 on; it makes a context for each
 * call and gained nothing (200,000 small messages, Node 26: 290 ms, with this 263).
 */
import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { asBuffer } from './byte-queue.js';
import { mostContent } from './zstd-frame.js';

interface Binding {
  decompress(frame: Buffer): Promise<Buffer>;
}

/** Larger chunks are left to threads and wasm, which write into memory of the size that is known. Bytes. */
const LARGEST = 4 * 2 ** 20;

let binding: Binding | null | undefined;

/** The package's own loader asks for a process report to tell musl from glibc, and that takes 4 ms. */
function load(): Binding | null {
  const require = createRequire(import.meta.url);
  const { platform, arch } = process;
  try {
    if (platform === 'linux' && !['x86_64', 'aarch64'].some((name) => existsSync(`/lib/ld-musl-${name}.so.1`))) {
      const inner = createRequire(require.resolve('@mongodb-js/zstd'));
      return inner(`@mongodb-js/zstd-linux-${arch}-gnu`) as Binding;
    }
    return require('@mongodb-js/zstd') as Binding;
  } catch {
    return null; // not built for this platform, or addons are not allowed
  }
}

/**
 * Whether a chunk of `size` bytes can be decompressed so. What the frame may grow to is known before: the library takes no
 * bound of ours.
 */
export function isNative(compression: string, frame: Uint8Array, size: number): boolean {
  if (compression !== 'zstd' || size > LARGEST) return false;
  if (binding === undefined) binding = load();
  return binding !== null && mostContent(frame) <= 4 * size + LARGEST / 4;
}

/** So many at once at most: libuv has four threads, and they read files too. */
const MOST_AT_ONCE = 3;
/**
 * libuv falls behind when readers wait for it for more than a third of the time: so much longer than that, summed up, in
 * milliseconds. Small messages keep a reader busy for longer, large ones do not.
 */
const BEHIND_MS = 20;
/** A longer time without a chunk is none of the reader's work. */
const PAUSE_MS = 50;

let running = 0;
const queue: (() => void)[] = [];
/** How much longer than a third of the time readers have waited; since when one does; when the last chunk came. */
let waited = 0;
let waitsSince: number | undefined;
let lastAt = 0;

/** Decompresses a frame for which `isNative` said yes, up to `limit` at once. */
export async function decompressNatively(frame: Uint8Array, limit: number): Promise<Buffer> {
  if (running >= Math.min(limit, MOST_AT_ONCE)) await new Promise<void>((resolve) => queue.push(resolve));
  else running++;
  try {
    const content = await binding?.decompress(asBuffer(frame));
    if (content === undefined) throw new Error('there is no native zstd');
    // A Buffer that native code made has a hidden class of its own, and everything that reads chunks would have to know two.
    return Buffer.from(content.buffer, content.byteOffset, content.length);
  } finally {
    weigh();
    const next = queue.shift();
    if (next === undefined) running--;
    else next();
  }
}

/** Weighs what has been waited for libuv against what has been done in the meantime. */
function weigh(): void {
  const now = performance.now();
  const passed = Math.min(now - lastAt, PAUSE_MS);
  const wait = Math.min(now - (waitsSince ?? now), passed);
  waited = Math.max(0, waited + wait - (passed - wait) / 2);
  lastAt = now;
  waitsSince = undefined;
}

/** A reader has nothing else to do; whether there is something of libuv's that it may be waiting for. */
export function waitForNative(): boolean {
  if (running > 0) waitsSince ??= performance.now();
  return running > 0;
}

export function nativeFallsBehind(): boolean {
  return waited >= BEHIND_MS;
}
