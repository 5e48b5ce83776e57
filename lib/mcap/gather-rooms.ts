/**
 * Memory for compressed chunks on their way, used again and again: fresh memory costs its page faults, 0.2 ms a MiB, which
 * is as much as reading a chunk that did not compress. It is shared memory, so that another thread reads it where it lies,
 * and it is still here if that thread is lost. Nothing that is handed out to users ever lies in it.
 */
import { viewOf } from './byte-queue.js';
import type { Span } from './byte-queue.js';

/** Larger chunks get memory of their own. Bytes. */
const LARGEST = 4 * 2 ** 20;
const STEP = 65536;

export class GatherRooms {
  readonly #free: Span[] = [];
  readonly #lent = new WeakMap<Uint8Array, Span>();
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
    this.#lent.set(room.bytes, room);
    return room;
  }

  /** The bytes are not looked at any more. Memory that is no room's is left alone. */
  release(bytes: Uint8Array): void {
    const room = this.#lent.get(bytes);
    if (room === undefined) return;
    this.#lent.delete(bytes);
    this.#free.push(room);
    // The smallest is the one that fits least.
    if (this.#free.length <= this.#most) return;
    this.#free.sort((a, b) => b.bytes.length - a.bytes.length).length = this.#most;
  }
}

/** With some room to spare: chunks of a recording are of about one size. */
function makeRoom(length: number): Span {
  const bytes = Buffer.from(new SharedArrayBuffer(Math.ceil((length * 1.25) / STEP) * STEP));
  return { bytes, view: viewOf(bytes) };
}
