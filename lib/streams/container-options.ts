/** The container's part of the options, its reports and its counters: shared by all stages that read MCAP bytes. */
import { availableParallelism } from 'node:os';
import type { McapStreamsError } from '../errors.js';
import { OptionError } from '../errors.js';
import type { Decompress } from '../mcap/compression.js';
import { checkChoice } from '../options.js';

/** What was lost at one place of a damaged recording. */
export interface DamageReport {
  readonly code: McapStreamsError['code'];
  /** Byte offset in the file. */
  readonly offset: number;
  /** Bytes of the file that were passed over. */
  readonly bytes: number;
  /** Chunks that were dropped. */
  readonly chunks: number;
  /** Messages that are lost because their channel's definition is (`MCAP_UNKNOWN_CHANNEL`); grows as they come. */
  readonly messages: number;
  /** The error that would have been thrown. */
  readonly error: McapStreamsError;
}

export interface ContainerOptions {
  /**
   * What a damaged recording does. `throw`: an error, when everything before it has been read out of this stage.
   * `end`: a clean end at the damage, so that later stages flush. `skip`: on at the next sound record. Default `throw`.
   * An input that is not an MCAP at all is always an error.
   */
  readonly damage?: 'throw' | 'end' | 'skip' | undefined;
  /** Called for damage that is not thrown. */
  readonly onDamage?: ((report: DamageReport) => void) | undefined;
  /** Whether CRCs are verified; 0 in the file means that there is none. Default true. */
  readonly validateCrcs?: boolean | undefined;
  /** Longest record that is read into memory, bytes. Default 512 MiB. */
  readonly maxRecordLength?: number | undefined;
  /** Largest chunk after decompression, bytes. Default 1 GiB. */
  readonly maxChunkSize?: number | undefined;
  /** Most channels. Default 65,535, all that the format can tell apart. */
  readonly maxChannels?: number | undefined;
  /** Bound on the chunks held and decompressed ahead, bytes. One chunk is always held. Default 64 MiB. */
  readonly maxBufferedBytes?: number | undefined;
  /** Threads that decompress ahead; 0: none. Default: one less than the machine offers, 4 at most. */
  readonly threads?: number | undefined;
  /** Decompressors by the name of the compression, in place of or beside the built-in zstd and lz4. */
  readonly compression?: Readonly<Record<string, Decompress>> | undefined;
}

export const CONTAINER_OPTIONS = [
  'damage',
  'onDamage',
  'validateCrcs',
  'maxRecordLength',
  'maxChunkSize',
  'maxChannels',
  'maxBufferedBytes',
  'threads',
  'compression',
] as const;

export interface ContainerSettings {
  readonly damage: 'throw' | 'end' | 'skip';
  readonly validateCrcs: boolean;
  readonly maxRecordLength: number;
  readonly maxChunkSize: number;
  readonly maxChannels: number;
  readonly maxBufferedBytes: number;
  readonly threads: number;
}

const MIB = 2 ** 20;

/** The options with their defaults. Throws OptionError. */
export function containerSettings(options: ContainerOptions): ContainerSettings {
  checkChoice(options.damage, ['throw', 'end', 'skip'], 'damage');
  checkChoice(options.validateCrcs, [true, false], 'validateCrcs');
  for (const [name, decompress] of Object.entries(options.compression ?? {})) {
    if (typeof decompress === 'function') continue;
    throw new OptionError('OPTION_INVALID', `option compression takes functions, ${name} is ${typeof decompress}`);
  }
  return {
    damage: options.damage ?? 'throw',
    validateCrcs: options.validateCrcs ?? true,
    maxRecordLength: wholeNumber(options.maxRecordLength, 'maxRecordLength', 1) ?? 512 * MIB,
    maxChunkSize: wholeNumber(options.maxChunkSize, 'maxChunkSize', 1) ?? 1024 * MIB,
    maxChannels: wholeNumber(options.maxChannels, 'maxChannels', 1) ?? 0xffff,
    maxBufferedBytes: wholeNumber(options.maxBufferedBytes, 'maxBufferedBytes', 1) ?? 64 * MIB,
    threads: wholeNumber(options.threads, 'threads', 0) ?? Math.min(availableParallelism() - 1, 4),
  };
}

/** Throws OptionError unless `value` is undefined or a whole number from `least` on. */
export function wholeNumber(value: number | undefined, option: string, least: number): number | undefined {
  if (value === undefined || (Number.isSafeInteger(value) && value >= least)) return value;
  throw new OptionError('OPTION_INVALID', `option ${option} takes a whole number from ${least}, not ${String(value)}`);
}

/** What a stage has read so far. */
export interface ContainerStats {
  /** Bytes of the input. */
  bytes: number;
  /** Records that were looked at, those inside chunks included. */
  records: number;
  /** Chunks that were opened. */
  chunksRead: number;
  /** Chunks that were passed over without being decompressed: they hold nothing that is selected. */
  chunksSkipped: number;
  /** Bytes of the opened chunks after decompression. */
  bytesDecompressed: number;
  readonly damage: DamageReport[];
}

export function emptyStats(): ContainerStats {
  return { bytes: 0, records: 0, chunksRead: 0, chunksSkipped: 0, bytesDecompressed: 0, damage: [] };
}
