/** Modules that few recordings need are loaded when one does: yaml alone takes 30 ms of a start that takes 80. */
import { createRequire } from 'node:module';

/**
 * Waits for wasm to be compiled. Node's event loop does not count V8's own tasks: where nothing else keeps it turning it waits
 * for all of them at once, those that optimise JavaScript too, and stands still for 5 to 60 ms of a start.
 */
export async function compiled<T>(loading: Promise<T>): Promise<T> {
  const turning = setInterval(() => undefined, 2 ** 30);
  try {
    return await loading;
  } finally {
    clearInterval(turning);
  }
}

/** A synchronous loader of a package, or of a file in one, once. */
export function lazily(name: string): () => unknown {
  let loaded: unknown;
  return () => (loaded ??= createRequire(import.meta.url)(name) as unknown);
}
