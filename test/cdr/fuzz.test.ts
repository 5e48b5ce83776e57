import test from 'ava';
import { fuzzDecoders } from '../helpers/fuzz-cdr.js';

test('mutated payloads end in a value or a typed error, the same from both decoders', async (t) => {
  const { mutants, errors } = await fuzzDecoders({ rounds: 60 });
  t.true(mutants >= 360);
  t.true(errors > mutants / 10);
});
