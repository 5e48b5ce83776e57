/** The container core fed with bytes from several places of a file. */
import { pipeline, Readable } from 'node:stream';
import type { LocatedBytes } from '../mcap/read-plan.js';
import { batched } from './batch.js';
import { ContainerCore } from './container-core.js';
import type { RecordHandler } from './container-core.js';
import type { ContainerOptions, ContainerStats } from './container-options.js';
import { PullTransform } from './pull-transform.js';
import type { Failure, Job, PullCore } from './pull-transform.js';

/** Outputs of a batch inside. */
export const BATCH = 512;

/** How the bytes end: with the file, with a record before that, or anywhere. */
export type Ending = 'whole' | 'partial' | 'ragged';

/** What a part of a recording is read with. */
export interface Reading {
  readonly container: ContainerOptions;
  readonly signal: AbortSignal;
  /** Counts on. */
  readonly stats: ContainerStats;
}

/**
 * The outputs of a handler for bytes of a file, in batches.
 *
 */
export async function* batchesOf<Out>(
  handler: RecordHandler<Out>,
  bytes: AsyncIterable<LocatedBytes>,
  { container, signal, stats }: Reading,
  ending: Ending,
  size: number = BATCH,
): AsyncGenerator<Out[]> {
  const core = new ContainerCore(handler, container, stats);
  const stage = new PullTransform<LocatedBytes, Out[]>(new LocatedCore(batched(core, size), core, ending), {
    writableObjectMode: true,
    readableObjectMode: true,
    writableHighWaterMark: 2,
    readableHighWaterMark: 1,
    maxJobs: core.maxJobs,
    maxCost: core.maxCost,
    signal,
  });
  pipeline(Readable.from(bytes, { highWaterMark: 2 }), stage, () => undefined);
  try {
    for await (const batch of stage) yield batch;
  } finally {
    stage.destroy();
  }
}

/** What of a container core this needs. */
interface Seekable {
  seek(offset: number): void;
  /** The rest of the file is not read. */
  finish(ragged: boolean): void;
}

export class LocatedCore<Out> implements PullCore<LocatedBytes, Out> {
  readonly #core: PullCore<Uint8Array, Out>;
  readonly #container: Seekable;
  readonly #ending: Ending;

  constructor(core: PullCore<Uint8Array, Out>, container: Seekable, ending: Ending) {
    this.#core = core;
    this.#container = container;
    this.#ending = ending;
  }

  write({ offset, bytes }: LocatedBytes): void {
    this.#container.seek(offset);
    this.#core.write(bytes);
  }

  end(): void {
    if (this.#ending !== 'whole') this.#container.finish(this.#ending === 'ragged');
    this.#core.end();
  }

  pull(): Job<Out> | undefined {
    return this.#core.pull();
  }

  failed(error: unknown): Failure {
    return this.#core.failed(error);
  }

  idle(): void {
    this.#core.idle?.();
  }

  close(): void {
    this.#core.close?.();
  }
}
