/**
 * Encode + write against @mcap/core's McapWriter with @foxglove/rosmsg2-serialization's MessageWriter: zstd (level 3 on both
 * sides) and uncompressed. The ways take turns, a process each, and the median of its later rounds counts.
 *
 * `npm run bench:write [-- --quick] [--once] [recording.mcap]`. What each way wrote is read back and compared before anything is
 * timed. Without a recording it takes 200,000 small messages. `--once`: one turn of the peer and of `encodeStream`.
 */
import { deepStrictEqual } from 'node:assert';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { recordings } from '../data.js';
import { median, runNode, tellFigures } from '../measure.js';
import { loadPackage } from '../package.js';
import { load, WAYS } from './ways.js';

interface Result {
  times: number[];
  peak: number;
  cpu: number;
  messages: number;
}

const args = process.argv.slice(2);
const given = args.find((arg) => !arg.startsWith('--'));
const path = given ?? (await recordings()).find(({ name }) => name === 'small-none')?.path ?? '';
const quick = args.includes('--quick');
const once = args.includes('--once');
const TURNS = once ? 1 : quick ? 2 : 5;
const ways = Object.entries(WAYS).slice(0, once ? 2 : undefined);
const WARM = 2;
const ROUNDS = quick ? 2 : 5;
/** Turns that have taken so long are enough: slow machines end too. */
const ENOUGH_MS = quick ? 25_000 : Infinity;
const SCRIPT = join(import.meta.dirname, 'side.js');
const { decodeStream } = await loadPackage();

async function read(parts: Buffer[]): Promise<unknown[]> {
  const values: unknown[] = [];
  const source = decodeStream(Readable.from(parts), { arrays: 'copy' });
  for await (const { topic, schemaName, logTime, publishTime, sequence, message } of source) {
    values.push({ topic, schemaName, logTime, publishTime, sequence, message });
  }
  return values;
}

/** Throws unless all ways write the same; the bytes of the first two. */
async function check(compression: 'zstd' | 'none'): Promise<number[]> {
  // A part is enough, and a large recording would not fit in memory so many times.
  const messages = (await load(path)).slice(0, 20_000);
  const sizes: number[] = [];
  let first: unknown[] | undefined;
  for (const [name, way] of ways) {
    const parts: Buffer[] = [];
    await way(messages, compression, parts);
    sizes.push(parts.reduce((sum, { length }) => sum + length, 0));
    const values = await read(parts);
    first ??= values;
    deepStrictEqual(values, first, `${name} writes something else`);
  }
  return sizes;
}

for (const compression of ['zstd', 'none'] as const) {
  const [theirs, ours] = await check(compression);
  // Threads have nothing to do for what is not compressed.
  const names = ways.map(([name]) => name).filter((name) => compression === 'zstd' || !name.endsWith('threads: 0'));
  const results = names.map(() => ({ times: [] as number[], peak: 0, cpu: 0, messages: 0 }));
  const began = performance.now();
  for (let turn = 0; turn < TURNS && (turn === 0 || performance.now() - began < ENOUGH_MS); turn++) {
    for (const [index, name] of names.entries()) {
      const result = JSON.parse(runNode([SCRIPT, name, compression, path, String(WARM + ROUNDS)])) as Result;
      const sum = results[index];
      if (sum === undefined) continue;
      sum.times.push(...result.times.slice(WARM));
      sum.peak = Math.max(sum.peak, result.peak);
      sum.cpu += result.cpu;
      sum.messages = result.messages;
    }
  }
  const [peer] = results;
  if (peer === undefined) continue;
  if (compression === 'zstd') {
    console.log(`Node ${process.version}; ${peer.messages} messages; ms, medians; ratio = peer / ours; RSS in MiB`);
    console.log(`${''.padEnd(34)}     ms  ratio    cpu    RSS`);
  }
  console.log(`${compression}: of the first 20,000 messages ${ours} bytes ours, ${theirs} theirs`);
  const ratio = ({ times }: { times: number[] }): number => median(peer.times) / median(times);
  for (const [index, name] of names.entries()) {
    const way = results[index];
    if (way === undefined) continue;
    const cells = [
      median(way.times).toFixed(0),
      ratio(way).toFixed(1),
      (peer.cpu / way.cpu).toFixed(1),
      way.peak.toFixed(0),
    ];
    console.log(`  ${name.padEnd(32)}${cells.map((cell) => cell.padStart(7)).join('')}`);
    tellFigures({ [`write ${compression} ${name}`]: ratio(way) });
  }
}
