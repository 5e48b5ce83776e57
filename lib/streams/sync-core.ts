/** A core for stages that turn each input into outputs at once: what is left of a PullCore is one function. */
import type { Job, Producer, PullCore } from './pull-transform.js';

/** What such a stage does. Both functions may throw. */
export interface SyncStage<In, Out> {
  /** The outputs of an input, made while they are taken. */
  take(input: In): Iterator<Out, unknown>;
  /** What is still to come when the input has ended. */
  finish?(): Iterator<Out, unknown>;
}

export function syncCore<In, Out>(stage: SyncStage<In, Out>): PullCore<In, Out> {
  let next: (() => Iterator<Out, unknown>) | undefined;
  return {
    write(input) {
      next = () => stage.take(input);
    },
    end() {
      next = stage.finish === undefined ? undefined : () => stage.finish?.() ?? [].values();
    },
    pull() {
      if (next === undefined) return undefined;
      const start = next;
      next = undefined;
      return job(start);
    },
    failed: () => 'throw',
  };
}

function job<Out>(start: () => Iterator<Out, unknown>): Job<Out> {
  return {
    cost: 0,
    ahead: false,
    start(): Producer<Out> {
      const iterator = start();
      return {
        next() {
          const result = iterator.next();
          return result.done === true ? undefined : result.value;
        },
      };
    },
  };
}
