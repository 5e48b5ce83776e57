/** Messages and records -> records, without a stream around it. */
import type { McapRecord, MessageRecord } from '../mcap/records.js';
import {
  checkOutgoing,
  encodeWith,
  isRecord,
  locateEncodeError,
  MessageEncoder,
  undecodedData,
} from './message-encoder.js';
import type { EncodeOptions, OutgoingMessage } from './message-encoder.js';

export class RecordEncoder {
  readonly #encoder: MessageEncoder;

  /** @param define takes the definitions that an input asks for, before its own record is there */
  constructor(options: EncodeOptions, define: (record: McapRecord) => void) {
    this.#encoder = new MessageEncoder(options, define);
  }

  /** The record for one input; nothing for a definition, which goes to `define` where it is new. */
  encode(input: OutgoingMessage | McapRecord): McapRecord | undefined {
    return isRecord(input) ? this.#encoder.pass(input) : this.#message(input);
  }

  #message(message: OutgoingMessage): MessageRecord {
    checkOutgoing(message);
    const channel = this.#encoder.channelOf(message);
    const { outgoing } = channel;
    let data = undecodedData(message);
    if (data === undefined) {
      const { cdr, own } = this.#encoder.encoderOf(channel);
      try {
        data = cdr !== undefined ? cdr.encode(message.message) : encodeWith(own, message.message);
      } catch (error) {
        throw locateEncodeError(error, message, channel.schemaName);
      }
    }
    const { logTime, publishTime = logTime, sequence = outgoing.nextSequence } = message;
    outgoing.nextSequence = (sequence + 1) >>> 0;
    return { type: 'Message', channelId: outgoing.record.id, sequence, logTime, publishTime, data };
  }
}
