/** Modules that few recordings need are loaded when one does: yaml alone takes 30 ms of a start that takes 80. */
import { createRequire } from 'node:module';

/** A synchronous loader of a package, once. */
export function lazily(name: string): () => unknown {
  const require = createRequire(import.meta.url) as (name: string) => unknown;
  let loaded: unknown;
  return () => (loaded ??= require(name));
}
