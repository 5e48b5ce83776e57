/**
 * Small stages for messages on the way: filter, map, tap, throttle, split. They work on single messages and on batches (the
 * option `batch` of the stages before them), with functions that answer at once or with a promise.
 *
 * They are through2 streams (readable-stream's, not `instanceof` node:stream's Transform). What a user's function throws, or
 * rejects with, comes out as the stream's error: the same object, with `topic` and `logTime` of its message set where the
 * error can take them.
 */
import { finished } from 'node:stream';
import type { Writable } from 'node:stream';
import type * as Through2 from 'through2';
import { OptionError } from '../errors.js';
import { lazily } from '../mcap/lazy.js';
import { checkOptions } from '../options.js';
import { STREAM_OPTIONS, readableMark, writableMark } from './stream-options.js';
import type { StreamOptions } from './stream-options.js';

/** What the stages need of a message: decoded messages, those of `jsonMessages`, and records of messages have it. */
export interface StageMessage {
  readonly topic: string;
  readonly logTime: bigint;
}

/** A stage for single messages of type `In`, or arrays of them; its outputs are as its inputs were. */
export type MessageStage<Out> = NodeJS.ReadWriteStream & AsyncIterable<Out> & { destroy(error?: Error): unknown };

const through2 = lazily('through2') as () => typeof Through2;

type Callback = (error?: Error | null, output?: unknown) => void;

/**
 * Lets the messages through for which `predicate` is true (or a promise of it). An empty batch is left out.
 *
 *     decodeStream({ batch: 512 }) -> filterMessages(({ message }) => message.header.frame_id === 'map') -> ...
 */
export function filterMessages<M extends StageMessage = StageMessage>(
  predicate: (message: M) => unknown,
  options?: StreamOptions,
): MessageStage<M> {
  return stage('filterMessages', predicate, options, (message: M) =>
    then(predicate(message), (keep) => (keep ? message : NOTHING)),
  );
}

/**
 * Replaces each message by what `map` makes of it; `undefined` leaves it out. To change a value alone:
 * `mapMessages((m) => ({ ...m, message: change(m.message) }))`.
 */
export function mapMessages<M extends StageMessage = StageMessage, Out = M>(
  map: (message: M) => Out | undefined | Promise<Out | undefined>,
  options?: StreamOptions,
): MessageStage<Out> {
  return stage('mapMessages', map, options, (message: M) =>
    then(map(message), (output) => (output === undefined || output === null ? NOTHING : output)),
  );
}

/** Calls `look` for each message, waits for it where it is asynchronous, and hands the message on. */
export function tapMessages<M extends StageMessage = StageMessage>(
  look: (message: M) => unknown,
  options?: StreamOptions,
): MessageStage<M> {
  return stage('tapMessages', look, options, (message: M) => then(look(message), () => message));
}

/** How often {@link throttleMessages} lets a topic's messages through. */
export interface ThrottleOptions extends StreamOptions {
  /** Messages a second of log time, for each topic. */
  readonly hz: number;
  /** Topics that are throttled; others pass whole. Default: all. */
  readonly topics?: string | RegExp | readonly (string | RegExp)[] | undefined;
}

/**
 * Lets through at most `hz` messages a second of each topic, by their log time, not by the clock: the first, and then each
 * one that is a period later than the one before it that passed. A message from before that one, as after a jump of the
 * clock, passes and counts anew.
 */
export function throttleMessages<M extends StageMessage = StageMessage>(options: ThrottleOptions): MessageStage<M> {
  checkOptions(options, ['hz', 'topics', ...STREAM_OPTIONS], 'throttleMessages');
  const { hz, topics, ...rest } = options;
  if (!(hz > 0)) throw new OptionError('OPTION_INVALID', `option hz takes a number above 0, not ${String(hz)}`);
  const period = hz === Infinity ? 0n : BigInt(Math.round(1e9 / hz));
  const patterns =
    topics === undefined ? [] : typeof topics === 'string' || topics instanceof RegExp ? [topics] : topics;
  const isChosen = (topic: string): boolean =>
    topics === undefined ||
    patterns.some((pattern) => (typeof pattern === 'string' ? pattern === topic : new RegExp(pattern).test(topic)));
  const last = new Map<string, { time: bigint | undefined; chosen: boolean }>();
  return stage('throttleMessages', isChosen, rest, (message: M) => {
    const { topic, logTime } = message;
    let state = last.get(topic);
    if (state === undefined) last.set(topic, (state = { time: undefined, chosen: isChosen(topic) }));
    if (!state.chosen) return message;
    if (state.time !== undefined && logTime >= state.time && logTime - state.time < period) return NOTHING;
    state.time = logTime;
    return message;
  });
}

/**
 * A Writable that gives each topic's messages to a stream of its own, which `factory` makes (or promises) when the topic is
 * first seen; `undefined` drops the topic. It ends when all of them have finished, and is destroyed with the first that
 * fails. A stream that is slow holds all back. Batches stay batches, of one topic each.
 *
 *     splitByTopic((topic) => {
 *       const lines = ndjson();
 *       files.push(pipeline(lines, createWriteStream(`${name(topic)}.ndjson`)));
 *       return lines;
 *     })
 */
export function splitByTopic(
  factory: (topic: string, message: StageMessage) => Writable | undefined | Promise<Writable | undefined>,
  options?: StreamOptions,
): NodeJS.WritableStream & { destroy(error?: Error): unknown } {
  const outputs = new Map<string, Output | undefined>();
  checkFunction(factory, 'splitByTopic');
  checkOptions(options, STREAM_OPTIONS, 'splitByTopic');

  const splitter = through2().objectTransform(
    highWaterMarks(options),
    (input: StageMessage | readonly StageMessage[], _encoding, callback: Callback) => {
      give(input).then(
        () => {
          callback();
        },
        (error: unknown) => {
          callback(toError(error));
        },
      );
    },
    (callback: Callback) => {
      Promise.all([...outputs.values()].map((output) => output?.end() ?? Promise.resolve())).then(
        () => {
          callback();
        },
        (error: unknown) => {
          callback(toError(error));
        },
      );
    },
  );
  // Nothing is read from it; it must flow to finish.
  splitter.resume();
  splitter.once('close', () => {
    for (const output of outputs.values()) output?.abandon();
  });
  abortWith(splitter, options?.signal);
  return splitter;

  async function give(input: StageMessage | readonly StageMessage[]): Promise<void> {
    if (!Array.isArray(input)) {
      const message = input as StageMessage;
      await (await outputOf(message))?.write(message);
      return;
    }
    const byTopic = new Map<string, StageMessage[]>();
    for (const message of input as readonly StageMessage[]) {
      const list = byTopic.get(message.topic);
      if (list === undefined) byTopic.set(message.topic, [message]);
      else list.push(message);
    }
    for (const list of byTopic.values()) {
      const [first] = list;
      if (first !== undefined) await (await outputOf(first))?.write(list);
    }
  }

  async function outputOf(message: StageMessage): Promise<Output | undefined> {
    if (outputs.has(message.topic)) return outputs.get(message.topic);
    let output: Output | undefined;
    try {
      const stream = await factory(message.topic, message);
      if (stream !== undefined) {
        output = new Output(stream, (error) => {
          splitter.destroy(toError(error));
        });
      }
    } catch (error) {
      throw placed(error, message);
    }
    outputs.set(message.topic, output);
    return output;
  }
}

/** One topic's stream. */
class Output {
  readonly #stream: Writable;
  readonly #finished: Promise<void>;

  constructor(stream: Writable, onError: (error: unknown) => void) {
    this.#stream = stream;
    this.#finished = new Promise((resolve, reject) => {
      finished(stream, { readable: false }, (error) => {
        if (error) reject(error);
        else resolve();
      });
    });
    this.#finished.catch(onError);
  }

  async write(chunk: unknown): Promise<void> {
    if (this.#stream.destroyed) await this.#finished;
    if (this.#stream.write(chunk)) return;
    const drained = new Promise<void>((resolve) => this.#stream.once('drain', resolve));
    await Promise.race([drained, this.#finished]);
  }

  end(): Promise<void> {
    this.#stream.end();
    return this.#finished;
  }

  /** The splitter is over: a stream that has not finished never will. */
  abandon(): void {
    if (!this.#stream.writableFinished) this.#stream.destroy();
  }
}

const NOTHING = Symbol('nothing');

/** A one-to-one stage around `step`, which gives what becomes of a message, or a promise of it. */
function stage<Out>(
  name: string,
  given: unknown,
  options: StreamOptions | undefined,
  each: (message: never) => unknown,
): MessageStage<Out> {
  const step = each as (message: StageMessage) => unknown;
  checkFunction(given, name);
  checkOptions(options, STREAM_OPTIONS, name);
  const stream = through2().objectTransform(
    highWaterMarks(options),
    (input: StageMessage | readonly StageMessage[], _encoding, callback: Callback) => {
      if (Array.isArray(input)) {
        batch(input as readonly StageMessage[], 0, [], step, callback);
        return;
      }
      const message = input as StageMessage;
      let result: unknown;
      try {
        result = step(message);
      } catch (error) {
        callback(placed(error, message));
        return;
      }
      if (isPromise(result)) {
        result.then(
          (output) => {
            settle(callback, output);
          },
          (error: unknown) => {
            callback(placed(error, message));
          },
        );
      } else settle(callback, result);
    },
  );
  abortWith(stream, options?.signal);
  return stream;
}

/** Messages of a batch one after the other, in a loop as long as nothing is asynchronous. */
function batch(
  messages: readonly StageMessage[],
  from: number,
  outputs: unknown[],
  step: (message: StageMessage) => unknown,
  callback: Callback,
): void {
  for (let index = from; index < messages.length; index++) {
    const message = messages[index];
    if (message === undefined) continue;
    let result: unknown;
    try {
      result = step(message);
    } catch (error) {
      callback(placed(error, message));
      return;
    }
    if (isPromise(result)) {
      result.then(
        (output) => {
          if (output !== NOTHING) outputs.push(output);
          batch(messages, index + 1, outputs, step, callback);
        },
        (error: unknown) => {
          callback(placed(error, message));
        },
      );
      return;
    }
    if (result !== NOTHING) outputs.push(result);
  }
  settle(callback, outputs.length === 0 ? NOTHING : outputs);
}

function settle(callback: Callback, output: unknown): void {
  if (output === NOTHING) callback();
  else callback(null, output);
}

function then(result: unknown, next: (value: unknown) => unknown): unknown {
  return isPromise(result) ? Promise.resolve(result).then(next) : next(result);
}

function isPromise(value: unknown): value is Promise<unknown> {
  return typeof value === 'object' && value !== null && 'then' in value && typeof value.then === 'function';
}

/** The error itself; it is told where it arose, unless it says so already or cannot be told. */
function placed(error: unknown, { topic, logTime }: StageMessage): Error {
  const known = toError(error);
  for (const [name, value] of [
    ['topic', topic],
    ['logTime', logTime],
  ] as const) {
    if ((known as unknown as Record<string, unknown>)[name] === undefined && Object.isExtensible(known)) {
      Object.defineProperty(known, name, { value, enumerable: true, writable: true, configurable: true });
    }
  }
  return known;
}

function toError(error: unknown): Error {
  return error instanceof Error ? error : new Error(String(error), { cause: error });
}

function checkFunction(given: unknown, name: string): void {
  if (typeof given !== 'function') throw new OptionError('OPTION_INVALID', `${name} takes a function`);
}

function highWaterMarks(options: StreamOptions = {}): object {
  const readableHighWaterMark = readableMark(options, 'objects');
  const writableHighWaterMark = writableMark(options, 'objects');
  return {
    ...(readableHighWaterMark === undefined ? {} : { readableHighWaterMark }),
    ...(writableHighWaterMark === undefined ? {} : { writableHighWaterMark }),
  };
}

/** Destroys a stream when the signal aborts: node:stream's own helper does not know streams of readable-stream. */
function abortWith(
  stream: { destroy(error?: Error): unknown; once(event: 'close', call: () => void): unknown },
  signal: AbortSignal | undefined,
): void {
  if (signal === undefined) return;
  const abort = (): void => {
    const error = new Error('The operation was aborted', { cause: signal.reason });
    error.name = 'AbortError';
    stream.destroy(Object.assign(error, { code: 'ABORT_ERR' }));
  };
  if (signal.aborted) abort();
  else {
    signal.addEventListener('abort', abort);
    stream.once('close', () => {
      signal.removeEventListener('abort', abort);
    });
  }
}
