#!/usr/bin/env node
/** The command mcap-ros2. */
import { CommanderError } from 'commander';
import { EXIT, fail, ReaderGone, UsageError } from './output.js';
import type { ExitCode } from './output.js';
import { buildProgram } from './program.js';
import { removeTemporaries } from './temporaries.js';

async function run(argv: readonly string[]): Promise<ExitCode> {
  let exitCode: ExitCode = EXIT.whole;
  const program = buildProgram((code) => {
    exitCode = code;
  });
  try {
    await program.parseAsync(argv);
    return exitCode;
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.whole : EXIT.usage;
    if (isReaderGone(error)) return EXIT.whole;
    fail(error instanceof Error ? error.message : String(error));
    return error instanceof UsageError ? EXIT.usage : EXIT.failure;
  }
}

function isReaderGone(error: unknown): boolean {
  return error instanceof ReaderGone || (error as NodeJS.ErrnoException | undefined)?.code === 'EPIPE';
}

// Whoever reads stdout may go at any time, also while the help is printed. A verb hears of it from its own write.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code === 'EPIPE' || process.stdout.listenerCount('error') > 1) return;
  fail(error.message);
  process.exit(EXIT.failure);
});
process.on('SIGINT', () => {
  removeTemporaries();
  process.exit(EXIT.interrupted);
});
process.on('SIGTERM', () => {
  removeTemporaries();
  process.exit(143);
});
process.exitCode = await run(process.argv);
// A pipe that is stdin, or a reader that has gone, must not keep a finished command alive.
process.stdin.destroy();
