/**
 * Decompression of chunks by name.
 *
 * zstd is `node:zlib` where it has it (Node 22.15 and later; with the known size as chunk size 1240 MB/s, against
 * 716 MB/s of wasm) and `@foxglove/wasm-zstd` elsewhere; lz4 frames are `@foxglove/wasm-lz4`. Both are loaded when a
 * chunk first asks for them.
 */
import { createRequire } from 'node:module';
import * as zlib from 'node:zlib';
import type * as Fzstd from 'fzstd';
import { compiled, lazily } from './lazy.js';
import { copyStored } from './zstd-frame.js';

/** Decompresses one chunk. `size` is what the Chunk record says, and is checked against a limit before. */
export type Decompress = (bytes: Uint8Array, size: number) => Uint8Array | Promise<Uint8Array>;

export interface Decompressors {
  find(compression: string): Decompress | undefined;
  readonly names: readonly string[];
  /** Whether another thread can do it too: the user's own functions stay on this one. */
  isThreaded(compression: string): boolean;
}

/** The compressions of the MCAP registry: none, zstd, lz4. */
export function builtInDecompressors(): Decompressors {
  return BUILT_IN;
}

/** The same, with decompressors of the user's own by name before them. */
export function decompressorsWith(own: Readonly<Record<string, Decompress>> | undefined): Decompressors {
  if (own === undefined) return BUILT_IN;
  const table = new Map(Object.entries(own));
  return {
    find: (compression) => table.get(compression) ?? TABLE.get(compression),
    names: [...BUILT_IN.names, ...table.keys()],
    isThreaded: (compression) => !table.has(compression) && BUILT_IN.isThreaded(compression),
  };
}

const fzstd = lazily('fzstd') as () => typeof Fzstd;

const identity: Decompress = (bytes) => bytes;

type SyncDecompress = (bytes: Uint8Array, size: number) => Uint8Array;

/** A decompressor that comes from a module with a loading time: synchronous as soon as it is there. */
class Loaded {
  #ready: SyncDecompress | undefined;
  #loading: Promise<SyncDecompress> | undefined;
  /** Instances that an error has made unusable, while calls still wait for them. */
  readonly #spoilt = new WeakSet<SyncDecompress>();
  readonly #load: () => Promise<SyncDecompress>;
  /** Whether an error leaves an instance unusable. */
  readonly #fragile: boolean;

  constructor(load: () => Promise<SyncDecompress>, fragile: boolean) {
    this.#load = load;
    this.#fragile = fragile;
  }

  readonly decompress: Decompress = (bytes, size) => {
    if (this.#ready !== undefined) return this.#run(this.#ready, bytes, size);
    this.#loading ??= this.#load().finally(() => {
      this.#loading = undefined;
    });
    return this.#loading.then((instance) => {
      if (this.#ready === undefined && !this.#spoilt.has(instance)) this.#ready = instance;
      return this.decompress(bytes, size);
    });
  };

  #run(instance: SyncDecompress, bytes: Uint8Array, size: number): Uint8Array {
    try {
      return instance(bytes, size);
    } catch (error) {
      if (this.#fragile) {
        this.#spoilt.add(instance);
        this.#ready = undefined;
      }
      throw error;
    }
  }
}

interface ZlibZstd {
  zstdDecompressSync?: (bytes: Uint8Array, options: { chunkSize: number; maxOutputLength: number }) => Buffer;
}

const { zstdDecompressSync } = zlib as ZlibZstd;

const nodeZstd: SyncDecompress | undefined =
  zstdDecompressSync &&
  ((bytes, size) => zstdDecompressSync(bytes, { chunkSize: Math.max(size, 64), maxOutputLength: Math.max(size, 1) }));

async function loadWasmZstd(): Promise<SyncDecompress> {
  const { default: zstd } = await import('@foxglove/wasm-zstd');
  await compiled(zstd.isLoaded);
  return (bytes, size) => zstd.decompress(bytes, size);
}

type WasmLz4 = SyncDecompress & { isLoaded: Promise<unknown> };

/** wasm-lz4 keeps one context, which fails for ever after its first error: then a fresh instance is needed. */
async function loadWasmLz4(): Promise<SyncDecompress> {
  const require = createRequire(import.meta.url);
  const path = require.resolve('@foxglove/wasm-lz4');
  for (const id of Object.keys(require.cache)) {
    if (id.includes('wasm-lz4')) Reflect.deleteProperty(require.cache, id);
  }
  const lz4 = require(path) as WasmLz4;
  await compiled(lz4.isLoaded);
  return lz4;
}

/** A zstd frame's magic: where a CDR payload should begin, it is rosbag2's compression mode MESSAGE. */
export function isZstdFrame(bytes: Uint8Array, start = 0): boolean {
  return bytes[start] === 0x28 && bytes[start + 1] === 0xb5 && bytes[start + 2] === 0x2f && bytes[start + 3] === 0xfd;
}

/**
 * Decompresses a zstd frame at once, without anything to wait for: with Node's own decompressor, or one in JavaScript.
 * Throws a plain Error where it does not decompress or has more than `most` bytes.
 */
export function decompressPayload(bytes: Uint8Array, most: number): Uint8Array {
  if (zstdDecompressSync !== undefined) {
    return zstdDecompressSync(bytes, { chunkSize: 65536, maxOutputLength: most });
  }
  const parts: Uint8Array[] = [];
  let length = 0;
  const frame = new (fzstd().Decompress)((part) => {
    length += part.length;
    if (length > most) throw new RangeError(`the payload has more than ${most} bytes`);
    parts.push(part);
  });
  // In pieces, so that a frame that grows without end is met on its way.
  for (let at = 0; at < bytes.length; at += 65536)
    frame.push(bytes.subarray(at, at + 65536), at + 65536 >= bytes.length);
  return Buffer.concat(parts);
}

const realZstd: Decompress = nodeZstd ?? new Loaded(loadWasmZstd, false).decompress;

const TABLE = new Map<string, Decompress>([
  ['', identity],
  // Not in the registry, but written by some.
  ['none', identity],
  ['zstd', (bytes, size) => copyStored(bytes, size) ?? realZstd(bytes, size)],
  ['lz4', new Loaded(loadWasmLz4, true).decompress],
]);

const BUILT_IN: Decompressors = {
  find: (compression) => TABLE.get(compression),
  names: ['none', 'zstd', 'lz4'],
  isThreaded: (compression) => compression === 'zstd' || compression === 'lz4',
};
