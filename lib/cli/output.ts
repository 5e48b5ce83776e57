/** What every verb shares: exit codes, warnings, and writing to stdout at the pace of who reads it. */

export const EXIT = {
  whole: 0,
  failure: 1,
  usage: 2,
  dataLoss: 3,
  interrupted: 130,
} as const;

export type ExitCode = (typeof EXIT)[keyof typeof EXIT];

/** A wrong call: exit code 2. */
export class UsageError extends Error {}

/** Thrown when whoever read stdout has gone: nothing is left to do, and it is no failure. */
export class ReaderGone extends Error {}

export function warn(text: string): void {
  process.stderr.write(`mcap-ros2: ${text}\n`);
}

/** Writes to stdout and waits while it is full. */
export class StdoutWriter {
  #gone = false;
  #error: Error | undefined;
  /** Goes on with a write that waits. */
  #go: (() => void) | undefined;

  constructor() {
    process.stdout.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'EPIPE') this.#gone = true;
      else this.#error = error;
      this.#go?.();
    });
    process.stdout.on('drain', () => this.#go?.());
    process.stdout.on('close', () => this.#go?.());
  }

  async write(text: string): Promise<void> {
    this.#check();
    if (!process.stdout.write(text)) {
      await new Promise<void>((resolve) => {
        this.#go = resolve;
      });
    }
    this.#check();
  }

  /** Resolves when all is written. */
  async finish(): Promise<void> {
    await new Promise<void>((resolve) => {
      process.stdout.write('', () => {
        resolve();
      });
    });
    this.#check();
  }

  #check(): void {
    if (this.#gone) throw new ReaderGone();
    if (this.#error !== undefined) throw this.#error;
  }
}
