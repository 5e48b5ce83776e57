import { Readable, Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { ExecutionContext } from 'ava';
import { decodeStream, McapRecordParser, McapStreamsError } from '../../lib/index.js';
import { mutate, Random } from './random.js';

/**
 * Reads `count` damaged copies of `files` with every policy: each ends, with nothing but a typed error. A hang is met by
 * the time limit of the test.
 */
export async function readMutations(
  t: ExecutionContext,
  files: readonly Uint8Array[],
  seed: number,
  count: number,
): Promise<void> {
  const random = new Random(seed);
  for (let n = 0; n < count; n++) {
    const file = files[random.below(files.length)] ?? Buffer.alloc(0);
    const bytes = mutate(file, random);
    const stages = [
      decodeStream(),
      decodeStream({ damage: 'end', undecodable: 'raw', unsupported: 'raw' }),
      new McapRecordParser({ damage: 'end', validateCrcs: false }),
      new McapRecordParser({ damage: 'skip', attachments: 'skip' }),
      decodeStream({
        damage: 'skip',
        undecodable: 'skip',
        unsupported: 'skip',
        topics: /^\/(imu|odom|points|chatter)/,
      }),
    ];
    for (const [index, stage] of stages.entries()) {
      const sink = new Writable({
        objectMode: true,
        write(_item, _encoding, callback) {
          callback();
        },
      });
      try {
        await pipeline(Readable.from([bytes], { objectMode: false }), stage, sink);
      } catch (error) {
        t.true(error instanceof McapStreamsError, `seed ${seed}, mutation ${n}, stage ${index}: ${String(error)}`);
      }
    }
  }
}
