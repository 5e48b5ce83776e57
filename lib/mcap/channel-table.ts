/** The schemas and channels that a recording has defined so far (MCAP specification, "Schema", "Channel"). */
import { McapStreamsError } from '../errors.js';
import type { ChannelRecord, SchemaRecord } from './records.js';

export class ChannelTable {
  readonly schemas: Map<number, SchemaRecord> = new Map<number, SchemaRecord>();
  readonly channels: Map<number, ChannelRecord> = new Map<number, ChannelRecord>();
  readonly #maxChannels: number;

  constructor(maxChannels: number) {
    this.#maxChannels = maxChannels;
  }

  /**
   * Takes a Schema record; equal repetitions are fine. Id 0 is invalid and ignored, as the specification asks.
   *
   * @returns the record that stands for the id
   */
  addSchema(schema: SchemaRecord, offset?: number): SchemaRecord {
    if (schema.id === 0) return schema;
    const known = this.schemas.get(schema.id);
    if (known === undefined) {
      this.schemas.set(schema.id, schema);
      return schema;
    }
    if (!equalSchemas(known, schema)) {
      throw new McapStreamsError(
        'MCAP_SCHEMA_REDEFINED',
        `schema ${schema.id} (${schema.name}) is defined again with other content than ${known.name} had${at(offset)}`,
        { offset, schemaName: schema.name },
      );
    }
    return known;
  }

  /**
   * Takes a Channel record; equal repetitions are fine. Whether its schema is known is not asked here.
   *
   * @returns the record that stands for the id
   */
  addChannel(channel: ChannelRecord, offset?: number): ChannelRecord {
    const known = this.channels.get(channel.id);
    if (known === undefined) {
      if (this.channels.size >= this.#maxChannels) {
        throw new McapStreamsError(
          'MCAP_TOO_MANY_CHANNELS',
          `the recording has more channels than maxChannels, ${this.#maxChannels}${at(offset)}`,
          { offset },
        );
      }
      this.channels.set(channel.id, channel);
      return channel;
    }
    if (!equalChannels(known, channel)) {
      throw new McapStreamsError(
        'MCAP_CHANNEL_REDEFINED',
        `channel ${channel.id} (${channel.topic}) is defined again with other content than ${known.topic} had${at(offset)}`,
        { offset, topic: channel.topic },
      );
    }
    return known;
  }

  /** Throws `MCAP_UNKNOWN_SCHEMA` for a channel that names a schema which no record before it defined. */
  requireSchema(channel: ChannelRecord, offset?: number): SchemaRecord | undefined {
    if (channel.schemaId === 0) return undefined;
    const schema = this.schemas.get(channel.schemaId);
    if (schema !== undefined) return schema;
    throw new McapStreamsError(
      'MCAP_UNKNOWN_SCHEMA',
      `channel ${channel.id} (${channel.topic}) names schema ${channel.schemaId}, which is not defined${at(offset)}`,
      { offset, topic: channel.topic },
    );
  }
}

export function unknownChannel(channelId: number, offset?: number): McapStreamsError {
  return new McapStreamsError(
    'MCAP_UNKNOWN_CHANNEL',
    `a message names channel ${channelId}, which is not defined${at(offset)}`,
    { offset, channelId },
  );
}

function equalSchemas(a: SchemaRecord, b: SchemaRecord): boolean {
  return a.name === b.name && a.encoding === b.encoding && Buffer.compare(a.data, b.data) === 0;
}

function equalChannels(a: ChannelRecord, b: ChannelRecord): boolean {
  if (a.topic !== b.topic || a.schemaId !== b.schemaId || a.messageEncoding !== b.messageEncoding) return false;
  if (a.metadata.size !== b.metadata.size) return false;
  for (const [key, value] of a.metadata) if (b.metadata.get(key) !== value) return false;
  return true;
}

/** Records that come as objects have no place in a file. */
function at(offset: number | undefined): string {
  return offset === undefined ? '' : ` (at byte ${offset})`;
}
