/**
 * The encoder's back end over the layout plan: JavaScript source that writes an object as a payload.
 *
 * Measured (performance.md): one capacity check per fixed run and DataView setters at static offsets into one shared
 * buffer. Every value is checked on its way by the cheapest test that lets only right ones through (`x === (x | 0)` is an
 * int32); what does not pass goes to `absent`, which gives the default of a missing field or else fails: the interpreter
 * then encodes the value again and says what is wrong where. Unknown properties are found by counting: an object with as
 * many keys as fields, none of the fields missing, has no other.
 *
 * Generated names: `b` buffer, `u` its bytes, `v` its DataView, `p` position, `o` origin of alignment.
 */
import type { MessageDefinition } from '../schema/definition.js';
import { comment, CodeWriter, identifier, literal, member } from './emit.js';
import type { Wire } from './encapsulation.js';
import { after, Alignment, fixedSize, loopEntry } from './layout.js';
import type { FieldPlan, ListNode, PlanNode, ScalarName, StructNode, TimeNode } from './layout.js';
import { wideForm } from './values.js';
import type { ValueOptions } from './values.js';

/** Values in one function before nested structs get their own. */
const MAX_LEAVES = 120;

export interface EncoderOptions extends Pick<ValueOptions, 'wstring'> {
  readonly unknownFields: 'error' | 'ignore';
}

/** Generated source and what it needs at run time. */
export interface GeneratedEncoder {
  /** Body of a function of `rt` that returns `(b, value, start) => end`. */
  readonly source: string;
  /** Fields whose defaults may be asked for: `rt.absent(b, value, parent, struct, field)`. */
  readonly fields: readonly FieldPlan[];
  /** Structs whose keys may be checked. */
  readonly structs: readonly StructNode[];
}

/** Source of the encoder of `root` in one encoding. */
export function generateEncoder(
  root: StructNode,
  definition: MessageDefinition,
  wire: Wire,
  options: EncoderOptions,
): GeneratedEncoder {
  return new EncoderEmitter(wire, options).generate(root, definition);
}

/** A test that a right value fails, and the setter that writes it. */
const SCALARS: Readonly<
  Record<ScalarName, { wrong: (x: string) => string; set: (x: string, at: string, le: string) => string }>
> = {
  bool: { wrong: (x) => `${x} !== true && ${x} !== false`, set: (x, at) => `u[${at}] = ${x} ? 1 : 0;` },
  int8: { wrong: (x) => `${x} !== (${x} << 24) >> 24`, set: (x, at) => `u[${at}] = ${x};` },
  uint8: { wrong: (x) => `${x} !== (${x} & 255)`, set: (x, at) => `u[${at}] = ${x};` },
  int16: { wrong: (x) => `${x} !== (${x} << 16) >> 16`, set: (x, at, le) => `v.setInt16(${at}, ${x}, ${le});` },
  uint16: { wrong: (x) => `${x} !== (${x} & 65535)`, set: (x, at, le) => `v.setUint16(${at}, ${x}, ${le});` },
  int32: { wrong: (x) => `${x} !== (${x} | 0)`, set: (x, at, le) => `v.setInt32(${at}, ${x}, ${le});` },
  uint32: { wrong: (x) => `${x} !== ${x} >>> 0`, set: (x, at, le) => `v.setUint32(${at}, ${x}, ${le});` },
  int64: {
    wrong: (x) => `typeof ${x} !== 'bigint' || BigInt.asIntN(64, ${x}) !== ${x}`,
    set: (x, at, le) => `v.setBigInt64(${at}, ${x}, ${le});`,
  },
  uint64: {
    wrong: (x) => `typeof ${x} !== 'bigint' || BigInt.asUintN(64, ${x}) !== ${x}`,
    set: (x, at, le) => `v.setBigUint64(${at}, ${x}, ${le});`,
  },
  float32: {
    wrong: (x) => `typeof ${x} !== 'number' || overflows(${x})`,
    set: (x, at, le) => `v.setFloat32(${at}, ${x}, ${le});`,
  },
  float64: { wrong: (x) => `typeof ${x} !== 'number'`, set: (x, at, le) => `v.setFloat64(${at}, ${x}, ${le});` },
};

/** One function's code, with the run that is open in it. */
class Scope {
  readonly code: CodeWriter = new CodeWriter();
  at: Alignment;
  leaves = 0;
  offset = 0;
  #check: { size: number } | undefined;
  #names = 0;

  constructor(at: Alignment) {
    this.at = at;
  }

  /** Room for `size` bytes at alignment `align`: an expression for their position, right until the next flush. */
  place(size: number, align: number): string {
    const padding = this.at.padding(align);
    if (padding === undefined) {
      this.flush();
      const check = (this.#check = { size: 0 });
      const q = this.name('q');
      this.code.line(`const ${q} = p + ((o - p) & ${align - 1});`);
      this.code.later(() => `if (${q} + ${check.size} > b.capacity) b.grow(p, ${q} + ${check.size});`);
      this.code.line('u = b.u8, v = b.view;');
      // The run behind the padding is at least `align` bytes, so that these zeros stay inside of the message.
      this.code.line(align === 8 ? 'v.setFloat64(p, 0);' : align === 4 ? 'v.setInt32(p, 0);' : 'u[p] = 0;');
      this.code.line(`p = ${q};`);
    } else {
      this.open();
      for (let pad = 0; pad < padding; pad++) this.code.line(`u[p + ${this.offset + pad}] = 0;`);
      this.offset += padding;
    }
    this.at = this.at.to(align).advance(size);
    const offset = this.offset;
    this.offset += size;
    if (this.#check !== undefined) this.#check.size = this.offset;
    return offset === 0 ? 'p' : `p + ${offset}`;
  }

  /** Begins a run where none is open. */
  open(): void {
    if (this.#check !== undefined) return;
    const check = (this.#check = { size: 0 });
    this.code.later(() =>
      check.size === 0 ? '' : `if (p + ${check.size} > b.capacity) b.grow(p, p + ${check.size});`,
    );
    this.code.line('u = b.u8, v = b.view;');
  }

  /** Ends the run: `p` stands behind all that was placed. */
  flush(): void {
    if (this.offset > 0) this.code.line(`p += ${this.offset};`);
    this.offset = 0;
    this.#check = undefined;
  }

  name(prefix: string): string {
    return `${prefix}${++this.#names}`;
  }
}

class EncoderEmitter {
  readonly #wire: Wire;
  readonly #options: EncoderOptions;
  readonly #uses = new Map<string, string>();
  readonly #functions = new Map<string, { name: string; text: string }>();
  readonly #taken = new Set<string>();
  readonly #fields: FieldPlan[] = [];
  readonly #structs: StructNode[] = [];

  constructor(wire: Wire, options: EncoderOptions) {
    this.#wire = wire;
    this.#options = options;
  }

  generate(root: StructNode, definition: MessageDefinition): GeneratedEncoder {
    const name = this.#function(root, Alignment.ORIGIN);
    const out = new CodeWriter();
    out.line(`// ${comment(definition.name)}, ${this.#wire.name}`);
    out.line("'use strict';");
    out.line('const absent = rt.absent, checkKeys = rt.checkKeys;');
    for (const [use, expression] of this.#uses) out.line(`const ${use} = ${expression};`);
    for (const { text } of this.#functions.values()) out.line(text);
    out.line('return function encodeAt(b, m, s) {');
    out.line('if (s + 4 > b.capacity) b.grow(s, s + 4);');
    out.line(`b.view.setUint32(s, ${this.#wire.kind << 16});`);
    out.line(`return ${name}(b, m, s + 4, s + 4);`);
    out.line('};');
    return { source: out.toString(), fields: this.#fields, structs: this.#structs };
  }

  get #le(): string {
    return String(this.#wire.littleEndian);
  }

  /** The function that writes a struct at an offset of which `at` is known; it returns the position behind. */
  #function(node: StructNode, at: Alignment): string {
    const id = `${this.#struct(node)} ${at.modulus} ${at.residue}`;
    const known = this.#functions.get(id);
    if (known !== undefined) return known.name;
    const wanted = identifier('encode', node.name);
    let name = wanted;
    for (let n = 2; this.#taken.has(name); n++) name = `${wanted}_${n}`;
    this.#taken.add(name);
    const s = new Scope(at);
    s.code.line(`function ${name}(b, m, p, o) {`);
    s.code.line('let u = b.u8, v = b.view;');
    s.code.line("if (typeof m !== 'object' || m === null) b.fail();");
    this.#members(s, node, 'm', '');
    s.flush();
    s.code.line('return p;');
    s.code.line('}');
    this.#functions.set(id, { name, text: s.code.toString() });
    return name;
  }

  /** Members of the object in the variable `m`, which is known to be an object. */
  #members(s: Scope, node: StructNode, m: string, label: string): void {
    this.#checkKeys(s, node, m);
    const length = node.dheader ? this.#openHeader(s) : undefined;
    if (node.empty && !node.dheader) s.code.line(`u[${s.place(1, 1)}] = 0;`);
    for (const field of node.fields) {
      const x = s.name('x');
      const { modulus, residue } = s.at;
      const where = modulus === 1 ? 'anywhere' : residue === 0 ? `at ${modulus}k` : `at ${modulus}k+${residue}`;
      s.code.line(`// ${comment(label + field.name)}, ${where}`);
      const inherited = field.name in Object.prototype;
      if (inherited) this.#use('readField', 'rt.readField');
      const read = inherited ? `readField(${m}, ${literal(field.name)})` : member(m, field.name);
      s.code.line(`let ${x} = ${read};`);
      this.#fields.push(field);
      const or = `absent(b, ${x}, ${m}, ${this.#struct(node)}, ${this.#fields.length - 1})`;
      this.#value(s, field.node, x, or, `${label}${field.name}.`);
    }
    if (length !== undefined) this.#closeHeader(s, length);
  }

  #checkKeys(s: Scope, node: StructNode, m: string): void {
    const id = this.#struct(node);
    if (node.fields.length === 0) {
      s.code.line(`checkKeys(b, ${m}, ${id});`);
    } else if (this.#options.unknownFields === 'error') {
      const n = s.name('k');
      s.code.line(`let ${n} = 0;`);
      s.code.line(`for (const _ in ${m}) ${n}++;`);
      s.code.line(`if (${n} !== ${node.fields.length}) checkKeys(b, ${m}, ${id});`);
    }
  }

  /** Writes the value in the variable `x`; `or` is the expression that repairs or refuses it. */
  #value(s: Scope, node: PlanNode, x: string, or: string, label: string): void {
    s.leaves++;
    const { code } = s;
    switch (node.kind) {
      case 'scalar': {
        const { wrong, set } = SCALARS[node.scalar];
        if (node.scalar === 'float32') this.#use('overflows', 'rt.overflows');
        code.line(`if (${wrong(x)}) ${x} = ${or};`);
        code.line(set(x, s.place(node.size, node.align), this.#le));
        return;
      }
      case 'string':
        s.flush();
        this.#use('putString', 'rt.putString');
        code.line(`if (typeof ${x} !== 'string') ${x} = ${or};`);
        code.line(`p = putString(b, ${x}, p, o, ${this.#le}, ${node.bound});`);
        s.at = Alignment.UNKNOWN;
        return;
      case 'wstring': {
        s.flush();
        const { unit, inBytes } = wideForm(this.#options, this.#wire.xcdr);
        this.#use('putWide', 'rt.putWide');
        code.line(`if (typeof ${x} !== 'string') ${x} = ${or};`);
        code.line(`p = putWide(b, ${x}, p, o, ${this.#le}, ${node.bound}, ${unit}, ${inBytes});`);
        s.at = Alignment.UNKNOWN;
        return;
      }
      case 'time':
        this.#time(s, node, x, or);
        return;
      case 'struct':
        code.line(`if (typeof ${x} !== 'object' || ${x} === null) ${x} = ${or};`);
        if (node.dheader || (!node.empty && s.leaves + node.fields.length > MAX_LEAVES)) this.#call(s, node, x);
        else this.#members(s, node, x, label);
        return;
      case 'list':
        this.#list(s, node, x, or, label);
        return;
    }
  }

  #time(s: Scope, node: TimeNode, x: string, or: string): void {
    this.#use('isTime', 'rt.isTime');
    s.code.line(`if (!isTime(${x})) ${x} = ${or};`);
    if (node.dheader) s.code.line(`v.setUint32(${s.place(4, 4)}, 8, ${this.#le});`);
    const at = s.place(8, 4);
    s.code.line(`v.setInt32(${at}, ${x}.sec, ${this.#le});`);
    s.code.line(`v.setUint32(${at} + 4, ${x}.nanosec, ${this.#le});`);
    if (node.dheader) {
      s.flush();
      s.at = Alignment.UNKNOWN;
    }
  }

  #call(s: Scope, node: StructNode, x: string): void {
    s.flush();
    s.code.line(`p = ${this.#function(node, s.at)}(b, ${x}, p, o);`);
    s.at = after(node, s.at);
  }

  #list(s: Scope, node: ListNode, x: string, or: string, label: string): void {
    const { element } = node;
    const { code } = s;
    if (element.kind === 'scalar') {
      s.flush();
      code.line(`if (${x} === undefined) ${x} = ${or};`);
      const put = `put_${element.scalar}`;
      this.#use(put, `rt.putArray.${element.scalar}`);
      code.line(`p = ${put}(b, ${x}, p, o, ${this.#le}, ${node.length}, ${node.bound});`);
      const size = fixedSize(node, s.at);
      s.at = size === undefined ? after({ ...node, dheader: false }, s.at) : s.at.advance(size);
      return;
    }
    code.line(`if (!Array.isArray(${x})) ${x} = ${or};`);
    const n = s.name('n');
    code.line(`const ${n} = ${x}.length;`);
    if (node.length >= 0) code.line(`if (${n} !== ${node.length}) b.fail();`);
    else if (node.bound !== Infinity) code.line(`if (${n} > ${node.bound}) b.fail();`);
    const length = node.dheader ? this.#openHeader(s) : undefined;
    const begin = s.at;
    if (node.length < 0) {
      s.code.line(`v.setUint32(${s.place(4, 4)}, ${n}, ${this.#le});`);
    }
    s.flush();
    const exit = node.length < 0 ? loopEntry(element, s.at) : after({ ...node, dheader: false }, begin);
    s.at = loopEntry(element, s.at);
    const i = s.name('i');
    code.line(`for (let ${i} = 0; ${i} < ${n}; ${i}++) {`);
    if (element.kind === 'struct') {
      this.#call(s, element, `${x}[${i}]`);
    } else {
      const y = s.name('y');
      code.line(`let ${y} = ${x}[${i}];`);
      this.#value(s, element, y, this.#elementOr(element, y), `${label}[].`);
    }
    s.flush();
    code.line('}');
    s.at = exit;
    if (length !== undefined) this.#closeHeader(s, length);
  }

  /** Elements have no default: what is not right is only turned from another accepted form. */
  #elementOr(element: PlanNode, y: string): string {
    this.#use('accept', 'rt.accept');
    this.#fields.push({ name: '', node: element, defaultValue: undefined });
    return `accept(b, ${y}, ${this.#fields.length - 1})`;
  }

  /** Leaves room for a DHEADER; the name of the variable that holds where it ends. */
  #openHeader(s: Scope): string {
    const name = s.name('d');
    s.code.line(`v.setUint32(${s.place(4, 4)}, 0);`);
    s.flush();
    s.code.line(`const ${name} = p;`);
    return name;
  }

  #closeHeader(s: Scope, begin: string): void {
    s.flush();
    s.code.line(`b.view.setUint32(${begin} - 4, p - ${begin}, ${this.#le});`);
    s.at = Alignment.UNKNOWN;
  }

  #struct(node: StructNode): number {
    const index = this.#structs.indexOf(node);
    return index >= 0 ? index : this.#structs.push(node) - 1;
  }

  #use(name: string, expression: string): void {
    this.#uses.set(name, expression);
  }
}
