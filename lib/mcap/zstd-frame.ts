/**
 * What a zstd frame says of itself (RFC 8878, 3.1.1), without decompressing it.
 *
 * Frames whose blocks are all stored ("Raw_Block") are what an encoder gives for data that is compressed already, JPEG images
 * and encoded video say. They only have to be copied together. Through wasm that is four passes over the bytes, and handing
 * them to another thread costs more than that copy.
 */
interface Block {
  readonly kind: number;
  /** Where its content begins in the frame, and how many bytes it has there. */
  readonly at: number;
  readonly stored: number;
  /** Bytes that it decompresses to, at most. */
  readonly most: number;
}

interface Frame {
  /** Bytes of content, where the frame says so. */
  readonly size: number | undefined;
  readonly hasChecksum: boolean;
  readonly blocks: readonly Block[];
}

const MAGIC = 0xfd2fb528;
const CHECKSUM_FLAG = 0x04;
const SINGLE_SEGMENT = 0x20;
/** Dictionary ids, and the two bits that are reserved or unused. */
const UNUSUAL = 0x1b;
const RAW = 0;
const RLE = 1;
const RESERVED = 3;
const LARGEST_BLOCK = 128 * 1024;

/** One whole frame and nothing behind it; `undefined` for all else, and for what is left to the decompressor to judge. */
function frameOf(bytes: Uint8Array): Frame | undefined {
  const byte = (at: number): number => bytes[at] ?? 0;
  if (bytes.length < 9 || (byte(0) | (byte(1) << 8) | (byte(2) << 16) | (byte(3) << 24)) >>> 0 !== MAGIC) {
    return undefined;
  }
  const descriptor = byte(4);
  if ((descriptor & UNUSUAL) !== 0) return undefined;
  const single = (descriptor & SINGLE_SEGMENT) !== 0;
  const flag = descriptor >> 6;
  const sizeLength = flag === 0 ? (single ? 1 : 0) : 1 << flag;
  const sizeAt = single ? 5 : 6;
  let size = flag === 1 ? 256 : 0;
  for (let n = sizeLength - 1; n >= 0; n--) size += byte(sizeAt + n) * 256 ** n;
  const hasChecksum = (descriptor & CHECKSUM_FLAG) !== 0;
  const end = bytes.length - (hasChecksum ? 4 : 0);

  const blocks: Block[] = [];
  for (let at = sizeAt + sizeLength; at + 3 <= end;) {
    const head = byte(at) | (byte(at + 1) << 8) | (byte(at + 2) << 16);
    at += 3;
    const kind = (head >> 1) & 3;
    const length = head >> 3;
    const stored = kind === RLE ? 1 : length;
    if (kind === RESERVED || length > LARGEST_BLOCK || stored > end - at) return undefined;
    blocks.push({ kind, at, stored, most: kind === RAW || kind === RLE ? length : LARGEST_BLOCK });
    at += stored;
    if ((head & 1) !== 0) {
      return at === end ? { size: sizeLength > 0 ? size : undefined, hasChecksum, blocks } : undefined;
    }
  }
  return undefined;
}

function sumOfMost(blocks: readonly Block[]): number {
  return blocks.reduce((sum, { most }) => sum + most, 0);
}

/** Bytes that it decompresses to, at most; `Infinity` for what is not one whole frame. */
export function mostContent(bytes: Uint8Array): number {
  const frame = frameOf(bytes);
  return frame === undefined ? Infinity : sumOfMost(frame.blocks);
}

/** The blocks of one whole frame of `size` bytes that are all stored, without a checksum; `undefined`: it is none such. */
function storedBlocks(bytes: Uint8Array, size: number): readonly Block[] | undefined {
  const { length } = bytes;
  // Three bytes a block of up to 128 KiB, and the header: what is much shorter or longer has other blocks.
  if (length < size || length > size + 64 + size / 1024) return undefined;
  const frame = frameOf(bytes);
  if (frame === undefined || frame.hasChecksum || (frame.size ?? size) !== size) return undefined;
  return frame.blocks.every(({ kind }) => kind === RAW) && sumOfMost(frame.blocks) === size ? frame.blocks : undefined;
}

/** Whether the frame only has to be copied together. */
export function isStored(bytes: Uint8Array, size: number): boolean {
  return storedBlocks(bytes, size) !== undefined;
}

/** The content of a frame of stored blocks, in memory of its own; `undefined` where it is another frame. */
export function copyStored(bytes: Uint8Array, size: number): Uint8Array | undefined {
  const blocks = storedBlocks(bytes, size);
  if (blocks === undefined) return undefined;
  const content = Buffer.allocUnsafeSlow(size);
  let filled = 0;
  for (const { at, stored } of blocks) {
    content.set(new Uint8Array(bytes.buffer, bytes.byteOffset + at, stored), filled);
    filled += stored;
  }
  return content;
}

/** Bytes before the size of a frame that says none: magic, descriptor, window. */
const HEAD = 6;
const SIZE_OF_FOUR_BYTES = 0x80;

/**
 * The same frame with the size of its content in its header, in memory of its own: some readers need it (RFC 8878,
 * 3.1.1.1.4). A frame that says its size already is given back as it is.
 */
export function withContentSize(frame: Uint8Array, size: number): Uint8Array {
  const descriptor = frame[4] ?? 0;
  if (descriptor >= 0x40 || (descriptor & (SINGLE_SEGMENT | UNUSUAL)) !== 0) return frame;
  const out = Buffer.allocUnsafe(frame.length + 4);
  out.set(frame.subarray(0, HEAD));
  out[4] = descriptor | SIZE_OF_FOUR_BYTES;
  out.writeUInt32LE(size, HEAD);
  out.set(frame.subarray(HEAD), HEAD + 4);
  return out;
}
