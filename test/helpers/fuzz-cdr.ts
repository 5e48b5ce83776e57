/** Mutated payloads: what comes of them is a value or a typed error, the same from both decoders, from their bytes alone. */
import { deepStrictEqual } from 'node:assert';
import { compileCodec, compileDefinition } from '../../lib/cdr/codec.js';
import { ENCAPSULATIONS } from '../../lib/cdr/encapsulation.js';
import { McapStreamsError } from '../../lib/errors.js';
import type { MessageDefinition } from '../../lib/schema/definition.js';
import { SEP } from './codecs.js';
import { recordedMessages } from './recordings.js';

export interface FuzzReport {
  readonly seed: number;
  readonly payloads: number;
  readonly mutants: number;
  /** Mutants that ended in a typed error. */
  readonly errors: number;
}

interface Sample {
  readonly definition: MessageDefinition;
  readonly data: Uint8Array;
}

const COUNTS = [0, 1, 0x7f, 0xff, 0xffff, 0x40000000, 0x7fffffff, 0x80000000, 0xfffffffe, 0xffffffff];

/** Mutates payloads for `seconds`, or `rounds` rounds over all samples. Throws at the first finding, with how to repeat it. */
export async function fuzzDecoders(limit: { seconds?: number; rounds?: number; seed?: number }): Promise<FuzzReport> {
  const seed = limit.seed ?? 1;
  const random = generator(seed);
  const samples = [...ownSamples(), ...(await realSamples())];
  const until = limit.seconds === undefined ? Infinity : Date.now() + limit.seconds * 1000;
  let mutants = 0;
  let errors = 0;
  for (let round = 0; round < (limit.rounds ?? Infinity) && Date.now() < until; round++) {
    for (const { definition, data } of samples) {
      const mutant = mutate(data, random);
      mutants++;
      try {
        if (tryBoth(definition, mutant)) errors++;
      } catch (error) {
        const payload = Buffer.from(mutant).toString('hex');
        throw new Error(`seed ${seed}, mutant ${mutants}: ${definition.name} ${payload}`, { cause: error });
      }
    }
  }
  return { seed, payloads: samples.length, mutants, errors };
}

/** True where the payload ends in a typed error; throws where anything else goes wrong. */
function tryBoth(definition: MessageDefinition, payload: Uint8Array): boolean {
  const compiled = compileDefinition(definition);
  const outcomes = [0x00, 0xa5].map((filler) => {
    const chunk = new Uint8Array(payload.length + 96).fill(filler);
    chunk.set(payload, 35);
    const view = new DataView(chunk.buffer);
    return outcome(() => compiled.decodeAt(chunk, view, 35, 35 + payload.length), payload.length);
  });
  // Bytes around the message make no difference.
  deepStrictEqual(outcomes[0], outcomes[1]);
  const interpreted = compileDefinition(definition, { codegen: false });
  deepStrictEqual(
    outcome(() => interpreted.decode(payload), payload.length),
    outcomes[0],
  );
  return 'code' in (outcomes[0] ?? {});
}

function outcome(action: () => unknown, size: number): object {
  try {
    return { value: action() };
  } catch (error) {
    if (!(error instanceof McapStreamsError) || !error.code.startsWith('CDR_')) throw error;
    const { code, field, offset, message } = error;
    if (offset === undefined || offset < 0 || offset > size) throw new Error(`offset ${offset}`, { cause: error });
    return { code, field, offset, message };
  }
}

function mutate(data: Uint8Array, random: (below: number) => number): Uint8Array {
  const size = [data.length, data.length, random(data.length + 1), data.length + 1 + random(16)][random(4)] ?? 0;
  const mutant = new Uint8Array(size);
  mutant.set(data.subarray(0, size));
  const view = new DataView(mutant.buffer);
  for (let change = random(4); change > 0 && size >= 8; change--) {
    const at = 4 + random(size - 7);
    const aligned = at - (at % 4);
    if (random(2) === 0) mutant[at] = random(256);
    else view.setUint32(aligned, COUNTS[random(COUNTS.length)] ?? 0, random(4) > 0);
  }
  // Now and then another encapsulation, known or not.
  if (size >= 2 && random(8) === 0) mutant[1] = random(14);
  return mutant;
}

/** Types with every kind of field, in every encapsulation. */
function ownSamples(): Sample[] {
  const text =
    'bool b\nstring s\nP[] list\nfloat64[] v\nuint8[3] three\nstring[<=4] names\nP one\nE[] none\nwstring w\nint64[] big\nP[2] two\n' +
    `builtin_interfaces/Time[] times\n${SEP}MSG: t/P\nuint8 a\nfloat64 b\nQ[] q\n${SEP}MSG: t/Q\nint16 x\nstring y\n${SEP}MSG: t/E\n`;
  const q = [
    { x: 1, y: 'one' },
    { x: -2, y: '' },
  ];
  const p = { a: 1, b: 2.5, q };
  const value = {
    ...{
      b: true,
      s: 'hello',
      list: [p, { ...p, q: [] }, p],
      v: [1, 2, 3],
      three: [1, 2, 3],
      names: ['a', 'é'],
      one: p,
    },
    ...{ none: [{}, {}], w: 'wide', big: [1n, -1n], two: [p, p], times: [{ sec: 1, nanosec: 2 }] },
  };
  return ENCAPSULATIONS.flatMap((encapsulation) => {
    const codec = compileCodec({ name: 't/msg/T', encoding: 'ros2msg', data: text }, { encapsulation });
    return [{ definition: codec.definition, data: codec.encode(value) }];
  });
}

/** A few messages of every type in the reference recordings, where these are. */
async function realSamples(): Promise<Sample[]> {
  const seen = new Map<MessageDefinition, number>();
  return (await recordedMessages()).filter(({ definition, data }) => {
    const count = seen.get(definition) ?? 0;
    seen.set(definition, count + 1);
    return count < 3 && data.length < 20000;
  });
}

/** Integers below a bound, the same ones for the same seed (a 32-bit xorshift). */
function generator(seed: number): (below: number) => number {
  let state = seed >>> 0 || 1;
  return (below) => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return (state >>> 0) % Math.max(1, below);
  };
}
