/**
 * Which chunks hold something that is selected, told by the MessageIndex records behind them, so that the others are never
 * decompressed.
 *
 * A chunk is passed over only if indexes follow it and each names a known channel that is not selected (or any known
 * channel, when the chunk's times are outside of the range). A channel that is not known yet may be defined in the chunk
 * itself, or in the one before it: libmcap writes the definitions, and then closes the chunk when the first message does
 * not fit.
 */
import { McapStreamsError } from '../errors.js';
import type { ChunkRecords } from './chunk-reader.js';
import type { ChannelFilter } from './filter.js';
import { OPCODE } from './opcodes.js';
import { parseChannel, parseSchema } from './records.js';
import type { ChunkHeader, RecordContent, SchemaRecord } from './records.js';

/** What is asked for. */
export interface ChunkQuery {
  readonly filter: ChannelFilter;
  /** ns, inclusive. */
  readonly startTime: bigint;
  /** ns, exclusive; `undefined`: to the end. */
  readonly endTime: bigint | undefined;
}

export class ChunkSelection {
  readonly #query: ChunkQuery;
  readonly #schemas = new Map<number, SchemaRecord>();
  /** By channel id: whether it is selected. */
  readonly #selected = new Map<number, boolean>();

  constructor(query: ChunkQuery) {
    this.#query = query;
  }

  /** `unknown`: none of the channels is selected as far as they are known. */
  decide(chunk: ChunkHeader, channelIds: readonly number[]): 'read' | 'skip' | 'unknown' {
    if (channelIds.length === 0) return 'read';
    const { startTime, endTime } = this.#query;
    const outside = chunk.messageEndTime < startTime || (endTime !== undefined && chunk.messageStartTime >= endTime);
    let unknown = false;
    for (const id of channelIds) {
      const selected = this.#selected.get(id);
      if (selected === undefined) unknown = true;
      else if (selected && !outside) return 'read';
    }
    return unknown ? 'unknown' : 'skip';
  }

  /** Takes in a definition. A broken one is left to whoever reads it in its place. */
  learn(record: RecordContent): void {
    try {
      if (record.opcode === OPCODE.Schema) {
        const schema = parseSchema(record);
        if (!this.#schemas.has(schema.id)) this.#schemas.set(schema.id, schema);
      } else if (record.opcode === OPCODE.Channel) {
        const channel = parseChannel(record);
        if (this.#selected.has(channel.id)) return;
        this.#selected.set(channel.id, this.#query.filter(channel, this.#schemas.get(channel.schemaId)));
      }
    } catch (error) {
      if (!(error instanceof McapStreamsError)) throw error;
    }
  }

  /**
   * Takes in the definitions of an opened chunk.
   *
   * @returns whether a message in it is on a channel that is still not known
   */
  learnFrom(chunk: ChunkRecords): boolean {
    const records = chunk.again();
    const { view } = records;
    let unknown = false;
    try {
      while (records.advance()) {
        if (records.opcode !== OPCODE.Message) this.learn(records);
        else if (records.end - records.start >= 2) {
          unknown ||= !this.#selected.has(view.getUint16(records.start, true));
        }
      }
    } catch (error) {
      if (!(error instanceof McapStreamsError)) throw error;
    }
    return unknown;
  }
}
