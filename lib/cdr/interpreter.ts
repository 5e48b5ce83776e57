/**
 * The decoder without generated code: it walks the plan with a cursor. The slow, exact twin of the compiled decoder, with
 * the same values and the same errors. It serves where code generation is forbidden, as the oracle of differential tests,
 * and to say where a payload is wrong: the compiled decoder only finds that it is.
 */
import { McapStreamsError } from '../errors.js';
import type { CdrErrorCode } from '../errors.js';
import type { ArrayReader, ArrayScalar } from './arrays.js';
import { readBools } from './arrays.js';
import { HEADER_SIZE } from './encapsulation.js';
import type { Wire } from './encapsulation.js';
import { leastSize } from './layout.js';
import type { FieldPlan, ListNode, PlanNode, ScalarName, StructNode } from './layout.js';
import type { Selection } from './project.js';
import { decodeUtf8 } from './text.js';
import { absentValue, int64Value, readWide, setOwn, timeValue, wideForm } from './values.js';
import type { ValueOptions } from './values.js';

export type ArrayReaders = Readonly<Record<ArrayScalar, ArrayReader>>;

/** Decodes the payload `u8[start, end)`, whose header has been read: `view` is over the memory of `u8`. */
export type Decode = (u8: Uint8Array, view: DataView, start: number, end: number) => unknown;

/** A decoder that interprets the plan `root`. */
export function interpretDecoder(
  root: StructNode,
  wire: Wire,
  options: ValueOptions,
  arrays: ArrayReaders,
  selection: Selection,
): Decode {
  return (u8, view, start, end) => {
    if (root.empty) return {};
    const reader = new Reader(root.name, u8, view, start, end, wire, options, arrays);
    return reader.root(root, selection);
  };
}

class Reader {
  readonly #schemaName: string;
  readonly #u8: Uint8Array;
  readonly #view: DataView;
  readonly #start: number;
  readonly #origin: number;
  readonly #wire: Wire;
  readonly #options: ValueOptions;
  readonly #arrays: ArrayReaders;
  #at: number;
  #end: number;

  constructor(
    schemaName: string,
    u8: Uint8Array,
    view: DataView,
    start: number,
    end: number,
    wire: Wire,
    options: ValueOptions,
    arrays: ArrayReaders,
  ) {
    this.#schemaName = schemaName;
    this.#u8 = u8;
    this.#view = view;
    this.#start = start;
    this.#origin = start + HEADER_SIZE;
    this.#at = this.#origin;
    this.#end = end;
    this.#wire = wire;
    this.#options = options;
    this.#arrays = arrays;
  }

  root(node: StructNode, selection: Selection): unknown {
    return this.#struct(node, selection, '', true);
  }

  #value(node: PlanNode, selection: Selection, path: string, tail: boolean): unknown {
    switch (node.kind) {
      case 'scalar':
        return this.#scalar(node.scalar, this.#take(node.size, node.align, path));
      case 'string':
      case 'wstring':
        return this.#string(node.kind, path);
      case 'time':
        return this.#time(node.dheader, selection, path);
      case 'struct':
        return this.#struct(node, selection, path, tail);
      case 'list':
        return this.#list(node, selection, path);
    }
  }

  #scalar(scalar: ScalarName, at: number): unknown {
    const view = this.#view;
    const le = this.#wire.littleEndian;
    switch (scalar) {
      case 'bool':
        return view.getUint8(at) !== 0;
      case 'int8':
        return view.getInt8(at);
      case 'uint8':
        return view.getUint8(at);
      case 'int16':
        return view.getInt16(at, le);
      case 'uint16':
        return view.getUint16(at, le);
      case 'int32':
        return view.getInt32(at, le);
      case 'uint32':
        return view.getUint32(at, le);
      case 'int64':
        return int64Value(view.getBigInt64(at, le), this.#options);
      case 'uint64':
        return int64Value(view.getBigUint64(at, le), this.#options);
      case 'float32':
        return view.getFloat32(at, le);
      case 'float64':
        return view.getFloat64(at, le);
    }
  }

  #string(kind: 'string' | 'wstring', path: string): string {
    if (kind === 'string') {
      const size = this.#length(path, 1, 'string');
      let end = this.#at + size;
      const at = this.#at;
      this.#at = end;
      if (size > 0 && this.#u8[end - 1] === 0) end--;
      return decodeUtf8(this.#u8, at, end);
    }
    const { unit, inBytes } = wideForm(this.#options, this.#wire.xcdr);
    const bytes = this.#length(path, inBytes ? 1 : unit, 'wstring');
    const at = this.#at;
    this.#at += bytes;
    return readWide(this.#view, at, bytes, unit, this.#wire.littleEndian);
  }

  #time(dheader: boolean, selection: Selection, path: string): unknown {
    const begin = dheader ? this.#header(path) : undefined;
    if (begin !== undefined && this.#at + 8 > begin.inner) this.#fail('CDR_BAD_LENGTH', path, 'a DHEADER too short');
    const sec = this.#scalar('int32', this.#take(4, 4, `${path}.sec`)) as number;
    const nanosec = this.#scalar('uint32', this.#take(4, 4, `${path}.nanosec`)) as number;
    if (begin !== undefined) this.#leave(begin);
    const value = timeValue(sec, nanosec, this.#options);
    if (selection === 'all' || selection.kind !== 'fields' || typeof value === 'bigint') return value;
    return Object.fromEntries(Object.entries(value).filter(([name]) => selection.fields.has(name)));
  }

  #struct(node: StructNode, selection: Selection, path: string, tail: boolean): unknown {
    const object: Record<string, unknown> = {};
    if (node.dheader) {
      const begin = this.#header(path);
      const last = lastWanted(node, selection);
      node.fields.slice(0, last + 1).forEach((field) => {
        const inner = pick(selection, field);
        const here = join(path, field.name);
        if (inner === undefined) {
          if (this.#at < this.#end) this.#skip(field.node, here);
        } else {
          const present = this.#at < this.#end;
          const value = present
            ? this.#value(field.node, inner, here, false)
            : absentValue(field.node, field.defaultValue, this.#options);
          setOwn(object, field.name, value);
        }
      });
      this.#leave(begin);
      return object;
    }
    if (node.empty) {
      this.#take(1, 1, path);
      return object;
    }
    const last = lastWanted(node, selection);
    node.fields.forEach((field, index) => {
      const inner = pick(selection, field);
      const here = join(path, field.name);
      if (inner !== undefined) setOwn(object, field.name, this.#value(field.node, inner, here, tail && index === last));
      else if (!tail || index < last) this.#skip(field.node, here);
    });
    return object;
  }

  #list(node: ListNode, selection: Selection, path: string): unknown {
    const begin = node.dheader ? this.#header(path) : undefined;
    const value = this.#elements(node, selection, path);
    if (begin !== undefined) this.#leave(begin);
    return value;
  }

  #elements(node: ListNode, selection: Selection, path: string): unknown {
    const { element } = node;
    const list = selection !== 'all' && selection.kind === 'list' ? selection : undefined;
    const count = this.#count(node, path);
    if (element.kind === 'scalar' && list === undefined) {
      const { scalar, size, align } = element;
      const at = count === 0 ? this.#at : this.#take(count * size, align, path);
      if (scalar === 'bool') return readBools(this.#u8, at, count);
      const array = this.#arrays[scalar](this.#u8, this.#view, at, count);
      if ((scalar !== 'int64' && scalar !== 'uint64') || this.#options.int64 === 'bigint') return array;
      return Array.from(array as BigInt64Array | BigUint64Array, (big) => int64Value(big, this.#options));
    }
    const values: unknown[] = [];
    for (let index = 0; index < count; index++) {
      const wanted = list === undefined ? 'all' : (list.at.get(index) ?? list.each);
      const here = `${path}[${index}]`;
      if (wanted === undefined) this.#skip(element, here);
      else values[index] = this.#value(element, wanted, here, false);
    }
    return values;
  }

  #skip(node: PlanNode, path: string): void {
    switch (node.kind) {
      case 'scalar':
        this.#take(node.size, node.align, path);
        return;
      case 'string':
        this.#jump(path, 1, 'string');
        return;
      case 'wstring': {
        const { unit, inBytes } = wideForm(this.#options, this.#wire.xcdr);
        this.#jump(path, inBytes ? 1 : unit, 'wstring');
        return;
      }
      case 'time':
        if (node.dheader) this.#jump(path, 1, 'DHEADER');
        else this.#take(8, 4, path);
        return;
      case 'struct':
        if (node.dheader) this.#jump(path, 1, 'DHEADER');
        else if (node.empty) this.#take(1, 1, path);
        else for (const field of node.fields) this.#skip(field.node, join(path, field.name));
        return;
      case 'list': {
        if (node.dheader) {
          this.#jump(path, 1, 'DHEADER');
          return;
        }
        const count = this.#count(node, path);
        const { element } = node;
        if (element.kind === 'scalar') {
          if (count > 0) this.#take(count * element.size, element.align, path);
        } else {
          for (let index = 0; index < count; index++) this.#skip(element, `${path}[${index}]`);
        }
      }
    }
  }

  /** Number of elements, checked against the bytes left before anything is allocated. */
  #count(node: ListNode, path: string): number {
    const count = node.length >= 0 ? node.length : this.#uint32(path);
    const left = this.#end - this.#at;
    const least = leastSize(node);
    if (count * least <= left) return count;
    if (node.length >= 0)
      this.#fail('CDR_TRUNCATED', path, `${count} elements need ${count * least} bytes, ${left} are left`);
    return this.#fail(
      'CDR_BAD_LENGTH',
      path,
      `a count of ${count}, ${count * least} bytes at least, with ${left} left`,
      this.#at - 4,
    );
  }

  /** A length in units of `unit` bytes, checked: in bytes. */
  #length(path: string, unit: number, what: string): number {
    const length = this.#uint32(path);
    const left = this.#end - this.#at;
    if (length * unit <= left) return length * unit;
    return this.#fail(
      'CDR_BAD_LENGTH',
      path,
      `a ${what} length of ${length * unit} bytes with ${left} left`,
      this.#at - 4,
    );
  }

  /** Steps over a length and what it spans. */
  #jump(path: string, unit: number, what: string): void {
    const bytes = this.#length(path, unit, what);
    this.#at += bytes;
  }

  /** Enters what a DHEADER spans. */
  #header(path: string): { inner: number; outer: number } {
    const outer = this.#end;
    const size = this.#length(path, 1, 'DHEADER');
    this.#end = this.#at + size;
    return { inner: this.#end, outer };
  }

  #leave({ inner, outer }: { inner: number; outer: number }): void {
    this.#at = inner;
    this.#end = outer;
  }

  #uint32(path: string): number {
    return this.#view.getUint32(this.#take(4, 4, path), this.#wire.littleEndian);
  }

  /** Pads, checks that `size` bytes are there and steps over them; where they begin. */
  #take(size: number, align: number, path: string): number {
    const at = this.#at + ((this.#origin - this.#at) & (align - 1));
    if (at + size > this.#end) {
      const left = Math.max(0, this.#end - at);
      this.#fail('CDR_TRUNCATED', path, `${size} bytes are needed, ${left} are left`, at);
    }
    this.#at = at + size;
    return at;
  }

  #fail(code: CdrErrorCode, field: string, text: string, at = this.#at): never {
    const offset = Math.min(at, this.#end) - this.#start;
    const where = field === '' ? this.#schemaName : `${this.#schemaName} ${field}`;
    throw new McapStreamsError(code, `${where}, byte ${offset} of the payload: ${text}`, {
      schemaName: this.#schemaName,
      field: field === '' ? undefined : field,
      offset,
    });
  }
}

function pick(selection: Selection, field: FieldPlan): Selection | undefined {
  if (selection === 'all') return 'all';
  return selection.kind === 'fields' ? selection.fields.get(field.name) : undefined;
}

function lastWanted(node: StructNode, selection: Selection): number {
  return node.fields.findLastIndex((field) => pick(selection, field) !== undefined);
}

function join(path: string, name: string): string {
  return path === '' ? name : `${path}.${name}`;
}
