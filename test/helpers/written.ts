/** Recordings as writers write them, and as @mcap/core reads them back. */
import { PassThrough, Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import wasmLz4 from '@foxglove/wasm-lz4';
import { decompress as decompressZstd, isLoaded as zstdIsLoaded } from '@foxglove/wasm-zstd';
import { McapIndexedReader, McapStreamReader, type McapTypes } from '@mcap/core';
import { McapRecordWriter } from '../../lib/index.js';
import type { McapRecord, McapRecordWriterOptions } from '../../lib/index.js';

await zstdIsLoaded;
await wasmLz4.isLoaded;

export const decompressHandlers: McapTypes.DecompressHandlers = {
  zstd: (data, size) => decompressZstd(data, Number(size)),
  lz4: (data, size) => wasmLz4(data, Number(size)),
};

/** All that a stage writes for `inputs`. */
export async function written(inputs: Iterable<unknown>, stage: NodeJS.ReadWriteStream): Promise<Buffer> {
  const parts: Buffer[] = [];
  await pipeline(Readable.from(inputs), stage, new PassThrough(), async (bytes: AsyncIterable<Buffer>) => {
    for await (const part of bytes) parts.push(part);
  });
  return Buffer.concat(parts);
}

export async function writtenRecords(
  records: Iterable<McapRecord>,
  options: McapRecordWriterOptions = {},
): Promise<Buffer> {
  return written(records, new McapRecordWriter(options));
}

/** All records, chunks opened, CRCs verified, as McapStreamReader gives them. */
export function streamRead(bytes: Uint8Array): McapTypes.TypedMcapRecord[] {
  const reader = new McapStreamReader({ validateCrcs: true, decompressHandlers });
  reader.append(bytes);
  const records: McapTypes.TypedMcapRecord[] = [];
  for (let record = reader.nextRecord(); record !== undefined; record = reader.nextRecord()) records.push(record);
  if (!reader.done()) throw new Error('the file is not complete');
  return records;
}

/** What the index says, and all messages in time order. */
export async function indexRead(
  bytes: Uint8Array,
): Promise<{ reader: McapIndexedReader; messages: McapTypes.TypedMcapRecords['Message'][] }> {
  const reader = await McapIndexedReader.Initialize({ readable: readable(bytes), decompressHandlers });
  const messages = [];
  for await (const message of reader.readMessages()) messages.push(message);
  return { reader, messages };
}

export function readable(bytes: Uint8Array): McapTypes.IReadable {
  return {
    size: () => Promise.resolve(BigInt(bytes.length)),
    read: (offset, length) => Promise.resolve(bytes.slice(Number(offset), Number(offset + length))),
  };
}
