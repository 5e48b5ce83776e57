/** Modules that few recordings need are loaded when one does: yaml alone takes 30 ms of a start that takes 80. */
import { createRequire } from 'node:module';

/** A synchronous loader of a package, or of a file in one, once. */
export function lazily(name: string): () => unknown {
  let loaded: unknown;
  return () => (loaded ??= createRequire(import.meta.url)(name) as unknown);
}
