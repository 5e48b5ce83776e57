import test from 'ava';
import { readMutations } from '../helpers/mutations.js';

for (const seed of [2, 3, 4, 5]) {
  test(`10,000 damaged recordings end, with nothing but a typed error (seed ${seed})`, async (t) => {
    t.timeout(600_000);
    await readMutations(t, seed, 10_000);
  });
}
