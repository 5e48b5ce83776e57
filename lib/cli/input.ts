/** Where a verb reads from: files, stdin, bag folders, each also compressed as a whole. */
import { createReadStream, createWriteStream, statSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pipeline } from 'node:stream';
import { pipeline as pipelineEnd } from 'node:stream/promises';
import { Readable } from 'node:stream';
import { bagFiles } from '../streams/bag-folder.js';
import { isZstd, zstdDecompressor } from '../streams/whole-file-compression.js';
import { UsageError } from './output.js';
import { temporaries } from './temporaries.js';
import { Progress } from './progress.js';
import type { Tail } from './tail.js';

/** One file, or stdin. */
export interface Input {
  /** How messages name it. */
  readonly name: string;
  /** Undefined: stdin. */
  readonly path: string | undefined;
}

/** What stands on the command line, stdin where nothing does. Bag folders stay folders. */
export function namedInputs(paths: readonly string[]): Input[] {
  const given = paths.length === 0 ? ['-'] : paths;
  if (given.filter((path) => path === '-').length > 1) throw new UsageError('stdin can be read once only');
  return given.map((path) => {
    if (path !== '-') return { name: path, path };
    if (process.stdin.isTTY) throw new UsageError('no input: name a file, or pipe a recording in');
    return { name: 'stdin', path: undefined };
  });
}

/** The same with the files of bag folders in place of the folders. */
export async function inputFiles(paths: readonly string[]): Promise<Input[]> {
  const files: Input[] = [];
  for (const input of namedInputs(paths)) {
    const isFolder = input.path !== undefined && statSync(input.path, { throwIfNoEntry: false })?.isDirectory();
    if (input.path === undefined || isFolder !== true) files.push(input);
    else files.push(...(await bagFiles(input.path)).map((path) => ({ name: path, path })));
  }
  return files;
}

export interface ByteOptions {
  /** Called where an input that is compressed as a whole does not decompress any further; it ends there. */
  readonly onBroken?: (error: Error) => void;
  /** Whether stderr shows how far it is. Default true. */
  readonly progress?: boolean;
  /** Keeps the last bytes, decompressed. */
  readonly tail?: Tail | undefined;
  readonly onBytes?: ((count: number) => void) | undefined;
}

/** An input's bytes, decompressed if it is a zstd file. */
export function bytesOf(input: Input, options: ByteOptions = {}): Readable {
  const source: Readable =
    input.path === undefined ? process.stdin : createReadStream(input.path, { highWaterMark: 1 << 18 });
  const size = input.path === undefined ? undefined : statSync(input.path, { throwIfNoEntry: false })?.size;
  const progress = options.progress === false ? undefined : new Progress(input.name, size);
  const bytes = plain(source, options.onBroken, progress);
  return Readable.from(watched(bytes, options), { objectMode: false, highWaterMark: 1 << 18 });
}

async function* watched(bytes: AsyncIterable<Buffer>, { tail, onBytes }: ByteOptions): AsyncGenerator<Buffer> {
  for await (const part of bytes) {
    tail?.push(part);
    onBytes?.(part.length);
    yield part;
  }
}

async function* plain(
  source: Readable,
  onBroken: ((error: Error) => void) | undefined,
  progress: Progress | undefined,
): AsyncGenerator<Buffer> {
  const bytes = counted(source, progress);
  let head = Buffer.alloc(0);
  try {
    while (head.length < 4) {
      const next = await bytes.next();
      if (next.done === true) break;
      head = Buffer.concat([head, next.value]);
    }
    if (!isZstd(head)) {
      if (head.length > 0) yield head;
      yield* bytes;
      return;
    }
    const stage = zstdDecompressor();
    pipeline(Readable.from(chained(head, bytes), { objectMode: false }), stage, () => undefined);
    try {
      for await (const part of stage) yield part as Buffer;
    } catch (error) {
      if (onBroken === undefined) throw error;
      onBroken(error as Error);
    }
  } finally {
    progress?.end();
    source.destroy();
  }
}

async function* counted(source: Readable, progress: Progress | undefined): AsyncGenerator<Buffer> {
  for await (const part of source) {
    progress?.add((part as Buffer).length);
    yield part as Buffer;
  }
}

async function* chained(head: Buffer, rest: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  yield head;
  yield* rest;
}

/**
 * Calls `work` with paths that can be read at any place and more than once: what comes from stdin is put into a temporary file
 * first.
 */
export async function withPaths<T>(
  inputs: readonly Input[],
  work: (paths: readonly string[]) => Promise<T>,
): Promise<T> {
  if (inputs.every(({ path }) => path !== undefined)) return work(inputs.map(({ path }) => path ?? ''));
  const folder = await mkdtemp(join(tmpdir(), 'mcap-ros2-'));
  temporaries.add(folder);
  try {
    const spooled = join(folder, 'stdin.mcap');
    await pipelineEnd(process.stdin, createWriteStream(spooled, { mode: 0o600 }));
    return await work(inputs.map(({ path }) => path ?? spooled));
  } finally {
    await rm(folder, { recursive: true, force: true });
    temporaries.delete(folder);
  }
}
