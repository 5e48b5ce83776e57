/** Messages before a time range that late subscribers would still have got: those of transient-local topics. */
import type { MessageRecord } from '../mcap/records.js';

const MAX_MESSAGES = 1000;
const MAX_BYTES = 64 * 2 ** 20;

interface Held {
  readonly topic: string;
  readonly messages: MessageRecord[];
  count: number;
  dropped: number;
}

export class Latched {
  readonly #held = new Map<number, Held>();
  #bytes = 0;

  /** Keeps a message; above the limits the oldest one of its channel goes. */
  hold(topic: string, message: MessageRecord): void {
    let held = this.#held.get(message.channelId);
    if (held === undefined) {
      held = { topic, messages: [], count: 0, dropped: 0 };
      this.#held.set(message.channelId, held);
    }
    // The record is a view of a chunk that would stay in memory with it.
    held.messages.push({ ...message, data: message.data.slice() });
    this.#bytes += message.data.length;
    while (held.messages.length > MAX_MESSAGES || (this.#bytes > MAX_BYTES && held.messages.length > 0)) {
      this.#bytes -= held.messages[0]?.data.length ?? 0;
      held.messages.shift();
      held.dropped++;
    }
  }

  /** What is held, by log time, once: before the first message of the range. */
  release(): MessageRecord[] {
    const all: MessageRecord[] = [];
    for (const held of this.#held.values()) {
      held.count += held.messages.length;
      all.push(...held.messages.splice(0));
    }
    this.#bytes = 0;
    return all.sort((a, b) => (a.logTime < b.logTime ? -1 : a.logTime > b.logTime ? 1 : 0));
  }

  get kept(): { topic: string; count: number; dropped: number }[] {
    return [...this.#held.values()].map(({ topic, count, dropped }) => ({ topic, count, dropped }));
  }
}
