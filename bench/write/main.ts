/**
 * Encode + write against @mcap/core's McapWriter with @foxglove/rosmsg2-serialization's MessageWriter, taking turns in one
 * run: 200,000 small messages of 11 types, zstd (level 3 on both sides) and uncompressed.
 *
 * `npm run bench:write [-- --quick] [recording.mcap]` prints medians and ratios. What both wrote is read back and compared
 * before anything is timed. Without a recording it takes ../shared/benchmark/small_messages.mcap.
 */
import { deepStrictEqual } from 'node:assert';
import { createReadStream } from 'node:fs';
import { createRequire } from 'node:module';
import { Readable, Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { compress, isLoaded } from '@foxglove/wasm-zstd';
import { McapWriter } from '@mcap/core';
import type { DecodedMessage, EncodeStreamOptions } from '../../lib/index.js';
import { loadPackage, median, tellFigures } from '../measure.js';

interface Peer {
  MessageWriter: new (definitions: unknown) => { writeMessage(value: unknown): Uint8Array };
}
const require = createRequire(import.meta.url);
const { MessageWriter } = require('@foxglove/rosmsg2-serialization') as Peer;
const { parse } = require('@foxglove/rosmsg') as { parse: (text: string, options: object) => unknown };

await isLoaded;
const { decodeStream, encodeStream, Ros2Encoder, McapRecordWriter } = await loadPackage();
const args = process.argv.slice(2);
const quick = args.includes('--quick');
const path = args.find((arg) => !arg.startsWith('--')) ?? '../shared/benchmark/small_messages.mcap';
const ROUNDS = quick ? 3 : 9;

const messages: DecodedMessage[] = [];
for await (const message of decodeStream(createReadStream(path))) messages.push(message);
console.log(
  `Node ${process.version}; ${messages.length} messages; ms, median of ${ROUNDS} rounds; ratio = peer / ours`,
);

/** A sink that keeps nothing, or everything. */
function sink(parts?: Buffer[]): Writable & { bytes: number } {
  const writable = Object.assign(
    new Writable({
      write(chunk: Buffer, _encoding, callback) {
        writable.bytes += chunk.length;
        parts?.push(chunk);
        callback();
      },
    }),
    { bytes: 0 },
  );
  return writable;
}

async function ours(options: EncodeStreamOptions, parts?: Buffer[]): Promise<void> {
  await pipeline(Readable.from(messages), encodeStream(options), sink(parts));
}

async function oursInBatches(options: EncodeStreamOptions): Promise<void> {
  function* batches(): Generator<DecodedMessage[]> {
    for (let at = 0; at < messages.length; at += 512) yield messages.slice(at, at + 512);
  }
  await pipeline(Readable.from(batches()), encodeStream(options), sink());
}

async function oursInTwo(options: EncodeStreamOptions): Promise<void> {
  await pipeline(Readable.from(messages), new Ros2Encoder(), new McapRecordWriter(options), sink());
}

async function peers(compression: 'zstd' | 'none', parts?: Buffer[]): Promise<void> {
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
}

async function read(parts: Buffer[]): Promise<unknown[]> {
  const values: unknown[] = [];
  for await (const { topic, schemaName, logTime, publishTime, sequence, message } of decodeStream(
    Readable.from(parts),
  )) {
    values.push({ topic, schemaName, logTime, publishTime, sequence, message });
  }
  return values;
}

async function time(work: () => Promise<void>): Promise<number> {
  const begin = process.hrtime.bigint();
  await work();
  return Number(process.hrtime.bigint() - begin) / 1e6;
}

for (const compression of ['zstd', 'none'] as const) {
  const own: Buffer[] = [];
  const other: Buffer[] = [];
  await ours({ compression }, own);
  await peers(compression, other);
  deepStrictEqual(await read(own), await read(other), 'what was written differs');
  const tasks: [string, () => Promise<void>][] = [
    ['McapWriter + MessageWriter', () => peers(compression)],
    ['encodeStream', () => ours({ compression })],
    ['encodeStream, threads: 0', () => ours({ compression, threads: 0 })],
    ['encodeStream, arrays of 512', () => oursInBatches({ compression })],
    ['Ros2Encoder + McapRecordWriter', () => oursInTwo({ compression })],
  ];
  const times = tasks.map((): number[] => []);
  for (let round = 0; round < ROUNDS; round++) {
    for (const [index, [, work]] of tasks.entries()) times[index]?.push(await time(work));
  }
  const medians = times.map(median);
  console.log(`${compression}: ${Buffer.concat(own).length} bytes ours, ${Buffer.concat(other).length} theirs`);
  for (const [index, [name]] of tasks.entries()) {
    const ms = medians[index] ?? NaN;
    console.log(`  ${name.padEnd(32)}${ms.toFixed(0).padStart(7)}${((medians[0] ?? NaN) / ms).toFixed(1).padStart(7)}`);
  }
  tellFigures({ [`write ${compression}`]: (medians[0] ?? NaN) / (medians[1] ?? NaN) });
}
