import { setTimeout as delay } from 'node:timers/promises';
import { once } from 'node:events';
import { Readable, Transform, Writable } from 'node:stream';
import { finished, pipeline } from 'node:stream/promises';
import test from 'ava';
import { PullTransform } from '../../lib/streams/pull-transform.js';
import type { Failure, Job, Producer, PullCore, PullTransformOptions } from '../../lib/streams/pull-transform.js';

/** What one input of the test core asks for. */
interface Input {
  readonly id: number;
  /** Outputs of its job. */
  readonly outputs: number;
  /** ms until its job has its outputs; not given: at once. */
  readonly wait?: number;
  /** Fails after all of its outputs (or, with `wait`, instead of having any). */
  readonly error?: Error;
  /** Fails when it is cut. */
  readonly cutError?: Error;
  readonly cost?: number;
}

class TestCore implements PullCore<Input, string> {
  readonly #inputs: Input[] = [];
  readonly failure: Failure;
  /** `id` of each job, when it was started. */
  readonly started: number[] = [];
  /** Jobs started and not read out, the most at one time. */
  peak = 0;
  peakCost = 0;
  ended = false;
  closed = 0;
  #open = 0;
  #cost = 0;

  constructor(failure: Failure = 'throw') {
    this.failure = failure;
  }

  write(input: Input): void {
    this.#inputs.push(input);
  }

  end(): void {
    this.ended = true;
  }

  pull(): Job<string> | undefined {
    const input = this.#inputs.shift();
    if (input === undefined) {
      if (this.ended) return undefined;
      return undefined;
    }
    if (input.cutError !== undefined) throw input.cutError;
    const cost = input.cost ?? 1;
    return { cost, ahead: input.wait !== undefined, start: () => this.#begin(input, cost) };
  }

  failed(): Failure {
    return this.failure;
  }

  close(): void {
    this.closed++;
  }

  #begin(input: Input, cost: number): Producer<string> | Promise<Producer<string>> {
    this.started.push(input.id);
    this.peak = Math.max(this.peak, ++this.#open);
    this.peakCost = Math.max(this.peakCost, (this.#cost += cost));
    let next = 0;
    const producer = {
      next: (): string | undefined => {
        if (next < input.outputs) return `${input.id}.${next++}`;
        this.#open--;
        this.#cost -= cost;
        if (input.error !== undefined) throw input.error;
        return undefined;
      },
    };
    if (input.wait === undefined) return producer;
    return delay(input.wait).then(() => {
      if (input.error !== undefined) throw input.error;
      return producer;
    });
  }
}

const OBJECTS = { writableObjectMode: true, readableObjectMode: true } as const;

function stage(core: TestCore, options: PullTransformOptions = {}): PullTransform<Input, string> {
  return new PullTransform(core, { ...OBJECTS, ...options });
}

/** Collects what comes; waits `wait` ms after each, and notes the stage's largest readableLength. */
function sink(from: Readable, options: { wait?: number; highWaterMark?: number } = {}) {
  const got: string[] = [];
  const seen = { peak: 0 };
  const writable = new Writable({
    objectMode: true,
    highWaterMark: options.highWaterMark ?? 1,
    write(item: string, _encoding, callback) {
      got.push(item);
      seen.peak = Math.max(seen.peak, from.readableLength);
      if (options.wait === undefined) callback();
      else setTimeout(callback, options.wait);
    },
  });
  return { got, seen, writable };
}

function expected(inputs: readonly Input[]): string[] {
  return inputs.flatMap(({ id, outputs }) => Array.from({ length: outputs }, (_, n) => `${id}.${n}`));
}

test('it is a Transform of node:stream', (t) => {
  t.true(stage(new TestCore()) instanceof Transform);
});

for (const highWaterMark of [1, 4, 16]) {
  test(`one input of 10,000 outputs into a slow sink never buffers more than highWaterMark + 1 (${highWaterMark})`, async (t) => {
    const inputs = [{ id: 0, outputs: 10_000 }];
    const through = stage(new TestCore(), { readableHighWaterMark: highWaterMark });
    let peak = 0;
    const got: string[] = [];
    const slow = new Writable({
      objectMode: true,
      highWaterMark: 1,
      write(item: string, _encoding, callback) {
        peak = Math.max(peak, through.readableLength);
        if (got.push(item) % 500 === 0) setTimeout(callback, 1);
        else setImmediate(callback);
      },
    });
    await pipeline(Readable.from(inputs), through, slow);
    t.deepEqual(got, expected(inputs));
    t.true(peak <= highWaterMark + 1, `readableLength was ${peak}`);
    t.true(peak > 0);
  });

  test(`asynchronous jobs that end together never buffer more than highWaterMark + 1 (${highWaterMark})`, async (t) => {
    const inputs = Array.from({ length: 40 }, (_, id) => ({ id, outputs: 50, wait: (id * 7) % 5 }));
    const through = stage(new TestCore(), { readableHighWaterMark: highWaterMark, maxJobs: 4 });
    const { got, seen, writable } = sink(through);
    await pipeline(Readable.from(inputs), through, writable);
    t.deepEqual(got, expected(inputs));
    t.true(seen.peak <= highWaterMark + 1, `readableLength was ${seen.peak}`);
  });
}

test('a core without work ahead is asked for its next job when the one before is done', async (t) => {
  class SingleCore extends TestCore {
    open = 0;
    overlaps = 0;
    override pull(): Job<string> | undefined {
      const job = super.pull();
      if (job === undefined) return undefined;
      if (this.open++ > 0) this.overlaps++;
      return {
        ...job,
        start: () => {
          const producer = job.start() as Producer<string>;
          return {
            next: () => {
              const output = producer.next();
              if (output === undefined) this.open--;
              return output;
            },
          };
        },
      };
    }
  }
  const core = new SingleCore();
  const inputs = Array.from({ length: 20 }, (_, id) => ({ id, outputs: 5 }));
  const through = stage(core, { readableHighWaterMark: 2 });
  const { got, writable } = sink(through, { wait: 0 });
  await pipeline(Readable.from(inputs), through, writable);
  t.deepEqual(got, expected(inputs));
  t.is(core.overlaps, 0);
});

test('outputs that only the end of the input brings are held back as well', async (t) => {
  // A core that keeps everything until the end: the flush has all the work.
  class LateCore extends TestCore {
    override pull(): Job<string> | undefined {
      return this.ended ? super.pull() : undefined;
    }
  }
  const inputs = Array.from({ length: 10 }, (_, id) => ({ id, outputs: 300 }));
  const through = stage(new LateCore(), { readableHighWaterMark: 4 });
  const { got, seen, writable } = sink(through);
  await pipeline(Readable.from(inputs), through, writable);
  t.deepEqual(got, expected(inputs));
  t.true(seen.peak <= 5, `readableLength was ${seen.peak}`);
});

test('a stalled sink stalls the source', async (t) => {
  let produced = 0;
  const endless = new Readable({
    objectMode: true,
    highWaterMark: 1,
    read() {
      this.push({ id: produced++, outputs: 10 });
    },
  });
  const through = stage(new TestCore(), { readableHighWaterMark: 4, writableHighWaterMark: 2, maxJobs: 3 });
  const stalled = new Writable({
    objectMode: true,
    highWaterMark: 1,
    write() {
      // It never calls back.
    },
  });
  const done = t.throwsAsync(pipeline(endless, through, stalled), { message: 'enough' });
  await delay(50);
  const after = produced;
  await delay(50);
  t.is(produced, after);
  t.true(produced <= 12, `${produced} inputs were taken`);
  t.true(through.readableLength <= 5);
  stalled.destroy(new Error('enough'));
  await done;
});

test('a slow source is waited for, and its outputs come as soon as they can', async (t) => {
  async function* slow() {
    for (let id = 0; id < 5; id++) {
      await delay(3);
      yield { id, outputs: 2 };
    }
  }
  const through = stage(new TestCore(), { maxJobs: 4 });
  const source = Readable.from(slow());
  const got: string[] = [];
  source.pipe(through);
  through.on('data', (item: string) => {
    got.push(item);
  });
  await once(through, 'data');
  t.deepEqual(got, ['0.0', '0.1']);
  await finished(through);
  t.is(got.length, 10);
});

test('jobs run ahead within the window, and their outputs keep the order of the inputs', async (t) => {
  const core = new TestCore();
  const inputs = Array.from({ length: 12 }, (_, id) => ({ id, outputs: 3, wait: id % 2 === 0 ? 12 : 1 }));
  const through = stage(core, { maxJobs: 4 });
  const { got, writable } = sink(through);
  await pipeline(Readable.from(inputs), through, writable);
  t.deepEqual(got, expected(inputs));
  t.is(core.peak, 4);
});

test('the summed cost of the jobs held stays within its bound, and one job always fits', async (t) => {
  const core = new TestCore();
  const inputs = Array.from({ length: 10 }, (_, id) => ({ id, outputs: 1, wait: 2, cost: id === 5 ? 1000 : 40 }));
  const through = stage(core, { maxJobs: 8, maxCost: 100 });
  const { got, writable } = sink(through);
  await pipeline(Readable.from(inputs), through, writable);
  t.deepEqual(got, expected(inputs));
  t.is(core.peak, 2);
  t.is(core.peakCost, 1000);
});

test('work that is not asynchronous is not begun before its turn', async (t) => {
  const core = new TestCore();
  const through = stage(core, { maxJobs: 4, readableHighWaterMark: 1 });
  through.write({ id: 0, outputs: 5 });
  through.write({ id: 1, outputs: 5 });
  through.read(0);
  await delay(5);
  t.deepEqual(core.started, [0]);
  through.destroy();
});

for (const [kind, bad] of [
  ['an error among the outputs', { id: 3, outputs: 2, error: new Error('bad') }],
  ['an error of asynchronous work', { id: 3, outputs: 0, wait: 1, error: new Error('bad') }],
  ['an error of the cutting', { id: 3, outputs: 0, cutError: new Error('bad') }],
] as const) {
  const inputs: Input[] = [
    { id: 0, outputs: 30 },
    { id: 1, outputs: 30, wait: 5 },
    { id: 2, outputs: 30 },
    bad,
    { id: 4, outputs: 30 },
  ];

  test(`${kind} comes out as itself, when everything before it has been read`, async (t) => {
    const core = new TestCore();
    const through = stage(core, { maxJobs: 3 });
    const source = Readable.from(inputs).pipe(through);
    const got: string[] = [];
    const error = await t.throwsAsync(async () => {
      for await (const item of source) {
        got.push(item);
        if (got.length % 10 === 0) await delay(1);
      }
    });
    t.is(error.message, 'bad');
    t.deepEqual(got, expected(inputs.slice(0, 4)));
    t.is(core.closed, 1);
  });

  test(`${kind} rejects the pipeline`, async (t) => {
    const through = stage(new TestCore(), { maxJobs: 3 });
    await t.throwsAsync(pipeline(Readable.from(inputs), through, sink(through, { wait: 1 }).writable), {
      message: 'bad',
    });
  });

  test(`with "end" ${kind} is a clean end, and later stages get all that came before`, async (t) => {
    const through = stage(new TestCore('end'), { maxJobs: 3 });
    const { got, writable } = sink(through, { highWaterMark: 16, wait: 0 });
    await pipeline(Readable.from(inputs), through, writable);
    t.deepEqual(got, expected(inputs.slice(0, 4)));
  });

  test(`with "skip" ${kind} loses its job only`, async (t) => {
    const through = stage(new TestCore('skip'), { maxJobs: 3 });
    const { got, writable } = sink(through, { highWaterMark: 16 });
    await pipeline(Readable.from(inputs), through, writable);
    const rest = 'cutError' in bad ? inputs.slice(0, 4) : inputs;
    t.deepEqual(got, expected(rest));
  });
}

test('after an early end an endless rest of the input is swallowed without being kept', async (t) => {
  let produced = 0;
  const source = new Readable({
    objectMode: true,
    read() {
      produced++;
      this.push(
        produced > 20_000 ? null : { id: produced, outputs: 1, ...(produced === 3 ? { error: new Error('x') } : {}) },
      );
    },
  });
  const through = stage(new TestCore('end'));
  const { got, writable } = sink(through);
  await pipeline(source, through, writable);
  t.deepEqual(got, ['1.0', '2.0', '3.0']);
  t.is(produced, 20_001);
});

test('an error thrown by the core in write, end or failed destroys the stage and nothing is thrown out of it', async (t) => {
  class BadCore extends TestCore {
    readonly where: string;
    constructor(where: string) {
      super();
      this.where = where;
    }
    override write(input: Input): void {
      if (this.where === 'write') throw new Error('write');
      super.write(input);
    }
    override end(): void {
      if (this.where === 'end') throw new Error('end');
      super.end();
    }
    override failed(): Failure {
      throw new Error('failed');
    }
  }
  for (const where of ['write', 'end', 'failed']) {
    const inputs = [{ id: 0, outputs: 1, ...(where === 'failed' ? { error: new Error('job') } : {}) }];
    const through = stage(new BadCore(where));
    await t.throwsAsync(pipeline(Readable.from(inputs), through, sink(through).writable), {
      message: 'failed',
    });
  }
});

test('an error of the source or of the sink comes out as itself', async (t) => {
  const core = new TestCore();
  const through = stage(core);
  async function* failing() {
    yield { id: 0, outputs: 1 };
    await delay(1);
    throw new Error('source');
  }
  await t.throwsAsync(pipeline(Readable.from(failing()), through, sink(through).writable), { message: 'source' });
  t.is(core.closed, 1);

  const second = stage(new TestCore());
  const bad = new Writable({
    objectMode: true,
    write(_item, _encoding, callback) {
      callback(new Error('sink'));
    },
  });
  await t.throwsAsync(pipeline(Readable.from([{ id: 0, outputs: 9 }]), second, bad), { message: 'sink' });
});

test('a signal aborts at once while the source stalls, with the reason as the cause', async (t) => {
  const stalled = new Readable({
    objectMode: true,
    read() {
      // It never gives anything.
    },
  });
  const controller = new AbortController();
  const core = new TestCore();
  const through = stage(core, { signal: controller.signal });
  const reason = new Error('no more');
  setTimeout(() => {
    controller.abort(reason);
  }, 5);
  const error = await t.throwsAsync(pipeline(stalled, through, sink(through).writable), { name: 'AbortError' });
  t.is(error.cause, reason);
  t.is(core.closed, 1);
  t.true(stalled.destroyed);
});

test('a signal aborts while asynchronous work is under way, and its late result is ignored', async (t) => {
  const controller = new AbortController();
  const through = stage(new TestCore(), { signal: controller.signal, maxJobs: 4 });
  const inputs = [0, 1, 2].map((id) => ({
    id,
    outputs: 1,
    wait: 15,
    ...(id === 1 ? { error: new Error('late') } : {}),
  }));
  setTimeout(() => {
    controller.abort();
  }, 5);
  await t.throwsAsync(pipeline(Readable.from(inputs), through, sink(through).writable), { name: 'AbortError' });
  await delay(20);
  t.true(through.destroyed);
});

test('breaking out of for await destroys the stage and closes the core', async (t) => {
  const core = new TestCore();
  const through = stage(core, { maxJobs: 3 });
  Readable.from(Array.from({ length: 9 }, (_, id) => ({ id, outputs: 9, wait: 1 }))).pipe(through);
  for await (const item of through) {
    if (item === '1.0') break;
  }
  t.true(through.destroyed);
  t.is(core.closed, 1);
});

test('an input without outputs and an empty input end cleanly', async (t) => {
  for (const inputs of [[], [{ id: 0, outputs: 0 }], [{ id: 0, outputs: 0, wait: 1 }]]) {
    const through = stage(new TestCore(), { maxJobs: 2 });
    const { got, writable } = sink(through);
    await pipeline(Readable.from(inputs), through, writable);
    t.deepEqual(got, []);
  }
});

test('10,000 stages on one signal leave no listener behind', async (t) => {
  const controller = new AbortController();
  const warnings: Error[] = [];
  const onWarning = (warning: Error) => warnings.push(warning);
  process.on('warning', onWarning);
  for (let n = 0; n < 10_000; n++) {
    const through = stage(new TestCore(), { signal: controller.signal });
    through.resume();
    through.end();
    await once(through, 'close');
  }
  process.off('warning', onWarning);
  t.deepEqual(warnings, []);
});

/** Notes when a source is read and when a stage works on what came. */
function readAndWork(size: number): { log: string[]; done: Promise<void> } {
  const log: string[] = [];
  let left = 3;
  const source = new Readable({
    highWaterMark: 1,
    read() {
      log.push('read');
      setImmediate(() => this.push(left-- > 0 ? Buffer.alloc(size) : null));
    },
  });
  const core: PullCore<Uint8Array, string> = {
    write: () => log.push('work'),
    end: () => undefined,
    pull: () => undefined,
    failed: () => 'throw',
  };
  const sunk = new Writable({
    objectMode: true,
    write: (_item, _encoding, callback) => {
      callback();
    },
  });
  return { log, done: pipeline(source, new PullTransform(core, { readableObjectMode: true }), sunk) };
}

test('a source is read on while a large input is worked on', async (t) => {
  const large = readAndWork(40_000);
  await large.done;
  t.deepEqual(large.log, ['read', 'read', 'work', 'read', 'work', 'read', 'work']);
  const small = readAndWork(100);
  await small.done;
  t.deepEqual(small.log, ['read', 'work', 'read', 'work', 'read', 'work', 'read']);
});

test('a stage that is destroyed before it has worked on a large input does not', async (t) => {
  let worked = 0;
  const core: PullCore<Uint8Array, string> = {
    write: () => worked++,
    end: () => undefined,
    pull: () => undefined,
    failed: () => 'throw',
  };
  const stage = new PullTransform(core, { readableObjectMode: true });
  stage.write(Buffer.alloc(40_000));
  stage.destroy();
  await finished(stage).catch(() => undefined);
  await delay(5);
  t.is(worked, 0);
});
