/** The schemas and channels that a file being written has: what may be defined, and under which id it is. */
import { ChannelState } from './chunk-builder.js';
import { ChannelTable, unknownChannel } from './channel-table.js';
import { checkChannel, checkSchema, MAX_ID } from './record-checks.js';
import type { ChannelRecord, SchemaRecord } from './records.js';

export class WriterChannels {
  /** As they are written, in the order they came. */
  readonly schemas: SchemaRecord[] = [];
  readonly channels: ChannelRecord[] = [];
  readonly #preserveIds: boolean;
  readonly #table = new ChannelTable(MAX_ID);
  /** Ids of the output by those of the input. */
  readonly #schemaIds = new Map<number, number>();
  /** By the id of the input: what a message needs is one array access away. */
  readonly #states: (ChannelState | undefined)[] = [];

  constructor(preserveIds: boolean) {
    this.#preserveIds = preserveIds;
  }

  /** Takes a Schema; the record to be written, or `undefined` for an equal repetition. */
  addSchema(record: SchemaRecord): SchemaRecord | undefined {
    checkSchema(record, this.#table.schemas.size);
    if (this.#table.schemas.has(record.id)) {
      this.#table.addSchema(record);
      return undefined;
    }
    this.#table.addSchema({ ...record, data: record.data.slice() });
    const id = this.#preserveIds ? record.id : this.schemas.length + 1;
    this.#schemaIds.set(record.id, id);
    const { type, name, encoding } = record;
    const written = { type, id, name, encoding, data: this.#table.schemas.get(record.id)?.data ?? record.data };
    this.schemas.push(written);
    return written;
  }

  /** Takes a Channel; the record to be written, or `undefined` for an equal repetition. */
  addChannel(record: ChannelRecord): ChannelRecord | undefined {
    checkChannel(record, this.#table.channels.size);
    this.#table.requireSchema(record);
    if (this.#table.channels.has(record.id)) {
      this.#table.addChannel(record);
      return undefined;
    }
    this.#table.addChannel({ ...record, metadata: new Map(record.metadata) });
    const written: ChannelRecord = {
      ...record,
      id: this.#preserveIds ? record.id : this.channels.length + 1,
      schemaId: this.#schemaIds.get(record.schemaId) ?? 0,
      metadata: new Map(record.metadata),
    };
    this.channels.push(written);
    this.#states[record.id] = new ChannelState(written.id, written.topic);
    return written;
  }

  /** The channel of a message. Throws MCAP_UNKNOWN_CHANNEL. */
  state(channelId: number): ChannelState {
    const state = this.#states[channelId];
    if (state === undefined) throw unknownChannel(channelId);
    return state;
  }

  /** Messages of each channel that has any, by the output's ids. */
  messageCounts(): Map<number, bigint> {
    const counts = new Map<number, bigint>();
    for (const state of this.#states)
      if (state !== undefined && state.count > 0) counts.set(state.id, BigInt(state.count));
    return counts;
  }

  /** Adds messages that were not written one by one. */
  count(channelId: number, messages: number): void {
    this.state(channelId).count += messages;
  }
}
