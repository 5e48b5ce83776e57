/** Payloads of rosbag2's compression mode MESSAGE: a zstd frame where a CDR payload should be. */
import { McapStreamsError } from '../errors.js';
import { decompressPayload, isZstdFrame } from '../mcap/compression.js';

/** Largest payload after decompression, bytes. */
const MOST = 2 ** 30;

/** First byte of a zstd frame; no CDR payload begins with it. */
export const ZSTD_FIRST = 0x28;

export function isCompressedPayload(encoding: string, bytes: Uint8Array, start: number, end: number): boolean {
  return end - start > 4 && encoding === 'cdr' && isZstdFrame(bytes, start);
}

/** The payload that is in it. Throws `CDR_COMPRESSED_MESSAGE`. */
export function openPayload(data: Uint8Array): Uint8Array {
  try {
    return decompressPayload(data, MOST);
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new McapStreamsError('CDR_COMPRESSED_MESSAGE', `the payload does not decompress as zstd: ${why}`, {
      cause: error,
    });
  }
}
