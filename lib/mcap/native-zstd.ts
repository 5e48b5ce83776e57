/**
 * zstd on libuv's own threads (@mongodb-js/zstd, prebuilt): nothing has to be started and compiled for it, which a thread of
 * ours and wasm need 100 ms of CPU time for. In the long run such a thread is better for large payloads: it also sums the
 * content, and its result is no copy. `node:zlib` has an asynchronous zstd from 22.15 on; it makes a context for each call
 * and gained nothing (200,000 small messages, Node 26: 290 ms, with this 263).
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

/** Decompresses a frame for which `isNative` said yes. The bytes of the frame are copied at once. */
export async function decompressNatively(frame: Uint8Array): Promise<Buffer> {
  const content = await binding?.decompress(asBuffer(frame));
  if (content === undefined) throw new Error('there is no native zstd');
  // A Buffer that native code made has a hidden class of its own, and everything that reads chunks would have to know two.
  return Buffer.from(content.buffer, content.byteOffset, content.length);
}
