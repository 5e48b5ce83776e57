/**
 * The 4-byte header of every serialized payload: a big-endian uint16 that names the encoding, then two option bytes
 * (DDS-XTypes 1.3, 7.6.3.1.2). The options are ignored: producers differ in what they put there.
 */
import { McapStreamsError } from '../errors.js';

/** The encodings that are read and written, by their XTypes names. */
export type Encapsulation = 'CDR_BE' | 'CDR_LE' | 'CDR2_BE' | 'CDR2_LE' | 'D_CDR2_BE' | 'D_CDR2_LE';

/** What an encoding means for the bytes after the header. */
export interface Wire {
  readonly name: Encapsulation;
  /** The header's first two bytes, as a big-endian number. */
  readonly kind: number;
  readonly xcdr: 1 | 2;
  readonly littleEndian: boolean;
  /** D_CDR2: structs begin with a DHEADER, unless they are final by annotation. */
  readonly delimited: boolean;
}

/** Length of the header, which is no part of the stream that alignment counts from. */
export const HEADER_SIZE = 4;

export const WIRES: Readonly<Record<Encapsulation, Wire>> = {
  CDR_BE: { name: 'CDR_BE', kind: 0x0000, xcdr: 1, littleEndian: false, delimited: false },
  CDR_LE: { name: 'CDR_LE', kind: 0x0001, xcdr: 1, littleEndian: true, delimited: false },
  CDR2_BE: { name: 'CDR2_BE', kind: 0x0006, xcdr: 2, littleEndian: false, delimited: false },
  CDR2_LE: { name: 'CDR2_LE', kind: 0x0007, xcdr: 2, littleEndian: true, delimited: false },
  D_CDR2_BE: { name: 'D_CDR2_BE', kind: 0x0008, xcdr: 2, littleEndian: false, delimited: true },
  D_CDR2_LE: { name: 'D_CDR2_LE', kind: 0x0009, xcdr: 2, littleEndian: true, delimited: true },
};

/** The encodings' names, as the option `encapsulation` takes them. */
export const ENCAPSULATIONS: readonly Encapsulation[] = Object.values(WIRES).map((wire) => wire.name);

/** Kinds that have a name and no decoder: parameter lists and XML. */
const REFUSED = new Map([
  [0x0002, 'PL_CDR_BE'],
  [0x0003, 'PL_CDR_LE'],
  [0x0004, 'XML'],
  [0x000a, 'PL_CDR2_BE'],
  [0x000b, 'PL_CDR2_LE'],
]);

const BY_KIND = new Map(Object.values(WIRES).map((wire) => [wire.kind, wire]));

/**
 * The encoding of the payload `u8[start, end)`.
 *
 * Throws CDR_NO_ENCAPSULATION for a payload shorter than its header, CDR_COMPRESSED_MESSAGE for a zstd frame,
 * CDR_UNSUPPORTED_ENCAPSULATION for every kind that is not in {@link WIRES}, with the kind in the text.
 */
export function readEncapsulation(u8: Uint8Array, start: number, end: number, schemaName: string): Wire {
  if (end - start < HEADER_SIZE) {
    const size = Math.max(0, end - start);
    const message = `the payload has ${size} bytes: shorter than its ${HEADER_SIZE}-byte encapsulation header`;
    throw new McapStreamsError('CDR_NO_ENCAPSULATION', message, { schemaName, offset: 0 });
  }
  const kind = ((u8[start] ?? 0) << 8) | (u8[start + 1] ?? 0);
  const wire = BY_KIND.get(kind);
  if (wire !== undefined) return wire;
  if (kind === 0x28b5 && u8[start + 2] === 0x2f && u8[start + 3] === 0xfd) {
    const message =
      'the payload is a zstd frame: the recording was made with rosbag2 compression_mode MESSAGE, decompress it first';
    throw new McapStreamsError('CDR_COMPRESSED_MESSAGE', message, { schemaName, offset: 0 });
  }
  const hex = `0x${kind.toString(16).padStart(4, '0')}`;
  const name = REFUSED.get(kind);
  const text = name === undefined ? `unknown encapsulation kind ${hex}` : `encapsulation ${name} (${hex})`;
  const message = `${text} is not supported, only ${ENCAPSULATIONS.join(', ')}`;
  throw new McapStreamsError('CDR_UNSUPPORTED_ENCAPSULATION', message, { schemaName, offset: 0 });
}
