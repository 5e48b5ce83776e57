/**
 * The schemas and channels of what is encoded: which id each gets. An id that comes with a record is kept where it is
 * free, so that a recording keeps its own; what comes without one, or from a second recording, gets the next.
 */
import { McapStreamsError } from '../errors.js';
import { MAX_ID } from '../mcap/record-checks.js';
import type { ChannelRecord, SchemaRecord } from '../mcap/records.js';
import type { DeclaredSchema } from './channel-declarations.js';

/** Where records of definitions go, each once and before it is needed. */
export type Define = (record: SchemaRecord | ChannelRecord) => void;

/** A channel without its ids. */
export interface ChannelContent {
  readonly topic: string;
  readonly messageEncoding: string;
  readonly metadata: Map<string, string>;
}

/** A channel that messages are written to. */
export class OutgoingChannel {
  readonly record: ChannelRecord;
  readonly schema: SchemaRecord | undefined;
  /** Of the next message that comes without one. */
  nextSequence = 0;

  constructor(record: ChannelRecord, schema: SchemaRecord | undefined) {
    this.record = record;
    this.schema = schema;
  }
}

export class OutgoingChannels {
  readonly #define: Define;
  readonly #preserveIds: boolean;
  readonly #schemas = new Map<number, SchemaRecord>();
  readonly #schemasByContent = new Map<string, SchemaRecord[]>();
  readonly #channels = new Map<number, OutgoingChannel>();
  readonly #channelsByContent = new Map<string, OutgoingChannel[]>();
  /** Last channel of a topic. */
  readonly #byTopic = new Map<string, OutgoingChannel>();
  #nextSchemaId = 1;
  #nextChannelId = 1;

  constructor(define: Define, preserveIds: boolean) {
    this.#define = define;
    this.#preserveIds = preserveIds;
  }

  /** A channel that is known under the topic. */
  known(topic: string): OutgoingChannel | undefined {
    return this.#byTopic.get(topic);
  }

  /** @param id that it had; `undefined`: any equal one will do */
  schema({ name, encoding, data }: DeclaredSchema, id?: number): SchemaRecord {
    const key = `${name}\0${encoding}\0${Buffer.from(data.buffer, data.byteOffset, data.byteLength).toString('latin1')}`;
    const equal = this.#schemasByContent.get(key) ?? [];
    const known = id === undefined ? equal[0] : equal.find((schema) => schema.id === id);
    if (known !== undefined) return known;
    const taken = id !== undefined && this.#schemas.has(id);
    if (taken && this.#preserveIds) {
      throw new McapStreamsError('MCAP_SCHEMA_REDEFINED', `schema ${id} (${name}) is taken by another schema`, {
        schemaName: name,
      });
    }
    // Of another recording: an equal one will do.
    if (taken && equal[0] !== undefined) return equal[0];
    if (id === 0) throw new McapStreamsError('MCAP_OUT_OF_RANGE', `schema id 0 says that there is no schema (${name})`);
    const record: SchemaRecord = {
      type: 'Schema',
      id: taken || id === undefined ? this.#freeSchemaId() : id,
      name,
      encoding,
      data,
    };
    this.#schemas.set(record.id, record);
    this.#schemasByContent.set(key, [...equal, record]);
    this.#define(record);
    return record;
  }

  /** @param id that it had; `undefined`: any equal one will do */
  channel(content: ChannelContent, schema: SchemaRecord | undefined, id?: number): OutgoingChannel {
    const { topic, messageEncoding, metadata } = content;
    const schemaId = schema?.id ?? 0;
    const key = JSON.stringify([topic, schemaId, messageEncoding, [...metadata].sort()]);
    const equal = this.#channelsByContent.get(key) ?? [];
    const known = id === undefined ? equal[0] : equal.find(({ record }) => record.id === id);
    if (known !== undefined) return known;
    const taken = id !== undefined && this.#channels.has(id);
    if (taken && this.#preserveIds) {
      throw new McapStreamsError('MCAP_CHANNEL_REDEFINED', `channel ${id} (${topic}) is taken by another channel`, {
        topic,
      });
    }
    if (taken && equal[0] !== undefined) return equal[0];
    const record: ChannelRecord = {
      type: 'Channel',
      id: taken || id === undefined ? this.#freeChannelId() : id,
      schemaId,
      topic,
      messageEncoding,
      metadata,
    };
    const channel = new OutgoingChannel(record, schema);
    this.#channels.set(record.id, channel);
    this.#channelsByContent.set(key, [...equal, channel]);
    this.#byTopic.set(topic, channel);
    this.#define(record);
    return channel;
  }

  #freeSchemaId(): number {
    while (this.#schemas.has(this.#nextSchemaId)) this.#nextSchemaId++;
    if (this.#nextSchemaId > MAX_ID) {
      throw new McapStreamsError('MCAP_TOO_MANY_SCHEMAS', `a file has at most ${MAX_ID} schemas`);
    }
    return this.#nextSchemaId;
  }

  #freeChannelId(): number {
    while (this.#channels.has(this.#nextChannelId)) this.#nextChannelId++;
    if (this.#nextChannelId > MAX_ID) {
      throw new McapStreamsError('MCAP_TOO_MANY_CHANNELS', `a file has at most ${MAX_ID} channels`);
    }
    return this.#nextChannelId;
  }
}
