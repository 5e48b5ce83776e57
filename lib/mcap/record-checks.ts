/** What records have to be to be written: refused before a byte of them is. */
import type { McapTypes } from '@mcap/core';
import { McapStreamsError } from '../errors.js';
import type { AttachmentHead } from './record-builder.js';
import type { ChannelRecord, MessageRecord, SchemaRecord } from './records.js';
import { OPCODE } from './opcodes.js';

/** Ids are uint16. A file has at most so many schemas, and channels. */
export const MAX_ID = 0xffff;

const MAX_DATA = 2 ** 31 - 1 - 4096;

/** Throws MCAP_OUT_OF_RANGE unless `time` is a bigint that fits in uint64. */
export function checkTime(time: bigint, what: string, topic?: string): void {
  if (typeof time === 'bigint' && BigInt.asUintN(64, time) === time) return;
  const given = typeof time === 'bigint' ? String(time) : `${typeof time} ${String(time)}`;
  throw new McapStreamsError('MCAP_OUT_OF_RANGE', `${what} is a bigint from 0 to 2^64 - 1, not ${given}`, { topic });
}

export function checkMessage({ sequence, logTime, publishTime, data }: MessageRecord, topic: string): void {
  checkStamps(sequence, logTime, publishTime, topic);
  checkData(data, `the data of a message on ${topic}`);
}

export function checkStamps(sequence: number, logTime: bigint, publishTime: bigint, topic: string): void {
  if (sequence !== sequence >>> 0) {
    const why = `the sequence number of a message on ${topic} is a uint32, not ${String(sequence)}`;
    throw new McapStreamsError('MCAP_OUT_OF_RANGE', why, { topic });
  }
  checkTime(logTime, 'logTime', topic);
  if (publishTime !== logTime) checkTime(publishTime, 'publishTime', topic);
}

export function checkSchema({ id, name, encoding, data }: SchemaRecord, known: number): void {
  if (id === 0) throw outOfRange(`schema id 0 says that there is no schema (schema ${show(name)})`);
  checkId(id, `the id of schema ${show(name)}`, known, 'MCAP_TOO_MANY_SCHEMAS');
  checkText(name, `the name of schema ${id}`);
  checkText(encoding, `the encoding of schema ${id}`);
  checkData(data, `the data of schema ${id}`);
}

export function checkChannel({ id, schemaId, topic, messageEncoding, metadata }: ChannelRecord, known: number): void {
  checkId(id, `the id of channel ${show(topic)}`, known, 'MCAP_TOO_MANY_CHANNELS');
  checkId(schemaId, `the schema id of channel ${show(topic)}`, 0, 'MCAP_OUT_OF_RANGE');
  checkText(topic, `the topic of channel ${id}`);
  checkText(messageEncoding, `the message encoding of channel ${id}`);
  checkMap(metadata, `the metadata of channel ${id}`);
}

export function checkAttachment({ name, mediaType, logTime, createTime }: AttachmentHead): void {
  checkText(name, "an attachment's name");
  checkText(mediaType, `the media type of attachment ${name}`);
  checkTime(logTime, `logTime of attachment ${name}`);
  checkTime(createTime, `createTime of attachment ${name}`);
}

export function checkMetadata({ name, metadata }: McapTypes.TypedMcapRecords['Metadata']): void {
  checkText(name, "a metadata record's name");
  checkMap(metadata, `the metadata ${name}`);
}

export function checkUnknown({ opcode, data }: McapTypes.TypedMcapRecords['Unknown']): void {
  if (!Number.isInteger(opcode) || opcode <= OPCODE.DataEnd || opcode > 0xff) {
    throw outOfRange(`an unknown record has an opcode from 16 to 255, not ${String(opcode)}`);
  }
  checkData(data, `the data of a record with opcode ${opcode}`);
}

export function checkData(data: unknown, what: string): asserts data is Uint8Array {
  if (!(data instanceof Uint8Array)) throw invalid(`${what} is a Uint8Array, not ${typeof data}`);
  if (data.length > MAX_DATA) throw outOfRange(`${what} has ${data.length} bytes, at most ${MAX_DATA} are written`);
}

function checkText(text: unknown, what: string): void {
  if (typeof text !== 'string') throw invalid(`${what} is a string, not ${typeof text}`);
}

function checkMap(map: unknown, what: string): void {
  if (!(map instanceof Map)) throw invalid(`${what} is a Map of strings, not ${typeof map}`);
  for (const [key, value] of map as Map<unknown, unknown>) {
    if (typeof key !== 'string' || typeof value !== 'string') throw invalid(`${what} is a Map of strings`);
  }
}

function checkId(id: number, what: string, known: number, tooMany: McapStreamsError['code']): void {
  if (Number.isInteger(id) && id >= 0 && id <= MAX_ID) return;
  if (known >= MAX_ID) throw new McapStreamsError(tooMany, `${what} is ${id}: a file has at most ${MAX_ID} of them`);
  throw outOfRange(`${what} is a whole number from 0 to ${MAX_ID}, not ${String(id)}`);
}

function outOfRange(why: string): McapStreamsError {
  return new McapStreamsError('MCAP_OUT_OF_RANGE', why);
}

/** What may be of any kind where no compiler has looked. */
function show(value: unknown): string {
  return String(value);
}

/** An error for what is no record. */
export function invalid(why: string): McapStreamsError {
  return new McapStreamsError('MCAP_INVALID_RECORD', why);
}
