/** Messages of a recording while it is written. */
import { open } from 'node:fs/promises';
import type { FileHandle } from 'node:fs/promises';
import { stat } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { McapStreamsError } from '../errors.js';
import type { LocatedBytes } from '../mcap/read-plan.js';
import { checkOptions } from '../options.js';
import { BatchReadable } from './batch-readable.js';
import { CONTAINER_OPTIONS, containerSettings, emptyStats, wholeNumber } from './container-options.js';
import type { ContainerOptions } from './container-options.js';
import { DecodeHandler } from './decode-stream.js';
import { BATCH, batchesOf } from './located-core.js';
import { DECODE_OPTIONS, MessageDecoder } from './message-decoder.js';
import type { DecodedMessage, DecodeOptions } from './message-decoder.js';
import { readableMark } from './stream-options.js';
import type { StreamOptions } from './stream-options.js';

export interface FollowFileOptions
  extends ContainerOptions, DecodeOptions, Omit<StreamOptions, 'writableHighWaterMark'> {
  /** ms between looks at a file that has not grown. Default 100. */
  readonly pollInterval?: number | undefined;
  /** ms without growth after which the stream ends, cleanly. Default: it waits for the Footer. */
  readonly idleTimeout?: number | undefined;
}

const OPTIONS = [
  ...CONTAINER_OPTIONS,
  ...DECODE_OPTIONS,
  'signal',
  'highWaterMark',
  'readableHighWaterMark',
  'pollInterval',
  'idleTimeout',
] as const;

/**
 * A Readable of the messages of a growing file: records are delivered as soon as they are whole, chunks without waiting for
 * their indexes. It ends at the Footer, after `idleTimeout`, or when it is aborted. A file that becomes shorter is
 * `MCAP_FILE_TRUNCATED`, one that is replaced `MCAP_FILE_REPLACED`.
 */
export function followFile<T = unknown>(
  path: string,
  options: FollowFileOptions = {},
): BatchReadable<DecodedMessage<T>> {
  checkOptions(options, OPTIONS, 'followFile');
  const poll = wholeNumber(options.pollInterval, 'pollInterval', 1) ?? 100;
  const idle = wholeNumber(options.idleTimeout, 'idleTimeout', 1) ?? Infinity;
  const decoder = new MessageDecoder({ ...options, eagerDefinitions: true }, containerSettings(options).maxChannels);
  return new BatchReadable(
    (signal) => {
      const reading = { container: options, signal, stats: emptyStats() };
      const bytes = growing(path, poll, idle, signal);
      return batchesOf(new DecodeHandler(decoder), bytes, reading, 'ragged', BATCH) as AsyncGenerator<
        DecodedMessage<T>[]
      >;
    },
    { inBatches: false, limit: Infinity, highWaterMark: readableMark(options, 'objects'), signal: options.signal },
  );
}

const READ_BYTES = 2 ** 18;
const MAGIC_END = Buffer.from('894d434150300d0a', 'hex');

async function* growing(path: string, poll: number, idle: number, signal: AbortSignal): AsyncGenerator<LocatedBytes> {
  const file = await open(path, 'r');
  let offset = 0;
  let quiet = 0;
  let tail: Buffer = Buffer.alloc(0);
  try {
    const { ino, dev } = await file.stat();
    while (!signal.aborted) {
      const bytes = await readOn(file, offset);
      if (bytes.length > 0) {
        quiet = 0;
        yield { offset, bytes };
        offset += bytes.length;
        tail = Buffer.concat([tail, bytes.subarray(-FOOTER_LENGTH)]).subarray(-FOOTER_LENGTH);
        continue;
      }
      if (offset > FOOTER_LENGTH && isFooter(tail)) return;
      await checkSame(path, file, { ino, dev, offset });
      if (quiet >= idle) return;
      await delay(Math.min(poll, idle - quiet), undefined, { signal }).catch(() => undefined);
      quiet += poll;
    }
  } finally {
    await file.close();
  }
}

const FOOTER_LENGTH = 9 + 20 + 8;

/** Whether a file that ends so is complete. */
function isFooter(tail: Buffer): boolean {
  return tail[0] === 2 && tail.readUInt32LE(1) === 20 && tail.subarray(-8).equals(MAGIC_END);
}

async function readOn(file: FileHandle, offset: number): Promise<Buffer> {
  const bytes = Buffer.allocUnsafeSlow(READ_BYTES);
  const { bytesRead } = await file.read(bytes, 0, READ_BYTES, offset);
  return bytes.subarray(0, bytesRead);
}

async function checkSame(
  path: string,
  file: FileHandle,
  { ino, dev, offset }: { ino: number; dev: number; offset: number },
): Promise<void> {
  const { size } = await file.stat();
  if (size < offset) {
    throw new McapStreamsError('MCAP_FILE_TRUNCATED', `${path} had ${offset} bytes and has ${size} now`, {
      offset: size,
    });
  }
  const now = await stat(path).catch(() => undefined);
  if (now?.ino !== ino || now.dev !== dev) {
    throw new McapStreamsError('MCAP_FILE_REPLACED', `${path} is no longer the file that was opened`, { offset });
  }
}
