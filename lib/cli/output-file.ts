/**
 * Where a verb writes to: a file that is written beside its place and renamed when it is whole, or stdout. An input is never
 * written over, and a half file is never left behind.
 */
import { randomBytes } from 'node:crypto';
import { createWriteStream, fstatSync, statSync } from 'node:fs';
import type { Stats } from 'node:fs';
import { realpath, rename, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { Writable } from 'node:stream';
import { finished } from 'node:stream/promises';
import type { Input } from './input.js';
import { StdoutWriter, UsageError } from './output.js';
import { temporaries } from './temporaries.js';

export interface OutputOptions {
  /** Where to; nothing or `-` is stdout. */
  readonly output?: string | undefined;
  /** Whether a file that exists may be replaced. */
  readonly force?: boolean | undefined;
}

/**
 * Calls `work` with the stream to write to. When it resolves, the output is whole and in its place; when it rejects, nothing of
 * it is left.
 *
 * @param kind binary data does not go to a terminal
 */
export async function withOutput<T>(
  { output, force }: OutputOptions,
  inputs: readonly Input[],
  kind: 'binary' | 'text',
  work: (stream: Writable) => Promise<T>,
): Promise<T> {
  if (output === undefined || output === '-') return toStdout(inputs, kind, work);
  const there = statSync(output, { throwIfNoEntry: false });
  if (there !== undefined) {
    refuseInput(there, inputs, output);
    if (there.isDirectory()) throw new UsageError(`${output} is a folder`);
    // A device or a pipe has no place to be renamed to.
    if (!there.isFile()) return written(createWriteStream(output), work);
    if (force !== true) throw new UsageError(`${output} exists: --force replaces it`);
  }
  // A link stays one: what it points to is replaced.
  const place = there === undefined ? output : await realpath(output);
  const temporary = join(dirname(place), `.${basename(place)}.${randomBytes(4).toString('hex')}.part`);
  temporaries.add(temporary);
  try {
    const mode = there === undefined ? 0o666 : there.mode & 0o777;
    const result = await written(createWriteStream(temporary, { flags: 'wx', flush: true, mode }), work);
    await rename(temporary, place);
    return result;
  } catch (error) {
    await rm(temporary, { force: true });
    throw error;
  } finally {
    temporaries.delete(temporary);
  }
}

async function written<T>(stream: Writable, work: (stream: Writable) => Promise<T>): Promise<T> {
  // An error of the stream reaches `work` by its pipeline; one before it is awaited must not end the process.
  const ended = finished(stream, { readable: false });
  ended.catch(() => undefined);
  try {
    const result = await work(stream);
    if (!stream.writableEnded) stream.end();
    await ended;
    return result;
  } catch (error) {
    stream.destroy();
    if (!stream.closed) {
      await new Promise<void>((resolve) => {
        stream.once('close', () => {
          resolve();
        });
      });
    }
    throw error;
  }
}

async function toStdout<T>(
  inputs: readonly Input[],
  kind: 'binary' | 'text',
  work: (stream: Writable) => Promise<T>,
): Promise<T> {
  if (kind === 'binary' && process.stdout.isTTY) {
    throw new UsageError('a recording does not go to a terminal: name a file with -o, or redirect stdout');
  }
  refuseInput(fstatSync(1), inputs, 'stdout');
  const writer = new StdoutWriter();
  const stream = new Writable({
    highWaterMark: 2 ** 18,
    write: (data: Uint8Array, _encoding, callback) => {
      writer.write(data).then(
        () => {
          callback();
        },
        (error: unknown) => {
          callback(error as Error);
        },
      );
    },
    final: (callback) => {
      writer.finish().then(
        () => {
          callback();
        },
        (error: unknown) => {
          callback(error as Error);
        },
      );
    },
  });
  return written(stream, work);
}

/** An input under whatever name it has: the same file by device and number. */
function refuseInput(output: Stats, inputs: readonly Input[], name: string): void {
  if (!output.isFile()) return;
  for (const { path } of inputs) {
    const input = path === undefined ? fstatSync(0) : statSync(path, { throwIfNoEntry: false });
    if (input?.isFile() === true && input.dev === output.dev && input.ino === output.ino) {
      throw new UsageError(`${name} is the input itself: it would be destroyed`);
    }
  }
}
