/** The verbs, their options and their help. What a verb does is loaded when it is called, so that `--help` is quick. */
import { createRequire } from 'node:module';
import { Command, Option } from 'commander';
import type { CatOptions } from './commands/cat.js';
import type { ConvertOptions } from './commands/convert.js';
import type { FilterOptions } from './commands/filter.js';
import type { InfoOptions } from './commands/info.js';
import type { MergeOptions } from './commands/merge.js';
import type { RecoverOptions } from './commands/recover.js';
import { DISTRIBUTIONS, extraVerbs } from './extra-verbs.js';
import { collect, wholeNumber, withCompression, withOutput, withTimes, withTopics, withVerbosity } from './options.js';
import { setVerbosity } from './output.js';
import type { ExitCode } from './output.js';

const { version } = createRequire(import.meta.url)('mcap-ros2-streams/package.json') as { version: string };

const EXIT_CODES = `
Exit codes: 0 whole, 1 failure, 2 usage, 3 finished with data loss, 130 interrupted.`;

export type Done = (code: ExitCode) => void;

/** @param done takes the exit code of the verb that was called */
export function buildProgram(done: Done): Command {
  const program = new Command('mcap-ros2')
    .description('Reads and writes MCAP recordings with ROS 2 messages.')
    .version(version)
    .exitOverride()
    .showHelpAfterError('(--help tells the usage)')
    .addHelpText('after', EXIT_CODES);
  program.hook('preAction', (_program, command) => {
    const { quiet, verbose } = command.opts<{ quiet?: boolean; verbose?: boolean }>();
    setVerbosity(quiet === true ? 'quiet' : verbose === true ? 'verbose' : 'normal');
  });
  readingVerbs(program, done);
  writingVerbs(program, done);
  repairVerbs(program, done);
  extraVerbs(program, verb, done);
  return program;
}

/** A verb with its two examples. */
function verb(program: Command, name: string, description: string, examples: readonly [string, string]): Command {
  const command = program.command(name).description(description);
  return withVerbosity(command).addHelpText(
    'after',
    `\nExamples:\n${examples.map((example) => `  ${example}\n`).join('')}${EXIT_CODES}`,
  );
}

const INPUTS = 'recordings or bag folders; - or nothing reads stdin';

function readingVerbs(program: Command, done: Done): void {
  withOutput(
    withTimes(
      withTopics(
        verb(program, 'cat', 'print messages as NDJSON, CSV, JSON or for reading; several files by log time', [
          'mcap-ros2 cat drive.mcap -t /imu --limit 10',
          "zstd -dc drive.mcap.zstd | mcap-ros2 cat - -t '/camera/.*' > camera.ndjson",
        ]).argument('[files...]', INPUTS),
      ),
    ),
  )
    .option('--limit <count>', 'stop after so many messages', wholeNumber)
    .addOption(new Option('--format <format>', 'form of the output').choices(['ndjson', 'csv', 'json', 'pretty']))
    .option('--fields <paths>', 'decode only these fields: header.stamp,poses[].position (repeatable)', collect)
    .addOption(new Option('--time-format <format>', 'form of log times').choices(['ns', 'rfc3339', 'seconds']))
    .addOption(new Option('--bytes <form>', 'form of byte arrays').choices(['base64', 'length', 'omit']))
    .option('--with-channels', "put a channel's definition before its first message, for the way back by convert")
    .action(async (files: string[], options: CatOptions) => {
      const { cat } = await import('./commands/cat.js');
      done(await cat(files, options));
    });

  verb(program, 'info', 'print what a recording holds: topics, types, counts, times, compression, damage', [
    'mcap-ros2 info drive.mcap',
    'mcap-ros2 info --json drive.mcap | jq .topics',
  ])
    .argument('[files...]', INPUTS)
    .option('--json', 'print one JSON object a file')
    .option('--scan', 'read everything, also where there is a summary: counts bytes by topic, finds damage')
    .action(async (files: string[], options: InfoOptions) => {
      const { info } = await import('./commands/info.js');
      done(await info(files, options));
    });
}

function writingVerbs(program: Command, done: Done): void {
  withOutput(
    withCompression(
      withTimes(
        withTopics(
          verb(program, 'filter', 'write some of a recording: topics, a time range, each n-th message, new names', [
            "mcap-ros2 filter drive.mcap -o short.mcap -S @10s -E @20s -x '/camera/.*'",
            'mcap-ros2 filter drive.mcap -o slow.mcap -t /imu --every 10 --rename /imu=/imu_slow',
          ]).argument('[files...]', INPUTS),
        ),
      ),
    ),
  )
    .option('--every <n>', 'take each n-th message of a topic', wholeNumber)
    .option('--rename <from=to>', 'another name for a topic (repeatable)', collect)
    .option('--no-attachments', 'leave attachments out')
    .option('--no-metadata', 'leave metadata records out')
    .action(async (files: string[], options: FilterOptions) => {
      const { filter } = await import('./commands/filter.js');
      done(await filter(files, options));
    });

  withOutput(
    withCompression(
      verb(program, 'convert', 'write JSON as a recording, or a recording with other chunks, compression or order', [
        'mcap-ros2 cat drive.mcap --with-channels | mcap-ros2 convert - -o copy.mcap',
        'mcap-ros2 convert drive.mcap -o sorted.mcap --compression lz4 --chunk-size 4MiB --sort log-time',
      ]).argument('[files...]', INPUTS),
    ),
  )
    .addOption(new Option('--sort <order>', 'put messages in order').choices(['log-time']))
    .option(
      '--msg-path <folder>',
      'folder with .msg and .idl files, for JSON without definitions (repeatable)',
      collect,
    )
    .addOption(
      new Option('--distro <name>', 'ROS 2 distribution whose standard types are known (default: jazzy)').choices(
        DISTRIBUTIONS,
      ),
    )
    .action(async (files: string[], options: ConvertOptions) => {
      const { convert } = await import('./commands/convert.js');
      done(await convert(files, options));
    });

  withOutput(
    withCompression(
      verb(program, 'merge', 'write several recordings as one, by log time', [
        'mcap-ros2 merge front.mcap rear.mcap -o both.mcap',
        'mcap-ros2 merge bag_folder/ -o bag.mcap --compression zstd',
      ]).argument('<files...>', 'recordings or bag folders'),
    ),
  ).action(async (files: string[], options: MergeOptions) => {
    const { merge } = await import('./commands/merge.js');
    done(await merge(files, options));
  });
}

function repairVerbs(program: Command, done: Done): void {
  withOutput(
    verb(program, 'recover', 'write what is sound in a damaged recording, and say what was lost', [
      'mcap-ros2 recover cut.mcap -o recovered.mcap',
      'mcap-ros2 recover cut.mcap -o recovered.mcap --keep-suspect --json',
    ]).argument('[files...]', INPUTS),
  )
    .option('--keep-suspect', 'keep what a chunk with a wrong CRC still gives, and flag it in a metadata record')
    .option('--json', 'print the report on stdout as JSON (with -o)')
    .action(async (files: string[], options: RecoverOptions) => {
      const { recover } = await import('./commands/recover.js');
      done(await recover(files, options));
    });

  verb(program, 'doctor', 'list every fault of a recording with its offset and code', [
    'mcap-ros2 doctor drive.mcap',
    'mcap-ros2 doctor --json drive.mcap | jq .faults',
  ])
    .argument('[files...]', INPUTS)
    .option('--json', 'print one JSON object a file')
    .action(async (files: string[], options: { json?: boolean }) => {
      const { doctor } = await import('./commands/doctor.js');
      done(await doctor(files, options));
    });
}
