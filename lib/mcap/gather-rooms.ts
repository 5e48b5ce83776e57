/**
 * Memory for compressed chunks on their way, used again and again: fresh memory costs its page faults, 0.2 ms a MiB, which
 * is as much as reading a chunk that did not compress. A room may be handed over to another thread, which gives it back.
 * Nothing that is handed out to users ever lies in one.
 *
 * Shared memory would be here still if that thread were lost, but a copy into it or out of it is slow: a recording of 300 MB
 * took 90 ms longer, of 600.
 */
import { viewOf } from './byte-queue.js';
import type { Span } from './byte-queue.js';

/** Larger chunks get memory of their own. Bytes. */
const LARGEST = 4 * 2 ** 20;
const STEP = 65536;

export class GatherRooms {
  readonly #free: Span[] = [];
  readonly #lent = new WeakMap<Uint8Array, Span>();
  readonly #memory = new WeakSet<ArrayBufferLike>();
  readonly #most: number;

  /** @param most rooms that are kept for the next chunk */
  constructor(most: number) {
    this.#most = most;
  }

  /** A room of at least `length` bytes, until `release`; one that is not released is simply dropped. */
  take(length: number): Span | undefined {
    if (length > LARGEST) return undefined;
    const at = this.#free.findIndex(({ bytes }) => bytes.length >= length);
    const [room = makeRoom(length)] = at < 0 ? [] : this.#free.splice(at, 1);
    this.#memory.add(room.bytes.buffer);
    this.#lent.set(room.bytes, room);
    return room;
  }

  /** Whether it is a room's memory, which another thread may be given. */
  has(memory: ArrayBufferLike): boolean {
    return this.#memory.has(memory);
  }

  /** The bytes are not looked at any more. Memory that is no room's, or that is elsewhere, is left alone. */
  release(bytes: Uint8Array): void {
    const room = this.#lent.get(bytes);
    this.#lent.delete(bytes);
    if (room !== undefined && room.bytes.length > 0) this.#keep(room);
  }

  /** A room's memory has come back from another thread. */
  restore(memory: ArrayBuffer): void {
    this.#memory.add(memory);
    this.#keep(roomIn(memory));
  }

  #keep(room: Span): void {
    this.#free.push(room);
    // The smallest is the one that fits least.
    if (this.#free.length <= this.#most) return;
    this.#free.sort((a, b) => b.bytes.length - a.bytes.length).length = this.#most;
  }
}

/** With some room to spare: chunks of a recording are of about one size. */
function makeRoom(length: number): Span {
  return roomIn(Buffer.allocUnsafeSlow(Math.ceil((length * 1.25) / STEP) * STEP).buffer);
}

function roomIn(memory: ArrayBufferLike): Span {
  const bytes = Buffer.from(memory);
  return { bytes, view: viewOf(bytes) };
}
