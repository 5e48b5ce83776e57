/**
 * The decoder's back end over the layout plan: JavaScript source that turns a payload into an object.
 *
 * Measured (performance.md): static offsets with one bounds check per fixed run, DataView getters with a constant byte
 * order, one object literal per struct in field order. Nested structs stand inline, so that a run goes on over their
 * borders; elements of a sequence and what would make a function too large for V8 to optimise get a function of their
 * own, which leaves its end position in `P`. A failed check calls `bad`, which decodes the payload again with the
 * interpreter to say where and why.
 */
import type { MessageDefinition } from '../schema/definition.js';
import type { Wire } from './encapsulation.js';
import { comment, identifier, key, CodeWriter } from './emit.js';
import { after, Alignment } from './layout.js';
import type { FieldPlan, ListNode, PlanNode, ScalarName, StructNode, TimeNode } from './layout.js';
import type { Selection } from './project.js';
import { MAX_LEAVES, NOTHING, SkipEmitter } from './decoder-skip.js';
import { Scope } from './scope.js';
import type { ValueOptions } from './values.js';

/** Size of a string table, as a power of two: of a field that stands once, and of one in a loop. */
const TABLE_ONCE = 3;
const TABLE_LOOP = 9;
/** So many strings of a type have a table of their own, the others share one. */
const MAX_TABLES = 16;

/** Generated source and what it needs at run time. */
export interface GeneratedDecoder {
  /** Body of a function of `rt` that returns `(u, v, start, end) => value`. */
  readonly source: string;
  /** Fields whose default stands in where an appendable type's payload ends early: `rt.defaults[i]()`. */
  readonly defaults: readonly FieldPlan[];
}

/** Source of the decoder of `root` in one encoding. `definition` is for comments only. */
export function generateDecoder(
  root: StructNode,
  definition: MessageDefinition,
  wire: Wire,
  options: ValueOptions,
  selection: Selection,
): GeneratedDecoder {
  return new DecoderEmitter(wire, options).generate(root, definition, selection);
}

const GETTERS: Readonly<Record<Exclude<ScalarName, 'bool' | 'uint8' | 'int8'>, string>> = {
  int16: 'getInt16',
  uint16: 'getUint16',
  int32: 'getInt32',
  uint32: 'getUint32',
  int64: 'getBigInt64',
  uint64: 'getBigUint64',
  float32: 'getFloat32',
  float64: 'getFloat64',
};

class DecoderEmitter extends SkipEmitter {
  /** Name of what is used of `rt` -> its expression. */
  readonly #uses = new Map<string, string>();
  readonly #functions = new Map<string, { name: string; text: string }>();
  readonly #taken = new Set<string>();
  readonly #ids = new Map<unknown, number>();
  readonly #defaults: FieldPlan[] = [];
  #tables = 0;

  generate(root: StructNode, definition: MessageDefinition, selection: Selection): GeneratedDecoder {
    this.#use('bad', 'rt.bad');
    const name = this.#freeName('decode', root.name);
    const main = new Scope(Alignment.ORIGIN, this.bad);
    // One function for header and body: V8 compiles it once.
    main.code.line(`return function ${name}(u, v, s, e) {`);
    if (this.wire.name === 'CDR_LE') {
      main.code.line('if (e - s < 4 || u[s] !== 0 || u[s + 1] !== 1) return rt.other(u, v, s, e);');
    }
    main.code.line('let p = s + 4;');
    main.code.line('const o = p;');
    if (this.wire.xcdr === 2) main.code.line('E = e;');
    if (root.empty) {
      main.code.line('// No members: the one byte that stands for them may be missing.');
      main.code.line('return {};');
    } else {
      const value = root.dheader
        ? this.#delimited(main, root, selection)
        : this.#struct(main, root, selection, '', true);
      main.code.line(`return ${value};`);
    }
    main.code.line('};');

    const out = new CodeWriter();
    out.line(`// ${comment(definition.name)}, ${this.wire.name}`);
    out.line("'use strict';");
    for (const [use, expression] of this.#uses) out.line(`const ${use} = ${expression};`);
    out.line('// End position of the function that returned last.');
    out.line('let P = 0;');
    if (this.wire.xcdr === 2) out.line('let E = 0;');
    for (const { text } of this.#functions.values()) out.line(text);
    out.line(main.code.toString());
    return { source: out.toString(), defaults: this.#defaults };
  }

  // ---- values: each returns an expression that stays right when `p` moves

  #value(s: Scope, node: PlanNode, selection: Selection, label: string, tail: boolean): string {
    s.leaves++;
    switch (node.kind) {
      case 'scalar':
        return s.constant(this.#scalar(node.scalar, s.place(node.size, node.align)));
      case 'string': {
        const size = this.count(s);
        s.code.line(`if (${size} > ${s.end} - p) ${s.bad}`);
        return this.#stringOf(s, size);
      }
      case 'wstring': {
        const { bytes, unit } = this.wide(s);
        this.#use('readWide', 'rt.readWide');
        const value = s.constant(`readWide(v, p, ${bytes}, ${unit}, ${this.wire.littleEndian})`);
        this.jump(s, bytes);
        return value;
      }
      case 'time':
        return this.#time(s, node, selection);
      case 'struct':
        return this.#structValue(s, node, selection, label, tail);
      case 'list':
        return this.#list(s, node, selection, label);
    }
  }

  #scalar(scalar: ScalarName, at: string): string {
    switch (scalar) {
      case 'bool':
        return `u[${at}] !== 0`;
      case 'uint8':
        return `u[${at}]`;
      case 'int8':
        return `v.getInt8(${at})`;
      case 'int64':
      case 'uint64': {
        const big = `v.${GETTERS[scalar]}(${at}, ${this.wire.littleEndian})`;
        if (this.options.int64 === 'bigint') return big;
        return this.options.int64 === 'number' ? `Number(${big})` : `${big}.toString()`;
      }
      default:
        return `v.${GETTERS[scalar]}(${at}, ${this.wire.littleEndian})`;
    }
  }

  #stringOf(s: Scope, size: string): string {
    this.#use('readString', 'rt.readString');
    const loop = s.loops > 0;
    if (this.#tables < MAX_TABLES) this.#tables++;
    const table = this.#tables < MAX_TABLES ? `T${this.#tables}` : 'TABLE';
    this.#use(table, `rt.stringTable(${loop || table === 'TABLE' ? TABLE_LOOP : TABLE_ONCE})`);
    const value = s.constant(`readString(u, v, p, ${size}, ${table})`);
    this.jump(s, size);
    return value;
  }

  #time(s: Scope, node: TimeNode, selection: Selection): string {
    const le = this.wire.littleEndian;
    let length = '';
    if (node.dheader) {
      length = this.count(s);
      s.code.line(`if (${length} < 8 || ${length} > ${s.end} - p) ${s.bad}`);
    }
    const sec = `v.getInt32(${s.place(4, 4)}, ${le})`;
    const nanosec = `v.getUint32(${s.place(4, 4)}, ${le})`;
    let value: string;
    if (this.options.time === 'bigint') {
      value = s.constant(`BigInt(${sec}) * 1000000000n + BigInt(${nanosec})`);
    } else {
      const wanted = (field: string): boolean =>
        selection === 'all' || (selection.kind === 'fields' && selection.fields.has(field));
      const parts = [wanted('sec') ? `sec: ${sec}` : '', wanted('nanosec') ? `nanosec: ${nanosec}` : ''];
      value = s.constant(`{ ${parts.filter((part) => part !== '').join(', ')} }`);
    }
    if (node.dheader) {
      s.flush();
      s.code.line(`p += ${length} - 8;`);
      s.at = Alignment.UNKNOWN;
    }
    return value;
  }

  #structValue(s: Scope, node: StructNode, selection: Selection, label: string, tail: boolean): string {
    if (!node.dheader && (node.empty || s.leaves + node.fields.length <= MAX_LEAVES)) {
      return s.constant(this.#struct(s, node, selection, label, tail));
    }
    return this.call(s, node, selection);
  }

  /** A call of the struct's own function. */
  protected override call(s: Scope, node: StructNode, selection: Selection): string {
    s.flush();
    const name = this.#function(node, s.at, selection, s.loops > 0);
    const value = s.constant(`${name}(u, v, p, o, ${s.end})`);
    s.code.line('p = P;');
    s.at = after(node, s.at);
    return value;
  }

  /** Members in line; the literal of the object they make. */
  #struct(s: Scope, node: StructNode, selection: Selection, label: string, tail: boolean): string {
    if (node.empty) {
      s.place(1, 1);
      return '{}';
    }
    const parts: string[] = [];
    const last = node.fields.findLastIndex((field) => pick(selection, field.name) !== undefined);
    node.fields.forEach((field, index) => {
      const selected = pick(selection, field.name);
      if (selected === undefined) {
        // Behind the last wanted field of the message there is nothing to do.
        if (!tail || index < last) this.skip(s, field.node, label + field.name);
        return;
      }
      this.#describe(s, field, label);
      const value = this.#value(s, field.node, selected, `${label}${field.name}.`, tail && index === last);
      parts.push(`${key(field.name)}: ${value}`);
    });
    return parts.length === 0 ? '{}' : `{ ${parts.join(', ')} }`;
  }

  /** A struct behind a DHEADER: what it has more than is known is skipped, what it has less gets its default. */
  #delimited(s: Scope, node: StructNode, selection: Selection): string {
    const size = this.count(s);
    s.code.line(`if (${size} > e - p) ${s.bad}`);
    s.code.line(`e = p + ${size};`);
    const parts: string[] = [];
    const last = node.fields.findLastIndex((field) => pick(selection, field.name) !== undefined);
    node.fields.slice(0, last + 1).forEach((field) => {
      const selected = pick(selection, field.name);
      if (selected === undefined) {
        s.code.line('if (p < e) {');
        this.skip(s, field.node, field.name);
        s.flush();
        s.code.line('}');
        return;
      }
      const name = s.name('m');
      this.#describe(s, field, '');
      s.code.line(`let ${name};`);
      s.code.line('if (p < e) {');
      s.code.line(`${name} = ${this.#value(s, field.node, selected, `${field.name}.`, false)};`);
      s.flush();
      this.#defaults.push(field);
      s.code.line('} else {');
      s.code.line(`${name} = rt.defaults[${this.#defaults.length - 1}]();`);
      s.code.line('}');
      parts.push(`${key(field.name)}: ${name}`);
    });
    s.code.line('p = e;');
    s.at = Alignment.UNKNOWN;
    return parts.length === 0 ? '{}' : `{ ${parts.join(', ')} }`;
  }

  #list(s: Scope, node: ListNode, selection: Selection, label: string): string {
    if (node.dheader) {
      const size = this.count(s);
      s.code.line(`if (${size} > ${s.end} - p) ${s.bad}`);
      const outer = s.end;
      s.end = s.constant(`p + ${size}`);
      const value = this.#elements(s, node, selection, label);
      s.flush();
      s.code.line(`p = ${s.end};`);
      s.end = outer;
      s.at = Alignment.UNKNOWN;
      return value;
    }
    return this.#elements(s, node, selection, label);
  }

  #elements(s: Scope, node: ListNode, selection: Selection, label: string): string {
    const { element } = node;
    if (element.kind === 'scalar') {
      if (node.length >= 0) {
        const at = node.length === 0 ? 'p' : s.place(node.length * element.size, element.align);
        return this.#scalars(s, element.scalar, at, String(node.length), selection);
      }
      const { count, next } = this.scalarCount(s, node, element.size, element.align);
      const value = this.#scalars(s, element.scalar, 'p', count, selection);
      s.code.line(`p += ${element.size === 1 ? count : `${count} * ${element.size}`};`);
      s.at = next;
      return value;
    }
    const { count, exit } = this.loopCount(s, node);
    const whole = selection === 'all' ? 'all' : selection.kind === 'list' ? selection : 'all';
    const array = s.constant(whole === 'all' || whole.each !== undefined ? `new Array(${count})` : '[]');
    const index = this.openLoop(s, count);
    if (whole === 'all') {
      s.code.line(`${array}[${index}] = ${this.#element(s, element, 'all', label)};`);
    } else {
      const begin = s.at;
      for (const [wanted, inner] of [...whole.at].sort(([a], [b]) => a - b)) {
        s.code.line(`if (${index} === ${wanted}) {`);
        s.code.line(`${array}[${index}] = ${this.#element(s, element, inner, label)};`);
        s.flush();
        s.code.line('continue;');
        s.code.line('}');
        s.at = begin;
      }
      if (whole.each === undefined) this.skip(s, element, `${label}[]`);
      else s.code.line(`${array}[${index}] = ${this.#element(s, element, whole.each, label)};`);
    }
    this.closeLoop(s);
    s.at = exit;
    return array;
  }

  #element(s: Scope, node: PlanNode, selection: Selection, label: string): string {
    // A struct of scalars alone is short and stands in the loop; others are functions.
    if (node.kind === 'struct' && !node.empty && !(node.fields.length <= 8 && node.fields.every(isLeaf))) {
      return this.call(s, node, selection);
    }
    return this.#value(s, node, selection, label, false);
  }

  #scalars(s: Scope, scalar: ScalarName, at: string, count: string, selection: Selection): string {
    if (selection !== 'all' && selection.kind === 'list') {
      const array = s.constant('[]');
      const size = scalarSize(scalar);
      for (const index of [...selection.at.keys()].sort((a, b) => a - b)) {
        s.code.line(
          `if (${index} < ${count}) ${array}[${index}] = ${this.#scalar(scalar, `${at} + ${index * size}`)};`,
        );
      }
      return array;
    }
    if (scalar === 'bool') {
      this.#use('readBools', 'rt.readBools');
      return s.constant(`readBools(u, ${at}, ${count})`);
    }
    const reader = `read_${scalar}`;
    this.#use(reader, `rt.arrays.${scalar}`);
    const read = `${reader}(u, v, ${at}, ${count})`;
    if (this.options.int64 === 'bigint' || (scalar !== 'int64' && scalar !== 'uint64')) return s.constant(read);
    return s.constant(`Array.from(${read}, ${this.options.int64 === 'number' ? 'Number' : 'String'})`);
  }

  #describe(s: Scope, field: FieldPlan, label: string): void {
    const { modulus, residue } = s.at;
    const where = modulus === 1 ? 'anywhere' : residue === 0 ? `at ${modulus}k` : `at ${modulus}k+${residue}`;
    s.code.line(`// ${comment(label + field.name)}: ${comment(typeText(field.node))}, ${where}`);
  }

  /** The function that reads `node` from an offset of which `at` is known. */
  #function(node: StructNode, at: Alignment, selection: Selection, loop: boolean): string {
    const id = `${this.#id(node)} ${at.modulus} ${at.residue} ${selection === 'all' ? 'all' : this.#id(selection)} ${loop}`;
    const known = this.#functions.get(id);
    if (known !== undefined) return known.name;
    const name = this.#freeName(selection === NOTHING ? 'skip' : 'decode', node.name);
    const s = new Scope(at, this.bad);
    s.loops = loop ? 1 : 0;
    s.code.line(`function ${name}(u, v, p, o, e) {`);
    const value = node.dheader ? this.#delimited(s, node, selection) : this.#struct(s, node, selection, '', false);
    s.flush();
    s.code.line('P = p;');
    s.code.line(`return ${value};`);
    s.code.line('}');
    this.#functions.set(id, { name, text: s.code.toString() });
    return name;
  }

  #freeName(prefix: string, typeName: string): string {
    const wanted = identifier(prefix, typeName);
    let name = wanted;
    for (let n = 2; this.#taken.has(name); n++) name = `${wanted}_${n}`;
    this.#taken.add(name);
    return name;
  }

  #id(thing: unknown): number {
    const id = this.#ids.get(thing) ?? this.#ids.size;
    this.#ids.set(thing, id);
    return id;
  }

  #use(name: string, expression: string): void {
    this.#uses.set(name, expression);
  }
}

function pick(selection: Selection, name: string): Selection | undefined {
  if (selection === 'all') return 'all';
  return selection.kind === 'fields' ? selection.fields.get(name) : undefined;
}

function isLeaf(field: FieldPlan): boolean {
  const { node } = field;
  return node.kind === 'scalar' || node.kind === 'string' || (node.kind === 'time' && !node.dheader);
}

function scalarSize(scalar: ScalarName): number {
  return scalar === 'bool' || scalar.endsWith('t8') ? 1 : Number(/\d+/.exec(scalar)?.[0] ?? 8) / 8;
}

function typeText(node: PlanNode): string {
  switch (node.kind) {
    case 'scalar':
      return node.scalar;
    case 'string':
    case 'wstring':
      return node.bound === Infinity ? node.kind : `${node.kind}<=${node.bound}`;
    case 'time':
      return `builtin_interfaces/msg/${node.type}`;
    case 'struct':
      return node.name;
    case 'list': {
      const bound = node.length >= 0 ? String(node.length) : node.bound === Infinity ? '' : `<=${node.bound}`;
      return `${typeText(node.element)}[${bound}]`;
    }
  }
}
