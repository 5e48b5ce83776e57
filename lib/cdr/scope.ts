/**
 * A run of generated decoder code: where `p` stands, what is known of its alignment, and which bounds check covers it.
 *
 * Values at fixed distances share one check: `place` hands out offsets from `p` and makes the check grow, `flush` moves
 * `p` over what was placed. Generated names: `u` bytes, `v` DataView, `p` position, `o` origin of alignment, `e` end.
 */
import { CodeWriter } from './emit.js';
import { Alignment } from './layout.js';

export class Scope {
  readonly code: CodeWriter = new CodeWriter();
  /** What is known of `p` + `offset`. */
  at: Alignment;
  /** Name of the variable that holds the end of what may be read. */
  end: string = 'e';
  /** Values emitted so far: a measure of the function's size. */
  leaves: number = 0;
  /** Loops around what is emitted now. */
  loops: number = 0;
  /** Statement for bytes that are not there. */
  readonly bad: string;
  #offset = 0;
  #check: { size: number } | undefined;
  #names = 0;

  constructor(at: Alignment, bad: string) {
    this.at = at;
    this.bad = bad;
  }

  /** Room for `size` bytes at alignment `align`: an expression for their position, right until the next flush. */
  place(size: number, align: number): string {
    this.alignTo(align);
    if (this.#check === undefined) {
      const check = { size: 0 };
      const end = this.end;
      this.#check = check;
      this.code.later(() => `if (p + ${check.size} > ${end}) ${this.bad}`);
    }
    const offset = this.#offset;
    this.#offset += size;
    this.#check.size = this.#offset;
    this.at = this.at.advance(size);
    return offset === 0 ? 'p' : `p + ${offset}`;
  }

  /** Padding to `align`: a part of the run where it is known, else code. */
  alignTo(align: number): void {
    const padding = this.at.padding(align);
    if (padding === undefined) {
      this.flush();
      this.code.line(`p += (o - p) & ${align - 1};`);
    } else {
      this.#offset += padding;
    }
    this.at = this.at.to(align);
  }

  /** Ends the run: `p` stands behind all that was placed. */
  flush(): void {
    if (this.#offset > 0) this.code.line(`p += ${this.#offset};`);
    this.#offset = 0;
    this.#check = undefined;
  }

  name(prefix: string): string {
    return `${prefix}${++this.#names}`;
  }

  /** A constant that holds `expression`; its name. */
  constant(expression: string): string {
    const name = this.name('c');
    this.code.line(`const ${name} = ${expression};`);
    return name;
  }
}
