import test from 'ava';
import { readMutations } from './helpers/mutations.js';

test('1,000 damaged recordings end, with nothing but a typed error', async (t) => {
  t.timeout(120_000);
  await readMutations(t, 1, 1000);
});
