/** A stage that writes MCAP bytes: a PullTransform that also closes a chunk when it has been open for too long. */
import { PullTransform } from './pull-transform.js';
import type { PullCore } from './pull-transform.js';
import { readableMark, writableMark } from './stream-options.js';
import type { StreamOptions } from './stream-options.js';
import type { WriterStreamSettings } from './writer-options.js';

/** What the timer asks of the core. */
interface Ageing {
  readonly maxJobs: number;
  readonly maxCost: number;
  readonly writer: { readonly openMark: number | undefined; cut(): void };
}

export class WritingStage<In> extends PullTransform<In, Uint8Array> {
  readonly #timer: NodeJS.Timeout | undefined;

  constructor(core: PullCore<In, Uint8Array>, ageing: Ageing, settings: WriterStreamSettings, options: StreamOptions) {
    super(core, {
      writableObjectMode: true,
      signal: options.signal,
      maxJobs: ageing.maxJobs,
      maxCost: ageing.maxCost,
      readableHighWaterMark: readableMark(options, 'bytes'),
      writableHighWaterMark: writableMark(options, 'objects'),
    });
    const { maxChunkAge } = settings;
    if (maxChunkAge === undefined) return;
    const { writer } = ageing;
    let mark: number | undefined;
    const look = (): void => {
      const last = mark;
      mark = writer.openMark;
      if (mark === undefined || mark !== last) return;
      writer.cut();
      this.wake();
    };
    // Two looks within the time, so that nothing stays open for longer.
    this.#timer = setInterval(look, Math.max(1, Math.floor(maxChunkAge / 2))).unref();
  }

  override _destroy(error: Error | null, callback: (error?: Error | null) => void): void {
    clearInterval(this.#timer);
    super._destroy(error, callback);
  }
}
