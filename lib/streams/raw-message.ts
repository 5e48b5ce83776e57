/** A message with its channel, not decoded: what is put in order before it is decoded or written. */
import { MESSAGE_FIXED_LENGTH } from '../mcap/records.js';
import type { ChannelRecord, RecordContent, SchemaRecord } from '../mcap/records.js';

export interface RawMessage {
  readonly channel: ChannelRecord;
  readonly schema: SchemaRecord | undefined;
  readonly sequence: number;
  readonly logTime: bigint;
  readonly publishTime: bigint;
  readonly data: Uint8Array;
}

/** The message of a record; its data is a view. */
export function rawMessage(
  record: RecordContent,
  channel: ChannelRecord,
  schema: SchemaRecord | undefined,
): RawMessage {
  const { view, start, end } = record;
  return {
    channel,
    schema,
    sequence: view.getUint32(start + 2, true),
    logTime: view.getBigUint64(start + 6, true),
    publishTime: view.getBigUint64(start + 14, true),
    data: new Uint8Array(
      view.buffer,
      view.byteOffset + start + MESSAGE_FIXED_LENGTH,
      end - start - MESSAGE_FIXED_LENGTH,
    ),
  };
}
