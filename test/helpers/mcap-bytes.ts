/** MCAP files byte by byte, for the cases that no writer would write. Knows nothing of lib/. */
import { crc32 } from 'node:zlib';

export const MAGIC = Buffer.from('894d434150300d0a', 'hex');

export function u8(value: number): Buffer {
  return Buffer.of(value);
}

export function u16(value: number): Buffer {
  const bytes = Buffer.alloc(2);
  bytes.writeUInt16LE(value);
  return bytes;
}

export function u32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(value);
  return bytes;
}

export function u64(value: number | bigint): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64LE(BigInt(value));
  return bytes;
}

/** A uint32 length, then the bytes. */
export function prefixed(value: string | Uint8Array): Buffer {
  const bytes = Buffer.from(value as string);
  return Buffer.concat([u32(bytes.length), bytes]);
}

export function record(opcode: number, ...parts: Uint8Array[]): Buffer {
  const content = Buffer.concat(parts);
  return Buffer.concat([u8(opcode), u64(content.length), content]);
}

export function header(profile = 'ros2', library = 'test'): Buffer {
  return record(1, prefixed(profile), prefixed(library));
}

export function footer(summaryStart = 0, crc = 0): Buffer {
  return record(2, u64(summaryStart), u64(0), u32(crc));
}

export function dataEnd(crc = 0): Buffer {
  return record(0x0f, u32(crc));
}

export interface SchemaFields {
  name?: string;
  encoding?: string;
  data?: string;
}

export function schema(
  id: number,
  { name = 'p/msg/A', encoding = 'ros2msg', data = 'uint8 x' }: SchemaFields = {},
): Buffer {
  return record(3, u16(id), prefixed(name), prefixed(encoding), prefixed(data));
}

export interface ChannelFields {
  topic?: string;
  encoding?: string;
  metadata?: [string, string][];
}

export function channel(
  id: number,
  schemaId: number,
  { topic = '/t', encoding = 'cdr', metadata = [] }: ChannelFields = {},
): Buffer {
  const map = Buffer.concat(metadata.flatMap(([key, value]) => [prefixed(key), prefixed(value)]));
  return record(4, u16(id), u16(schemaId), prefixed(topic), prefixed(encoding), prefixed(map));
}

/** The CDR payload of `uint8 x` with x = 5. */
export const FIVE = Buffer.from('0001000005', 'hex');

export function message(channelId: number, logTime: number | bigint, data: Uint8Array = FIVE, sequence = 0): Buffer {
  return record(5, u16(channelId), u32(sequence), u64(logTime), u64(logTime), data);
}

export interface ChunkFields {
  compression?: string;
  /** The compressed form of the records. */
  data?: Uint8Array;
  crc?: number;
  size?: number | bigint;
}

export function chunk(
  records: Uint8Array,
  { compression = '', data = records, crc = crc32(records), size = records.length }: ChunkFields = {},
): Buffer {
  return record(6, u64(0), u64(0), u64(size), u32(crc), prefixed(compression), u64(data.length), data);
}

export function attachment(name: string, data: Uint8Array, crc?: number): Buffer {
  const fields = Buffer.concat([u64(1), u64(2), prefixed(name), prefixed('text/plain'), u64(data.length), data]);
  return record(9, fields, u32(crc ?? crc32(fields)));
}

export function metadata(name: string, entries: [string, string][]): Buffer {
  return record(12, prefixed(name), prefixed(Buffer.concat(entries.flatMap(([k, v]) => [prefixed(k), prefixed(v)]))));
}

/** Magic, Header, the records, DataEnd, Footer, magic. */
export function file(...records: Uint8Array[]): Buffer {
  return Buffer.concat([MAGIC, header(), ...records, dataEnd(), footer(), MAGIC]);
}

/** Magic and Header, then the records, and nothing behind. */
export function open(...records: Uint8Array[]): Buffer {
  return Buffer.concat([MAGIC, header(), ...records]);
}
