/**
 * The codec alone against @foxglove/rosmsg2-serialization, nine types, alternating in one run.
 *
 * `npm run bench:codec` prints ns a message (median of the rounds) and ratios. Outputs are checked for equality before
 * anything is timed. `--quick` takes fewer rounds; a type's name takes that type alone.
 */
import { deepStrictEqual } from 'node:assert';
import { createRequire } from 'node:module';
import { compileCodec } from '../../lib/cdr/codec.js';
import { EncodeBuffer } from '../../lib/cdr/encode-buffer.js';
import { tellFigures } from '../measure.js';
import { CASES } from './types.js';
import type { Case } from './types.js';

interface Peer {
  MessageReader: new (definitions: unknown) => { readMessage(bytes: Uint8Array): unknown };
  MessageWriter: new (definitions: unknown) => { writeMessage(value: unknown): Uint8Array };
}
const require = createRequire(import.meta.url);
const { MessageReader, MessageWriter } = require('@foxglove/rosmsg2-serialization') as Peer;
const { parse } = require('@foxglove/rosmsg') as { parse: (text: string, options: object) => unknown };

const args = process.argv.slice(2);
const quick = args.includes('--quick');
const only = args.find((arg) => !arg.startsWith('--'));
const ROUNDS = quick ? 7 : 21;
const ROUND_NS = quick ? 5e6 : 2e7;

interface Row {
  readonly decode: number;
  readonly encode: number;
}
let sink: unknown;
const rows: Row[] = [];
const projections: number[] = [];

console.log(`Node ${process.version}; ns a message, median of ${ROUNDS} rounds; ratio = peer / ours`);
console.log(line(['type', 'decode', 'peer', 'ratio', 'encodeTo', 'encode()', 'peer', 'ratio', '2 fields', 'ratio']));
const cases = CASES.filter(({ name }) => only === undefined || name.includes(only)).map((entry) => ({
  entry,
  tasks: prepare(entry),
}));
// Warm all types before any is timed, as in a recording: code that serves many types is not tuned to the last one.
for (let pass = 0; pass < 3; pass++) for (const { tasks } of cases) for (const task of tasks) warm(task);
for (const { entry, tasks } of cases) bench(entry, tasks);
console.log(
  `geometric mean: decode ${mean(rows.map((row) => row.decode))}, encode ${mean(rows.map((row) => row.encode))}, ` +
    `projection ${mean(projections)}; least: decode ${least(rows.map((row) => row.decode))}, ` +
    `encode ${least(rows.map((row) => row.encode))}, projection ${least(projections)}`,
);
tellFigures({
  'codec decode mean': Number(mean(rows.map((row) => row.decode))),
  'codec encode mean': Number(mean(rows.map((row) => row.encode))),
  'codec decode least': Number(least(rows.map((row) => row.decode))),
  'codec encode least': Number(least(rows.map((row) => row.encode))),
  'projection mean': Number(mean(projections)),
  'projection least': Number(least(projections)),
});

/** The tasks of one type, checked for equal outputs. */
function prepare({ name, text, value, fields }: Case): (() => unknown)[] {
  const schema = { name, encoding: 'ros2msg', data: text };
  const codec = compileCodec(schema);
  const projected = compileCodec(schema, { fields });
  const definitions = parse(text, { ros2: true });
  const reader = new MessageReader(definitions);
  const writer = new MessageWriter(definitions);

  const payload = codec.encode(value);
  deepStrictEqual(Buffer.from(payload), Buffer.from(writer.writeMessage(value)), `${name}: encoded bytes differ`);
  deepStrictEqual(codec.decode(payload), reader.readMessage(payload), `${name}: decoded values differ`);

  // Payloads lie in a chunk as a recording has them: behind the 31 bytes of a Message record, at every alignment.
  const copies = Math.max(8, Math.min(64, Math.floor(2 ** 22 / payload.length)));
  const stride = payload.length + 31 + (payload.length % 2);
  const chunk = new Uint8Array(copies * stride);
  const view = new DataView(chunk.buffer);
  const starts = Array.from({ length: copies }, (_, index) => index * stride + 31);
  for (const start of starts) chunk.set(payload, start);
  const payloads = starts.map((start) => chunk.subarray(start, start + payload.length));
  const buffer = new EncodeBuffer(payload.length + 64);
  let turn = 0;
  const next = (): number => (turn = turn + 1 < copies ? turn + 1 : 0);

  return [
    () => {
      const start = starts[next()] ?? 0;
      return codec.decodeAt(chunk, view, start, start + payload.length);
    },
    () => reader.readMessage(payloads[next()] ?? payload),
    () => codec.encodeTo(value, buffer, 0),
    () => codec.encode(value),
    () => writer.writeMessage(value),
    () => {
      const start = starts[next()] ?? 0;
      return projected.decodeAt(chunk, view, start, start + payload.length);
    },
  ];
}

function bench({ name, extra }: Case, tasks: readonly (() => unknown)[]): void {
  const [ours = 0, peers = 0, into = 0, owned = 0, peerWrites = 0, two = 0] = alternate(tasks);
  if (!extra) {
    rows.push({ decode: peers / ours, encode: peerWrites / into });
    projections.push(ours / two);
  }
  console.log(
    line([
      extra ? `(${name})` : name,
      ours.toFixed(0),
      peers.toFixed(0),
      (peers / ours).toFixed(1),
      into.toFixed(0),
      owned.toFixed(0),
      peerWrites.toFixed(0),
      (peerWrites / into).toFixed(1),
      two.toFixed(0),
      (ours / two).toFixed(1),
    ]),
  );
}

/** Median ns of each task over rounds in which they take turns. */
function alternate(tasks: readonly (() => unknown)[]): number[] {
  const counts = tasks.map((task) => {
    let count = 1;
    for (;;) {
      const ns = time(task, count);
      if (ns > ROUND_NS / 4) return Math.max(1, Math.round((count * ROUND_NS) / ns));
      count *= 2;
    }
  });
  const results = tasks.map((): number[] => []);
  for (let round = 0; round < ROUNDS; round++) {
    tasks.forEach((task, index) => {
      const count = counts[index] ?? 1;
      results[index]?.push(time(task, count) / count);
    });
  }
  return results.map((list) => list.sort((a, b) => a - b)[list.length >> 1] ?? NaN);
}

function warm(task: () => unknown): void {
  const until = process.hrtime.bigint() + 30_000_000n;
  while (process.hrtime.bigint() < until) time(task, 100);
}

function time(task: () => unknown, count: number): number {
  const begin = process.hrtime.bigint();
  for (let index = 0; index < count; index++) sink = task();
  const ns = Number(process.hrtime.bigint() - begin);
  if (sink === undefined) throw new Error('a task gave nothing');
  return ns;
}

function mean(ratios: readonly number[]): string {
  return Math.exp(ratios.reduce((sum, ratio) => sum + Math.log(ratio), 0) / ratios.length).toFixed(1);
}

function least(ratios: readonly number[]): string {
  return Math.min(...ratios).toFixed(1);
}

function line(cells: readonly string[]): string {
  return cells.map((cell, index) => (index === 0 ? cell.padEnd(32) : cell.padStart(9))).join('');
}
