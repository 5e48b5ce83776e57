/** Messages -> a folder of MCAP files, one after the other, as rosbag2 records them. */
import { once } from 'node:events';
import { createWriteStream } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { basename, join, resolve } from 'node:path';
import { addAbortSignal, Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { OptionError } from '../errors.js';
import { BAG_METADATA_VERSIONS, bagMetadataText } from '../mcap/rosbag2-metadata.js';
import type { BagFile, BagMetadataVersion } from '../mcap/rosbag2-metadata.js';
import type { ChannelRecord, HeaderRecord, McapRecord, MessageRecord, SchemaRecord } from '../mcap/records.js';
import { TimeRange } from '../mcap/time-range.js';
import { checkChoice, checkOptions } from '../options.js';
import { wholeNumber } from './container-options.js';
import { ENCODE_STREAM_OPTIONS } from './encode-stream.js';
import type { EncodeStreamOptions } from './encode-stream.js';
import { McapRecordWriter } from './mcap-record-writer.js';
import { ENCODE_OPTIONS } from './message-encoder.js';
import { RecordEncoder } from './record-encoder.js';
import { isList } from './ros2-encoder.js';
import type { EncoderInput } from './ros2-encoder.js';

/** The metadata.yaml of the folder. */
export interface BagMetadataOptions {
  /** Version of its form. Default 9, the newest. */
  readonly version?: BagMetadataVersion | undefined;
  /** Name of the ROS distribution. Default: empty. */
  readonly rosDistro?: string | undefined;
  readonly customData?: Readonly<Record<string, string>> | undefined;
}

export interface RotatingWriterOptions extends EncodeStreamOptions {
  /** Folder of the files; it is made. The files have its name: `drive/drive_0.mcap`, `drive/drive_1.mcap`. */
  readonly path: string;
  /** Size that a file does not exceed, but for one that is larger with a single message. Bytes. Default: none. */
  readonly maxBytes?: number | undefined;
  /** Log time that a file spans at most: ns as bigint, or seconds as number. Default: none. */
  readonly maxDuration?: bigint | number | undefined;
  /** Whether the folder gets a metadata.yaml, at the end, and how. Default true. */
  readonly metadata?: boolean | BagMetadataOptions | undefined;
}

const OPTIONS = [...ENCODE_STREAM_OPTIONS, 'path', 'maxBytes', 'maxDuration', 'metadata'];
const METADATA_OPTIONS = ['version', 'rosDistro', 'customData'];

/** A file that is being written. */
interface OpenFile {
  readonly name: string;
  readonly stage: McapRecordWriter;
  /** Fulfilled when it is complete on disk. */
  readonly done: Promise<void>;
  readonly times: TimeRange;
  messageCount: number;
}

/**
 * A Writable that takes what `encodeStream` takes and writes a folder of files. Each file is complete and readable alone,
 * and begins with all definitions so far.
 *
 *     await pipeline(source, createRotatingWriter({ path: 'drive', maxBytes: 2 ** 30 }));
 *
 * A file that is there already is not overwritten: the error is that of the file system.
 */
export function createRotatingWriter(options: RotatingWriterOptions): RotatingWriter {
  return new RotatingWriter(options);
}

export class RotatingWriter extends Writable {
  readonly #options: RotatingWriterOptions;
  readonly #folder: string;
  readonly #maxBytes: number;
  readonly #maxDuration: bigint | undefined;
  readonly #encoder: RecordEncoder;
  #header: HeaderRecord | undefined;
  readonly #definitions: (SchemaRecord | ChannelRecord)[] = [];
  /** Definitions that the current input asks for. */
  readonly #fresh: McapRecord[] = [];
  readonly #counts = new Map<number, number>();
  readonly #files: BagFile[] = [];
  #current: OpenFile | undefined;

  constructor(options: RotatingWriterOptions) {
    super({
      objectMode: true,
      ...(highWaterMark(options) === undefined ? {} : { highWaterMark: highWaterMark(options) }),
    });
    checkOptions(options, OPTIONS, 'createRotatingWriter');
    if (typeof options.path !== 'string' || options.path === '') {
      throw new OptionError('OPTION_INVALID', 'option path takes the name of a folder');
    }
    if (typeof options.metadata === 'object') {
      checkOptions(options.metadata, METADATA_OPTIONS, 'createRotatingWriter: metadata');
      if (!BAG_METADATA_VERSIONS.includes(options.metadata.version ?? 9)) {
        throw new OptionError(
          'OPTION_INVALID',
          `option metadata: version is one of ${BAG_METADATA_VERSIONS.join(', ')}`,
        );
      }
    } else checkChoice(options.metadata, [true, false], 'metadata');
    this.#options = options;
    this.#folder = resolve(options.path);
    this.#maxBytes = wholeNumber(options.maxBytes, 'maxBytes', 1) ?? Infinity;
    this.#maxDuration = duration(options.maxDuration);
    this.#encoder = new RecordEncoder(options, (record) => {
      this.#fresh.push(record);
    });
    // Wrong options are told here, not with the first message.
    new McapRecordWriter(writerOptions(options)).destroy();
    if (options.signal !== undefined) addAbortSignal(options.signal, this);
  }

  /** The files that are complete so far. */
  get files(): readonly BagFile[] {
    return this.#files;
  }

  override _write(input: EncoderInput, _encoding: BufferEncoding, callback: (error?: Error | null) => void): void {
    this.#take(input).then(() => {
      callback();
    }, callback);
  }

  override _final(callback: (error?: Error | null) => void): void {
    this.#finish().then(() => {
      callback();
    }, callback);
  }

  override _destroy(error: Error | null, callback: (error?: Error | null) => void): void {
    const current = this.#current;
    this.#current = undefined;
    if (current === undefined) {
      callback(error);
      return;
    }
    current.stage.destroy(error ?? undefined);
    const settled = (): void => {
      callback(error);
    };
    current.done.then(settled, settled);
  }

  async #take(input: EncoderInput): Promise<void> {
    for (const one of isList(input) ? input : [input]) {
      const record = this.#encoder.encode(one);
      for (const definition of this.#fresh.splice(0)) {
        this.#definitions.push(definition as SchemaRecord | ChannelRecord);
        if (this.#current !== undefined) await this.#put(this.#current, definition);
      }
      if (record !== undefined) await this.#record(record);
    }
  }

  async #record(record: McapRecord): Promise<void> {
    switch (record.type) {
      case 'Header':
        this.#header ??= record;
        return;
      case 'Message':
        await this.#message(record);
        return;
      case 'Attachment':
      case 'Metadata':
      case 'Unknown':
        await this.#put(this.#current ?? (await this.#open()), record);
        return;
      default:
        // Indexes and the like: each file has its own.
        return;
    }
  }

  async #message(record: MessageRecord): Promise<void> {
    let file = this.#current;
    if (file !== undefined && this.#isFull(file, record)) {
      await this.#close(file);
      file = undefined;
    }
    file ??= await this.#open();
    await this.#put(file, record);
    file.times.add(record.logTime);
    file.messageCount++;
    this.#counts.set(record.channelId, (this.#counts.get(record.channelId) ?? 0) + 1);
  }

  #isFull({ stage, times, messageCount }: OpenFile, { data, logTime }: MessageRecord): boolean {
    if (messageCount === 0) return false;
    if (this.#maxDuration !== undefined && logTime - times.start >= this.#maxDuration) return true;
    // The message, and its place in the index.
    return this.#maxBytes !== Infinity && stage.stats.sizeBound + data.length + 64 > this.#maxBytes;
  }

  async #open(): Promise<OpenFile> {
    await mkdir(this.#folder, { recursive: true });
    const name = `${basename(this.#folder)}_${this.#files.length}.mcap`;
    const stage = new McapRecordWriter(writerOptions(this.#options));
    const done = pipeline(stage, createWriteStream(join(this.#folder, name), { flags: 'wx' }));
    done.catch((error: unknown) => {
      this.destroy(error instanceof Error ? error : new Error(String(error)));
    });
    const file: OpenFile = { name, stage, done, times: new TimeRange(), messageCount: 0 };
    this.#current = file;
    if (this.#header !== undefined) await this.#put(file, this.#header);
    for (const definition of this.#definitions) await this.#put(file, definition);
    return file;
  }

  async #put({ stage }: OpenFile, record: McapRecord): Promise<void> {
    if (!stage.write(record)) await once(stage, 'drain');
  }

  async #close(file: OpenFile): Promise<void> {
    file.stage.end();
    await file.done;
    this.#current = undefined;
    const { name, times, messageCount } = file;
    this.#files.push({ path: name, start: times.start, end: times.end, messageCount });
  }

  async #finish(): Promise<void> {
    const last = this.#current ?? (this.#files.length === 0 ? await this.#open() : undefined);
    if (last !== undefined) await this.#close(last);
    const { metadata = true } = this.#options;
    if (metadata === false) return;
    const { version = 9, rosDistro = '', customData = {} } = metadata === true ? {} : metadata;
    const schemas = new Map<number, string>();
    const topics = [];
    for (const record of this.#definitions) {
      if (record.type === 'Schema') {
        schemas.set(record.id, record.name);
        continue;
      }
      topics.push({
        name: record.topic,
        type: schemas.get(record.schemaId) ?? '',
        serializationFormat: record.messageEncoding,
        offeredQosProfiles: record.metadata.get('offered_qos_profiles') ?? '',
        typeHash: record.metadata.get('topic_type_hash') ?? '',
        messageCount: this.#counts.get(record.id) ?? 0,
      });
    }
    const text = bagMetadataText(version, { files: this.#files, topics, rosDistro, customData });
    await writeFile(join(this.#folder, 'metadata.yaml'), text, { flag: 'wx' });
  }
}

function highWaterMark({ writableHighWaterMark }: RotatingWriterOptions): number | undefined {
  return writableHighWaterMark;
}

/** The options of a file's writer. Its own look-ahead is small, so that its size is known when a message comes. */
function writerOptions(options: RotatingWriterOptions): ConstructorParameters<typeof McapRecordWriter>[0] {
  const own: readonly string[] = [...ENCODE_OPTIONS, 'path', 'maxBytes', 'maxDuration', 'metadata', 'signal'];
  const entries = Object.entries(options).filter(([name]) => !own.includes(name));
  return { ...Object.fromEntries(entries), writableHighWaterMark: 2 };
}

function duration(given: bigint | number | undefined): bigint | undefined {
  if (given === undefined || typeof given === 'bigint') {
    if (given === undefined || given > 0n) return given;
  } else if (Number.isFinite(given) && given > 0) return BigInt(Math.round(given * 1e9));
  throw new OptionError(
    'OPTION_INVALID',
    `option maxDuration takes ns as bigint or seconds, above 0, not ${String(given)}`,
  );
}
