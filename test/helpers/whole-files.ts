/** The recordings that tests damage. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { readShared, ROOT, sharedFiles } from './shared.js';

export function fixtureRecordings(): Uint8Array[] {
  const folder = join(ROOT, 'fixtures/recordings');
  return readdirSync(folder)
    .filter((name) => name.endsWith('.mcap'))
    .map((name) => readFileSync(join(folder, name)));
}

/** Those of the reference material that are small enough to be read a thousand times. */
export function sharedRecordings(): Uint8Array[] {
  return ['recordings', 'damaged', 'conformance'].flatMap((folder) =>
    sharedFiles(folder, '.mcap')
      .map((name) => readShared(folder, name))
      .filter(({ length }) => length < 200_000),
  );
}
