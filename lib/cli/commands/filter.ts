/** `mcap-ros2 filter`: some of a recording, the rest as it was. */
import { isTransientLocal } from '../../mcap/rosbag2.js';
import type { ChannelRecord, ChunkRecord, McapRecord, MessageRecord } from '../../mcap/records.js';
import { IdMapper } from '../id-mapper.js';
import { inputFiles } from '../input.js';
import type { Input } from '../input.js';
import { Latched } from '../latched.js';
import { withOutput } from '../output-file.js';
import type { OutputOptions } from '../output-file.js';
import { detail, EXIT, note, UsageError } from '../output.js';
import type { ExitCode } from '../output.js';
import { CONTENT, DamageLog, recordsOf, writeRecords } from '../records.js';
import { TimeRange } from '../time-range.js';
import type { TimeOptions } from '../time-range.js';
import { topicFilter } from '../topics.js';
import type { TopicOptions } from '../topics.js';
import { compressionOf } from '../compression.js';
import type { CompressionOptions } from '../compression.js';

export interface FilterOptions extends OutputOptions, TopicOptions, TimeOptions, CompressionOptions {
  /** Each so many-th message of a topic. */
  readonly every?: number | undefined;
  /** `FROM=TO` */
  readonly rename?: readonly string[] | undefined;
  /** False: left out. */
  readonly attachments?: boolean | undefined;
  readonly metadata?: boolean | undefined;
}

export async function filter(paths: readonly string[], options: FilterOptions): Promise<ExitCode> {
  const renames = parseRenames(options.rename ?? []);
  if (options.every === 0) throw new UsageError('--every takes a number from 1');
  const inputs = await inputFiles(paths);
  const range = await TimeRange.of(
    options,
    inputs.map(({ path }) => path),
  );
  const damage = new DamageLog();
  const sieve = new Sieve(options, range, renames, damage);
  await withOutput(options, inputs, 'binary', async (stream) => {
    const { writer, records } = await compressionOf(sieve.records(inputs), options);
    await writeRecords(records, stream, { ...writer, chunks: 'raw' });
  });
  for (const { topic, count, dropped } of sieve.latched.kept) {
    const over = dropped > 0 ? `; ${dropped} older ones are above the limit and left out` : '';
    note(`kept ${count} earlier messages of ${topic}, which late subscribers need${over}`);
  }
  detail(`${sieve.counts.raw} chunks copied as they were, ${sieve.counts.rebuilt} rebuilt`);
  note(`wrote ${sieve.counts.messages} messages`);
  return damage.found ? EXIT.dataLoss : EXIT.whole;
}

function parseRenames(pairs: readonly string[]): ReadonlyMap<string, string> {
  return new Map(
    pairs.map((pair) => {
      const at = pair.indexOf('=');
      if (at < 1 || at === pair.length - 1) throw new UsageError(`--rename takes FROM=TO, not ${pair}`);
      return [pair.slice(0, at), pair.slice(at + 1)];
    }),
  );
}

/** What is known of a channel of the current input. */
interface Kept {
  readonly record: ChannelRecord;
  readonly topic: string;
  readonly taken: boolean;
  /** Whether messages before the range are kept. */
  readonly latched: boolean;
  seen: number;
}

export class Sieve {
  readonly counts: { messages: number; raw: number; rebuilt: number } = { messages: 0, raw: 0, rebuilt: 0 };
  readonly latched: Latched = new Latched();
  readonly #mapper = new IdMapper();
  readonly #channels = new Map<number, Kept>();
  readonly #takes: (topic: string) => boolean;
  readonly #options: FilterOptions;
  readonly #range: TimeRange;
  readonly #renames: ReadonlyMap<string, string>;
  readonly #damage: DamageLog;
  /** Schemas are written with the first channel that needs them, if topics are chosen. */
  readonly #schemas = new Map<number, McapRecord>();
  readonly #allTopics: boolean;
  #channelIds = new Map<number, Kept>();

  constructor(options: FilterOptions, range: TimeRange, renames: ReadonlyMap<string, string>, damage: DamageLog) {
    const topics = topicFilter(options);
    this.#takes = topics ?? (() => true);
    this.#allTopics = topics === undefined;
    this.#options = options;
    this.#range = range;
    this.#renames = renames;
    this.#damage = damage;
  }

  async *records(inputs: readonly Input[]): AsyncGenerator<McapRecord> {
    for (const [n, input] of inputs.entries()) {
      this.#mapper.nextInput();
      this.#channelIds = new Map();
      let ended = false;
      let chunk: ChunkContent | undefined;
      for await (const record of recordsOf(input, this.#damage, { include: [...CONTENT, 'Chunk', 'MessageIndex'] })) {
        if (record.type === 'DataEnd') {
          ended = true;
          if (chunk !== undefined) yield* this.#chunk(chunk);
          chunk = undefined;
        } else if (record.type === 'Chunk') {
          if (chunk !== undefined) yield* this.#chunk(chunk);
          chunk = { record, inner: [], indexes: [] };
        } else if (record.type === 'MessageIndex') {
          chunk?.indexes.push(record);
        } else if (record.type === 'Header') {
          if (n === 0) yield record;
        } else if (ended && record.type !== 'Schema' && record.type !== 'Channel') {
          continue;
        } else if (chunk !== undefined && chunk.indexes.length === 0 && isInner(record)) {
          chunk.inner.push(record);
        } else {
          if (chunk !== undefined) yield* this.#chunk(chunk);
          chunk = undefined;
          yield* this.#one(record);
        }
      }
      if (chunk !== undefined) yield* this.#chunk(chunk);
    }
    yield* this.latched.release();
  }

  /** A chunk of which everything is kept goes through compressed as it is. */
  *#chunk({ record, inner, indexes }: ChunkContent): Generator<McapRecord> {
    if (this.#isUnchanged(inner, indexes)) {
      this.counts.raw++;
      const messages = inner.filter(({ type }) => type === 'Message').length;
      this.counts.messages += messages;
      yield* this.latched.release();
      yield record;
      for (const one of inner) {
        if (one.type === 'Schema') this.#mapper.schema(one);
        if (one.type === 'Channel') this.#channel(one);
        yield one;
      }
      yield* indexes;
      return;
    }
    this.counts.rebuilt++;
    for (const one of inner) yield* this.#one(one);
  }

  #isUnchanged(inner: readonly McapRecord[], indexes: readonly McapRecord[]): boolean {
    const { every, compression, chunkSize, compressionLevel } = this.#options;
    if (every !== undefined && every > 1) return false;
    if (compression !== undefined || chunkSize !== undefined || compressionLevel !== undefined) return false;
    // The index has to account for all messages, so that it can be taken over.
    let indexed = 0;
    for (const index of indexes) if (index.type === 'MessageIndex') indexed += index.records.length;
    let messages = 0;
    const defined = new Set<number>();
    for (const record of inner) {
      if (record.type === 'Schema') {
        if (record.id === 0 || !this.#mapper.keepsSchema(record)) return false;
        if (!this.#allTopics) return false;
      } else if (record.type === 'Channel') {
        if (!this.#takes(record.topic) || this.#renames.has(record.topic)) return false;
        if (!this.#mapper.keepsChannel(record)) return false;
        defined.add(record.id);
      } else if (record.type === 'Message') {
        messages++;
        const channel = this.#channelIds.get(record.channelId);
        const isSame = channel === undefined ? defined.has(record.channelId) : isTaken(channel, record.channelId);
        if (!isSame || this.#range.place(record.logTime) !== 'in') return false;
      }
    }
    return messages > 0 && indexed === messages;
  }

  *#one(record: McapRecord): Generator<McapRecord> {
    switch (record.type) {
      case 'Schema': {
        if (record.id === 0) return;
        const { record: schema, added } = this.#mapper.schema(record);
        if (!added) return;
        if (this.#allTopics) yield schema;
        else this.#schemas.set(schema.id, schema);
        return;
      }
      case 'Channel':
        yield* this.#channel(record);
        return;
      case 'Message':
        yield* this.#message(record);
        return;
      case 'Attachment':
        if (this.#options.attachments !== false) yield record;
        return;
      case 'Metadata':
        if (this.#options.metadata !== false) yield record;
        return;
      default:
        yield record;
    }
  }

  #channel(record: ChannelRecord): McapRecord[] {
    const topic = this.#renames.get(record.topic) ?? record.topic;
    const taken = this.#takes(record.topic);
    if (!taken) {
      this.#channelIds.set(record.id, { record, topic, taken, latched: false, seen: 0 });
      return [];
    }
    const { record: channel, added } = this.#mapper.channel(topic === record.topic ? record : { ...record, topic });
    let kept = this.#channels.get(channel.id);
    if (kept === undefined) {
      const latched = isTransientLocal(record) || /(^|\/)tf_static$/.test(record.topic);
      kept = { record: channel, topic, taken, latched, seen: 0 };
      this.#channels.set(channel.id, kept);
    }
    this.#channelIds.set(record.id, kept);
    const schema = this.#schemas.get(channel.schemaId);
    this.#schemas.delete(channel.schemaId);
    return [...(schema === undefined ? [] : [schema]), ...(added ? [channel] : [])];
  }

  *#message(message: MessageRecord): Generator<McapRecord> {
    const channel = this.#channelIds.get(message.channelId);
    const place = this.#range.place(message.logTime);
    if (channel?.taken !== true || place === 'behind') return;
    const record = { ...message, channelId: channel.record.id };
    if (place === 'before') {
      if (channel.latched) this.latched.hold(channel.topic, record);
      return;
    }
    if (channel.seen++ % (this.#options.every ?? 1) !== 0) return;
    yield* this.latched.release();
    this.counts.messages++;
    yield record;
  }
}

interface ChunkContent {
  readonly record: ChunkRecord;
  readonly inner: McapRecord[];
  readonly indexes: McapRecord[];
}

/** A channel whose messages go through as they are. */
function isTaken({ taken, record }: Kept, id: number): boolean {
  return taken && record.id === id;
}

function isInner({ type }: McapRecord): boolean {
  return type === 'Schema' || type === 'Channel' || type === 'Message' || type === 'Unknown';
}
