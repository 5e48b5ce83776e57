/** MCAP bytes -> records. */
import { ChannelTable, unknownChannel } from '../mcap/channel-table.js';
import { OPCODE, recordName } from '../mcap/opcodes.js';
import { parseMessage, parseRecord } from '../mcap/records.js';
import type { McapRecord, McapRecordType, RecordContent } from '../mcap/records.js';
import { McapStreamsError, OptionError } from '../errors.js';
import type { AttachmentPart } from '../mcap/record-reader.js';
import { checkChoice, checkOptions, nearest } from '../options.js';
import { ContainerCore } from './container-core.js';
import type { RecordHandler } from './container-core.js';
import { CONTAINER_OPTIONS, containerSettings } from './container-options.js';
import type { ContainerOptions, ContainerStats } from './container-options.js';
import { readLargerPieces } from './larger-pieces.js';
import { EMPTY } from './producers.js';
import { PullTransform } from './pull-transform.js';
import type { Producer } from './pull-transform.js';
import { AttachmentAssembler } from './attachment-body.js';
import { INPUT_BYTES, STREAM_OPTIONS, readableMark, writableMark } from './stream-options.js';
import type { StreamOptions } from './stream-options.js';

export interface McapRecordParserOptions extends ContainerOptions, StreamOptions {
  /**
   * Record types to emit. Default: all but `Chunk`, whose records come out one by one. `Chunk` in the list adds the
   * Chunk record itself, with its compressed `records`, before what is in it.
   */
  readonly include?: readonly McapRecordType[] | undefined;
  /**
   * `buffer`: an attachment's `data` is in memory; above 16 MiB it is a Readable over a temporary file, with
   * `dataLength`. `stream`: `data` is a Readable over the input itself, which has to be read or destroyed before the next
   * record comes. `skip`: attachments are passed over without being kept. Default `buffer`.
   */
  readonly attachments?: 'buffer' | 'stream' | 'skip' | undefined;
}

const OPTIONS = [...CONTAINER_OPTIONS, ...STREAM_OPTIONS, 'include', 'attachments'] as const;

/** Longer attachments are not held in memory. Bytes. */
const LARGE_ATTACHMENT = 16 * 2 ** 20;

const TYPES: readonly McapRecordType[] = [...(Object.keys(OPCODE) as McapRecordType[]), 'Unknown'];

/**
 * A Transform from the bytes of an MCAP file, in any split, to its records in file order, chunks opened: the records
 * that `@mcap/core`'s McapStreamReader gives, those of the summary section included.
 *
 * Faults are `McapStreamsError` with a code `MCAP_*` and the byte offset; see the option `damage`.
 */
export class McapRecordParser extends PullTransform<Uint8Array, McapRecord> {
  readonly #core: ContainerCore<McapRecord>;

  constructor(options: McapRecordParserOptions = {}) {
    checkOptions(options, OPTIONS, 'McapRecordParser');
    const core = new ContainerCore(new ParserHandler(options), options);
    super(core, {
      readableObjectMode: true,
      signal: options.signal,
      maxJobs: core.maxJobs,
      maxCost: core.maxCost,
      readableHighWaterMark: readableMark(options, 'objects'),
      writableHighWaterMark: writableMark(options, 'bytes') ?? INPUT_BYTES,
    });
    if (options.writableHighWaterMark === undefined) readLargerPieces(this);
    this.#core = core;
  }

  /** What has been read so far. */
  get stats(): ContainerStats {
    return this.#core.stats;
  }
}

class ParserHandler implements RecordHandler<McapRecord> {
  readonly #table: ChannelTable;
  readonly #validateCrcs: boolean;
  readonly #emitted: ReadonlySet<McapRecordType>;
  /** By opcode. */
  readonly #wanted: boolean[];
  readonly splitAttachmentsFrom: number;
  readonly #streamed: boolean;
  #assembler: AttachmentAssembler | undefined;

  constructor(options: McapRecordParserOptions) {
    const settings = containerSettings(options);
    checkChoice(options.attachments, ['buffer', 'stream', 'skip'], 'attachments');
    this.#streamed = options.attachments === 'stream';
    this.splitAttachmentsFrom = this.#streamed ? 0 : LARGE_ATTACHMENT;
    for (const type of options.include ?? []) {
      if (TYPES.includes(type)) continue;
      throw new OptionError(
        'OPTION_INVALID',
        `option include: no record type ${JSON.stringify(type)}, did you mean ${nearest(type, TYPES, 1).join()}?`,
      );
    }
    this.#table = new ChannelTable(settings.maxChannels);
    this.#validateCrcs = settings.validateCrcs;
    const emitted = new Set(options.include ?? TYPES.filter((type) => type !== 'Chunk'));
    if (options.attachments === 'skip') emitted.delete('Attachment');
    this.#emitted = emitted;
    // Schemas and channels are always read: messages are checked against them.
    this.#wanted = Array.from({ length: 256 }, (_, opcode) => emitted.has(recordName(opcode)));
    this.#wanted[OPCODE.Schema] = this.#wanted[OPCODE.Channel] = true;
  }

  wants(opcode: number): boolean {
    return this.#wanted[opcode] === true;
  }

  part(part: AttachmentPart): Producer<McapRecord> | Promise<Producer<McapRecord>> {
    this.#assembler ??= new AttachmentAssembler(this.#streamed ? 'flow' : 'spool', this.#validateCrcs);
    const assembler = this.#assembler;
    if (part.left === 0) this.#assembler = undefined;
    const { record, wait } = assembler.add(part);
    if (record !== undefined) return one(record);
    return wait === undefined ? EMPTY : wait.then(() => EMPTY);
  }

  close(error: McapStreamsError | undefined): void {
    this.#assembler?.fail(error ?? new McapStreamsError('MCAP_TRUNCATED', 'the rest of the attachment was not read'));
    this.#assembler = undefined;
  }

  handle(content: RecordContent): McapRecord | undefined {
    if (content.opcode === OPCODE.Message) {
      const message = parseMessage(content);
      if (!this.#table.channels.has(message.channelId)) throw unknownChannel(message.channelId, content.offset);
      return message;
    }
    const record = parseRecord(content, this.#validateCrcs);
    switch (record.type) {
      case 'Schema':
        this.#table.addSchema(record, content.offset);
        break;
      case 'Channel':
        this.#table.requireSchema(record, content.offset);
        this.#table.addChannel(record, content.offset);
        break;
      default:
        break;
    }
    return this.#emitted.has(record.type) ? record : undefined;
  }
}

function one<Out>(output: Out): Producer<Out> {
  let next: Out | undefined = output;
  return {
    next: () => {
      const given = next;
      next = undefined;
      return given;
    },
  };
}
