/** The verbs beside reading and writing messages: types, attachments, metadata, generate, completion. */
import { Argument, InvalidArgumentError, Option } from 'commander';
import type { Command } from 'commander';
import type { AddAttachmentOptions } from './commands/attachments.js';
import type { GenerateOptions } from './commands/generate.js';
import type { TypesOptions } from './commands/types.js';
import { collect, wholeNumber, withCompression, withOutput, withTopics } from './options.js';
import type { OutputOptions } from './output-file.js';
import type { ExitCode } from './output.js';

/** Makes a verb with its description and two examples. */
export type MakeVerb = (
  parent: Command,
  name: string,
  description: string,
  examples: readonly [string, string],
) => Command;

type Done = (code: ExitCode) => void;

const INPUT = 'a recording; - reads stdin';

export const DISTRIBUTIONS: readonly string[] = ['galactic', 'humble', 'iron', 'jazzy', 'kilted', 'rolling'];

function rates(text: string, previous: readonly number[] | undefined): number[] {
  const rate = Number(text);
  if (!(rate >= 0.001 && rate <= 1e6)) throw new InvalidArgumentError('a rate from 0.001 to 1000000 is needed');
  return [...(previous ?? []), rate];
}

export function extraVerbs(program: Command, verb: MakeVerb, done: Done): void {
  typesAndGenerate(program, verb, done);
  besideMessages(program, verb, done);
  verb(program, 'completion', 'print the completion of a shell', [
    'eval "$(mcap-ros2 completion bash)"   # in ~/.bashrc',
    'eval "$(mcap-ros2 completion zsh)"    # in ~/.zshrc, after compinit',
  ])
    .addArgument(new Argument('<shell>', 'the shell').choices(['bash', 'zsh']))
    .action(async (shell: 'bash' | 'zsh') => {
      const { completion } = await import('./commands/completion.js');
      done(await completion(shell, program));
    });
}

function typesAndGenerate(program: Command, verb: MakeVerb, done: Done): void {
  withOutput(
    withTopics(
      verb(program, 'types', "print a recording's types as TypeScript or .msg text", [
        'mcap-ros2 types drive.mcap -o drive-types.ts',
        'mcap-ros2 types drive.mcap -t /imu --format msg',
      ]).argument('[files...]', 'recordings or bag folders; - or nothing reads stdin'),
    ),
  )
    .addOption(new Option('--format <format>', 'form of the output').choices(['typescript', 'msg']))
    .action(async (files: string[], options: TypesOptions) => {
      const { types } = await import('./commands/types.js');
      done(await types(files, options));
    });

  withOutput(
    withCompression(
      verb(program, 'generate', 'write a recording with made-up messages, the same for the same seed', [
        'mcap-ros2 generate --type sensor_msgs/msg/Imu --rate 200 --duration 60s -o imu.mcap',
        'mcap-ros2 generate --type sensor_msgs/msg/Imu --rate 200 --type nav_msgs/msg/Odometry --rate 50 -o two.mcap',
      ]),
    ),
  )
    .option('--type <type>', 'type of the messages (repeatable)', collect)
    .option('--rate <hz>', 'messages a second, by type (repeatable)', rates)
    .option('--duration <time>', 'length: 60s, 500ms, 2m (default: 10s)')
    .option('--seed <number>', 'where the values come from (default: 0)', wholeNumber)
    .option('--msg-path <folder>', 'folder with .msg and .idl files (repeatable)', collect)
    .addOption(new Option('--distro <name>', 'distribution of the standard types').choices(DISTRIBUTIONS))
    .action(async (options: GenerateOptions) => {
      const { generate } = await import('./commands/generate.js');
      done(await generate(options));
    });
}

function besideMessages(program: Command, verb: MakeVerb, done: Done): void {
  const attachments = verb(program, 'attachments', 'list, get or add attachments', [
    'mcap-ros2 attachments list drive.mcap',
    'mcap-ros2 attachments get drive.mcap calibration.yaml -o calibration.yaml',
  ]);
  verb(attachments, 'list', 'list the attachments of a recording', [
    'mcap-ros2 attachments list drive.mcap',
    'mcap-ros2 attachments list --json drive.mcap',
  ])
    .argument('<file>', INPUT)
    .option('--json', 'print one JSON object a line')
    .action(async (file: string, options: { json?: boolean }) => {
      const { listAttachments } = await import('./commands/attachments.js');
      done(await listAttachments(file, options));
    });
  withOutput(
    verb(attachments, 'get', 'write the data of an attachment', [
      'mcap-ros2 attachments get drive.mcap calibration.yaml -o calibration.yaml',
      'mcap-ros2 attachments get drive.mcap notes.txt | less',
    ])
      .argument('<file>', INPUT)
      .argument('<name>', "the attachment's name"),
  ).action(async (file: string, name: string, options: OutputOptions) => {
    const { getAttachment } = await import('./commands/attachments.js');
    done(await getAttachment(file, name, options));
  });
  withOutput(
    verb(attachments, 'add', 'write the recording with one attachment more', [
      'mcap-ros2 attachments add drive.mcap calibration.yaml -o with.mcap',
      'mcap-ros2 attachments add drive.mcap a.png -o with.mcap --name front.png --media-type image/png',
    ])
      .argument('<file>', INPUT)
      .argument('<data>', 'the file to attach'),
  )
    .option('--name <name>', 'its name (default: that of the file)')
    .option('--media-type <type>', 'its media type (default: application/octet-stream)')
    .action(async (file: string, data: string, options: AddAttachmentOptions) => {
      const { addAttachment } = await import('./commands/attachments.js');
      done(await addAttachment(file, data, options));
    });

  const metadata = verb(program, 'metadata', 'list or add metadata records', [
    'mcap-ros2 metadata list drive.mcap',
    'mcap-ros2 metadata add drive.mcap trip driver=Ada weather=rain -o with.mcap',
  ]);
  verb(metadata, 'list', 'print the metadata records of a recording', [
    'mcap-ros2 metadata list drive.mcap',
    'mcap-ros2 metadata list --json drive.mcap',
  ])
    .argument('<file>', INPUT)
    .option('--json', 'print one JSON object a line')
    .action(async (file: string, options: { json?: boolean }) => {
      const { listMetadata } = await import('./commands/attachments.js');
      done(await listMetadata(file, options));
    });
  withOutput(
    verb(metadata, 'add', 'write the recording with one metadata record more', [
      'mcap-ros2 metadata add drive.mcap trip driver=Ada weather=rain -o with.mcap',
      'mcap-ros2 metadata add - trip driver=Ada < drive.mcap > with.mcap',
    ])
      .argument('<file>', INPUT)
      .argument('<name>', "the record's name")
      .argument('<entries...>', 'KEY=VALUE'),
  ).action(async (file: string, name: string, entries: string[], options: OutputOptions) => {
    const { addMetadata } = await import('./commands/attachments.js');
    done(await addMetadata(file, name, entries, options));
  });
}
