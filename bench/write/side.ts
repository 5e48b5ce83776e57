/**
 * One way of writing, a process by itself: `node side.js WAY zstd|none FILE ROUNDS`. Prints JSON: ms of each round, peak RSS
 * in MiB, CPU time in ms.
 */
import { load, WAYS } from './ways.js';
import type { Compression } from './ways.js';

const [name = '', compression = '', path = '', rounds = '1'] = process.argv.slice(2);
const way = WAYS[name];
if (way === undefined) throw new Error(`no way ${name}`);
const messages = await load(path);
const before = process.cpuUsage();
const times: number[] = [];
for (let n = 0; n < Number(rounds); n++) {
  const began = performance.now();
  await way(messages, compression as Compression);
  times.push(performance.now() - began);
}
const { user, system } = process.cpuUsage(before);
const peak = process.resourceUsage().maxRSS / 1024;
console.log(JSON.stringify({ times, peak, cpu: (user + system) / 1000, messages: messages.length }));
