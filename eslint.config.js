import js from '@eslint/js';
import tseslint from 'typescript-eslint';

/**
 * The rooms of lib/ and the rooms that each may import. errors.ts, options.ts and time.ts, beside the rooms, are open to all.
 * A room that is not named for a folder is closed to it.
 */
const ARROWS = {
  schema: [],
  cdr: ['schema'],
  mcap: [],
  streams: ['schema', 'cdr', 'mcap'],
  cli: ['schema', 'cdr', 'mcap', 'streams'],
};

/** Rooms that run without Node: neither its modules nor its globals. */
const PURE = ['schema', 'cdr'];

const rooms = Object.keys(ARROWS);

function layering(room) {
  const closed = rooms.filter((other) => other !== room && !ARROWS[room].includes(other));
  const path = `^(\\.\\./)+(lib/)?(${closed.join('|')})/`;
  const message = `lib/${room} may import only: ${['errors', 'options', 'time', ...ARROWS[room]].join(', ')}.`;
  const banned = [{ regex: path, message }];
  if (PURE.includes(room)) banned.push({ regex: '^node:', message: `lib/${room} runs without Node.` });
  return {
    files: [`lib/${room}/**/*.ts`],
    rules: {
      'no-restricted-imports': ['error', { patterns: banned }],
      'no-restricted-syntax': [
        'error',
        ...banned.map(({ regex, message: text }) => ({
          selector: `ImportExpression > Literal[value=/${regex.replaceAll('/', '\\/')}/]`,
          message: text,
        })),
      ],
      ...(PURE.includes(room) ? { 'no-restricted-globals': ['error', 'Buffer', 'process'] } : {}),
    },
  };
}

export default tseslint.config(
  { ignores: ['dist/', 'build/', 'coverage/'] },
  js.configs.recommended,
  {
    files: ['**/*.ts'],
    extends: [tseslint.configs.strictTypeChecked],
    languageOptions: { parserOptions: { project: './tsconfig.test.json', tsconfigRootDir: import.meta.dirname } },
    rules: {
      '@typescript-eslint/restrict-template-expressions': ['error', { allowNumber: true, allowBoolean: true }],
      '@typescript-eslint/switch-exhaustiveness-check': ['error', { considerDefaultExhaustiveForUnions: true }],
      eqeqeq: 'error',
    },
  },
  ...rooms.map(layering),
  {
    // The one seam between the codec and Node's fast string calls.
    files: ['lib/cdr/text.ts'],
    rules: { 'no-restricted-globals': 'off' },
  },
  {
    // The one place that turns text into code.
    files: ['lib/cdr/emit.ts'],
    rules: { '@typescript-eslint/no-implied-eval': 'off' },
  },
  {
    files: ['lib/index.ts', 'lib/errors.ts', 'lib/options.ts', 'lib/time.ts'],
    rules: { 'no-restricted-imports': ['error', { patterns: [{ regex: '/cli/', message: 'Nothing imports cli.' }] }] },
  },
  {
    files: ['**/*.js'],
    languageOptions: { globals: { process: 'readonly', console: 'readonly', URL: 'readonly' } },
  },
);
