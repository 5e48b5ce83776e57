import test from 'ava';
import { fuzzDecoders } from '../helpers/fuzz-cdr.js';

const SECONDS = Number(process.env['FUZZ_SECONDS'] ?? 60);
/** A short run repeats itself; a long one looks elsewhere each time, unless FUZZ_SEED says. */
const SEED = Number(process.env['FUZZ_SEED'] ?? (SECONDS > 60 ? Date.now() % 1_000_000 : 7));

test('mutated payloads, for a minute or longer, end in values or typed errors', async (t) => {
  t.timeout(SECONDS * 2000 + 60_000);
  const { seed, mutants, errors } = await fuzzDecoders({ seconds: SECONDS, seed: SEED });
  t.log(`seed ${seed}: ${mutants} mutants, ${errors} typed errors`);
  t.true(errors > 0);
});
