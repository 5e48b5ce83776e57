/**
 * The recordings that are measured: made once, seeded, in `.cache/bench`. `small` is 200,000 messages of seven
 * small types, `big` 300 MB of images and point clouds; each with zstd chunks and uncompressed, chunks of 1 MiB.
 */
import { existsSync, mkdirSync, renameSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { join } from 'node:path';
import zstd from '@foxglove/wasm-zstd';
import { McapWriter } from '@mcap/core';
import { compileCodec } from '../lib/cdr/codec.js';
import { CASES } from './codec/types.js';
import { ROOT } from './measure.js';

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

/** How many of 200 messages are of a type: about what a driving robot records. */
const SMALL: Readonly<Record<string, number>> = {
  'sensor_msgs/Imu': 80,
  'tf2_msgs/TFMessage': 50,
  'sensor_msgs/JointState': 25,
  'nav_msgs/Odometry': 20,
  'geometry_msgs/PoseStamped': 15,
  'sensor_msgs/NavSatFix': 8,
  'diagnostic_msgs/DiagnosticArray': 2,
};
const BIG: Readonly<Record<string, number>> = { 'sensor_msgs/Image': 1, 'sensor_msgs/PointCloud2': 1 };
const COUNT = { small: 200_000, big: 450 };
/** Values of a big type: more would only take longer to make. */
const VARIANTS = 8;

interface Source {
  readonly channelId: number;
  /** The next payload. */
  readonly next: () => Uint8Array;
}

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
  const turn: Source[] = [];
  for (const [name, share] of Object.entries(size === 'small' ? SMALL : BIG)) {
    const found = CASES.find((entry) => entry.name === name);
    if (found === undefined) throw new Error(`no case ${name}`);
    const { text } = found;
    const schemaId = await writer.registerSchema({ name, encoding: 'ros2msg', data: Buffer.from(text) });
    const topic = `/${name.slice(name.indexOf('/') + 1)}`;
    const channelId = await writer.registerChannel({ schemaId, topic, messageEncoding: 'cdr', metadata: new Map() });
    const codec = compileCodec({ name, encoding: 'ros2msg', data: text });
    let next = (): Uint8Array => codec.encode(found.make());
    if (size === 'big') {
      const made = Array.from({ length: VARIANTS }, next);
      let at = 0;
      next = () => made[at++ % VARIANTS] ?? new Uint8Array();
    }
    for (let n = 0; n < share; n++) turn.push({ channelId, next });
  }
  // A prime step mixes the types.
  for (let n = 0; n < COUNT[size]; n++) {
    const source = turn[(n * 37) % turn.length];
    if (source === undefined) break;
    const logTime = 1_700_000_000_000_000_000n + BigInt(n) * 1_000_000n;
    const data = source.next();
    await writer.addMessage({ channelId: source.channelId, sequence: n, logTime, publishTime: logTime, data });
  }
  await writer.end();
  await file.close();
  renameSync(`${path}.part`, path);
}
