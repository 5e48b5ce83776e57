/** What the measurements share: medians, processes that take turns, and the last line that `npm run bench` reads figures from. */
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';

export const ROOT: string = join(import.meta.dirname, '../..');

export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[sorted.length >> 1] ?? NaN;
}

/** Runs a script of this Node; its output. */
export function runNode(args: readonly string[], env: NodeJS.ProcessEnv = process.env): string {
  return execFileSync(process.execPath, args, { encoding: 'utf8', env, maxBuffer: 2 ** 26 });
}

const MARK = '@figures ';

/** Names in the table of results, and ratios. Printed only where `npm run bench` asks for it. */
export function tellFigures(figures: Readonly<Record<string, number>>): void {
  if (process.env['BENCH_FIGURES'] !== undefined) console.log(MARK + JSON.stringify(figures));
}

/** Runs a measurement: what it printed, and its figures. */
export function measure(args: readonly string[]): { text: string; figures: Record<string, number> } {
  const output = runNode(args, { ...process.env, BENCH_FIGURES: '1' }).trimEnd();
  const lines = output.split('\n').filter((line) => !line.startsWith(MARK));
  const figures = output
    .split('\n')
    .filter((line) => line.startsWith(MARK))
    .map((line) => JSON.parse(line.slice(MARK.length)) as Record<string, number>);
  return { text: lines.join('\n'), figures: Object.assign({}, ...figures) as Record<string, number> };
}
