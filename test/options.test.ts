import test from 'ava';
import { OptionError } from '../lib/errors.js';
import { checkChoice, checkOptions, nearest } from '../lib/options.js';

test('a known option passes, also when it is undefined', (t) => {
  t.notThrows(() => {
    checkOptions({ topics: undefined, limit: 3 }, ['topics', 'limit'], 'decodeStream');
    checkOptions(undefined, ['topics'], 'decodeStream');
  });
});

test('an unknown option is a TypeError that names the nearest one', (t) => {
  const error = t.throws(
    () => {
      checkOptions({ topic: 'x' }, ['limit', 'topics'], 'decodeStream');
    },
    {
      instanceOf: OptionError,
      code: 'OPTION_UNKNOWN',
      message: /decodeStream.*"topic".*topics/,
    },
  );
  t.true(error instanceof TypeError);
});

test('a value outside of the choices is refused with the choices', (t) => {
  t.throws(
    () => {
      checkChoice('big', ['bigint', 'number'], 'int64');
    },
    { code: 'OPTION_INVALID', message: /int64.*"bigint", "number", not "big"/ },
  );
  t.notThrows(() => {
    checkChoice(undefined, ['bigint'], 'int64');
  });
});

test('the nearest names come first', (t) => {
  t.deepEqual(nearest('postion', ['orientation', 'position', 'pose'], 2), ['position', 'pose']);
});
