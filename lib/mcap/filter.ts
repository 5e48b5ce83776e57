/** Which channels and messages are selected. */
import type { ChannelRecord, SchemaRecord } from './records.js';

export type TopicSelector =
  string | RegExp | readonly (string | RegExp)[] | ((topic: string, channel: ChannelRecord) => boolean);

export interface Selection {
  /** Topics to take: names, patterns (matched anywhere in the topic unless anchored), or a predicate. Default: all. */
  readonly topics?: TopicSelector | undefined;
  /** Schema names to take, as recorded or in the form `pkg/msg/Type`. Default: all. */
  readonly schemaNames?: readonly string[] | undefined;
  /** Log time of the first message, inclusive, ns. */
  readonly startTime?: bigint | undefined;
  /** Log time behind the last message, exclusive, ns. */
  readonly endTime?: bigint | undefined;
}

export const SELECTION_OPTIONS = ['topics', 'schemaNames', 'startTime', 'endTime'] as const;

export type ChannelFilter = (channel: ChannelRecord, schema: SchemaRecord | undefined) => boolean;

/** The selection as a function. It remembers its answers: a predicate of the user is asked once a channel. */
export function channelFilter(selection: Selection): ChannelFilter {
  if (selection.topics === undefined && selection.schemaNames === undefined) return () => true;
  const byTopic = topicFilter(selection.topics);
  const names = selection.schemaNames && new Set(selection.schemaNames.map(shortTypeName));
  const answers = new Map<string, boolean>();
  return (channel, schema) => {
    const key = `${channel.id} ${channel.schemaId} ${channel.topic}`;
    let answer = answers.get(key);
    if (answer === undefined) {
      const named = names === undefined || (schema !== undefined && names.has(shortTypeName(schema.name)));
      answers.set(key, (answer = named && byTopic(channel)));
    }
    return answer;
  };
}

function topicFilter(topics: TopicSelector | undefined): (channel: ChannelRecord) => boolean {
  if (topics === undefined) return () => true;
  if (typeof topics === 'function') return (channel) => topics(channel.topic, channel);
  const list = typeof topics === 'string' || topics instanceof RegExp ? [topics] : topics;
  return ({ topic }) =>
    list.some((wanted) => {
      if (typeof wanted === 'string') return wanted === topic;
      // A pattern with the flag g or y remembers where it stopped.
      wanted.lastIndex = 0;
      return wanted.test(topic);
    });
}

/** `pkg/msg/Type` and `pkg/Type` are one name. */
function shortTypeName(name: string): string {
  return name.replace(/^([^/]+)\/msg\/([^/]+)$/, '$1/$2');
}
