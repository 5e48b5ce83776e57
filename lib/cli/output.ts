/** What every verb shares: exit codes, what is said on stderr, and writing to stdout at the pace of who reads it. */

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

export type Verbosity = 'quiet' | 'normal' | 'verbose';

let verbosity: Verbosity = 'normal';

/** How much is said on stderr; set once, from the options. */
export function setVerbosity(value: Verbosity): void {
  verbosity = value;
}

export function isQuiet(): boolean {
  return verbosity === 'quiet';
}

/** Whether stderr is a terminal that wants colours (https://no-color.org). */
function colours(): boolean {
  return process.stderr.isTTY && (process.env['NO_COLOR'] ?? '') === '' && process.env['TERM'] !== 'dumb';
}

function say(text: string, colour: number): void {
  process.stderr.write(colours() ? `\u001b[${colour}mmcap-ros2:\u001b[0m ${text}\n` : `mcap-ros2: ${text}\n`);
}

/** Why it failed. Said in any case. */
export function fail(text: string): void {
  say(text, 31);
}

/** What is wrong with an input, but does not end the work. */
export function warn(text: string): void {
  if (verbosity !== 'quiet') say(text, 33);
}

/** What was done. */
export function note(text: string): void {
  if (verbosity !== 'quiet') say(text, 36);
}

/** What only `--verbose` tells. */
export function detail(text: string): void {
  if (verbosity === 'verbose') say(text, 90);
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

  async write(data: string | Uint8Array): Promise<void> {
    this.#check();
    if (!process.stdout.write(data)) {
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
