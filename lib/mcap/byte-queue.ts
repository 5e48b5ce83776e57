/**
 * The bytes that were fed and not yet taken.
 *
 * A record that lies in one piece is handed out where it lies; one that spans pieces is gathered once: when it is whole,
 * or as its bytes come if its place was reserved. Small pieces are packed together, so that a large record in tiny pieces
 * costs neither a copy for each nor an object for each.
 */

/** Bytes with the view over them. Never written to once handed out. */
export interface Span {
  readonly bytes: Buffer;
  readonly view: DataView;
}

/** Pieces shorter than this are copied into a common block. */
const SMALL = 4096;
const BLOCK = 65536;

class Piece implements Span {
  readonly bytes: Buffer;
  readonly view: DataView;
  /** First byte that has not been taken. */
  start = 0;
  /** End of what is filled. */
  end: number;
  /** End of what can be filled. */
  readonly capacity: number;
  /** Whether it is the place of one record, which is filled before anything else. */
  readonly reserved: boolean;

  constructor(span: Span, end: number, capacity: number, reserved = false) {
    this.bytes = span.bytes;
    this.view = span.view;
    this.end = end;
    this.capacity = capacity;
    this.reserved = reserved;
  }
}

export class ByteQueue {
  #pieces: Piece[] = [];
  /** Index of the first piece in use: taken pieces are cut off in bulk, so that taking stays O(1). */
  #first = 0;
  #length = 0;

  /** Bytes that can be taken. */
  get length(): number {
    return this.#length;
  }

  /** Bytes of the first piece: so many can be drained in one. */
  get firstLength(): number {
    const piece = this.#pieces[this.#first];
    return piece === undefined ? 0 : piece.end - piece.start;
  }

  append(bytes: Uint8Array): void {
    if (bytes.length === 0) return;
    this.#length += bytes.length;
    const last = this.#first < this.#pieces.length ? this.#pieces.at(-1) : undefined;
    const room = last === undefined ? 0 : last.capacity - last.end;
    if (last?.reserved === true && room > 0) {
      const fitting = bytes.length > room ? bytes.subarray(0, room) : bytes;
      last.bytes.set(fitting, last.end);
      last.end += fitting.length;
      if (bytes.length > room) this.#add(bytes.subarray(room));
      return;
    }
    if (bytes.length >= SMALL) {
      this.#add(bytes);
      return;
    }
    let piece = last;
    if (piece === undefined || room < bytes.length) {
      // A lone short input needs no block; a block comes with the second in a row.
      const following = piece !== undefined && piece.end - piece.start < SMALL;
      if (!following) {
        this.#add(bytes);
        return;
      }
      piece = new Piece(spanOf(Buffer.allocUnsafeSlow(BLOCK)), 0, BLOCK);
      this.#pieces.push(piece);
    }
    piece.bytes.set(bytes, piece.end);
    piece.end += bytes.length;
  }

  /** As a piece of their own, where they lie. */
  #add(bytes: Uint8Array): void {
    this.#pieces.push(new Piece(spanOf(asBuffer(bytes)), bytes.length, bytes.length));
  }

  /**
   * The next `count` bytes are one record, and are not all there: those that are, and each that comes, are gathered at once.
   * While they are copied they are still in the processor's cache, and the source reads on in the meantime.
   *
   * @param room where they may be gathered
   */
  reserve(count: number, room?: () => Span | undefined): void {
    if (this.#pieces[this.#first]?.reserved === true) return;
    const span = room?.() ?? spanOf(Buffer.allocUnsafeSlow(count));
    const piece = new Piece(span, 0, count, true);
    piece.end = this.#gather(span.bytes, this.#length);
    this.#pieces = [piece];
    this.#first = 0;
    this.#length = piece.end;
  }

  /** The bytes at the front that lie in one piece: `[start, end)` of the span. */
  front(): { span: Span; start: number; end: number } | undefined {
    const piece = this.#pieces[this.#first];
    return piece && { span: piece, start: piece.start, end: piece.end };
  }

  /** The byte at `index`, which must be below `length`. */
  at(index: number): number {
    let rest = index;
    for (let n = this.#first; ; n++) {
      const piece = this.#pieces[n];
      if (piece === undefined) throw new RangeError(`no byte ${index} in ${this.#length}`);
      const length = piece.end - piece.start;
      if (rest < length) return piece.bytes[piece.start + rest] ?? 0;
      rest -= length;
    }
  }

  /** All bytes in one piece, to be looked at. They stay in the queue. */
  contiguous(): { readonly length: number; at(index: number): number } {
    if (this.#pieces.length - this.#first > 1) {
      const { span, start } = this.take(this.#length);
      const piece = new Piece(span, span.bytes.length, span.bytes.length);
      piece.start = start;
      this.#pieces = [piece];
      this.#first = 0;
      this.#length = piece.end - start;
    }
    const piece = this.#pieces[this.#first];
    if (piece === undefined) return { length: 0, at: () => 0 };
    const { bytes, start, end } = piece;
    return { length: end - start, at: (index) => bytes[start + index] ?? 0 };
  }

  /**
   * Takes `count` bytes, which must be there. Bytes `[start, start + count)` of the span are the ones.
   *
   * @param room where they may be gathered, if they lie in pieces; at least so many bytes
   */
  take(count: number, room?: () => Span | undefined): { span: Span; start: number } {
    const piece = this.#pieces[this.#first];
    if (piece !== undefined && piece.end - piece.start >= count) {
      const { start } = piece;
      this.#length -= count;
      piece.start += count;
      this.#dropTaken(piece);
      return { span: piece, start };
    }
    const span = room?.() ?? spanOf(Buffer.allocUnsafeSlow(count));
    this.#gather(span.bytes, count);
    return { span, start: 0 };
  }

  #gather(bytes: Buffer, count: number): number {
    let filled = 0;
    return this.drain(count, (part) => {
      bytes.set(part, filled);
      filled += part.length;
    });
  }

  /** Takes up to `count` bytes in the pieces they lie in; gives the number taken. */
  drain(count: number, visit: (part: Uint8Array) => void): number {
    let rest = Math.min(count, this.#length);
    const taken = rest;
    while (rest > 0) {
      const piece = this.#pieces[this.#first];
      if (piece === undefined) break;
      const part = Math.min(rest, piece.end - piece.start);
      visit(piece.bytes.subarray(piece.start, piece.start + part));
      piece.start += part;
      this.#length -= part;
      rest -= part;
      this.#dropTaken(piece);
    }
    return taken;
  }

  #dropTaken(piece: Piece): void {
    if (piece.start < piece.end) return;
    // An open block is left too: what was handed out of it must not be mixed with what comes.
    this.#first++;
    if (this.#first === this.#pieces.length) {
      this.#pieces.length = 0;
      this.#first = 0;
    } else if (this.#first >= 64) {
      this.#pieces = this.#pieces.slice(this.#first);
      this.#first = 0;
    }
  }
}

function spanOf(bytes: Buffer): Span {
  return { bytes, view: viewOf(bytes) };
}

export function viewOf(bytes: Uint8Array): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

/** The same memory as a Buffer, for its fast string calls. */
export function asBuffer(bytes: Uint8Array): Buffer {
  return Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}
