/**
 * The codec beside @mcap/core: its indexed reader finds the messages, compileCodec decodes them.
 *
 *     node build/examples/beside-mcap-core.js fixtures/recordings/primitives-zstd.mcap
 */
import { readFile } from 'node:fs/promises';
import zstd from '@foxglove/wasm-zstd';
import { McapIndexedReader } from '@mcap/core';
import { compileCodec } from 'mcap-ros2-streams';
import type { MessageCodec } from 'mcap-ros2-streams';

const [file = 'fixtures/recordings/primitives-zstd.mcap'] = process.argv.slice(2);

const bytes = await readFile(file);
await zstd.isLoaded;
const reader = await McapIndexedReader.Initialize({
  readable: {
    size: () => Promise.resolve(BigInt(bytes.length)),
    read: (offset, size) => Promise.resolve(bytes.subarray(Number(offset), Number(offset + size))),
  },
  decompressHandlers: { zstd: (data, size) => zstd.decompress(data, Number(size)) },
});

const codecs = new Map<number, MessageCodec>();
for await (const { channelId, logTime, data } of reader.readMessages()) {
  const channel = reader.channelsById.get(channelId);
  const schema = reader.schemasById.get(channel?.schemaId ?? 0);
  if (channel === undefined || schema === undefined) continue;
  let codec = codecs.get(channelId);
  if (codec === undefined) codecs.set(channelId, (codec = compileCodec(schema)));
  console.log(channel.topic, logTime, Object.keys(codec.decode(data) as object).length, 'fields');
}
