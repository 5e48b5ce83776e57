/**
 * The layout plan: a message definition as it lies on the wire in one encoding. This is the one place that knows
 * alignment (XTypes 7.4.1, 7.4.2): the decoder, the encoder and the interpreter ask it and decide nothing themselves.
 *
 * Offsets count from the byte after the 4-byte encapsulation header. Structs have no alignment and no padding of their
 * own: each primitive pads before itself, up to 8 bytes in XCDR1 and 4 in XCDR2. What is known at compile time about an
 * offset is an {@link Alignment}: exact through fixed parts, forgotten after variable ones.
 */
import { McapStreamsError } from '../errors.js';
import type { FieldType, LiteralValue, MessageDefinition } from '../schema/definition.js';
import type { Wire } from './encapsulation.js';

/** Primitives as the wire has them: byte, char and octet are uint8, wchar is uint16, an enum is its integer. */
export type ScalarName =
  'bool' | 'int8' | 'uint8' | 'int16' | 'uint16' | 'int32' | 'uint32' | 'int64' | 'uint64' | 'float32' | 'float64';

export const SCALAR_SIZE: Readonly<Record<ScalarName, number>> = {
  bool: 1,
  int8: 1,
  uint8: 1,
  int16: 2,
  uint16: 2,
  int32: 4,
  uint32: 4,
  int64: 8,
  uint64: 8,
  float32: 4,
  float64: 8,
};

export interface ScalarNode {
  readonly kind: 'scalar';
  readonly scalar: ScalarName;
  readonly size: number;
  readonly align: number;
}

export interface StringNode {
  readonly kind: 'string' | 'wstring';
  /** Bound in bytes (string) or UTF-16 units (wstring), without the NUL; Infinity where there is none. */
  readonly bound: number;
}

/** builtin_interfaces Time and Duration: int32 sec, uint32 nanosec. */
export interface TimeNode {
  readonly kind: 'time';
  readonly type: 'Time' | 'Duration';
  readonly dheader: boolean;
}

export interface StructNode {
  readonly kind: 'struct';
  /** Canonical type name. */
  readonly name: string;
  readonly fields: readonly FieldPlan[];
  /** A uint32 byte count stands before the members (XCDR2): they may be more or fewer than are known here. */
  readonly dheader: boolean;
  /** No members: one byte on the wire. */
  readonly empty: boolean;
  /** Least number of bytes on the wire. */
  readonly minSize: number;
}

export interface ListNode {
  readonly kind: 'list';
  readonly element: PlanNode;
  /** Elements of a fixed array; -1 for a sequence, which has a uint32 count before them. */
  readonly length: number;
  /** Most elements of a bounded sequence, else Infinity. */
  readonly bound: number;
  /** XCDR2 puts a DHEADER before a collection of anything but primitives (XTypes 7.4.3.5.3). */
  readonly dheader: boolean;
}

export type PlanNode = ScalarNode | StringNode | TimeNode | StructNode | ListNode;

export interface FieldPlan {
  readonly name: string;
  readonly node: PlanNode;
  readonly defaultValue: LiteralValue | readonly LiteralValue[] | undefined;
}

/** What is known about an offset: it is `residue` modulo `modulus` (a power of two, at most 8). */
export class Alignment {
  /** An offset of which nothing is known. */
  static readonly UNKNOWN: Alignment = new Alignment(1, 0);
  /** The first byte of a stream. */
  static readonly ORIGIN: Alignment = new Alignment(8, 0);

  readonly modulus: number;
  readonly residue: number;

  constructor(modulus: number, residue: number) {
    this.modulus = modulus;
    this.residue = residue % modulus;
  }

  /** Padding before a value of alignment `align`, or undefined where only the run knows it. */
  padding(align: number): number | undefined {
    return this.modulus < align ? undefined : (align - (this.residue % align)) % align;
  }

  advance(bytes: number): Alignment {
    return new Alignment(this.modulus, this.residue + bytes);
  }

  /** After padding to `align`. */
  to(align: number): Alignment {
    const padding = this.padding(align);
    return padding === undefined ? new Alignment(align, 0) : this.advance(padding);
  }

  /** What holds for both: two ways lead to one place. */
  join(other: Alignment): Alignment {
    let modulus = Math.min(this.modulus, other.modulus);
    while (this.residue % modulus !== other.residue % modulus) modulus /= 2;
    return new Alignment(modulus, this.residue);
  }

  equals(other: Alignment): boolean {
    return this.modulus === other.modulus && this.residue === other.residue;
  }
}

/** Alignment of a value of `size` bytes in this encoding. */
export function alignOf(size: number, wire: Wire): number {
  return wire.xcdr === 2 ? Math.min(size, 4) : size;
}

/**
 * The plan of `definition` in the encoding `wire`. One definition becomes one node, however often it stands.
 *
 * Throws CDR_UNSUPPORTED_ENCAPSULATION for a mutable type, whose members have ids on the wire.
 */
export function planMessage(definition: MessageDefinition, wire: Wire): StructNode {
  const known = new Map<MessageDefinition, StructNode>();

  function struct(type: MessageDefinition): StructNode {
    const found = known.get(type);
    if (found !== undefined) return found;
    if (type.extensibility === 'mutable') {
      const message = `type ${type.name} is @mutable: its members are a parameter list, which is not supported`;
      throw new McapStreamsError('CDR_UNSUPPORTED_ENCAPSULATION', message, { schemaName: definition.name });
    }
    const filler = type.fields.length === 1 && type.fields[0]?.name === 'structure_needs_at_least_one_member';
    const fields = filler ? [] : type.fields.map((field) => plan(field.name, field.type, field.defaultValue));
    const dheader = hasHeader(type, wire, definition);
    const empty = fields.length === 0;
    const members = dheader ? 4 : empty ? 1 : fields.reduce((sum, field) => sum + minSize(field.node), 0);
    const node: StructNode = { kind: 'struct', name: type.name, fields, dheader, empty, minSize: members };
    known.set(type, node);
    return node;
  }

  function plan(name: string, type: FieldType, defaultValue: FieldPlan['defaultValue']): FieldPlan {
    return { name, node: nodeOf(type, false), defaultValue };
  }

  function nodeOf(type: FieldType, inArray: boolean): PlanNode {
    switch (type.kind) {
      case 'primitive': {
        if (type.name === 'string' || type.name === 'wstring') {
          return { kind: type.name, bound: type.maxLength ?? Infinity };
        }
        return scalar(
          type.name === 'byte' || type.name === 'char' ? 'uint8' : type.name === 'wchar' ? 'uint16' : type.name,
          wire,
        );
      }
      case 'enum':
        return scalar(type.underlying, wire);
      case 'message': {
        const time = timeType(type.definition.name);
        if (time !== undefined)
          return { kind: 'time', type: time, dheader: hasHeader(type.definition, wire, definition) };
        return struct(type.definition);
      }
      case 'array': {
        // T[2][3] is one collection on the wire: only the outermost array has the header.
        const element = nodeOf(type.element, true);
        return {
          kind: 'list',
          element,
          length: type.length,
          bound: Infinity,
          dheader: !inArray && headed(type.element),
        };
      }
      case 'sequence': {
        const element = nodeOf(type.element, false);
        return { kind: 'list', element, length: -1, bound: type.maxLength ?? Infinity, dheader: headed(type.element) };
      }
    }
  }

  function headed(element: FieldType): boolean {
    if (wire.xcdr === 1) return false;
    if (element.kind === 'array') return headed(element.element);
    if (element.kind === 'primitive') return element.name === 'string' || element.name === 'wstring';
    return element.kind !== 'enum';
  }

  return struct(definition);
}

/** Whether a mutable type is anywhere in `definition`: it has no plan then, in no encoding. */
export function isMutable(definition: MessageDefinition): boolean {
  const seen = new Set<MessageDefinition>();
  function visit(type: MessageDefinition): boolean {
    if (seen.has(type)) return false;
    seen.add(type);
    return type.extensibility === 'mutable' || type.fields.some((field) => inside(field.type));
  }
  function inside(type: FieldType): boolean {
    if (type.kind === 'array' || type.kind === 'sequence') return inside(type.element);
    return type.kind === 'message' && visit(type.definition);
  }
  return visit(definition);
}

/** `Time` or `Duration` for the two types that have a JavaScript form of their own. */
export function timeType(name: string): 'Time' | 'Duration' | undefined {
  if (name === 'builtin_interfaces/msg/Time') return 'Time';
  return name === 'builtin_interfaces/msg/Duration' ? 'Duration' : undefined;
}

/** Least bytes of a node on the wire: what a count is checked against before anything is allocated. */
export function minSize(node: PlanNode): number {
  switch (node.kind) {
    case 'scalar':
      return node.size;
    case 'string':
    case 'wstring':
      return 4;
    case 'time':
      return node.dheader ? 4 : 8;
    case 'struct':
      return node.minSize;
    case 'list':
      if (node.dheader || node.length < 0) return 4;
      return node.length * minSize(node.element);
  }
}

/** Least bytes of one element, never none: a count alone must not make elements. */
export function leastSize(node: ListNode): number {
  return Math.max(1, minSize(node.element));
}

function scalar(name: ScalarName, wire: Wire): ScalarNode {
  const size = SCALAR_SIZE[name];
  return { kind: 'scalar', scalar: name, size, align: alignOf(size, wire) };
}

/**
 * Whether a DHEADER stands before the members of `type`. The encapsulation kind tells whether the writer took `root` for
 * appendable (D_CDR2) or final (CDR2). Where the root's definition says the same, nested types go by what they say; where
 * it says otherwise, the writer had other defaults than the text and the kind holds for all types alike.
 */
function hasHeader(type: MessageDefinition, wire: Wire, root: MessageDefinition): boolean {
  if (wire.xcdr === 1) return false;
  if (wire.delimited) return type === root || root.extensibility === 'final' || type.extensibility !== 'final';
  return type !== root && root.extensibility === 'final' && type.extensibility === 'appendable';
}

/** The alignment after `node` that begins at `at`, over every value that the node may have. */
export function after(node: PlanNode, at: Alignment): Alignment {
  switch (node.kind) {
    case 'scalar':
      return at.to(node.align).advance(node.size);
    case 'string':
    case 'wstring':
      return Alignment.UNKNOWN;
    case 'time':
      return node.dheader ? Alignment.UNKNOWN : at.to(4).advance(8);
    case 'struct': {
      if (node.dheader) return Alignment.UNKNOWN;
      if (node.empty) return at.advance(1);
      return remember(node, at, () => node.fields.reduce((state, field) => after(field.node, state), at));
    }
    case 'list': {
      if (node.dheader) return Alignment.UNKNOWN;
      if (node.length < 0) return loopEntry(node.element, at.to(4).advance(4));
      const size = fixedSize(node, at);
      if (size !== undefined) return at.advance(size);
      return node.length === 0 ? at : after(node.element, loopEntry(node.element, at));
    }
  }
}

/** What holds before every element and after the last, when a loop over `element` begins at `at` and may run zero times. */
export function loopEntry(element: PlanNode, at: Alignment): Alignment {
  let state = at;
  for (;;) {
    const next = state.join(after(element, state));
    if (next.equals(state)) return state;
    state = next;
  }
}

/**
 * Bytes of a node from `at` to its end, padding included, where every value takes as many and `at` tells them; else
 * undefined.
 */
export function fixedSize(node: PlanNode, at: Alignment): number | undefined {
  switch (node.kind) {
    case 'scalar':
      return sum(at.padding(node.align), node.size);
    case 'string':
    case 'wstring':
      return undefined;
    case 'time':
      return node.dheader ? undefined : sum(at.padding(4), 8);
    case 'struct': {
      if (node.dheader) return undefined;
      if (node.empty) return 1;
      return remember(
        node,
        at,
        () => {
          let total = 0;
          for (const field of node.fields) {
            const size = fixedSize(field.node, at.advance(total));
            if (size === undefined) return undefined;
            total += size;
          }
          return total;
        },
        'size',
      );
    }
    case 'list': {
      if (node.dheader || node.length < 0) return undefined;
      const { element, length } = node;
      if (element.kind === 'scalar') return length === 0 ? 0 : sum(at.padding(element.align), element.size * length);
      // Residues repeat after at most 8 elements: from there on the rest is a multiple of what is known.
      const totals = [0];
      const seen = [at];
      for (let index = 0; index < length; index++) {
        const last = seen[index] ?? at;
        const size = fixedSize(element, last);
        if (size === undefined) return undefined;
        const next = last.advance(size);
        totals.push((totals[index] ?? 0) + size);
        const begin = seen.findIndex((state) => state.equals(next));
        if (begin >= 0) {
          const period = index + 1 - begin;
          const bytes = (totals[index + 1] ?? 0) - (totals[begin] ?? 0);
          const rest = length - begin;
          return Math.floor(rest / period) * bytes + (totals[begin + (rest % period)] ?? 0);
        }
        seen.push(next);
      }
      return totals[length];
    }
  }
}

/** Alignment of the first primitive of a node: what to pad to before a fixed run begins. 1 where it is unknown. */
export function firstAlign(node: PlanNode): number {
  switch (node.kind) {
    case 'scalar':
      return node.align;
    case 'struct': {
      const first = node.fields[0];
      return node.dheader ? 4 : first === undefined ? 1 : firstAlign(first.node);
    }
    case 'list':
      return node.dheader || node.length < 0 ? 4 : node.length === 0 ? 1 : firstAlign(node.element);
    case 'string':
    case 'wstring':
    case 'time':
      return 4;
  }
}

function sum(padding: number | undefined, size: number): number | undefined {
  return padding === undefined ? undefined : padding + size;
}

/** Answers per struct and alignment are kept: a type that stands a thousand times is walked once. */
const memory = new WeakMap<StructNode, Map<string, unknown>>();

function remember<T>(node: StructNode, at: Alignment, compute: () => T, what = 'after'): T {
  let answers = memory.get(node);
  if (answers === undefined) memory.set(node, (answers = new Map<string, unknown>()));
  const key = `${what} ${at.modulus} ${at.residue}`;
  if (answers.has(key)) return answers.get(key) as T;
  const answer = compute();
  answers.set(key, answer);
  return answer;
}
