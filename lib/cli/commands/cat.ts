/** `mcap-ros2 cat`: messages as text. */
import { pipeline } from 'node:stream/promises';
import { Readable } from 'node:stream';
import { McapStreamsError } from '../../errors.js';
import type { ContainerOptions } from '../../streams/container-options.js';
import { decodeStream } from '../../streams/decode-stream.js';
import { mergeRecordings } from '../../streams/merge.js';
import type { ChannelReport, DecodedMessage, DecodeOptions } from '../../streams/message-decoder.js';
import { readRecording } from '../../streams/read-recording.js';
import { bytesOf, namedInputs, withPaths } from '../input.js';
import type { Input } from '../input.js';
import { textOf } from '../message-text.js';
import type { Batches, BytesForm, TextFormat, TimeFormat } from '../message-text.js';
import { withOutput } from '../output-file.js';
import type { OutputOptions } from '../output-file.js';
import { EXIT, UsageError, warn } from '../output.js';
import type { ExitCode } from '../output.js';
import { DamageLog } from '../records.js';
import { TimeRange } from '../time-range.js';
import type { TimeOptions } from '../time-range.js';
import { topicFilter } from '../topics.js';
import type { TopicOptions } from '../topics.js';

export interface CatOptions extends OutputOptions, TopicOptions, TimeOptions {
  readonly limit?: number | undefined;
  readonly format?: TextFormat | undefined;
  readonly fields?: readonly string[] | undefined;
  readonly timeFormat?: TimeFormat | undefined;
  readonly bytes?: BytesForm | undefined;
  readonly withChannels?: boolean | undefined;
}

type ReadOptions = ContainerOptions & DecodeOptions & { readonly batch: number };

export async function cat(paths: readonly string[], options: CatOptions): Promise<ExitCode> {
  const inputs = namedInputs(paths);
  const { format = 'ndjson', timeFormat = 'ns', bytes = 'base64', withChannels = false } = options;
  if (withChannels && (format === 'csv' || format === 'pretty')) {
    throw new UsageError(`--with-channels goes with --format ndjson and json, not ${format}`);
  }
  if (format === 'csv' && bytes !== 'base64') throw new UsageError('--bytes goes with the JSON formats: use --fields');
  const fields = options.fields?.flatMap((list) => list.split(','));
  const filter = topicFilter(options);
  const range = await TimeRange.of(
    options,
    inputs.map(({ path }) => path),
  );
  const damage = new DamageLog();
  const name = inputs.map((input) => input.name).join(', ');
  const undecodable: ChannelReport[] = [];
  const read: ReadOptions = {
    ...(filter === undefined ? {} : { topics: filter }),
    ...(fields === undefined ? {} : { fields }),
    startTime: range.start,
    endTime: range.end,
    batch: 512,
    damage: 'skip',
    onDamage: damage.report(name),
    undecodable: format === 'csv' ? 'skip' : 'raw',
    onUndecodable: (report) => {
      undecodable.push(report);
      warn(
        `${name}: ${report.error.message}; such messages are ${format === 'csv' ? 'left out' : 'printed as base64'}`,
      );
    },
    unsupported: format === 'csv' ? 'skip' : 'raw',
    onUnsupported: ({ error }) => {
      warn(`${name}: ${error.message}; its messages are ${format === 'csv' ? 'left out' : 'printed as base64'}`);
    },
  };
  try {
    await withOutput(options, inputs, 'text', async (stream) => {
      const print = async (batches: Batches): Promise<void> => {
        const taken = limited(batches, range, options.limit ?? Infinity);
        await pipeline(
          Readable.from(textOf(taken, { format, timeFormat, bytes, withChannels, fields }), { objectMode: false }),
          stream,
        );
      };
      const [first] = inputs;
      if (inputs.length > 1)
        await withPaths(inputs, (files) => print(mergeRecordings(files, read) as unknown as Batches));
      else if (first?.path === undefined) await print(streamed(first ?? { name, path: undefined }, read, damage));
      else await print(readRecording(first.path, read));
    });
  } catch (error) {
    if (!(error instanceof McapStreamsError)) throw error;
    throw error.with({}, `${name}: ${error.message}`);
  }
  return damage.found || undecodable.length > 0 ? EXIT.dataLoss : EXIT.whole;
}

/** Stdin, as it comes. */
async function* streamed(input: Input, options: ReadOptions, damage: DamageLog): Batches {
  const stage = decodeStream(bytesOf(input, { onBroken: damage.brokenInput(input.name) }), options);
  try {
    yield* stage as unknown as Batches;
  } finally {
    stage.destroy();
  }
}

/** The messages in a range, up to so many: nothing more is read then. */
async function* limited(batches: Batches, range: TimeRange, limit: number): Batches {
  let left = limit;
  if (left === 0) return;
  for await (const batch of batches) {
    const taken: DecodedMessage[] = [];
    for (const message of batch) {
      if (range.place(message.logTime) !== 'in') continue;
      taken.push(message);
      if (--left === 0) break;
    }
    if (taken.length > 0) yield taken;
    if (left === 0) return;
  }
}
