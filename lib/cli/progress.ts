/** A line on stderr that says how far long work is: on a terminal only, and not with `--quiet`. */
import { isQuiet } from './output.js';
import { formatBytes } from './table.js';

/** Milliseconds of work before anything is shown, and between two lines. */
const DELAY = 500;
const INTERVAL = 200;
const BAR = 24;

export class Progress {
  readonly #name: string;
  readonly #total: number | undefined;
  readonly #started = Date.now();
  readonly #shown = process.stderr.isTTY && !isQuiet();
  #next = Date.now() + DELAY;
  #done = 0;
  #drawn = false;

  /** @param total bytes, if known: a bar and the time left are shown then */
  constructor(name: string, total: number | undefined) {
    this.#name = name;
    this.#total = total;
  }

  add(bytes: number): void {
    this.#done += bytes;
    if (!this.#shown || Date.now() < this.#next) return;
    this.#next = Date.now() + INTERVAL;
    this.#drawn = true;
    const seconds = (Date.now() - this.#started) / 1000;
    process.stderr.write(`\r\u001b[K${progressLine(this.#name, this.#done, this.#total, seconds)}`);
  }

  /** Takes the line away. */
  end(): void {
    if (this.#drawn) process.stderr.write('\r\u001b[K');
    this.#drawn = false;
  }
}

/** `drive.mcap [####    ] 50 %, 120.0 MiB/s, 12 s left`. */
export function progressLine(name: string, done: number, total: number | undefined, seconds: number): string {
  const rate = seconds > 0 ? done / seconds : 0;
  const speed = `${formatBytes(Math.round(rate))}/s`;
  if (total === undefined || total === 0) return `${name} ${formatBytes(done)}, ${speed}`;
  const share = Math.min(1, done / total);
  const filled = Math.round(share * BAR);
  const left = rate > 0 ? `, ${Math.max(0, Math.ceil((total - done) / rate))} s left` : '';
  return `${name} [${'#'.repeat(filled)}${' '.repeat(BAR - filled)}] ${Math.floor(share * 100)} %, ${speed}${left}`;
}
