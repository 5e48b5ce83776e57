/**
 * The beginning of a compressed chunk -> bytes that decompress: the blocks that are whole, in a frame that ends behind
 * them. No decompressor gives anything of a cut frame (RFC 8878 for zstd, the LZ4 Frame format for lz4).
 */
import { peekU64 } from './plausible.js';

/** What there is to decompress of `bytes`, or `undefined` when no block is whole. */
export function wholeBlocks(compression: string, bytes: Buffer): Uint8Array | undefined {
  if (compression === 'zstd') return wholeZstdBlocks(bytes);
  if (compression === 'lz4') return wholeLz4Blocks(bytes);
  return compression === '' || compression === 'none' ? bytes : undefined;
}

const ZSTD_MAGIC = 0xfd2fb528;
const LZ4_MAGIC = 0x184d2204;

interface ZstdHeader {
  readonly length: number;
  /** Window or content, whichever the frame says: bytes. */
  readonly window: number;
}

function zstdHeader(bytes: Buffer, at: number): ZstdHeader | undefined {
  if (at + 6 > bytes.length || bytes.readUInt32LE(at) !== ZSTD_MAGIC) return undefined;
  const descriptor = bytes[at + 4] ?? 0;
  const single = (descriptor & 0x20) !== 0;
  const dictionary = [0, 1, 2, 4][descriptor & 3] ?? 0;
  const contentFlag = descriptor >> 6;
  const content = contentFlag === 0 ? (single ? 1 : 0) : 1 << contentFlag;
  const length = 5 + (single ? 0 : 1) + dictionary + content;
  if (dictionary > 0 || at + length > bytes.length) return undefined;
  if (!single) {
    const window = bytes[at + 5] ?? 0;
    const base = 2 ** (10 + (window >> 3));
    return { length, window: base + (base / 8) * (window & 7) };
  }
  const size = at + 5;
  if (content === 1) return { length, window: bytes[size] ?? 0 };
  if (content === 2) return { length, window: bytes.readUInt16LE(size) + 256 };
  if (content === 4) return { length, window: bytes.readUInt32LE(size) };
  return { length, window: peekU64({ length: 8, at: (n) => bytes[size + n] ?? 0 }, 0) };
}

function wholeZstdBlocks(bytes: Buffer): Uint8Array | undefined {
  const frames: Uint8Array[] = [];
  let at = 0;
  for (;;) {
    const header = zstdHeader(bytes, at);
    if (header === undefined) break;
    const checksum = ((bytes[at + 4] ?? 0) & 4) !== 0 ? 4 : 0;
    const first = at + header.length;
    let position = first;
    let lastBlock = -1;
    let ended = false;
    while (!ended && position + 3 <= bytes.length) {
      const block = bytes.readUIntLE(position, 3);
      const size = ((block >> 1) & 3) === 1 ? 1 : block >> 3;
      if (position + 3 + size > bytes.length) break;
      lastBlock = position;
      position += 3 + size;
      ended = (block & 1) !== 0;
    }
    if (ended && position + checksum <= bytes.length) {
      frames.push(bytes.subarray(at, position + checksum));
      at = position + checksum;
      continue;
    }
    if (lastBlock >= 0) {
      const blocks = Buffer.from(bytes.subarray(first, position));
      // The last whole block becomes the last block; the new header names a window and no content size.
      blocks[lastBlock - first] = (blocks[lastBlock - first] ?? 0) | 1;
      const windowLog = Math.max(10, Math.ceil(Math.log2(Math.max(header.window, 1))));
      const head = Buffer.alloc(6);
      head.writeUInt32LE(ZSTD_MAGIC);
      head[5] = (windowLog - 10) << 3;
      frames.push(head, blocks);
    }
    break;
  }
  return frames.length > 0 ? Buffer.concat(frames) : undefined;
}

function wholeLz4Blocks(bytes: Buffer): Uint8Array | undefined {
  if (bytes.length < 7 || bytes.readUInt32LE(0) !== LZ4_MAGIC) return undefined;
  const flags = bytes[4] ?? 0;
  const blockDescriptor = bytes[5] ?? 0;
  const blockChecksum = (flags & 0x10) !== 0 ? 4 : 0;
  if ((flags & 1) !== 0) return undefined; // needs a dictionary
  const first = 7 + ((flags & 8) !== 0 ? 8 : 0);
  let position = first;
  while (position + 4 <= bytes.length) {
    const size = bytes.readUInt32LE(position) & 0x7fffffff;
    if (size === 0 || position + 4 + size + blockChecksum > bytes.length) break;
    position += 4 + size + blockChecksum;
  }
  if (position === first) return undefined;
  // Neither content size nor content checksum; then the end mark.
  const descriptor = Buffer.of(flags & ~0x0c, blockDescriptor);
  const head = Buffer.alloc(7);
  head.writeUInt32LE(LZ4_MAGIC);
  head.set(descriptor, 4);
  head[6] = (xxh32(descriptor) >>> 8) & 0xff;
  return Buffer.concat([head, bytes.subarray(first, position), Buffer.alloc(4)]);
}

/** xxHash32 with seed 0 of fewer than 4 bytes: what a header's checksum needs. */
function xxh32(bytes: Uint8Array): number {
  let hash = (374761393 + bytes.length) >>> 0;
  for (const byte of bytes) {
    hash = (hash + Math.imul(byte, 374761393)) >>> 0;
    hash = Math.imul((hash << 11) | (hash >>> 21), 2654435761) >>> 0;
  }
  hash = Math.imul(hash ^ (hash >>> 15), 2246822519) >>> 0;
  hash = Math.imul(hash ^ (hash >>> 13), 3266489917) >>> 0;
  return (hash ^ (hash >>> 16)) >>> 0;
}
