/** The last bytes of an input that passes, so that what stands at the place of a cut can be looked at afterwards. */
const KEPT = 2 ** 22;

export class Tail {
  #parts: Buffer[] = [];
  #kept = 0;
  #position = 0;

  push(part: Buffer): void {
    this.#parts.push(part);
    this.#kept += part.length;
    this.#position += part.length;
    for (let first = this.#parts[0]; first !== undefined && this.#kept - first.length >= KEPT; first = this.#parts[0]) {
      this.#kept -= first.length;
      this.#parts = this.#parts.slice(1);
    }
  }

  /** The byte at an offset from the input's beginning, if it is still there. */
  at(offset: number): number | undefined {
    let start = this.#position - this.#kept;
    for (const part of this.#parts) {
      if (offset >= start && offset < start + part.length) return part[offset - start];
      start += part.length;
    }
    return undefined;
  }
}
