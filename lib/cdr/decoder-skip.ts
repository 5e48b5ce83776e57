/**
 * Generated code that steps over what is not wanted, and the pieces that reading shares with it: counts that are checked
 * before they are used, loops, lengths.
 *
 * A part of fixed size is one addition, together with its neighbours; a string or what stands behind a DHEADER is its
 * length; only a list of structs of varying size is walked.
 */
import type { Wire } from './encapsulation.js';
import { comment } from './emit.js';
import { Alignment, firstAlign, fixedSize, leastSize, after, loopEntry } from './layout.js';
import type { ListNode, PlanNode, StructNode } from './layout.js';
import type { Selection } from './project.js';
import type { Scope } from './scope.js';
import { wideForm } from './values.js';
import type { ValueOptions } from './values.js';

/** Values in one function before nested structs get their own. */
export const MAX_LEAVES: number = 150;
/** The selection of no field: what skips a struct. */
export const NOTHING: Selection = { kind: 'fields', fields: new Map() };

export abstract class SkipEmitter {
  protected readonly wire: Wire;
  protected readonly options: ValueOptions;
  /** Statement for bytes that are not there. */
  protected readonly bad: string;

  constructor(wire: Wire, options: ValueOptions) {
    this.wire = wire;
    this.options = options;
    // In XCDR2 a function's end may be that of its DHEADER; the error is looked for in the whole payload.
    this.bad = wire.xcdr === 1 ? 'return bad(u, v, o, e);' : 'return bad(u, v, o, E);';
  }

  /** A call of the struct's own function; the name of what it gave. */
  protected abstract call(s: Scope, node: StructNode, selection: Selection): string;

  protected skip(s: Scope, node: PlanNode, label: string): void {
    const first = firstAlign(node);
    const start = s.at.padding(first) === undefined ? new Alignment(first, 0) : s.at;
    const size = fixedSize(node, start);
    if (size !== undefined) {
      s.code.line(`// ${comment(label)}: skipped`);
      if (start !== s.at) s.alignTo(first);
      if (size > 0) s.place(size, 1);
      return;
    }
    switch (node.kind) {
      case 'wstring': {
        const { bytes } = this.wide(s);
        this.jump(s, bytes);
        return;
      }
      case 'struct':
        if (node.dheader) break;
        if (s.leaves + node.fields.length > MAX_LEAVES) {
          this.call(s, node, NOTHING);
        } else {
          s.leaves += node.fields.length;
          for (const field of node.fields) this.skip(s, field.node, `${label}.${field.name}`);
        }
        return;
      case 'list':
        if (node.dheader) break;
        this.skipElements(s, node, label);
        return;
      default:
        break;
    }
    // A string, or a DHEADER: so many bytes.
    s.code.line(`// ${comment(label)}: skipped`);
    const bytes = this.count(s);
    s.code.line(`if (${bytes} > ${s.end} - p) ${s.bad}`);
    this.jump(s, bytes);
  }

  protected skipElements(s: Scope, node: ListNode, label: string): void {
    const { element } = node;
    s.code.line(`// ${comment(label)}: skipped`);
    if (element.kind === 'scalar') {
      const { count, next } = this.scalarCount(s, node, element.size, element.align);
      s.code.line(`p += ${count} * ${element.size};`);
      s.at = next;
      return;
    }
    const { count, exit } = this.loopCount(s, node);
    const stride = fixedSize(element, s.at);
    if (stride !== undefined && s.at.advance(stride).equals(s.at)) {
      s.code.line(`if (${count} * ${stride} > ${s.end} - p) ${s.bad}`);
      s.code.line(`p += ${count} * ${stride};`);
    } else {
      this.openLoop(s, count);
      if (element.kind === 'struct' && !element.empty) this.call(s, element, NOTHING);
      else this.skip(s, element, `${label}[]`);
      this.closeLoop(s);
    }
    s.at = exit;
  }

  /** Reads a uint32; the name that holds it. `p` stands behind it. */
  protected count(s: Scope): string {
    const at = s.place(4, 4);
    const name = s.name('n');
    s.code.line(`const ${name} = v.getUint32(${at}, ${this.wire.littleEndian});`);
    s.flush();
    return name;
  }

  /** Count of a sequence of scalars, checked; `p` stands at its first element. */
  protected scalarCount(s: Scope, node: ListNode, size: number, align: number): { count: string; next: Alignment } {
    const count = this.count(s);
    const next = loopEntry(node.element, s.at);
    const padding = s.at.padding(align);
    if (padding === undefined) s.code.line(`if (${count} !== 0) p += (o - p) & ${align - 1};`);
    else if (padding > 0) s.code.line(`if (${count} !== 0) p += ${padding};`);
    s.code.line(`if (${size === 1 ? count : `${count} * ${size}`} > ${s.end} - p) ${s.bad}`);
    return { count, next };
  }

  /** Count of a list of anything else, checked against the least that its elements take; sets what a loop may assume. */
  protected loopCount(s: Scope, node: ListNode): { count: string; exit: Alignment } {
    let count = String(node.length);
    let exit: Alignment;
    if (node.length < 0) {
      count = this.count(s);
      exit = loopEntry(node.element, s.at);
    } else {
      s.flush();
      exit = after({ ...node, dheader: false }, s.at);
    }
    const least = leastSize(node);
    s.code.line(`if (${least === 1 ? count : `${count} * ${least}`} > ${s.end} - p) ${s.bad}`);
    s.at = loopEntry(node.element, s.at);
    return { count, exit };
  }

  protected openLoop(s: Scope, count: string): string {
    const index = s.name('i');
    s.code.line(`for (let ${index} = 0; ${index} < ${count}; ${index}++) {`);
    s.loops++;
    return index;
  }

  protected closeLoop(s: Scope): void {
    s.flush();
    s.code.line('}');
    s.loops--;
  }

  /** Size in bytes of a wstring and of its units, checked (see text.ts for the three forms). */
  protected wide(s: Scope): { bytes: string; unit: number } {
    const count = this.count(s);
    const { unit, inBytes } = wideForm(this.options, this.wire.xcdr);
    const bytes = inBytes ? count : s.constant(`${count} * ${unit}`);
    s.code.line(`if (${bytes} > ${s.end} - p) ${s.bad}`);
    return { bytes, unit };
  }

  protected jump(s: Scope, bytes: string): void {
    s.code.line(`p += ${bytes};`);
    s.at = Alignment.UNKNOWN;
  }
}
