import { createHash } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import wasmLz4 from '@foxglove/wasm-lz4';
import { decompress, isLoaded } from '@foxglove/wasm-zstd';
import { McapStreamReader } from '@mcap/core';
import type { CommanderError } from 'commander';
import test from 'ava';
import type { ExecutionContext } from 'ava';
import { buildProgram } from '../../lib/cli/program.js';
import { isZstd } from '../../lib/streams/whole-file-compression.js';
import { hasShared, sharedFiles, sharedPath } from '../helpers/shared.js';
import { EXIT_CODES, VERBS } from '../helpers/zoo.js';
import type { Kind } from '../helpers/zoo.js';

/** What an independent reader says of a file; undefined where it cannot tell. */
function kindOf(bytes: Buffer): Kind | undefined {
  if (bytes.length < 8 || bytes[0] !== 0x89 || bytes[1] !== 0x4d) return 'not an MCAP';
  const reader = new McapStreamReader({
    validateCrcs: true,
    decompressHandlers: {
      zstd: (data, size) => decompress(data, Number(size)),
      lz4: (data, size) => wasmLz4(data, Number(size)),
    },
  });
  let kind: Kind = 'index missing';
  try {
    reader.append(bytes);
    for (let record = reader.nextRecord(); record !== undefined; record = reader.nextRecord()) {
      if (record.type === 'Footer' && record.summaryStart > 0n) kind = 'whole';
    }
    if (reader.done()) return kind;
    return isCutInIndex(bytes) ? 'cut behind the data' : 'cut';
  } catch (error) {
    return /crc/i.test(String(error)) ? 'CRC wrong' : undefined;
  }
}

/** Whether a file ends between two records, or in one that only indexes: none of its data is lost. */
function isCutInIndex(bytes: Buffer): boolean {
  let at = 8;
  for (;;) {
    if (at + 9 > bytes.length) return at === bytes.length || bytes[at] === 7;
    const end = at + 9 + Number(bytes.readBigUInt64LE(at + 1));
    // Opcodes: 7 MessageIndex, 15 DataEnd. What stands behind a DataEnd is the summary.
    if (bytes[at] === 15 || (end > bytes.length && bytes[at] === 7)) return true;
    if (end > bytes.length) return false;
    at = end;
  }
}

/** Runs a command in this process; `main.ts` adds the exit codes of what is thrown. */
async function run(args: readonly string[]): Promise<number> {
  let exitCode = 0;
  const program = buildProgram((code) => {
    exitCode = code;
  });
  try {
    await program.parseAsync(['node', 'mcap-ros2', ...args, '--quiet']);
    return exitCode;
  } catch (error) {
    return (error as CommanderError).code === 'commander.error' ? 2 : 1;
  }
}

/** What the commands print is not the test's. */
async function silently<T>(work: () => Promise<T>): Promise<T> {
  const write = process.stdout.write.bind(process.stdout);
  process.stdout.write = (_data: unknown, encoding?: unknown, callback?: unknown): boolean => {
    const done = typeof encoding === 'function' ? encoding : callback;
    if (typeof done === 'function') setImmediate(done as () => void);
    return true;
  };
  try {
    return await work();
  } finally {
    process.stdout.write = write;
  }
}

async function zoo(t: ExecutionContext, folder: string): Promise<void> {
  t.timeout(20 * 60_000);
  process.stdout.setMaxListeners(0);
  await isLoaded;
  await wasmLz4.isLoaded;
  const temporary = mkdtempSync(join(tmpdir(), 'zoo-'));
  const wrong: string[] = [];
  try {
    for (const name of sharedFiles(folder, '.mcap')) {
      const path = sharedPath(folder, name);
      const bytes = readFileSync(path);
      if (isZstd(bytes)) continue;
      const kind = kindOf(bytes);
      const before = createHash('sha256').update(bytes).digest('hex');
      for (const [verb, args] of Object.entries(VERBS)) {
        const code = await silently(() => run(args(path, join(temporary, 'out'))));
        rmSync(join(temporary, 'out'), { force: true });
        // Without a second opinion any of the codes will do that is no crash.
        const expected = kind === undefined ? [code] : (EXIT_CODES[verb]?.[kind] ?? []);
        if (expected.includes(code)) continue;
        wrong.push(`${verb} on ${name} (${kind ?? 'unclear'}): ${code}, not ${expected.join(' or ')}`);
      }
      t.is(createHash('sha256').update(readFileSync(path)).digest('hex'), before);
    }
  } finally {
    rmSync(temporary, { recursive: true, force: true });
  }
  t.deepEqual(wrong, []);
}

for (const folder of ['damaged', 'recordings', 'conformance']) {
  // One by one: what they print goes through the one stdout of the process.
  const serial = hasShared || process.env['CI'] !== undefined ? test.serial : test.skip;
  serial(`every command has its exit code on every file of ${folder}`, zoo, folder);
}
