/**
 * The JSON writer's back end over the layout plan: JavaScript source that turns a payload into UTF-8 text, with no values
 * between.
 *
 * Names, braces and commas between two values are known when the code is made: they are written four bytes at a time as
 * constants, and share a check of room with the numbers around them. Generated names, beside those of scope.ts: `out` the
 * buffer, `b` its bytes, `w` its DataView, `q` the position in it.
 */
import type { MessageDefinition } from '../schema/definition.js';
import { comment, CodeWriter, identifier, literal } from './emit.js';
import { WIRES } from './encapsulation.js';
import { after, Alignment } from './layout.js';
import type { ListNode, PlanNode, ScalarName, StructNode } from './layout.js';
import { MAX_LEAVES, SkipEmitter } from './decoder-skip.js';
import { NUMBER_ROOM } from './json-numbers.js';
import { Scope } from './scope.js';
import { writeUtf8 } from './text.js';
import type { ValueOptions } from './values.js';

/** Longest text that is written by constants in the code. */
const MAX_INLINE = 96;

/** Source of the JSON writer of `root` for XCDR1 little-endian: the body of a function of `rt`. */
export function generateJsonWriter(root: StructNode, definition: MessageDefinition, options: ValueOptions): string {
  return new JsonEmitter(options).generate(root, definition);
}

/** What is written next: text that no code writes yet, and the check of room that is open. */
class Output {
  readonly scope: Scope;
  text = '';
  check: { size: number } | undefined;

  constructor(scope: Scope) {
    this.scope = scope;
  }

  /** Room for `bytes` more before the next break. */
  reserve(bytes: number): void {
    if (this.check === undefined) {
      const check = { size: 0 };
      this.check = check;
      this.scope.code.later(
        () => `if (q + ${check.size} > b.length) { out.grow(q, q + ${check.size}); b = out.u8; w = out.view; }`,
      );
    }
    this.check.size += bytes;
  }
}

const INTEGERS: Readonly<Partial<Record<ScalarName, string>>> = {
  int8: 'v.getInt8(@)',
  int16: 'v.getInt16(@, true)',
  int32: 'v.getInt32(@, true)',
  uint8: 'u[@]',
  uint16: 'v.getUint16(@, true)',
  uint32: 'v.getUint32(@, true)',
};

class JsonEmitter extends SkipEmitter {
  readonly #functions = new Map<string, { name: string; text: string }>();
  readonly #taken = new Set<string>();
  readonly #ids = new Map<StructNode, number>();
  readonly #texts: string[] = [];
  #out!: Output;

  constructor(options: ValueOptions) {
    super(WIRES.CDR_LE, options);
  }

  generate(root: StructNode, definition: MessageDefinition): string {
    const name = this.#freeName(root.name);
    const main = this.#body(name, Alignment.ORIGIN, (s) => {
      if (root.empty) this.#write('{}');
      else this.#struct(s, root, '');
    });
    const out = new CodeWriter();
    out.line(`// ${comment(definition.name)} as JSON text`);
    out.line("'use strict';");
    out.line('const { bad, putBool, putFloat, putInt32, putUint32, putInt64, putUint64, putString, putText } = rt;');
    out.line('const { arrays, readWide } = rt;');
    this.#texts.forEach((text, index) => {
      out.line(`const TEXT${index} = rt.utf8(${literal(text)});`);
    });
    out.line('// End position in the payload of the function that returned last.');
    out.line('let P = 0;');
    for (const { text } of this.#functions.values()) out.line(text);
    out.line(main);
    out.line('return function jsonAt(u, v, s, e, out, q) {');
    out.line('if (e - s < 4 || u[s] !== 0 || u[s + 1] !== 1) return rt.other(u, v, s, e, out, q);');
    out.line(`return ${name}(u, v, s + 4, s + 4, e, out, q);`);
    out.line('};');
    return out.toString();
  }

  /** A function that writes what `emit` emits. */
  #body(name: string, at: Alignment, emit: (s: Scope) => void): string {
    const outer = this.#out as Output | undefined;
    const s = new Scope(at, this.bad);
    const output = new Output(s);
    this.#out = output;
    s.code.line(`function ${name}(u, v, p, o, e, out, q) {`);
    s.code.line('let b = out.u8, w = out.view;');
    emit(s);
    this.#flushText();
    s.flush();
    s.code.line('P = p;');
    s.code.line('return q;');
    s.code.line('}');
    if (outer !== undefined) this.#out = outer;
    return s.code.toString();
  }

  /** Text known now. */
  #write(text: string): void {
    this.#out.text += text;
  }

  /** Writes what is known. */
  #flushText(): void {
    const { text, scope } = this.#out;
    if (text === '') return;
    this.#out.text = '';
    const bytes = new Uint8Array(text.length * 3);
    const size = writeUtf8(bytes, text, 0, bytes.length);
    this.#out.reserve(size);
    if (size > MAX_INLINE) {
      let index = this.#texts.indexOf(text);
      if (index < 0) index = this.#texts.push(text) - 1;
      scope.code.line(`b.set(TEXT${index}, q);`);
    } else if (size < 4) {
      for (let at = 0; at < size; at++) scope.code.line(`b[q${at === 0 ? '' : ` + ${at}`}] = ${bytes[at] ?? 0};`);
    } else {
      const view = new DataView(bytes.buffer);
      const places = Array.from({ length: Math.floor(size / 4) }, (_, index) => index * 4);
      if (size % 4 !== 0) places.push(size - 4);
      scope.code.line(`// ${comment(text)}`);
      for (const at of places) {
        scope.code.line(`w.setInt32(q${at === 0 ? '' : ` + ${at}`}, ${view.getInt32(at, true)}, true);`);
      }
    }
    scope.code.line(`q += ${size};`);
  }

  /** Ends the open check of room: what comes next makes room for itself. */
  #break(): void {
    this.#flushText();
    this.#out.check = undefined;
  }

  /** Reads `b` and `w` anew after a call that may have replaced them. */
  #renew(s: Scope): void {
    s.code.line('b = out.u8; w = out.view;');
    this.#out.check = undefined;
  }

  #value(s: Scope, node: PlanNode, label: string): void {
    s.leaves++;
    switch (node.kind) {
      case 'scalar':
        this.#scalar(s, node.scalar, s.place(node.size, node.align));
        return;
      case 'string': {
        const size = this.count(s);
        s.code.line(`if (${size} > ${s.end} - p) ${s.bad}`);
        this.#break();
        s.code.line(`q = putString(out, q, u, p, ${size});`);
        this.jump(s, size);
        this.#renew(s);
        return;
      }
      case 'wstring': {
        const { bytes, unit } = this.wide(s);
        this.#break();
        s.code.line(`q = putText(out, q, readWide(v, p, ${bytes}, ${unit}, true));`);
        this.jump(s, bytes);
        this.#renew(s);
        return;
      }
      case 'time':
        this.#write('{"sec":');
        this.#scalar(s, 'int32', s.place(4, 4));
        this.#write(',"nanosec":');
        this.#scalar(s, 'uint32', s.place(4, 4));
        this.#write('}');
        return;
      case 'struct':
        if (node.empty || s.leaves + node.fields.length <= MAX_LEAVES) this.#struct(s, node, label);
        else this.call(s, node);
        return;
      case 'list':
        this.#list(s, node, label);
        return;
    }
  }

  #scalar(s: Scope, scalar: ScalarName, at: string): void {
    this.#flushText();
    this.#out.reserve(NUMBER_ROOM);
    const integer = INTEGERS[scalar]?.replace('@', at);
    switch (scalar) {
      case 'bool':
        s.code.line(`q = putBool(b, q, u[${at}] !== 0);`);
        return;
      case 'float32':
      case 'float64':
        s.code.line(`q = putFloat(b, w, q, v.get${scalar === 'float32' ? 'Float32' : 'Float64'}(${at}, true));`);
        return;
      case 'int64':
        s.code.line(`q = putInt64(b, w, q, v, ${at});`);
        return;
      case 'uint64':
        s.code.line(`q = putUint64(b, w, q, v, ${at});`);
        return;
      default:
        s.code.line(`q = ${scalar.startsWith('u') ? 'putUint32' : 'putInt32'}(b, w, q, ${integer ?? '0'});`);
    }
  }

  #struct(s: Scope, node: StructNode, label: string): void {
    if (node.empty) {
      s.place(1, 1);
      this.#write('{}');
      return;
    }
    node.fields.forEach((field, index) => {
      this.#write(`${index === 0 ? '{' : ','}${JSON.stringify(field.name)}:`);
      this.#value(s, field.node, `${label}${field.name}.`);
    });
    this.#write('}');
  }

  #list(s: Scope, node: ListNode, label: string): void {
    const { element } = node;
    if (element.kind === 'scalar') {
      let count = String(node.length);
      let at = 'p';
      let next: Alignment | undefined;
      if (node.length > 0) at = s.place(node.length * element.size, element.align);
      else if (node.length < 0) ({ count, next } = this.scalarCount(s, node, element.size, element.align));
      this.#break();
      s.code.line(`q = arrays.${element.scalar}(out, q, u, v, ${at}, ${count});`);
      this.#renew(s);
      if (next === undefined) return;
      s.code.line(`p += ${element.size === 1 ? count : `${count} * ${element.size}`};`);
      s.at = next;
      return;
    }
    const { count, exit } = this.loopCount(s, node);
    this.#write('[');
    this.#break();
    const index = this.openLoop(s, count);
    this.#out.reserve(1);
    s.code.line(`if (${index} !== 0) b[q++] = 44;`);
    if (element.kind === 'struct' && !element.empty) this.call(s, element);
    else this.#value(s, element, `${label}[]`);
    this.#break();
    this.closeLoop(s);
    s.at = exit;
    this.#write(']');
  }

  /** A call of the struct's own function. */
  protected override call(s: Scope, node: StructNode): string {
    s.flush();
    this.#break();
    s.code.line(`q = ${this.#function(node, s.at)}(u, v, p, o, ${s.end}, out, q);`);
    s.code.line('p = P;');
    s.at = after(node, s.at);
    this.#renew(s);
    return '';
  }

  #function(node: StructNode, at: Alignment): string {
    let number = this.#ids.get(node);
    if (number === undefined) this.#ids.set(node, (number = this.#ids.size));
    const id = `${number} ${at.modulus} ${at.residue}`;
    const known = this.#functions.get(id);
    if (known !== undefined) return known.name;
    const name = this.#freeName(node.name);
    const text = this.#body(name, at, (s) => {
      this.#struct(s, node, '');
    });
    this.#functions.set(id, { name, text });
    return name;
  }

  #freeName(typeName: string): string {
    const wanted = identifier('json', typeName);
    let name = wanted;
    for (let n = 2; this.#taken.has(name); n++) name = `${wanted}_${n}`;
    this.#taken.add(name);
    return name;
  }
}
