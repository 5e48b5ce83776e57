import test from 'ava';
import { hasShared, sharedFiles, sharedTest } from './helpers/shared.js';

sharedTest('the reference material is there (skipped in a clone without it, required in CI)', (t) => {
  t.true(hasShared);
  t.is(sharedFiles('golden/decoded', '.mcap.jsonl').length, 29);
});

test('without the reference material its lists are empty, not an error', (t) => {
  t.deepEqual(sharedFiles('no/such/folder', '.mcap'), []);
});
