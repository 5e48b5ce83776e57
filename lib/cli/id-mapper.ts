/**
 * Ids of schemas and channels where several recordings become one: what is equal is joined, the rest gets an id of its own. What
 * one recording keeps apart stays apart, so that a single recording keeps all of its ids.
 */
import type { ChannelRecord, SchemaRecord } from '../mcap/records.js';

export interface Mapped<Record> {
  readonly record: Record;
  /** Whether it is new in the output. */
  readonly added: boolean;
}

function schemaContent({ name, encoding, data }: SchemaRecord): string {
  return JSON.stringify([name, encoding, Buffer.from(data).toString('latin1')]);
}

export class IdMapper {
  readonly #schemas = new IdTable<SchemaRecord>(1);
  readonly #channels = new IdTable<ChannelRecord>(0);

  /** A recording begins: its ids are its own. */
  nextInput(): void {
    this.#schemas.nextInput();
    this.#channels.nextInput();
  }

  schema(record: SchemaRecord): Mapped<SchemaRecord> {
    return this.#schemas.map(record, schemaContent(record), (id) => ({ ...record, id }));
  }

  /** Whether a schema has the id in the output that it comes with: nothing needs to be changed. */
  keepsSchema(record: SchemaRecord): boolean {
    return this.#schemas.keeps(record.id, schemaContent(record));
  }

  keepsChannel(record: ChannelRecord): boolean {
    return (
      this.#schemas.idOf(record.schemaId) === record.schemaId && this.#channels.keeps(record.id, this.#content(record))
    );
  }

  #content({ topic, messageEncoding, metadata, schemaId }: ChannelRecord): string {
    const entries = [...metadata].sort(([a], [b]) => (a < b ? -1 : 1));
    return JSON.stringify([topic, messageEncoding, schemaId === 0 ? 0 : this.#schemas.idOf(schemaId), entries]);
  }

  channel(record: ChannelRecord): Mapped<ChannelRecord> {
    const schemaId = record.schemaId === 0 ? 0 : this.#schemas.idOf(record.schemaId);
    const { topic, messageEncoding, metadata } = record;
    return this.#channels.map(record, this.#content(record), (id) => ({
      type: 'Channel',
      id,
      schemaId,
      topic,
      messageEncoding,
      metadata,
    }));
  }

  /** The id in the output of a channel of the current recording. */
  channelId(id: number): number {
    return this.#channels.idOf(id);
  }
}

class IdTable<Record extends { readonly id: number }> {
  readonly #least: number;
  readonly #byContent = new Map<string, Record[]>();
  readonly #taken = new Set<number>();
  /** Of the current recording: by its own id, and the ids in the output that it has. */
  #own = new Map<number, { record: Record; content: string }>();
  #used = new Set<number>();

  constructor(least: number) {
    this.#least = least;
  }

  nextInput(): void {
    this.#own = new Map();
    this.#used = new Set();
  }

  map(record: Record, content: string, withId: (id: number) => Record): Mapped<Record> {
    const known = this.#own.get(record.id);
    if (known?.content === content) return { record: known.record, added: false };
    const equal = this.#byContent.get(content) ?? [];
    let mapped = equal.find(({ id }) => !this.#used.has(id));
    const added = mapped === undefined;
    if (mapped === undefined) {
      mapped = withId(this.#free(record.id));
      this.#byContent.set(content, [...equal, mapped]);
    }
    this.#used.add(mapped.id);
    this.#own.set(record.id, { record: mapped, content });
    return { record: mapped, added };
  }

  keeps(id: number, content: string): boolean {
    const own = this.#own.get(id);
    if (own !== undefined) return own.record.id === id && own.content === content;
    const equal = this.#byContent.get(content)?.find((record) => !this.#used.has(record.id));
    return equal === undefined ? !this.#taken.has(id) : equal.id === id;
  }

  idOf(id: number): number {
    return this.#own.get(id)?.record.id ?? id;
  }

  #free(wanted: number): number {
    let id = wanted;
    if (this.#taken.has(id)) for (id = this.#least; this.#taken.has(id);) id++;
    this.#taken.add(id);
    return id;
  }
}
