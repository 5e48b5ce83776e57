/**
 * A payload to its JSON text, against decoding it and `JSON.stringify`: nine types, alternating in one run.
 *
 * `npm run bench:json` prints ns a message (median of the rounds) and ratios. `stringify` writes the decoded object as it
 * comes, of other content (typed arrays as objects of indexes, no 64-bit integers); `form` gets the documented form from it,
 * with a replacer. Both end as a Buffer of UTF-8, as ours does. `--quick` takes fewer rounds, a type's name that type alone.
 */
import { deepStrictEqual } from 'node:assert';
import { compileCodec } from '../../lib/cdr/codec.js';
import { EncodeBuffer } from '../../lib/cdr/encode-buffer.js';
import { CASES } from '../codec/types.js';

const args = process.argv.slice(2);
const ROUNDS = args.includes('--quick') ? 7 : 21;
// `stringify` of an Image takes 190 ms.
const [WARM, CALIBRATE] = args.includes('--quick') ? [30, 10] : [300, 100];
const only = args.find((arg) => !arg.startsWith('--'));
let sink: unknown;

function replacer(_key: string, value: unknown): unknown {
  if (typeof value === 'bigint') return value.toString();
  if (typeof value === 'number') return Number.isFinite(value) ? value : String(value);
  if (value instanceof Uint8Array) return Buffer.from(value.buffer, value.byteOffset, value.length).toString('base64');
  return ArrayBuffer.isView(value) ? Array.from(value as unknown as ArrayLike<unknown>) : value;
}

const bigints = (_key: string, value: unknown): unknown => (typeof value === 'bigint' ? Number(value) : value);

const tasks = CASES.filter(({ name }) => only === undefined || name.includes(only)).map(({ name, text, value }) => {
  const codec = compileCodec({ name, encoding: 'ros2msg', data: text });
  const payload = codec.encode(value);
  const decoded = codec.decode(payload);
  const hasBigints = /\b(u?int64)\b/.test(text);
  deepStrictEqual(JSON.parse(String(codec.toJson(payload))), JSON.parse(JSON.stringify(decoded, replacer)));
  const chunk = new Uint8Array(payload.length + 40);
  chunk.set(payload, 31);
  const view = new DataView(chunk.buffer);
  const buffer = new EncodeBuffer(1024);
  const end = 31 + payload.length;
  // What `JSON.stringify` may do without a word of ours: lists in place of typed arrays.
  const plain = JSON.parse(JSON.stringify(decoded, replacer)) as unknown;
  return {
    name,
    runs: [
      () => codec.jsonAt(chunk, view, 31, end, buffer, 0),
      () => Buffer.from(JSON.stringify(codec.decodeAt(chunk, view, 31, end), hasBigints ? bigints : undefined)),
      () => Buffer.from(JSON.stringify(codec.decodeAt(chunk, view, 31, end), replacer)),
      () => Buffer.from(JSON.stringify(plain)),
    ],
  };
});

console.log(`Node ${process.version}; ns a message, median of ${ROUNDS} rounds`);
console.log(
  row(['type', 'toJson', 'decode+stringify', 'ratio', 'decode+form', 'ratio', 'stringify of plain object', 'ratio']),
);
for (const { runs } of tasks) for (const run of runs) for (let n = 0; n < WARM; n++) sink = run();
const ratios: number[][] = [[], [], []];
for (const { name, runs } of tasks) {
  const times = runs.map((): number[] => []);
  const counts = runs.map((run) => {
    const begin = process.hrtime.bigint();
    for (let n = 0; n < CALIBRATE; n++) sink = run();
    return Math.max(1, Math.round((CALIBRATE * 2e7) / Number(process.hrtime.bigint() - begin)));
  });
  for (let round = 0; round < ROUNDS; round++) {
    runs.forEach((run, index) => {
      const count = counts[index] ?? 1;
      const begin = process.hrtime.bigint();
      for (let n = 0; n < count; n++) sink = run();
      times[index]?.push(Number(process.hrtime.bigint() - begin) / count);
    });
  }
  const [ours = 0, ...others] = times.map((list) => list.sort((a, b) => a - b)[list.length >> 1] ?? 0);
  others.forEach((other, index) => ratios[index]?.push(other / ours));
  console.log(
    row([name, ours.toFixed(0), ...others.flatMap((other) => [other.toFixed(0), (other / ours).toFixed(2)])]),
  );
}
console.log(
  `geometric means: ${ratios.map((list) => Math.exp(list.reduce((sum, ratio) => sum + Math.log(ratio), 0) / list.length).toFixed(2)).join(', ')}; ` +
    `least: ${ratios.map((list) => Math.min(...list).toFixed(2)).join(', ')}`,
);
if (sink === null) console.log(sink);

function row(cells: readonly string[]): string {
  return cells.map((cell, index) => (index === 0 ? cell.padEnd(34) : cell.padStart(10))).join(' ');
}
