import test from 'ava';
import { readMutations } from '../helpers/mutations.js';
import { fixtureRecordings, sharedRecordings } from '../helpers/whole-files.js';
import { sharedTest } from '../helpers/shared.js';

for (const seed of [2, 3]) {
  test(`4,000 damaged fixtures end, with nothing but a typed error (seed ${seed})`, async (t) => {
    t.timeout(600_000);
    await readMutations(t, fixtureRecordings(), seed, 4000);
  });

  sharedTest(`4,000 damaged recordings of others end, with nothing but a typed error (seed ${seed})`, async (t) => {
    t.timeout(600_000);
    await readMutations(t, sharedRecordings(), seed, 4000);
  });
}
