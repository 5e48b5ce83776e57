/** MCAP records -> bytes. */
import { ByteBuffer } from '../mcap/growing-bytes.js';
import type { McapRecord } from '../mcap/records.js';
import { OptionError } from '../errors.js';
import { checkChoice, checkOptions } from '../options.js';
import type { Failure, Job, PullCore } from './pull-transform.js';
import { STREAM_OPTIONS } from './stream-options.js';
import type { StreamOptions } from './stream-options.js';
import { WriterCore } from './writer-core.js';
import type { WriterStats } from './writer-core.js';
import { WRITER_OPTIONS, writerSettings } from './writer-options.js';
import type { WriterOptions } from './writer-options.js';
import { WritingStage } from './writing-stage.js';

export interface McapRecordWriterOptions extends WriterOptions, StreamOptions {
  /**
   * Whether schemas and channels keep the ids that they come with. False: they are numbered from 1 in the order of
   * their appearance. Default true.
   */
  readonly preserveIds?: boolean | undefined;
  /**
   * `rebuild`: chunks are made of the records that come; Chunk and MessageIndex records are ignored. `raw`: Chunk records
   * and the MessageIndex records behind them are written as they are, still compressed; records of the chunk that the parser
   * includes too are not written twice. It needs `include: [..., 'Chunk', 'MessageIndex']` at the parser. Default `rebuild`.
   */
  readonly chunks?: 'rebuild' | 'raw' | undefined;
}

const OPTIONS = [...WRITER_OPTIONS, ...STREAM_OPTIONS, 'preserveIds', 'chunks'] as const;

/**
 * A Transform from records, as McapRecordParser, Ros2Encoder or `@mcap/core` give them, to the bytes of an MCAP file. It
 * counts its own offset, so that a pipe will do; nothing needs to be awaited but the stream's own end.
 *
 * Indexes, statistics, DataEnd and Footer that come are ignored and made anew. Every buffer that it pushes ends where a
 * record ends (but in the middle of an attachment that is streamed): after a destroy, what was written is readable up to
 * there. A record that cannot be written is a McapStreamsError before a byte of it is.
 */
export class McapRecordWriter extends WritingStage<McapRecord> {
  readonly #core: RecordWriterCore;

  constructor(options: McapRecordWriterOptions = {}) {
    checkOptions(options, OPTIONS, 'McapRecordWriter');
    checkChoice(options.preserveIds, [true, false], 'preserveIds');
    checkChoice(options.chunks, ['rebuild', 'raw'], 'chunks');
    const raw = options.chunks === 'raw';
    if (raw && options.preserveIds === false) {
      throw new OptionError('OPTION_INVALID', "chunks: 'raw' keeps the ids in the chunks: preserveIds cannot be false");
    }
    const settings = writerSettings(options, options.preserveIds ?? true, raw);
    const core = new RecordWriterCore(new WriterCore(settings, (size) => new ByteBuffer(size)));
    super(core, core.writerCore, settings, options);
    this.#core = core;
  }

  /** What has been written so far. */
  get stats(): WriterStats {
    return this.#core.writerCore.stats;
  }
}

class RecordWriterCore implements PullCore<McapRecord, Uint8Array> {
  readonly writerCore: WriterCore<ByteBuffer>;

  constructor(core: WriterCore<ByteBuffer>) {
    this.writerCore = core;
  }

  write(record: McapRecord): void {
    this.writerCore.writer.add(record);
  }

  end(): void {
    this.writerCore.writer.end();
  }

  pull(): Job<Uint8Array> | undefined {
    return this.writerCore.pull();
  }

  failed(): Failure {
    return 'throw';
  }

  close(): void {
    this.writerCore.close();
  }
}
