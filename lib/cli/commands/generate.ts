/** `mcap-ros2 generate`: a recording that nobody recorded, the same for the same seed. */
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { parseSchema } from '../../schema/registry.js';
import { loadDefinitions, standardDefinitions } from '../../streams/definition-files.js';
import type { Distribution } from '../../streams/definition-files.js';
import { encodeStream } from '../../streams/encode-stream.js';
import type { OutgoingMessage } from '../../streams/message-encoder.js';
import type { CompressionOptions } from '../compression.js';
import { withOutput } from '../output-file.js';
import type { OutputOptions } from '../output-file.js';
import { EXIT, note, UsageError } from '../output.js';
import type { ExitCode } from '../output.js';
import { ValueGenerator } from '../random-values.js';
import { parseDuration } from '../time-range.js';

export interface GenerateOptions extends OutputOptions, CompressionOptions {
  readonly type?: readonly string[] | undefined;
  /** Messages a second, by type; the last one is for all that follow. */
  readonly rate?: readonly number[] | undefined;
  readonly duration?: string | undefined;
  readonly seed?: number | undefined;
  readonly distro?: Distribution | undefined;
  readonly msgPath?: readonly string[] | undefined;
}

/** Log time of the first message: a fixed one, so that a seed says everything. */
const START = 1_700_000_000_000_000_000n;
const SECOND = 1_000_000_000n;

interface Track {
  readonly topic: string;
  readonly type: string;
  readonly values: ValueGenerator;
  readonly rate: number;
  next: number;
}

export async function generate(options: GenerateOptions): Promise<ExitCode> {
  const { type: names = [], rate: rates = [100], duration: length = '10s', distro = 'jazzy', msgPath } = options;
  if (names.length === 0) throw new UsageError('generate needs --type, such as --type sensor_msgs/msg/Imu');
  const duration = parseDuration(length);
  if (duration === undefined) throw new UsageError(`no duration: ${length}; take 60s, 500ms or 2m`);
  const base = standardDefinitions(distro);
  const definitions = msgPath === undefined ? base : loadDefinitions([...msgPath], { base });
  const topics = new Set<string>();
  const tracks = names.map((type, n): Track => {
    const schema = definitions.get(type);
    if (schema === undefined) throw new UsageError(`${distro} has no type ${type}: name its folder with --msg-path`);
    const definition = parseSchema(schema);
    const rate = rates[n] ?? rates.at(-1) ?? 100;
    const topic = freeTopic(definition.name, topics);
    return {
      topic,
      type: definition.name,
      values: new ValueGenerator(definition, (options.seed ?? 0) + n),
      rate,
      next: 0,
    };
  });
  const counts = { messages: 0 };
  const { compression, compressionLevel, chunkSize } = options;
  await withOutput(options, [], 'binary', async (stream) => {
    await pipeline(
      Readable.from(messages(tracks, duration, counts)),
      encodeStream({
        channels: Object.fromEntries(tracks.map(({ topic, type }) => [topic, type])),
        definitions,
        compression,
        compressionLevel,
        chunkSize,
      }),
      stream,
    );
  });
  note(`wrote ${counts.messages} messages of ${tracks.length} topics`);
  return EXIT.whole;
}

/** `/imu` for sensor_msgs/msg/Imu, `/point_cloud2` for PointCloud2; `/imu_2` for the second one. */
function freeTopic(type: string, taken: Set<string>): string {
  const base = type.slice(type.lastIndexOf('/') + 1).replace(/([a-z0-9])([A-Z])/g, '$1_$2');
  let topic = `/${base.toLowerCase()}`;
  for (let n = 2; taken.has(topic); n++) topic = `/${base.toLowerCase()}_${n}`;
  taken.add(topic);
  return topic;
}

/** All tracks by time. */
function* messages(
  tracks: readonly Track[],
  duration: bigint,
  counts: { messages: number },
): Generator<OutgoingMessage> {
  for (;;) {
    let first: { track: Track; time: bigint } | undefined;
    for (const track of tracks) {
      const time = timeOf(track);
      if (time < duration && (first === undefined || time < first.time)) first = { track, time };
    }
    if (first === undefined) return;
    const { track, time } = first;
    const logTime = START + time;
    yield { topic: track.topic, logTime, sequence: track.next, message: track.values.next(logTime) };
    track.next++;
    counts.messages++;
  }
}

/** From the number of the message, so that no rounding adds up. */
function timeOf({ next, rate }: Track): bigint {
  return (BigInt(next) * SECOND * 1_000_000n) / BigInt(Math.round(rate * 1_000_000));
}
