/** Messages of the reference recordings, as @mcap/core reads them. */
import wasmLz4 from '@foxglove/wasm-lz4';
import { decompress as decompressZstd, isLoaded as zstdIsLoaded } from '@foxglove/wasm-zstd';
import { McapStreamReader, type McapTypes } from '@mcap/core';
import type { MessageDefinition } from '../../lib/schema/definition.js';
import { parseSchema } from '../../lib/schema/registry.js';
import { readShared, sharedFiles } from './shared.js';

export interface RecordedMessage {
  /** Path below `recordings`. */
  readonly path: string;
  readonly topic: string;
  readonly logTime: bigint;
  readonly sequence: number;
  readonly definition: MessageDefinition;
  readonly data: Uint8Array;
}

/** All messages of all recordings whose channel is CDR and whose schema parses, up to where a file is damaged. */
export async function recordedMessages(): Promise<RecordedMessage[]> {
  await zstdIsLoaded;
  await wasmLz4.isLoaded;
  const messages: RecordedMessage[] = [];
  for (const path of sharedFiles('recordings', '.mcap')) {
    const schemas = new Map<number, MessageDefinition>();
    const channels = new Map<number, McapTypes.TypedMcapRecords['Channel']>();
    for (const record of readRecords(path)) {
      if (record.type === 'Schema') {
        try {
          schemas.set(record.id, parseSchema(record));
        } catch {
          // Not a schema of ours.
        }
      }
      if (record.type === 'Channel') channels.set(record.id, record);
      if (record.type !== 'Message') continue;
      const channel = channels.get(record.channelId);
      const definition = schemas.get(channel?.schemaId ?? 0);
      if (channel?.messageEncoding !== 'cdr' || definition === undefined) continue;
      const { logTime, sequence, data } = record;
      messages.push({ path, topic: channel.topic, logTime, sequence, definition, data });
    }
  }
  return messages;
}

function readRecords(path: string): McapTypes.TypedMcapRecord[] {
  const reader = new McapStreamReader({
    decompressHandlers: {
      zstd: (data, size) => decompressZstd(data, Number(size)),
      lz4: (data, size) => wasmLz4(data, Number(size)),
    },
  });
  const records: McapTypes.TypedMcapRecord[] = [];
  try {
    reader.append(readShared('recordings', path));
    for (let record = reader.nextRecord(); record !== undefined; record = reader.nextRecord()) records.push(record);
  } catch {
    // What is damaged ends a file; some are no MCAP at all.
  }
  return records;
}
