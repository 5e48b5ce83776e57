/** `mcap-ros2 cat`: messages as NDJSON. */
import { McapStreamsError } from '../../errors.js';
import { decodeStream } from '../../streams/decode-stream.js';
import { inputName, openInput, topicPatterns } from '../input.js';
import { jsonLine } from '../json-line.js';
import { EXIT, StdoutWriter, warn } from '../output.js';
import type { ExitCode } from '../output.js';

export interface CatOptions {
  readonly topic: readonly string[];
  readonly limit?: number;
}

export async function cat(path: string | undefined, options: CatOptions): Promise<ExitCode> {
  const name = inputName(path);
  const topics = topicPatterns(options.topic);
  const stages = decodeStream(openInput(path), {
    ...(topics.length > 0 ? { topics } : {}),
    batch: 512,
    damage: 'end',
    onDamage: ({ error }) => {
      warn(`${name}: ${error.message}`);
    },
    undecodable: 'raw',
    onUndecodable: ({ error }) => {
      warn(`${name}: ${error.message}; such messages are printed as base64`);
    },
    unsupported: 'raw',
    onUnsupported: ({ error }) => {
      warn(`${name}: ${error.message}; its messages are printed as base64`);
    },
  });
  const out = new StdoutWriter();
  let left = options.limit ?? Infinity;
  try {
    if (left > 0) {
      for await (const batch of stages) {
        const taken = batch.slice(0, left);
        left -= taken.length;
        await out.write(taken.map((message) => `${jsonLine(message)}\n`).join(''));
        if (left === 0) break;
      }
    }
  } catch (error) {
    await out.finish();
    if (error instanceof McapStreamsError) {
      warn(`${name}: ${error.message}`);
      return EXIT.failure;
    }
    throw error;
  } finally {
    stages.destroy();
  }
  await out.finish();
  const { damage, undecodable } = stages.stats;
  return damage.length > 0 || undecodable.length > 0 ? EXIT.dataLoss : EXIT.whole;
}
