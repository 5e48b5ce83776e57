/**
 * From a definition to the functions that decode and encode it in one encoding: plan, source and run time come together
 * here.
 */
import { McapStreamsError } from '../errors.js';
import type { MessageDefinition } from '../schema/definition.js';
import {
  fits64,
  isStruct,
  isTime,
  overflowsFloat32,
  readField,
  timeNames,
  timeParts,
  toBigInt,
  toItems,
} from './accept.js';
import { ARRAY_SCALARS, arrayReader, readBools } from './arrays.js';
import type { ArrayMode } from './arrays.js';
import { generateDecoder } from './decoder.js';
import { EncodeBuffer } from './encode-buffer.js';
import { explainRefusal, interpretEncoder, MAX_DEFAULT_SIZE } from './encode-interpreter.js';
import type { Encode } from './encode-interpreter.js';
import { generateEncoder } from './encoder.js';
import type { EncoderOptions } from './encoder.js';
import { run } from './emit.js';
import { HEADER_SIZE } from './encapsulation.js';
import type { Wire } from './encapsulation.js';
import { interpretCheck, interpretDecoder } from './interpreter.js';
import type { ArrayReaders, Decode } from './interpreter.js';
import { minSize, planMessage } from './layout.js';
import type { FieldPlan, PlanNode, ScalarName, StructNode } from './layout.js';
import { selectFields } from './project.js';
import type { Selection } from './project.js';
import { arrayPutter, putString, putWide } from './put.js';
import type { ArrayPutter } from './put.js';
import { readString, stringTable } from './text.js';
import { absentValue, readWide } from './values.js';
import type { ValueOptions } from './values.js';

/** A function and the source it was generated from, empty where it is interpreted. */
export interface Compiled<F> {
  readonly call: F;
  readonly source: string;
}

/**
 * The decoder of one encoding.
 *
 * @param other takes payloads in another encoding (CDR_LE only, which is asked first)
 */
export function createDecoder(
  definition: MessageDefinition,
  wire: Wire,
  values: ValueOptions,
  fields: readonly string[] | undefined,
  generate: boolean,
  other: Decode,
): Compiled<Decode> {
  const root = planMessage(definition, wire);
  const selection: Selection = fields === undefined ? 'all' : selectFields(root, fields);
  const arrays = arrayReaders(wire.littleEndian, values.arrays);
  const interpret = interpretDecoder(root, wire, values, arrays, selection);
  if (!generate) return { call: interpret, source: '' };
  const { source, defaults } = generateDecoder(root, definition, wire, values, selection);
  const rt = {
    arrays,
    readString,
    stringTable,
    readBools,
    readWide,
    other,
    bad: explain(root, interpretCheck(root, wire, values, arrays, selection)),
    defaults: defaults.map((field) => () => absentValue(field.node, field.defaultValue, values)),
  };
  const url = `mcap-ros2:///decoder/${definition.name}/${wire.name}.js`;
  return { call: run(source, url, rt) as Decode, source };
}

/** Walks the payload once more, to throw the error that says where it is wrong. */
export function explain(root: StructNode, check: (...payload: Parameters<Decode>) => void): Decode {
  return (u8, view, origin, end) => {
    check(u8, view, origin - HEADER_SIZE, end);
    throw new McapStreamsError('CDR_TRUNCATED', `${root.name}: the payload is too short`, { schemaName: root.name });
  };
}

/** A table whose entries are made when they are first asked for. */
function lazyTable<Key extends string, Value>(
  keys: readonly Key[],
  make: (key: Key) => Value,
): Readonly<Record<Key, Value>> {
  const table = {};
  for (const key of keys) {
    Object.defineProperty(table, key, {
      configurable: true,
      get: () => {
        const value = make(key);
        Object.defineProperty(table, key, { value });
        return value;
      },
    });
  }
  return table as Record<Key, Value>;
}

/** Readers by byte order and mode: all codecs share them. */
const readers = new Map<string, ArrayReaders>();

export function arrayReaders(littleEndian: boolean, mode: ArrayMode): ArrayReaders {
  const id = `${littleEndian} ${mode}`;
  let known = readers.get(id);
  if (known === undefined) {
    known = lazyTable(ARRAY_SCALARS, (scalar) => arrayReader(scalar, littleEndian, mode));
    readers.set(id, known);
  }
  return known;
}

/** The encoder of one encoding. */
export function createEncoder(
  definition: MessageDefinition,
  wire: Wire,
  options: EncoderOptions,
  generate: boolean,
): Compiled<Encode> {
  const root = planMessage(definition, wire);
  if (!generate) return { call: interpretEncoder(root, wire, options), source: '' };
  const { source, fields, structs } = generateEncoder(root, definition, wire, options);
  const rt = {
    ...repairs(fields, structs, options),
    putArray: arrayPutters(wire.xcdr === 2 ? 4 : 8),
    putString,
    putWide,
    readField,
    isTime,
    overflows: overflowsFloat32,
  };
  const url = `mcap-ros2:///encoder/${definition.name}/${wire.name}.js`;
  const encode = run(source, url, rt) as Encode;
  const explain = explainRefusal(root, wire, options);
  return {
    call(buffer, value, start) {
      buffer.begin(value, explain);
      try {
        return encode(buffer, value, start);
      } catch (error) {
        if (error instanceof McapStreamsError) throw error.with({ schemaName: root.name });
        // A check such as `x | 0` throws a TypeError itself for a bigint or a symbol.
        interpretEncoder(root, wire, options)(new EncodeBuffer(), value, 0);
        throw error;
      } finally {
        buffer.done();
      }
    },
    source,
  };
}

/** What generated encoders call for a value that is not of the form that decoding gives. */
function repairs(fields: readonly FieldPlan[], structs: readonly StructNode[], options: EncoderOptions): object {
  const names = structs.map((struct) => new Set(struct.fields.map((field) => field.name)));
  const defaults: unknown[] = [];

  function checkKeys(b: EncodeBuffer, value: object, struct: number): void {
    if (!isStruct(value)) b.fail();
    if (options.unknownFields === 'ignore') return;
    const known = names[struct];
    for (const name of Object.keys(value)) if (known?.has(name) !== true) b.fail();
  }

  function acceptNode(b: EncodeBuffer, value: unknown, node: PlanNode): unknown {
    if (node.kind === 'scalar' && node.size === 8 && node.scalar !== 'float64') {
      const big = toBigInt(value);
      return big === undefined || !fits64(big, node.scalar === 'int64') ? b.fail() : big;
    }
    if (node.kind === 'time') {
      const parts = timeParts(value);
      if (parts === undefined || !isTime(parts)) return b.fail();
      if (isStruct(value) && options.unknownFields === 'error') {
        const known = timeNames(value);
        if (!Object.keys(value).every((name) => known.has(name))) b.fail();
      }
      return parts;
    }
    return node.kind === 'list' ? (toItems(value, undefined, b) ?? b.fail()) : b.fail();
  }

  return {
    checkKeys,
    accept(b: EncodeBuffer, value: unknown, field: number): unknown {
      const node = fields[field]?.node;
      return node === undefined || value === undefined ? b.fail() : acceptNode(b, value, node);
    },
    absent(b: EncodeBuffer, value: unknown, parent: object, struct: number, index: number): unknown {
      const field = fields[index];
      if (field === undefined) return b.fail();
      if (value !== undefined) return acceptNode(b, value, field.node);
      checkKeys(b, parent, struct);
      if (minSize(field.node) > MAX_DEFAULT_SIZE) b.fail();
      return (defaults[index] ??= absentValue(field.node, field.defaultValue, AS_ENCODED));
    },
  };
}

const AS_ENCODED: ValueOptions = { int64: 'bigint', time: 'object', arrays: 'copy', wstring: 'ros2' };

const putters = new Map<number, Readonly<Record<ScalarName, ArrayPutter>>>();

function arrayPutters(maxAlign: number): Readonly<Record<ScalarName, ArrayPutter>> {
  let known = putters.get(maxAlign);
  if (known === undefined) {
    known = lazyTable(['bool', ...ARRAY_SCALARS], (scalar) => arrayPutter(scalar, maxAlign));
    putters.set(maxAlign, known);
  }
  return known;
}
