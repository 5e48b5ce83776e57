#!/usr/bin/env node
/** The command mcap-ros2. Verbs are loaded when they are called, so that `--help` is quick. */
import { createRequire } from 'node:module';
import { Command, CommanderError, InvalidArgumentError } from 'commander';
import { EXIT, ReaderGone, UsageError, warn } from './output.js';
import type { ExitCode } from './output.js';

const { version } = createRequire(import.meta.url)('../../package.json') as { version: string };

function collect(value: string, previous: string[]): string[] {
  return [...previous, value];
}

function wholeNumber(text: string): number {
  if (!/^\d+$/.test(text) || !Number.isSafeInteger(Number(text)))
    throw new InvalidArgumentError('a whole number is needed');
  return Number(text);
}

const EXIT_CODES = `
Exit codes: 0 whole, 1 failure, 2 usage, 3 finished with data loss, 130 interrupted.`;

function build(done: (code: ExitCode) => void): Command {
  const program = new Command('mcap-ros2')
    .description('Reads MCAP recordings with ROS 2 messages.')
    .version(version)
    .exitOverride()
    .showHelpAfterError('(--help tells the usage)')
    .addHelpText('after', EXIT_CODES);

  program
    .command('cat')
    .description('print the messages of a recording as NDJSON, one line each')
    .argument('[file]', 'the recording; - or nothing reads stdin')
    .option(
      '-t, --topic <pattern>',
      'take this topic: a regular expression for the whole name (repeatable)',
      collect,
      [],
    )
    .option('--limit <count>', 'stop after so many messages', wholeNumber)
    .addHelpText(
      'after',
      `
Examples:
  mcap-ros2 cat drive.mcap -t /imu --limit 10
  zstd -dc drive.mcap.zstd | mcap-ros2 cat - -t '/camera/.*' > camera.ndjson
${EXIT_CODES}`,
    )
    .action(async (file: string | undefined, options: { topic: string[]; limit?: number }) => {
      const { cat } = await import('./commands/cat.js');
      done(await cat(file, options));
    });

  program
    .command('info')
    .description('print what a recording holds: topics, types, counts, times, compression')
    .argument('[file]', 'the recording; - or nothing reads stdin')
    .option('--json', 'print one JSON object')
    .addHelpText(
      'after',
      `
Examples:
  mcap-ros2 info drive.mcap
  mcap-ros2 info --json drive.mcap | jq .topics
${EXIT_CODES}`,
    )
    .action(async (file: string | undefined, options: { json?: boolean }) => {
      const { info } = await import('./commands/info.js');
      done(await info(file, options));
    });

  return program;
}

async function run(argv: readonly string[]): Promise<ExitCode> {
  let exitCode: ExitCode = EXIT.whole;
  const program = build((code) => {
    exitCode = code;
  });
  try {
    await program.parseAsync(argv);
    return exitCode;
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.whole : EXIT.usage;
    if (error instanceof ReaderGone) return EXIT.whole;
    warn(error instanceof Error ? error.message : String(error));
    return error instanceof UsageError ? EXIT.usage : EXIT.failure;
  }
}

process.on('SIGINT', () => {
  process.exit(EXIT.interrupted);
});
process.exitCode = await run(process.argv);
// A pipe that is stdin, or a reader that has gone, must not keep a finished command alive.
process.stdin.destroy();
