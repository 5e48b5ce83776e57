import type * as Package from '../lib/index.js';

/** What is measured is the package as it is published, with its start; so this module imports nothing else. */
export async function loadPackage(): Promise<typeof Package> {
  return (await import(new URL('../../dist/index.js', import.meta.url).href)) as typeof Package;
}
