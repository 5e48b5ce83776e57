import { join } from 'node:path';
import { ESLint } from 'eslint';
import test from 'ava';
import { ROOT } from './helpers/shared.js';

/** A file of a room that is there, so that the compiler's project has it, with other content. */
const FORBIDDEN: [string, string, string][] = [
  ['lib/schema/names.ts', "import { compileCodec } from '../cdr/codec.js';\ncompileCodec;", 'no-restricted-imports'],
  ['lib/schema/names.ts', "import { readFileSync } from 'node:fs';\nreadFileSync;", 'no-restricted-imports'],
  ['lib/cdr/codec.ts', "import { crc32 } from '../mcap/crc.js';\ncrc32;", 'no-restricted-imports'],
  ['lib/cdr/codec.ts', 'Buffer.alloc(1);', 'no-restricted-globals'],
  ['lib/cdr/codec.ts', "await import('../mcap/crc.js');", 'no-restricted-syntax'],
  ['lib/mcap/crc.ts', "import { compileCodec } from '../cdr/codec.js';\ncompileCodec;", 'no-restricted-imports'],
  ['lib/mcap/crc.ts', "import { parseSchema } from '../schema/registry.js';\nparseSchema;", 'no-restricted-imports'],
  ['lib/mcap/crc.ts', "import { batched } from '../streams/batch.js';\nbatched;", 'no-restricted-imports'],
  ['lib/streams/batch.ts', "import { table } from '../cli/table.js';\ntable;", 'no-restricted-imports'],
  ['lib/time.ts', "import { table } from './cli/table.js';\ntable;", 'no-restricted-imports'],
  ['lib/streams/batch.ts', 'Promise.resolve(1);', '@typescript-eslint/no-floating-promises'],
];

const ALLOWED: [string, string][] = [
  ['lib/cdr/codec.ts', "import { parseSchema } from '../schema/registry.js';\nparseSchema;"],
  ['lib/streams/batch.ts', "import { crc32 } from '../mcap/crc.js';\ncrc32;"],
  ['lib/cli/table.ts', "import { batched } from '../streams/batch.js';\nbatched;"],
];

const eslint = new ESLint({
  cwd: ROOT,
  // In CI the parser reads each file once, from disk, and would not see the text that it is given here.
  overrideConfig: [
    { files: ['**/*.ts'], languageOptions: { parserOptions: { disallowAutomaticSingleRunInference: true } } },
  ],
});

async function rules(file: string, code: string): Promise<(string | null)[]> {
  const results = await eslint.lintText(code, { filePath: join(ROOT, file) });
  return results.flatMap(({ messages }) => messages.map(({ ruleId }) => ruleId));
}

for (const [file, code, rule] of FORBIDDEN) {
  test(`lint refuses in ${file}: ${code.split('\n')[0]}`, async (t) => {
    t.true((await rules(file, code)).includes(rule));
  });
}

for (const [file, code] of ALLOWED) {
  test(`lint allows in ${file}: ${code.split('\n')[0]}`, async (t) => {
    t.false((await rules(file, code)).some((rule) => rule?.startsWith('no-restricted')));
  });
}
