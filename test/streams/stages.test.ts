/** Stages for messages on the way: single ones and batches, answers at once and promises, errors with their place. */
import { Readable, Transform, Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import test from 'ava';
import { filterMessages, mapMessages, splitByTopic, tapMessages, throttleMessages } from '../../lib/index.js';
import type { StageMessage } from '../../lib/index.js';

interface Item extends StageMessage {
  readonly message: number;
}

const items: Item[] = Array.from({ length: 10 }, (_, n) => ({
  topic: n % 2 === 0 ? '/a' : '/b',
  logTime: BigInt(n) * 100n,
  message: n,
}));
const batches = [items.slice(0, 4), items.slice(4, 5), items.slice(5)];

type Stage = NodeJS.ReadWriteStream & AsyncIterable<unknown>;

async function run(inputs: readonly unknown[], stage: Stage): Promise<{ got: unknown[]; error: unknown }> {
  const got: unknown[] = [];
  try {
    await pipeline(
      Readable.from(inputs),
      stage,
      new Writable({
        objectMode: true,
        write(chunk, _encoding, callback) {
          got.push(chunk);
          callback();
        },
      }),
    );
    return { got, error: undefined };
  } catch (error) {
    return { got, error };
  }
}

type Maker = (step: (item: Item) => unknown) => Stage;
const MAKERS: readonly Maker[] = [
  (step) => filterMessages(step),
  (step) => mapMessages(step),
  (step) => tapMessages(step),
];

/** The same with an answer at once, and with a promise. */
const ways = [
  <T>(value: () => T) => value(),
  async <T>(value: () => T): Promise<T> => {
    await new Promise((resolve) => setImmediate(resolve));
    return value();
  },
];

test('filterMessages lets through what is true', async (t) => {
  for (const way of ways) {
    const odd = (): Stage => filterMessages<Item>(({ message }) => way(() => message % 2 === 1));
    t.deepEqual(
      (await run(items, odd())).got,
      items.filter(({ message }) => message % 2 === 1),
    );
    // A batch with nothing in it is left out.
    t.deepEqual((await run(batches, odd())).got, [
      [items[1], items[3]],
      [items[5], items[7], items[9]],
    ]);
  }
});

test('mapMessages replaces a message, undefined leaves it out', async (t) => {
  for (const way of ways) {
    const double = (): Stage =>
      mapMessages((item: Item) => way(() => (item.message === 3 ? undefined : { ...item, message: item.message * 2 })));
    const wanted = items.filter(({ message }) => message !== 3).map((item) => ({ ...item, message: item.message * 2 }));
    t.deepEqual((await run(items, double())).got, wanted);
    t.deepEqual((await run(batches, double())).got.flat(), wanted);
  }
});

test('tapMessages looks at each message, in order, and hands on the same', async (t) => {
  for (const way of ways) {
    const seen: number[] = [];
    const tap = (): Stage => tapMessages(({ message }: Item) => way(() => void seen.push(message)));
    t.deepEqual((await run(items, tap())).got, items);
    t.deepEqual((await run(batches, tap())).got, batches);
    t.deepEqual(
      seen,
      [...items, ...items].map(({ message }) => message),
    );
  }
});

test('throttleMessages goes by log time, for each topic alone', async (t) => {
  // 5e6 Hz: a period of 200 ns, which is the distance of two messages of a topic.
  const times = async (hz: number, options: object = {}): Promise<number[]> =>
    (await run(items, throttleMessages<Item>({ hz, ...options }))).got.map((item) => (item as Item).message);
  t.deepEqual(await times(5e6), [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
  t.deepEqual(await times(2.5e6), [0, 1, 4, 5, 8, 9]);
  t.deepEqual(await times(2.5e6, { topics: '/a' }), [0, 1, 3, 4, 5, 7, 8, 9]);
  t.deepEqual(await times(2.5e6, { topics: [/^\/b/] }), [0, 1, 2, 4, 5, 6, 8, 9]);
  t.deepEqual(await times(Infinity), [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
  const jump = [1000n, 0n, 100n, 500n].map((logTime, message) => ({ topic: '/a', logTime, message }));
  t.deepEqual((await run(jump, throttleMessages({ hz: 2.5e6 }))).got, [jump[0], jump[1], jump[3]]);
  for (const hz of [0, -1, NaN]) t.throws(() => throttleMessages({ hz }), { instanceOf: TypeError });
});

test('an error of the function comes out as itself, with topic and time, and nothing escapes', async (t) => {
  const fail = (item: Item, why: unknown): true => {
    if (item.message === 6) throw why;
    return true;
  };
  for (const way of ways) {
    for (const inputs of [items, batches]) {
      for (const make of MAKERS) {
        const why = new RangeError('six');
        const { error } = await run(
          inputs,
          make((item) => way(() => fail(item, why))),
        );
        t.is(error, why);
        t.like(error, { topic: '/a', logTime: 600n, message: 'six' });
      }
      const frozen = Object.freeze(new Error('frozen'));
      t.is(
        (
          await run(
            inputs,
            tapMessages((item: Item) => way(() => fail(item, frozen))),
          )
        ).error,
        frozen,
      );
      const text = (
        await run(
          inputs,
          tapMessages((item: Item) => way(() => fail(item, 'a text'))),
        )
      ).error;
      t.like(text, { message: 'a text', cause: 'a text', topic: '/a' });
      const own = Object.assign(new Error('own'), { topic: '/own' });
      t.like(
        (
          await run(
            inputs,
            tapMessages((item: Item) => way(() => fail(item, own))),
          )
        ).error,
        { topic: '/own', logTime: 600n },
      );
    }
  }
});

test('a wrong option is a TypeError, and so is no function', (t) => {
  t.throws(() => filterMessages(() => true, { highWatermark: 5 } as never), { instanceOf: TypeError });
  t.throws(() => mapMessages(undefined as never), { instanceOf: TypeError, message: /function/ });
  t.throws(() => throttleMessages({ herz: 5 } as never), { instanceOf: TypeError, message: /hz/ });
  t.throws(() => splitByTopic('x' as never), { instanceOf: TypeError });
});

test('a signal destroys a stage that stalls', async (t) => {
  const controller = new AbortController();
  const stage = tapMessages(() => new Promise(() => undefined), { signal: controller.signal });
  const running = run(items, stage);
  setTimeout(() => {
    controller.abort(new Error('enough'));
  }, 10);
  t.like((await running).error, { code: 'ABORT_ERR', name: 'AbortError' });
});

test('a slow reader holds the source back', async (t) => {
  let made = 0;
  function* source() {
    for (; made < 10_000; made++) yield { topic: '/a', logTime: 0n, message: made };
  }
  const stage = filterMessages(() => true) as unknown as Transform;
  Readable.from(source()).pipe(stage);
  await new Promise((resolve) => setTimeout(resolve, 30));
  t.true(made < 100, String(made));
  stage.destroy();
});

function sink(store: unknown[], delay = 0, failAt = Infinity): Writable {
  return new Writable({
    objectMode: true,
    highWaterMark: 1,
    write(chunk, _encoding, callback) {
      setTimeout(() => {
        store.push(chunk);
        callback(store.length >= failAt ? new Error('the disk is full') : null);
      }, delay);
    },
  });
}

test('splitByTopic gives each topic a stream of its own and finishes after all of them', async (t) => {
  for (const inputs of [items, batches]) {
    for (const way of ways) {
      const stores = new Map<string, unknown[]>();
      await pipeline(
        Readable.from(inputs),
        splitByTopic((topic, first) =>
          way(() => {
            t.is(first.topic, topic);
            const store: unknown[] = [];
            stores.set(topic, store);
            return sink(store, 1);
          }),
        ),
      );
      for (const topic of ['/a', '/b']) {
        t.deepEqual(
          stores.get(topic)?.flat(),
          items.filter((item) => item.topic === topic),
        );
      }
    }
  }
});

test('splitByTopic drops a topic without a stream', async (t) => {
  const store: unknown[] = [];
  await pipeline(
    Readable.from(items),
    splitByTopic((topic) => (topic === '/a' ? sink(store) : undefined)),
  );
  t.is(store.length, 5);
});

test('splitByTopic ends with the error of a topic or of the factory, and destroys the others', async (t) => {
  const streams: Writable[] = [];
  const failing = splitByTopic((topic) => {
    const stream = sink([], 0, topic === '/b' ? 2 : Infinity);
    streams.push(stream);
    return stream;
  });
  await t.throwsAsync(pipeline(Readable.from(items), failing), { message: 'the disk is full' });
  t.deepEqual(
    streams.map((stream) => stream.destroyed),
    [true, true],
  );
  const why = new Error('no name');
  const error = await t.throwsAsync(
    pipeline(
      Readable.from(items),
      splitByTopic((topic) => {
        if (topic === '/b') throw why;
        return sink([]);
      }),
    ),
  );
  t.is(error, why);
  t.like(error, { topic: '/b', logTime: 100n });
});
