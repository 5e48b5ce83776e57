/** The options that several verbs have, and how their values are read. */
import { InvalidArgumentError, Option } from 'commander';
import type { Command } from 'commander';

export function collect(value: string, previous: readonly string[] | undefined): string[] {
  return [...(previous ?? []), value];
}

export function wholeNumber(text: string): number {
  if (!/^\d+$/.test(text) || !Number.isSafeInteger(Number(text)))
    throw new InvalidArgumentError('a whole number is needed');
  return Number(text);
}

const SIZES: Readonly<Record<string, number>> = { '': 1, K: 2 ** 10, M: 2 ** 20, G: 2 ** 30 };

/** `1048576`, `512K`, `4MiB`. */
export function byteCount(text: string): number {
  const [, number = '', unit = ''] = /^(\d+)\s*([KMG]?)(?:i?B)?$/i.exec(text) ?? [];
  const size = Number(number) * (SIZES[unit.toUpperCase()] ?? NaN);
  if (number === '' || !Number.isSafeInteger(size) || size === 0) {
    throw new InvalidArgumentError('a size is needed, such as 1048576, 512K or 4MiB');
  }
  return size;
}

export function withTopics(command: Command): Command {
  return command
    .option('-t, --topic <pattern>', 'take this topic: a regular expression for the whole name (repeatable)', collect)
    .option('-x, --exclude-topic <pattern>', 'leave this topic out; wins over --topic (repeatable)', collect);
}

export function withTimes(command: Command): Command {
  return command
    .option('-S, --start <time>', 'from here on: ns, RFC 3339, @10s (after the first message) or end-30s')
    .option('-E, --end <time>', 'up to here, this time left out');
}

export function withOutput(command: Command): Command {
  return command
    .option('-o, --output <file>', 'write to this file (default: stdout)')
    .option('--force', 'replace the output if it exists');
}

export function withCompression(command: Command): Command {
  return command
    .addOption(new Option('--compression <name>', 'compression of chunks').choices(['zstd', 'lz4', 'none']))
    .option('--compression-level <level>', 'level of zstd, 1 to 22', wholeNumber)
    .option('--chunk-size <bytes>', 'size of chunks, such as 4MiB', byteCount);
}

export function withVerbosity(command: Command): Command {
  return command
    .option('-q, --quiet', 'say nothing on stderr but why it failed')
    .option('-v, --verbose', 'say more on stderr');
}
