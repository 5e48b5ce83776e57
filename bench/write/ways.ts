/** The ways of encoding and writing that are measured. */
import { createReadStream } from 'node:fs';
import { createRequire } from 'node:module';
import { Readable, Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { compress, isLoaded } from '@foxglove/wasm-zstd';
import { McapWriter } from '@mcap/core';
import type { DecodedMessage } from '../../lib/index.js';
import { loadPackage } from '../package.js';

interface Peer {
  MessageWriter: new (definitions: unknown) => { writeMessage(value: unknown): Uint8Array };
}
const require = createRequire(import.meta.url);
const { MessageWriter } = require('@foxglove/rosmsg2-serialization') as Peer;
const { parse } = require('@foxglove/rosmsg') as { parse: (text: string, options: object) => unknown };

await isLoaded;
const { decodeStream, encodeStream, Ros2Encoder, McapRecordWriter } = await loadPackage();

export type Compression = 'zstd' | 'none';
type Way = (messages: readonly DecodedMessage[], compression: Compression, parts?: Buffer[]) => Promise<void>;

/** What is written: all messages of a recording, decoded beforehand. */
export async function load(path: string): Promise<DecodedMessage[]> {
  const messages: DecodedMessage[] = [];
  for await (const batch of decodeStream(createReadStream(path), { batch: 512 })) messages.push(...batch);
  return messages;
}

/** A sink that keeps nothing, or everything. */
function sink(parts?: Buffer[]): Writable {
  return new Writable({
    write(chunk: Buffer, _encoding, callback) {
      parts?.push(chunk);
      callback();
    },
  });
}

function* batches(messages: readonly DecodedMessage[]): Generator<DecodedMessage[]> {
  for (let at = 0; at < messages.length; at += 512) yield messages.slice(at, at + 512);
}

const peer: Way = async (messages, compression, parts) => {
  let position = 0n;
  const writable = {
    position: () => position,
    write: (bytes: Uint8Array): Promise<void> => {
      position += BigInt(bytes.length);
      parts?.push(Buffer.from(bytes));
      return Promise.resolve();
    },
  };
  const writer = new McapWriter({
    writable,
    ...(compression === 'none'
      ? {}
      : { compressChunk: (data: Uint8Array) => ({ compression: 'zstd', compressedData: compress(data, 3) }) }),
  });
  await writer.start({ profile: 'ros2', library: 'bench' });
  const channels = new Map<unknown, { id: number; writer: { writeMessage(value: unknown): Uint8Array } }>();
  for (const { channel, schema, logTime, publishTime, sequence, message } of messages) {
    let known = channels.get(channel);
    if (known === undefined) {
      if (schema === undefined) continue;
      const schemaId = await writer.registerSchema(schema);
      const { topic, messageEncoding, metadata } = channel;
      const id = await writer.registerChannel({ schemaId, topic, messageEncoding, metadata });
      const text = new TextDecoder().decode(schema.data);
      channels.set(channel, (known = { id, writer: new MessageWriter(parse(text, { ros2: true })) }));
    }
    const data = known.writer.writeMessage(message);
    await writer.addMessage({ channelId: known.id, sequence, logTime, publishTime, data });
  }
  await writer.end();
};

export const WAYS: Readonly<Record<string, Way>> = {
  'McapWriter + MessageWriter': peer,
  encodeStream: (messages, compression, parts) =>
    pipeline(Readable.from(messages), encodeStream({ compression }), sink(parts)),
  'encodeStream, threads: 0': (messages, compression, parts) =>
    pipeline(Readable.from(messages), encodeStream({ compression, threads: 0 }), sink(parts)),
  'encodeStream, arrays of 512': (messages, compression, parts) =>
    pipeline(Readable.from(batches(messages)), encodeStream({ compression }), sink(parts)),
  'Ros2Encoder + McapRecordWriter': (messages, compression, parts) =>
    pipeline(Readable.from(messages), new Ros2Encoder(), new McapRecordWriter({ compression }), sink(parts)),
};
