/** How a record that comes in pieces is gathered while the rest of it comes, and where. */
import type { ByteQueue, Span } from './byte-queue.js';
import { CHUNK_FIXED, OPCODE, RECORD_PREFIX } from './opcodes.js';

/** Where a Chunk of this compression may be gathered, `length` bytes with its prefix. */
export type RoomFor = (compression: string, length: number) => Span | undefined;

/** Where the name of a Chunk's compression begins. */
const NAME_AT = RECORD_PREFIX + CHUNK_FIXED;
/** Names of compressions that are looked at before their chunk is gathered are not longer. */
const MOST_COMPRESSION = 8;
/** Smaller records are gathered when they are whole; larger ones only when half of them is there. Bytes. */
const LEAST_GATHERED = 65536;
const MOST_GATHERED = 4 * 2 ** 20;

/**
 * The record at the front of the queue, of `count` bytes, is not whole yet: what can be done with what is there.
 *
 * @returns whether it is a Chunk that is being gathered
 */
export function gatherAhead(queue: ByteQueue, opcode: number, count: number, roomFor: RoomFor | undefined): boolean {
  const { length } = queue;
  // A length is a promise: memory for a larger record waits until half of it is there.
  if (count < LEAST_GATHERED || (count > MOST_GATHERED && length < count / 2)) return false;
  if (opcode !== OPCODE.Chunk) {
    queue.reserve(count);
    return false;
  }
  if (length < NAME_AT + MOST_COMPRESSION) return false;
  queue.reserve(count, () => chunkRoom(queue, count, roomFor));
  return true;
}

/** The Chunk at the front, of so many bytes, is about to be gathered: where, if not in memory of its own. */
export function chunkRoom(queue: ByteQueue, length: number, roomFor: RoomFor | undefined): Span | undefined {
  if (roomFor === undefined || length < NAME_AT + MOST_COMPRESSION) return undefined;
  const count = queue.at(NAME_AT - 4);
  if (count > MOST_COMPRESSION) return undefined;
  if (queue.at(NAME_AT - 3) + queue.at(NAME_AT - 2) + queue.at(NAME_AT - 1) !== 0) return undefined;
  return roomFor(String.fromCharCode(...Array.from({ length: count }, (_, n) => queue.at(NAME_AT + n))), length);
}
