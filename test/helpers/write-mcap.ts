/** Recordings that @mcap/core writes, in memory. */
import { McapWriter } from '@mcap/core';
import type { McapWriterOptions } from '@mcap/core';

export interface WrittenMessage {
  topic: string;
  logTime: number | bigint;
  /** Value of `uint32 n`. */
  n: number;
  /** Bytes behind it; by default as many as behind all. */
  padding?: number;
}

/** Messages of `uint32 n` with some padding, in the order given. */
export async function writeMcap(
  messages: readonly WrittenMessage[],
  options: Partial<McapWriterOptions> & {
    padding?: number;
    attachment?: Uint8Array;
    metadata?: [string, string][];
  } = {},
): Promise<Buffer> {
  const { padding = 0, attachment, metadata, ...writerOptions } = options;
  const parts: Uint8Array[] = [];
  let position = 0n;
  const writer = new McapWriter({
    writable: {
      position: () => position,
      write: (bytes) => {
        parts.push(bytes.slice());
        position += BigInt(bytes.length);
        return Promise.resolve();
      },
    },
    ...writerOptions,
  });
  await writer.start({ profile: 'ros2', library: 'test' });
  const channels = new Map<string, number>();
  const schemaId = await writer.registerSchema({
    name: 'p/msg/N',
    encoding: 'ros2msg',
    data: Buffer.from('uint32 n\n'),
  });
  for (const { topic, logTime, n, padding: own = padding } of messages) {
    let channelId = channels.get(topic);
    if (channelId === undefined) {
      channelId = await writer.registerChannel({ schemaId, topic, messageEncoding: 'cdr', metadata: new Map() });
      channels.set(topic, channelId);
    }
    const data = Buffer.alloc(8 + own);
    data.set([0, 1, 0, 0]);
    data.writeUInt32LE(n, 4);
    await writer.addMessage({ channelId, sequence: n, logTime: BigInt(logTime), publishTime: BigInt(logTime), data });
  }
  if (attachment !== undefined) {
    await writer.addAttachment({ name: 'a', mediaType: 'x', logTime: 1n, createTime: 2n, data: attachment });
  }
  for (const [name, value] of metadata ?? []) await writer.addMetadata({ name, metadata: new Map([['value', value]]) });
  await writer.end();
  return Buffer.concat(parts);
}

/** A source over memory that counts what is read of it, and whether it was closed. */
export function memorySource(bytes: Uint8Array) {
  const seen = { reads: 0, bytes: 0, closed: 0 };
  return {
    seen,
    size: () => Promise.resolve(bytes.length),
    read: (offset: number, length: number) => {
      seen.reads++;
      seen.bytes += length;
      return Promise.resolve(bytes.subarray(offset, offset + length));
    },
    close: () => {
      seen.closed++;
      return Promise.resolve();
    },
  };
}
