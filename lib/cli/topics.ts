/** The options `--topic` and `--exclude-topic`: patterns for whole names, of which exclusion wins. */
import { UsageError } from './output.js';

export interface TopicOptions {
  readonly topic?: readonly string[] | undefined;
  readonly excludeTopic?: readonly string[] | undefined;
}

/** Patterns that have to match a whole topic. Throws UsageError. */
export function topicPatterns(patterns: readonly string[]): RegExp[] {
  return patterns.map((pattern) => {
    try {
      return new RegExp(`^(?:${pattern})$`, 'u');
    } catch (error) {
      throw new UsageError(`not a regular expression: ${pattern} (${error instanceof Error ? error.message : ''})`);
    }
  });
}

/** Whether a topic is taken; undefined where all are. */
export function topicFilter({ topic = [], excludeTopic = [] }: TopicOptions): ((topic: string) => boolean) | undefined {
  if (topic.length === 0 && excludeTopic.length === 0) return undefined;
  const included = topicPatterns(topic);
  const excluded = topicPatterns(excludeTopic);
  return (name) =>
    (included.length === 0 || included.some((pattern) => pattern.test(name))) &&
    !excluded.some((pattern) => pattern.test(name));
}
