/**
 * Reading against @mcap/core and @foxglove/rosmsg2-serialization: `npm run bench:read [name]`. Peer and own take turns; `fresh`
 * is a process each (with its start), `warm` the median of the later rounds in one process. Both sides have to see the
 * same messages before a figure is printed.
 */
import { execFileSync } from 'node:child_process';
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { recordings } from '../data.js';

interface Result {
  times: number[];
  messages: number;
  checksum: number;
  peak: number;
}

const only = process.argv.slice(2).find((arg) => !arg.startsWith('--'));
const SCRIPT = join(import.meta.dirname, 'side.js');
const FRESH = 5;

function run(side: string, job: string, path: string, rounds: number): Result & { wall: number } {
  const started = performance.now();
  const text = execFileSync(process.execPath, [SCRIPT, side, job, path, String(rounds)], { encoding: 'utf8' });
  return { ...(JSON.parse(text) as Result), wall: performance.now() - started };
}

function median(values: number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[sorted.length >> 1] ?? NaN;
}

function line(cells: (string | number)[]): string {
  return cells.map((cell, n) => (n < 2 ? String(cell).padEnd(24) : String(cell).padStart(11))).join(' ');
}

console.log(`Node ${process.version}; ms, medians; ratio = peer / own`);
console.log(
  line([
    'recording',
    'job',
    'fresh peer',
    'fresh own',
    'ratio',
    'warm peer',
    'warm own',
    'ratio',
    'MB/s own',
    'RSS own',
  ]),
);
for (const { name, path } of await recordings()) {
  if (only !== undefined && !name.includes(only)) continue;
  for (const job of ['raw', 'decode']) {
    const peer: number[] = [];
    const own: number[] = [];
    let rss = 0;
    for (let n = 0; n < FRESH; n++) {
      const theirs = run('peer', job, path, 1);
      const ours = run('own', job, path, 1);
      if (theirs.messages !== ours.messages || theirs.checksum !== ours.checksum) {
        throw new Error(`${name}: the sides do not see the same messages`);
      }
      peer.push(theirs.wall);
      own.push(ours.wall);
      rss = Math.max(rss, ours.peak);
    }
    const warmPeer = median(run('peer', job, path, 5).times.slice(2));
    const warmOwn = median(run('own', job, path, 7).times.slice(2));
    const megabytes = statSync(path).size / 1e6;
    console.log(
      line([
        name,
        job,
        median(peer).toFixed(0),
        median(own).toFixed(0),
        (median(peer) / median(own)).toFixed(2),
        warmPeer.toFixed(0),
        warmOwn.toFixed(0),
        (warmPeer / warmOwn).toFixed(2),
        (megabytes / (warmOwn / 1000)).toFixed(0),
        rss.toFixed(0),
      ]),
    );
  }
}
