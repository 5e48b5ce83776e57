/**
 * The bytes that were fed and not yet taken.
 *
 * A record that lies in one piece is handed out where it lies; one that spans pieces is gathered once, when it is
 * whole. Nothing is allocated by a length that the input only promises, and small pieces are packed together, so that
 * a large record in tiny pieces costs neither a copy for each nor an object for each.
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
  /** Whether it is a block that more can be packed into. */
  readonly open: boolean;

  constructor(bytes: Buffer, end: number, open: boolean) {
    this.bytes = bytes;
    this.view = viewOf(bytes);
    this.end = end;
    this.open = open;
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
    if (bytes.length >= SMALL) {
      this.#pieces.push(new Piece(asBuffer(bytes), bytes.length, false));
      return;
    }
    let piece = this.#pieces.at(-1);
    if (this.#first >= this.#pieces.length || piece?.open !== true || piece.bytes.length - piece.end < bytes.length) {
      // A lone short input needs no block; a block comes with the second in a row.
      const following = this.#first < this.#pieces.length && piece !== undefined && piece.end - piece.start < SMALL;
      if (!following) {
        this.#pieces.push(new Piece(asBuffer(bytes), bytes.length, false));
        return;
      }
      piece = new Piece(Buffer.allocUnsafeSlow(BLOCK), 0, true);
      this.#pieces.push(piece);
    }
    piece.bytes.set(bytes, piece.end);
    piece.end += bytes.length;
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
      const piece = new Piece(span.bytes, span.bytes.length, false);
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
    let span = room?.();
    if (span === undefined) {
      const bytes = Buffer.allocUnsafeSlow(count);
      span = { bytes, view: viewOf(bytes) };
    }
    const { bytes } = span;
    let filled = 0;
    this.drain(count, (part) => {
      bytes.set(part, filled);
      filled += part.length;
    });
    return { span, start: 0 };
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

export function viewOf(bytes: Uint8Array): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

/** The same memory as a Buffer, for its fast string calls. */
export function asBuffer(bytes: Uint8Array): Buffer {
  return Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}
