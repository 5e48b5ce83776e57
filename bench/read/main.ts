/**
 * Reading against @mcap/core and @foxglove/rosmsg2-serialization: `npm run bench:read [-- --quick] [name or file.mcap]`. Peer
 * and own take turns; `fresh` is a process each (with its start), `warm` the median of the later rounds in one process. Both
 * sides have to see the same messages before a figure is printed. `cpu` is user + system time of the warm processes, all
 * threads: it swings less than the clock where others use the machine too.
 */
import { statSync } from 'node:fs';
import { basename, join } from 'node:path';
import { recordings } from '../data.js';
import { median, runNode, tellFigures } from '../measure.js';

interface Result {
  times: number[];
  messages: number;
  checksum: number;
  peak: number;
  cpu: number;
}

const args = process.argv.slice(2);
const only = args.find((arg) => !arg.startsWith('--')) ?? '';
const quick = args.includes('--quick');
const SCRIPT = join(import.meta.dirname, 'side.js');
const FRESH = quick ? 3 : 5;
const WARM = 2;
const ROUNDS = quick ? 4 : 5;
/** A comparison that has taken so long is content with one warm turn: slow machines end too. */
const ENOUGH_MS = quick ? 15_000 : Infinity;

function run(side: string, job: string, path: string, rounds: number): Result & { wall: number } {
  const started = performance.now();
  const text = runNode([SCRIPT, side, job, path, String(rounds)]);
  return { ...(JSON.parse(text) as Result), wall: performance.now() - started };
}

/** Two sides take turns. */
function compare(name: string, path: string, one: [string, string], other: [string, string]): void {
  const sides = [one, other].map(([side, job]) => ({
    side,
    job,
    fresh: [] as number[],
    warm: [] as number[],
    cpu: 0,
    peak: 0,
  }));
  // Own ways against each other are no aims: one warm process is enough.
  const warmTurns = one[0] === 'own' && quick ? 1 : WARM;
  const began = performance.now();
  for (let n = 0; n < FRESH + warmTurns; n++) {
    if (n > FRESH && performance.now() - began > ENOUGH_MS) break;
    const rounds = n < FRESH ? 1 : ROUNDS;
    const results = sides.map((entry) => {
      const result = run(entry.side, entry.job, path, rounds);
      if (n < FRESH) {
        entry.fresh.push(result.wall);
        entry.peak = Math.max(entry.peak, result.peak);
      } else {
        entry.warm.push(...result.times.slice(2));
        entry.cpu += result.cpu / 1000;
      }
      return result;
    });
    const [first, second] = results;
    if (first?.messages !== second?.messages || first?.checksum !== second?.checksum) {
      throw new Error(`${name}: the sides do not see the same messages`);
    }
  }
  const [a, b] = sides;
  if (a === undefined || b === undefined) return;
  const fresh = median(a.fresh) / median(b.fresh);
  const warm = median(a.warm) / median(b.warm);
  const label = one[0] === 'peer' ? b.job : `${b.job.replace(/:.*/, ' 2 fields')} : ${a.job}`;
  const megabytes = statSync(path).size / 1e6;
  console.log(
    line([
      name,
      label,
      ...[median(a.fresh), median(b.fresh)].map((ms) => ms.toFixed(0)),
      fresh.toFixed(2),
      ...[median(a.warm), median(b.warm)].map((ms) => ms.toFixed(0)),
      warm.toFixed(2),
      (a.cpu / b.cpu).toFixed(2),
      (megabytes / (median(b.warm) / 1000)).toFixed(0),
      ...[a.peak, b.peak].map((peak) => peak.toFixed(0)),
    ]),
  );
  const key = `${name} ${label}`;
  tellFigures({
    [`${key} fresh`]: fresh,
    [`${key} warm`]: warm,
    [`${key} cpu`]: a.cpu / b.cpu,
    [`${key} RSS`]: b.peak,
  });
}

function line(cells: readonly string[]): string {
  return cells.map((cell, n) => (n === 0 ? cell.padEnd(23) : n === 1 ? cell.padEnd(26) : cell.padStart(7))).join(' ');
}

console.log(`Node ${process.version}; ms, medians; ratio = peer / own; RSS in MiB, of the fresh processes`);
console.log(line(['recording', 'job', 'fresh', 'own', 'ratio', 'warm', 'own', 'ratio', 'cpu', 'MB/s', 'RSS', 'own']));
const one = only.endsWith('.mcap');
const list = one ? [{ name: basename(only), path: only }] : await recordings();
for (const { name, path } of list) {
  if (!one && !name.includes(only)) continue;
  const big = /^(big|nuscenes)/.test(name);
  for (const job of big ? ['decode'] : ['raw', 'decode']) compare(name, path, ['peer', job], ['own', job]);
  if (big || one || name === 'small-zstd') compare(name, path, ['peer', 'decode'], ['own', 'file']);
  if (name === 'small-zstd') {
    compare(name, path, ['own', 'decode'], ['own', 'batch']);
    compare(name, path, ['own', 'staged'], ['own', 'decode']);
    for (const fields of [
      '/Imu:header.stamp,linear_acceleration.x',
      '/Odometry:pose.pose.position.x,twist.twist.linear.x',
    ])
      compare(name, path, ['own', fields.split(':')[0] ?? ''], ['own', fields]);
    compare(name, path, ['own', 'stringify'], ['own', 'ndjson']);
  }
}
