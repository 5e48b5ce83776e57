import test from 'ava';
import { readMutations } from './helpers/mutations.js';
import { fixtureRecordings, sharedRecordings } from './helpers/whole-files.js';
import { sharedTest } from './helpers/shared.js';

test('1,000 damaged fixtures end, with nothing but a typed error', async (t) => {
  t.timeout(120_000);
  await readMutations(t, fixtureRecordings(), 1, 1000);
});

sharedTest('1,000 damaged recordings of others end, with nothing but a typed error', async (t) => {
  t.timeout(120_000);
  await readMutations(t, sharedRecordings(), 1, 1000);
});
