/** The options of all streams that write MCAP bytes, under the names of `@mcap/core`'s McapWriter where it has them. */
import { availableParallelism } from 'node:os';
import { OptionError } from '../errors.js';
import { compressorOf } from '../mcap/compressors.js';
import { lazily } from '../mcap/lazy.js';
import type { Compress } from '../mcap/compressors.js';
import type { HeaderDefaults, WriterSettings } from '../mcap/record-writer.js';
import { checkChoice } from '../options.js';
import { wholeNumber } from './container-options.js';

/** A compression of the user's own: chunks say its name, and whoever reads them needs its decompressor. */
export interface CompressionCodec {
  readonly name: string;
  readonly compress: Compress;
}

export interface WriterOptions {
  /** Bytes of records at which a chunk is closed. A larger message gets a chunk of its own. Default 1 MiB. */
  readonly chunkSize?: number | undefined;
  /** Whether messages are gathered in chunks. Default true. */
  readonly useChunks?: boolean | undefined;
  /** How chunks are compressed; one that shrinks by less than 2 % is stored as it is. Default `zstd`. */
  readonly compression?: 'zstd' | 'lz4' | 'none' | CompressionCodec | undefined;
  /** Level of zstd, 1 to 22. Default 3. */
  readonly compressionLevel?: number | undefined;
  /** Milliseconds after which a chunk is closed in any case, so that a killed process loses no more. Default: none. */
  readonly maxChunkAge?: number | undefined;
  /** Whether a Statistics record is written. Default true, as for all that follow. */
  readonly useStatistics?: boolean | undefined;
  readonly useSummaryOffsets?: boolean | undefined;
  /** Whether the summary section repeats all schemas. */
  readonly repeatSchemas?: boolean | undefined;
  readonly repeatChannels?: boolean | undefined;
  readonly useAttachmentIndex?: boolean | undefined;
  readonly useMetadataIndex?: boolean | undefined;
  readonly useMessageIndex?: boolean | undefined;
  readonly useChunkIndex?: boolean | undefined;
  /** Whether CRCs of chunks, attachments, data section and summary are written; without them they are 0. */
  readonly enableCrcs?: boolean | undefined;
  /** Profile of the Header. Default: that of the Header record that comes, else `ros2`. */
  readonly profile?: string | undefined;
  /** Library of the Header. Default: that of the Header record that comes, else this package and its version. */
  readonly library?: string | undefined;
  /** Bound on the chunks that wait to be compressed or written, bytes. One is always held. Default 64 MiB. */
  readonly maxBufferedBytes?: number | undefined;
  /** Bytes of an index that are kept in memory; what is above goes to a temporary file. Default 16 MiB. */
  readonly maxIndexBytes?: number | undefined;
  /** Threads that compress; 0: all is done here. Default: one less than the machine offers, 4 at most. */
  readonly threads?: number | undefined;
  /** Bytes put behind the fields of records, as a later version of the format may have them. For tests. */
  readonly padRecords?: Uint8Array | undefined;
}

export const WRITER_OPTIONS = [
  'chunkSize',
  'useChunks',
  'compression',
  'compressionLevel',
  'maxChunkAge',
  'useStatistics',
  'useSummaryOffsets',
  'repeatSchemas',
  'repeatChannels',
  'useAttachmentIndex',
  'useMetadataIndex',
  'useMessageIndex',
  'useChunkIndex',
  'enableCrcs',
  'profile',
  'library',
  'maxBufferedBytes',
  'maxIndexBytes',
  'threads',
  'padRecords',
] as const;

/** How chunks are compressed. */
export interface Compression {
  /** Empty: not at all. */
  readonly name: string;
  readonly compress: Compress | undefined;
  readonly level: number | undefined;
  /** Whether another thread can do it: the user's own functions stay on this one. */
  readonly threaded: boolean;
}

export interface WriterStreamSettings {
  readonly writer: WriterSettings;
  readonly header: HeaderDefaults;
  readonly compression: Compression;
  readonly threads: number;
  readonly maxBufferedBytes: number;
  readonly maxChunkAge: number | undefined;
}

const MIB = 2 ** 20;

const SWITCHES = [
  'useChunks',
  'useStatistics',
  'useSummaryOffsets',
  'repeatSchemas',
  'repeatChannels',
  'useAttachmentIndex',
  'useMetadataIndex',
  'useMessageIndex',
  'useChunkIndex',
  'enableCrcs',
] as const;

/** The options with their defaults. Throws OptionError. */
export function writerSettings(options: WriterOptions, preserveIds: boolean, rawChunks: boolean): WriterStreamSettings {
  const switches = Object.fromEntries(
    SWITCHES.map((name) => {
      checkChoice(options[name], [true, false], name);
      return [name, options[name] ?? true];
    }),
  ) as Record<(typeof SWITCHES)[number], boolean>;
  for (const name of ['profile', 'library'] as const) {
    if (options[name] === undefined || typeof options[name] === 'string') continue;
    throw new OptionError('OPTION_INVALID', `option ${name} takes a string, not ${typeof options[name]}`);
  }
  return {
    writer: {
      ...switches,
      chunkSize: wholeNumber(options.chunkSize, 'chunkSize', 1) ?? MIB,
      maxIndexBytes: wholeNumber(options.maxIndexBytes, 'maxIndexBytes', 0) ?? 16 * MIB,
      padRecords: options.padRecords,
      preserveIds,
      rawChunks,
      profile: options.profile,
      library: options.library,
    },
    header: { profile: 'ros2', library: library() },
    compression: compressionOf(options),
    threads: wholeNumber(options.threads, 'threads', 0) ?? Math.min(availableParallelism() - 1, 4),
    maxBufferedBytes: wholeNumber(options.maxBufferedBytes, 'maxBufferedBytes', 1) ?? 64 * MIB,
    maxChunkAge: wholeNumber(options.maxChunkAge, 'maxChunkAge', 1),
  };
}

const manifest = lazily('mcap-ros2-streams/package.json') as () => { name: string; version: string };

/** Name and version of this package. */
function library(): string {
  const { name, version } = manifest();
  return `${name}/${version}`;
}

function compressionOf({ compression = 'zstd', compressionLevel }: WriterOptions): Compression {
  if (typeof compression === 'object') {
    const { name: own, compress } = compression as Partial<CompressionCodec>;
    if (typeof own !== 'string' || own === '' || typeof compress !== 'function') {
      throw new OptionError('OPTION_INVALID', 'option compression takes a name, or { name, compress }');
    }
    return { name: own, compress, level: undefined, threaded: false };
  }
  checkChoice(compression, ['zstd', 'lz4', 'none'], 'compression');
  const level = wholeNumber(compressionLevel, 'compressionLevel', 1);
  if (level !== undefined && (compression !== 'zstd' || level > 22)) {
    const why = compression === 'zstd' ? 'goes from 1 to 22' : `is zstd's, not that of ${compression}`;
    throw new OptionError('OPTION_INVALID', `option compressionLevel ${why}`);
  }
  if (compression === 'none') return { name: '', compress: undefined, level: undefined, threaded: false };
  return { name: compression, compress: compressorOf(compression, level), level, threaded: true };
}
