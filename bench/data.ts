/**
 * The recordings that are measured: made once, seeded, in `.cache/bench`. `small` is 200,000 messages of nine small types,
 * `big` 300 MB of images and point clouds; each with zstd chunks and uncompressed.
 */
import { existsSync, mkdirSync, renameSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import zstd from '@foxglove/wasm-zstd';
import { McapWriter } from '@mcap/core';
import { compileCodec } from '../lib/cdr/codec.js';
import { CASES } from './codec/types.js';

export const ROOT = resolve(import.meta.dirname, '../..');
const CACHE = join(ROOT, '.cache/bench');

export interface Recording {
  readonly name: string;
  readonly path: string;
}

/** The generated recordings, and those of the reference material where it is there. */
export async function recordings(): Promise<Recording[]> {
  await zstd.isLoaded;
  mkdirSync(CACHE, { recursive: true });
  const made: Recording[] = [];
  for (const size of ['small', 'big'] as const) {
    for (const compression of ['zstd', 'none'] as const) {
      const name = `${size}-${compression}`;
      const path = join(CACHE, `${name}.mcap`);
      if (!existsSync(path)) await make(path, size, compression);
      made.push({ name, path });
    }
  }
  for (const name of ['small_messages.mcap', 'nuscenes_like_0.1.mcap']) {
    const path = join(ROOT, '../shared/benchmark', name);
    if (existsSync(path)) made.push({ name, path });
  }
  return made;
}

const BIG = ['Image', 'PointCloud2'];

async function make(path: string, size: 'small' | 'big', compression: 'zstd' | 'none'): Promise<void> {
  const file = await open(`${path}.part`, 'w');
  let position = 0n;
  const writer = new McapWriter({
    writable: {
      position: () => position,
      write: async (bytes) => {
        await file.writeFile(bytes);
        position += BigInt(bytes.length);
      },
    },
    chunkSize: 2 ** 20,
    ...(compression === 'zstd'
      ? { compressChunk: (data: Uint8Array) => ({ compression, compressedData: zstd.compress(data, 1) }) }
      : {}),
  });
  await writer.start({ profile: 'ros2', library: 'bench' });
  const cases = CASES.filter(({ name }) => BIG.some((big) => name.includes(big)) === (size === 'big'));
  const topics = [];
  for (const { name, text, value } of cases) {
    const schemaId = await writer.registerSchema({ name, encoding: 'ros2msg', data: Buffer.from(text) });
    const topic = `/${name.split('/').at(-1) ?? name}`;
    const channelId = await writer.registerChannel({ schemaId, topic, messageEncoding: 'cdr', metadata: new Map() });
    topics.push({ channelId, data: compileCodec({ name, encoding: 'ros2msg', data: text }).encode(value) });
  }
  const count = size === 'small' ? 200_000 : 450;
  let noise = 1;
  for (let n = 0; n < count; n++) {
    const topic = topics[n % topics.length];
    if (topic === undefined) break;
    const logTime = 1_700_000_000_000_000_000n + BigInt(n) * 1_000_000n;
    if (size === 'big') {
      // Payloads that compress by about a third, as images do.
      for (let at = topic.data.length >> 1; at < topic.data.length - 8; at += 3) {
        noise = (Math.imul(noise, 1103515245) + 12345) >>> 0;
        topic.data[at] = noise >>> 24;
      }
    }
    await writer.addMessage({
      channelId: topic.channelId,
      sequence: n,
      logTime,
      publishTime: logTime,
      data: topic.data,
    });
  }
  await writer.end();
  await file.close();
  renameSync(`${path}.part`, path);
}
