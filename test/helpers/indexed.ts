/** What @mcap/core's indexed reader finds in a recording: it needs an index, and everything that an index points to. */
import wasmLz4 from '@foxglove/wasm-lz4';
import { decompress, isLoaded } from '@foxglove/wasm-zstd';
import { McapIndexedReader } from '@mcap/core';
import type { McapTypes } from '@mcap/core';

export interface IndexedRecording {
  readonly header: McapTypes.Header;
  readonly messages: (McapTypes.Message & { readonly topic: string })[];
  readonly topics: string[];
  readonly channels: McapTypes.Channel[];
  readonly schemas: McapTypes.Schema[];
  readonly attachments: McapTypes.Attachment[];
  readonly metadata: Map<string, Map<string, string>>;
  readonly chunkIndexes: number;
  readonly compressions: string[];
}

export async function readIndexed(bytes: Uint8Array): Promise<IndexedRecording> {
  await isLoaded;
  await wasmLz4.isLoaded;
  const reader = await McapIndexedReader.Initialize({
    readable: {
      size: () => Promise.resolve(BigInt(bytes.length)),
      read: (offset, length) => Promise.resolve(bytes.subarray(Number(offset), Number(offset + length))),
    },
    decompressHandlers: {
      zstd: (data, size) => decompress(data, Number(size)),
      lz4: (data, size) => wasmLz4(data, Number(size)),
    },
  });
  const messages: IndexedRecording['messages'] = [];
  for await (const message of reader.readMessages({ validateCrcs: true })) {
    messages.push({ ...message, topic: reader.channelsById.get(message.channelId)?.topic ?? '' });
  }
  const attachments: McapTypes.Attachment[] = [];
  for await (const attachment of reader.readAttachments()) attachments.push(attachment);
  const metadata = new Map<string, Map<string, string>>();
  for await (const record of reader.readMetadata()) metadata.set(record.name, record.metadata);
  const channels = [...reader.channelsById.values()];
  return {
    header: reader.header,
    messages,
    channels,
    topics: channels.map(({ topic }) => topic).sort(),
    schemas: [...reader.schemasById.values()],
    attachments,
    metadata,
    chunkIndexes: reader.chunkIndexes.length,
    compressions: [...new Set(reader.chunkIndexes.map(({ compression }) => compression))],
  };
}
