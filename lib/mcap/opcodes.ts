/** Opcodes of the MCAP specification ("Records"). 0x80 and above are private, the rest is reserved. */
export const OPCODE = {
  Header: 0x01,
  Footer: 0x02,
  Schema: 0x03,
  Channel: 0x04,
  Message: 0x05,
  Chunk: 0x06,
  MessageIndex: 0x07,
  ChunkIndex: 0x08,
  Attachment: 0x09,
  AttachmentIndex: 0x0a,
  Statistics: 0x0b,
  Metadata: 0x0c,
  MetadataIndex: 0x0d,
  SummaryOffset: 0x0e,
  DataEnd: 0x0f,
} as const;

/** A known record's type, as `@mcap/core` names it. */
export type RecordName = keyof typeof OPCODE;

const NAMES = new Map<number, RecordName>(
  (Object.entries(OPCODE) as [RecordName, number][]).map(([name, opcode]) => [opcode, name]),
);

/** The record type of an opcode, `Unknown` for those that the specification does not define. */
export function recordName(opcode: number): RecordName | 'Unknown' {
  return NAMES.get(opcode) ?? 'Unknown';
}

/** For messages: `Message (0x05)`. */
export function describeOpcode(opcode: number): string {
  return `${recordName(opcode)} (0x${opcode.toString(16).padStart(2, '0')})`;
}

/** The eight bytes at both ends of a file: 0x89 MCAP '0' CR LF. */
export const MAGIC: Uint8Array = Uint8Array.of(0x89, 0x4d, 0x43, 0x41, 0x50, 0x30, 0x0d, 0x0a);

/** Opcode and uint64 length stand before each record's content. */
export const RECORD_PREFIX = 9;

/** Bytes of a Chunk's content before the name of its compression. */
export const CHUNK_FIXED = 32;
