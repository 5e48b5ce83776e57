/**
 * What a second core gives: `npm run bench:threads` reads + decodes and rewrites big zstd payloads with threads and without, and
 * reads them on one core alone with one thread (`taskset -c 0`, where there is one). The ways take turns, a process each; medians of
 * later rounds.
 */
import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { recordings } from '../data.js';
import { median, tellFigures } from '../measure.js';

const SCRIPT = join(import.meta.dirname, '../read/side.js');
const TASKSET = '/usr/bin/taskset';
const TURNS = 2;
const WARM = 1;
const ROUNDS = 3;

const path = (await recordings()).find(({ name }) => name === 'big-zstd')?.path ?? '';

/** Median ms of a job with the default threads, or `first`, and with none, and their ratio. */
function compare(title: string, job: string, oneCore: boolean, first: string[] = []): void {
  const times: [number[], number[]] = [[], []];
  for (let turn = 0; turn < TURNS; turn++) {
    for (const [index, threads] of [first, ['0']].entries()) {
      const command = [process.execPath, SCRIPT, 'own', job, path, String(WARM + ROUNDS), ...threads];
      const [file = '', ...args] = oneCore ? [TASKSET, '-c', '0', ...command] : command;
      const output = execFileSync(file, args, { encoding: 'utf8' });
      times[index]?.push(...(JSON.parse(output) as { times: number[] }).times.slice(WARM));
    }
  }
  const [on, off] = times.map(median);
  const share = (on ?? NaN) / (off ?? NaN);
  console.log(
    `${title.padEnd(44)}${(on ?? NaN).toFixed(0).padStart(8)}${(off ?? NaN).toFixed(0).padStart(8)}${share.toFixed(2).padStart(8)}`,
  );
  tellFigures({ [`threads ${title}`]: share });
}

console.log(`Node ${process.version}; ms, medians; share = with threads / without`);
console.log(`${''.padEnd(44)}    with without   share`);
compare('read + decode', 'decode', false);
compare('rewrite', 'rewrite', false);
if (existsSync(TASKSET)) {
  // The default there is none.
  compare('read + decode on one core, threads: 1', 'decode', true, ['1']);
}
