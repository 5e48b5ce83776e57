import { Readable, Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { ExecutionContext } from 'ava';
import {
  decodeStream,
  McapRecordParser,
  McapRecordWriter,
  McapStreamsError,
  readRecording,
  readSummary,
} from '../../lib/index.js';
import type { RandomAccess } from '../../lib/index.js';
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
    for (const [name, read] of Object.entries(READERS)) {
      try {
        await read(bytes);
      } catch (error) {
        t.true(error instanceof McapStreamsError, `seed ${seed}, mutation ${n}, ${name}: ${String(error)}`);
      }
    }
  }
}

function sink(): Writable {
  return new Writable({
    objectMode: true,
    write(_item, _encoding, callback) {
      callback();
    },
  });
}

function stream(bytes: Uint8Array): Readable {
  return Readable.from([bytes], { objectMode: false });
}

function source(bytes: Uint8Array): RandomAccess {
  return {
    size: () => Promise.resolve(bytes.length),
    read: (offset, length) => Promise.resolve(bytes.subarray(offset, offset + length)),
  };
}

const LENIENT = { damage: 'skip', undecodable: 'skip', unsupported: 'skip' } as const;

/** Every way a recording is read, with every policy. */
const READERS: Record<string, (bytes: Uint8Array) => Promise<unknown>> = {
  decode: (bytes) => pipeline(stream(bytes), decodeStream(), sink()),
  'decode, end': (bytes) =>
    pipeline(stream(bytes), decodeStream({ damage: 'end', undecodable: 'raw', unsupported: 'raw' }), sink()),
  'decode, skip, topics': (bytes) =>
    pipeline(stream(bytes), decodeStream({ ...LENIENT, topics: /^\/(imu|odom|points|chatter)/ }), sink()),
  records: (bytes) => pipeline(stream(bytes), new McapRecordParser({ damage: 'end', validateCrcs: false }), sink()),
  rewrite: (bytes) =>
    pipeline(
      stream(bytes),
      new McapRecordParser({ damage: 'skip' }),
      new McapRecordWriter({ compression: 'none' }),
      sink(),
    ),
  'file order': (bytes) => pipeline(readRecording(source(bytes), LENIENT), sink()),
  'log time': (bytes) =>
    pipeline(readRecording(source(bytes), { ...LENIENT, order: 'logTime', maxBufferedBytes: 1000 }), sink()),
  summary: (bytes) => readSummary(source(bytes)),
};
