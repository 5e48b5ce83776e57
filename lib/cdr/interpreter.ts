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
import { pathText } from './path-text.js';
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
    return new Reader(root.name, u8, view, start, end, wire, options, arrays, true).root(root, selection);
  };
}

/** Walks a payload as {@link interpretDecoder} does, for its error alone: it makes no values and so takes a third of the time. */
export function interpretCheck(
  root: StructNode,
  wire: Wire,
  options: ValueOptions,
  arrays: ArrayReaders,
  selection: Selection,
): (u8: Uint8Array, view: DataView, start: number, end: number) => void {
  return (u8, view, start, end) => {
    new Reader(root.name, u8, view, start, end, wire, options, arrays, false).root(root, selection);
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
  /** False where only errors are asked for. */
  readonly #keep: boolean;
  /** Where the reader is, for errors: text is made of it only when one is thrown. */
  readonly #path: (string | number)[] = [];
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
    keep: boolean,
  ) {
    this.#keep = keep;
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
    return this.#struct(node, selection, true);
  }

  #value(node: PlanNode, selection: Selection, tail: boolean): unknown {
    switch (node.kind) {
      case 'scalar':
        return this.#scalar(node.scalar, this.#take(node.size, node.align));
      case 'string':
      case 'wstring':
        return this.#string(node.kind);
      case 'time':
        return this.#time(node.dheader, selection);
      case 'struct':
        return this.#struct(node, selection, tail);
      case 'list':
        return this.#list(node, selection);
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

  #string(kind: 'string' | 'wstring'): string {
    if (kind === 'string') {
      const size = this.#length(1, 'string');
      const at = this.#at;
      let end = at + size;
      this.#at = end;
      if (size > 0 && this.#u8[end - 1] === 0) end--;
      if (!this.#keep) return '';
      return decodeUtf8(this.#u8, at, end);
    }
    const { unit, inBytes } = wideForm(this.#options, this.#wire.xcdr);
    const bytes = this.#length(inBytes ? 1 : unit, 'wstring');
    const at = this.#at;
    this.#at += bytes;
    if (!this.#keep) return '';
    return readWide(this.#view, at, bytes, unit, this.#wire.littleEndian);
  }

  #time(dheader: boolean, selection: Selection): unknown {
    const begin = dheader ? this.#header() : undefined;
    if (begin !== undefined && this.#at + 8 > begin.inner) this.#fail('CDR_BAD_LENGTH', 'a DHEADER too short');
    this.#path.push('sec');
    const sec = this.#scalar('int32', this.#take(4, 4)) as number;
    this.#path[this.#path.length - 1] = 'nanosec';
    const nanosec = this.#scalar('uint32', this.#take(4, 4)) as number;
    this.#path.pop();
    if (begin !== undefined) this.#leave(begin);
    const value = timeValue(sec, nanosec, this.#options);
    if (selection === 'all' || selection.kind !== 'fields' || typeof value === 'bigint') return value;
    return Object.fromEntries(Object.entries(value).filter(([name]) => selection.fields.has(name)));
  }

  #struct(node: StructNode, selection: Selection, tail: boolean): unknown {
    const object: Record<string, unknown> = {};
    const begin = node.dheader ? this.#header() : undefined;
    if (begin === undefined && node.empty) {
      this.#take(1, 1);
      return object;
    }
    const { fields } = node;
    const last = selection === 'all' ? fields.length - 1 : lastWanted(node, selection);
    // Behind the last wanted field there is nothing to do where the message or a DHEADER ends with this struct.
    const end = tail || begin !== undefined ? last + 1 : fields.length;
    const depth = this.#path.length;
    for (let index = 0; index < end; index++) {
      const field = fields[index];
      if (field === undefined) break;
      const inner = pick(selection, field);
      this.#path[depth] = field.name;
      const present = begin === undefined || this.#at < this.#end;
      if (inner === undefined) {
        if (present) this.#skip(field.node);
      } else if (present) {
        const value = this.#value(field.node, inner, tail && begin === undefined && index === last);
        if (this.#keep) setOwn(object, field.name, value);
      } else if (this.#keep) {
        setOwn(object, field.name, absentValue(field.node, field.defaultValue, this.#options));
      }
    }
    this.#path.length = depth;
    if (begin !== undefined) this.#leave(begin);
    return object;
  }

  #list(node: ListNode, selection: Selection): unknown {
    const begin = node.dheader ? this.#header() : undefined;
    const value = this.#elements(node, selection);
    if (begin !== undefined) this.#leave(begin);
    return value;
  }

  #elements(node: ListNode, selection: Selection): unknown {
    const { element } = node;
    const list = selection !== 'all' && selection.kind === 'list' ? selection : undefined;
    const count = this.#count(node);
    if (element.kind === 'scalar' && list === undefined) {
      const { scalar, size, align } = element;
      const at = count === 0 ? this.#at : this.#take(count * size, align);
      if (!this.#keep) return undefined;
      if (scalar === 'bool') return readBools(this.#u8, at, count);
      const array = this.#arrays[scalar](this.#u8, this.#view, at, count);
      if ((scalar !== 'int64' && scalar !== 'uint64') || this.#options.int64 === 'bigint') return array;
      return Array.from(array as BigInt64Array | BigUint64Array, (big) => int64Value(big, this.#options));
    }
    const values: unknown[] = [];
    const depth = this.#path.length;
    for (let index = 0; index < count; index++) {
      const wanted = list === undefined ? 'all' : (list.at.get(index) ?? list.each);
      this.#path[depth] = index;
      if (wanted === undefined) this.#skip(element);
      else {
        const value = this.#value(element, wanted, false);
        if (this.#keep) values[index] = value;
      }
    }
    this.#path.length = depth;
    return values;
  }

  #skip(node: PlanNode): void {
    switch (node.kind) {
      case 'scalar':
        this.#take(node.size, node.align);
        return;
      case 'string':
        this.#jump(1, 'string');
        return;
      case 'wstring': {
        const { unit, inBytes } = wideForm(this.#options, this.#wire.xcdr);
        this.#jump(inBytes ? 1 : unit, 'wstring');
        return;
      }
      case 'time':
        if (node.dheader) this.#jump(1, 'DHEADER');
        else this.#take(8, 4);
        return;
      case 'struct': {
        if (node.dheader) {
          this.#jump(1, 'DHEADER');
          return;
        }
        if (node.empty) this.#take(1, 1);
        const depth = this.#path.length;
        for (const field of node.fields) {
          this.#path[depth] = field.name;
          this.#skip(field.node);
        }
        this.#path.length = depth;
        return;
      }
      case 'list': {
        if (node.dheader) {
          this.#jump(1, 'DHEADER');
          return;
        }
        const count = this.#count(node);
        const { element } = node;
        if (element.kind === 'scalar') {
          if (count > 0) this.#take(count * element.size, element.align);
          return;
        }
        const depth = this.#path.length;
        for (let index = 0; index < count; index++) {
          this.#path[depth] = index;
          this.#skip(element);
        }
        this.#path.length = depth;
      }
    }
  }

  /** Number of elements, checked against the bytes left before anything is allocated. */
  #count(node: ListNode): number {
    const count = node.length >= 0 ? node.length : this.#uint32();
    const left = this.#end - this.#at;
    const bytes = count * leastSize(node);
    if (bytes <= left) return count;
    if (node.length >= 0) return this.#fail('CDR_TRUNCATED', `${count} elements need ${bytes} bytes, ${left} are left`);
    return this.#fail(
      'CDR_BAD_LENGTH',
      `a count of ${count}, ${bytes} bytes at least, with ${left} left`,
      this.#at - 4,
    );
  }

  /** A length in units of `unit` bytes, checked: in bytes. */
  #length(unit: number, what: string): number {
    const bytes = this.#uint32() * unit;
    const left = this.#end - this.#at;
    if (bytes <= left) return bytes;
    return this.#fail('CDR_BAD_LENGTH', `a ${what} length of ${bytes} bytes with ${left} left`, this.#at - 4);
  }

  /** Steps over a length and what it spans. */
  #jump(unit: number, what: string): void {
    const bytes = this.#length(unit, what);
    this.#at += bytes;
  }

  /** Enters what a DHEADER spans. */
  #header(): { inner: number; outer: number } {
    const outer = this.#end;
    const size = this.#length(1, 'DHEADER');
    this.#end = this.#at + size;
    return { inner: this.#end, outer };
  }

  #leave({ inner, outer }: { inner: number; outer: number }): void {
    this.#at = inner;
    this.#end = outer;
  }

  #uint32(): number {
    return this.#view.getUint32(this.#take(4, 4), this.#wire.littleEndian);
  }

  /** Pads, checks that `size` bytes are there and steps over them; where they begin. */
  #take(size: number, align: number): number {
    const at = this.#at + ((this.#origin - this.#at) & (align - 1));
    if (at + size > this.#end) {
      const left = Math.max(0, this.#end - at);
      this.#fail('CDR_TRUNCATED', `${size} bytes are needed, ${left} are left`, at);
    }
    this.#at = at + size;
    return at;
  }

  #fail(code: CdrErrorCode, text: string, at = this.#at): never {
    const offset = Math.min(at, this.#end) - this.#start;
    const field = pathText(this.#path);
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
