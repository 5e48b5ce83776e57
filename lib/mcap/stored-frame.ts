/**
 * zstd frames whose blocks are all stored (RFC 8878, "Raw_Block"): what an encoder gives for data that is compressed
 * already, JPEG images and encoded video say. They only have to be copied together. Through wasm that is four passes over the
 * bytes, and handing them to another thread costs more than that copy.
 */
interface Block {
  readonly at: number;
  readonly length: number;
}

const MAGIC = 0xfd2fb528;
const CHECKSUM_FLAG = 0x04;
const SINGLE_SEGMENT = 0x20;

/** The stored blocks of one whole frame of `size` bytes, without checksum and dictionary; `undefined`: it is none such. */
function storedBlocks(bytes: Uint8Array, size: number): Block[] | undefined {
  const { length } = bytes;
  // Three bytes a block of up to 128 KiB, and the header: what is much shorter or longer has other blocks.
  if (length < size || length > size + 64 + size / 1024) return undefined;
  const byte = (at: number): number => bytes[at] ?? 0;
  if (length < 9 || (byte(0) | (byte(1) << 8) | (byte(2) << 16) | (byte(3) << 24)) >>> 0 !== MAGIC) return undefined;
  const descriptor = byte(4);
  // Dictionary ids, and the two bits that are reserved or unused, are left to the decompressor.
  if ((descriptor & (CHECKSUM_FLAG | 0x1b)) !== 0) return undefined;
  const single = (descriptor & SINGLE_SEGMENT) !== 0;
  const contentFlag = descriptor >> 6;
  const contentLength = contentFlag === 0 ? (single ? 1 : 0) : 1 << contentFlag;
  const contentAt = single ? 5 : 6;
  let content = contentFlag === 1 ? 256 : 0;
  for (let n = contentLength - 1; n >= 0; n--) content += byte(contentAt + n) * 256 ** n;
  if (contentLength > 0 && content !== size) return undefined;

  const blocks: Block[] = [];
  let total = 0;
  for (let at = contentAt + contentLength; at + 3 <= length;) {
    const head = byte(at) | (byte(at + 1) << 8) | (byte(at + 2) << 16);
    const count = head >> 3;
    at += 3;
    if (((head >> 1) & 3) !== 0 || count > LARGEST_BLOCK || count > length - at) return undefined;
    blocks.push({ at, length: count });
    total += count;
    at += count;
    if ((head & 1) !== 0) return at === length && total === size ? blocks : undefined;
  }
  return undefined;
}

const LARGEST_BLOCK = 128 * 1024;

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
  for (const { at, length } of blocks) {
    content.set(new Uint8Array(bytes.buffer, bytes.byteOffset + at, length), filled);
    filled += length;
  }
  return content;
}
