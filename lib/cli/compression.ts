/** How a recording that is written anew is compressed: as asked, else as the one it comes from. */
import type { McapRecord } from '../mcap/records.js';
import type { McapRecordWriterOptions } from '../streams/mcap-record-writer.js';

export interface CompressionOptions {
  readonly compression?: 'zstd' | 'lz4' | 'none' | undefined;
  readonly compressionLevel?: number | undefined;
  readonly chunkSize?: number | undefined;
}

/** Looks at the records up to the first chunk or message. */
export async function compressionOf(
  records: AsyncGenerator<McapRecord>,
  options: CompressionOptions,
): Promise<{ writer: McapRecordWriterOptions; records: AsyncIterable<McapRecord> }> {
  const writer: McapRecordWriterOptions = {
    compression: options.compression,
    compressionLevel: options.compressionLevel,
    chunkSize: options.chunkSize,
  };
  if (options.compression !== undefined || options.compressionLevel !== undefined) return { writer, records };
  const head: McapRecord[] = [];
  let name: 'zstd' | 'lz4' | 'none' | undefined;
  for (;;) {
    const next: IteratorResult<McapRecord, unknown> = await records.next();
    if (next.done === true) break;
    head.push(next.value);
    if (next.value.type === 'Chunk') {
      const { compression } = next.value;
      if (compression === 'lz4') name = 'lz4';
      if (compression === '' || compression === 'none') name = 'none';
    }
    // An attachment may be a flow that waits to be read.
    if (['Chunk', 'Message', 'Attachment'].includes(next.value.type)) break;
  }
  return { writer: { ...writer, compression: name }, records: chained(head, records) };
}

async function* chained(head: readonly McapRecord[], rest: AsyncIterable<McapRecord>): AsyncGenerator<McapRecord> {
  yield* head;
  yield* rest;
}
