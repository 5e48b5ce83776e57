/**
 * A message type's codec: bytes to values and back, by generated code where the host allows it.
 *
 * XCDR1 little-endian, which all ROS 2 recordings have, is compiled at once; the other encodings at first sight.
 */
import { McapStreamsError, OptionError } from '../errors.js';
import { checkChoice, checkOptions } from '../options.js';
import type { ConstantDefinition, MessageDefinition, SchemaSource, SchemaWarning } from '../schema/definition.js';
import { parseSchema } from '../schema/registry.js';
import { arrayReader, readBools } from './arrays.js';
import type { ArrayMode } from './arrays.js';
import { generateDecoder } from './decoder.js';
import { canGenerateCode, run } from './emit.js';
import { readEncapsulation, WIRES } from './encapsulation.js';
import type { Encapsulation, Wire } from './encapsulation.js';
import { interpretDecoder } from './interpreter.js';
import type { ArrayReaders, Decode } from './interpreter.js';
import { isMutable, planMessage } from './layout.js';
import type { StructNode } from './layout.js';
import { selectFields } from './project.js';
import type { Selection } from './project.js';
import { readString, stringTable } from './text.js';
import { absentValue, readWide } from './values.js';
import type { ValueOptions } from './values.js';

export interface CodecOptions extends Partial<ValueOptions> {
  /**
   * Field paths to decode, all others are skipped: `header.stamp`, `poses[].position.x`, `covariance[0]`. The values have the
   * same shapes with the other fields absent; an array of which single elements are asked has only these.
   */
  readonly fields?: readonly string[];
  /** False: interpret, do not generate code. Default: generate where the host allows it. */
  readonly codegen?: boolean;
}

export interface MessageCodec<T = unknown> {
  /**
   * Decodes a payload with its 4-byte encapsulation header.
   *
   * Throws McapStreamsError with a `CDR_*` code, the field's path and the offset in the payload.
   */
  decode(bytes: Uint8Array): T;
  /**
   * Decodes the payload `u8[start, end)` where it lies. `view` is a DataView over exactly the memory of `u8`. Nothing
   * outside of `[start, end)` is read.
   */
  decodeAt(u8: Uint8Array, view: DataView, start: number, end: number): T;
  /** The generated code, to be read; empty where the codec interprets. */
  readonly source: string;
  readonly definition: MessageDefinition;
  /** Constants of the type itself. */
  readonly constants: readonly ConstantDefinition[];
  readonly warnings: readonly SchemaWarning[];
  /** True where `fields` narrows what is decoded: such a value must not be encoded as a whole message. */
  readonly partial: boolean;
}

const OPTIONS: readonly (keyof CodecOptions)[] = ['int64', 'time', 'arrays', 'wstring', 'fields', 'codegen'];

/** Codecs by definition and options. A definition that nobody holds any more takes its codecs with it. */
const cache = new WeakMap<MessageDefinition, Map<string, MessageCodec>>();
/** So many option sets are remembered of one type. */
const MAX_CODECS = 64;

/**
 * The codec of a schema. The same content with the same options gives the same codec.
 *
 * Throws McapStreamsError with a `SCHEMA_*` code for a text that does not parse, OptionError for a wrong option.
 */
export function compileCodec<T = unknown>(schema: SchemaSource, options?: CodecOptions): MessageCodec<T> {
  checkCodecOptions(options, 'compileCodec');
  return codecOf<T>(parseSchema(schema), options);
}

/** The codec of a parsed or hand-made definition; see {@link compileCodec}. */
export function compileDefinition<T = unknown>(definition: MessageDefinition, options?: CodecOptions): MessageCodec<T> {
  checkCodecOptions(options, 'compileDefinition');
  return codecOf<T>(definition, options);
}

/** Throws OptionError where an option does not exist or takes no such value. */
export function checkCodecOptions(options: CodecOptions | undefined, where: string): void {
  checkOptions(options, OPTIONS, where);
  if (options === undefined) return;
  checkChoice(options.int64, ['bigint', 'number', 'string'], 'int64');
  checkChoice(options.time, ['object', 'bigint'], 'time');
  checkChoice(options.arrays, ['auto', 'copy', 'view'], 'arrays');
  checkChoice(options.wstring, ['ros2', 'fastcdr'], 'wstring');
  checkChoice(options.codegen, [true, false], 'codegen');
  const fields: unknown = options.fields;
  if (fields !== undefined && !(Array.isArray(fields) && fields.every((path) => typeof path === 'string'))) {
    throw new OptionError('OPTION_INVALID', 'option fields takes an array of field paths');
  }
}

function codecOf<T>(definition: MessageDefinition, options: CodecOptions = {}): MessageCodec<T> {
  let codecs = cache.get(definition);
  if (codecs === undefined) cache.set(definition, (codecs = new Map<string, MessageCodec>()));
  const key = JSON.stringify(OPTIONS.map((name) => options[name] ?? null));
  let codec = codecs.get(key);
  if (codec === undefined) {
    codec = createCodec(definition, options);
    for (const oldest of codecs.keys()) {
      if (codecs.size < MAX_CODECS) break;
      codecs.delete(oldest);
    }
    codecs.set(key, codec);
  }
  return codec as MessageCodec<T>;
}

function createCodec(definition: MessageDefinition, options: CodecOptions): MessageCodec {
  const values: ValueOptions = {
    int64: options.int64 ?? 'bigint',
    time: options.time ?? 'object',
    arrays: options.arrays ?? 'auto',
    wstring: options.wstring ?? 'ros2',
  };
  const generate = options.codegen !== false && canGenerateCode();
  const decoders = new Map<Encapsulation, { decode: Decode; source: string }>();

  function decoder(wire: Wire): { decode: Decode; source: string } {
    let known = decoders.get(wire.name);
    if (known === undefined) {
      known = createDecoder(definition, wire, values, options.fields, generate, other);
      decoders.set(wire.name, known);
    }
    return known;
  }

  /** Payloads in any encoding but the one that was compiled first. */
  function other(u8: Uint8Array, view: DataView, start: number, end: number): unknown {
    const wire = readEncapsulation(u8, start, end, definition.name);
    return decoder(wire).decode(u8, view, start, end);
  }

  const first = isMutable(definition) ? undefined : decoder(WIRES.CDR_LE);
  const decodeAt: Decode = generate && first !== undefined ? first.decode : other;
  return {
    decode(bytes) {
      const { u8, view } = memoryOf(bytes);
      return decodeAt(u8, view, bytes.byteOffset, bytes.byteOffset + bytes.byteLength);
    },
    decodeAt,
    source: first?.source ?? '',
    definition,
    constants: definition.constants,
    warnings: definition.warnings,
    partial: options.fields !== undefined,
  };
}

function createDecoder(
  definition: MessageDefinition,
  wire: Wire,
  values: ValueOptions,
  fields: readonly string[] | undefined,
  generate: boolean,
  other: Decode,
): { decode: Decode; source: string } {
  const root = planMessage(definition, wire);
  const selection: Selection = fields === undefined ? 'all' : selectFields(root, fields);
  const arrays = arrayReaders(wire.littleEndian, values.arrays);
  const interpret = interpretDecoder(root, wire, values, arrays, selection);
  if (!generate) return { decode: interpret, source: '' };
  const { source, defaults } = generateDecoder(root, definition, wire, values, selection);
  const rt = {
    arrays,
    readString,
    stringTable,
    readBools,
    readWide,
    other,
    bad: explain(root, interpret),
    defaults: defaults.map((field) => () => absentValue(field.node, field.defaultValue, values)),
  };
  const url = `mcap-ros2:///decoder/${definition.name}/${wire.name}.js`;
  return { decode: run(source, url, rt) as Decode, source };
}

/** Decodes once more with the interpreter, to throw the error that says where the payload is wrong. */
function explain(root: StructNode, interpret: Decode): Decode {
  return (u8, view, origin, end) => {
    interpret(u8, view, origin - 4, end);
    throw new McapStreamsError('CDR_TRUNCATED', `${root.name}: the payload is too short`, { schemaName: root.name });
  };
}

/** Readers by byte order and mode: all codecs share them. */
const readers = new Map<string, ArrayReaders>();

function arrayReaders(littleEndian: boolean, mode: ArrayMode): ArrayReaders {
  const id = `${littleEndian} ${mode}`;
  let known = readers.get(id);
  if (known === undefined) {
    known = {
      int8: arrayReader('int8', littleEndian, mode),
      uint8: arrayReader('uint8', littleEndian, mode),
      int16: arrayReader('int16', littleEndian, mode),
      uint16: arrayReader('uint16', littleEndian, mode),
      int32: arrayReader('int32', littleEndian, mode),
      uint32: arrayReader('uint32', littleEndian, mode),
      int64: arrayReader('int64', littleEndian, mode),
      uint64: arrayReader('uint64', littleEndian, mode),
      float32: arrayReader('float32', littleEndian, mode),
      float64: arrayReader('float64', littleEndian, mode),
    };
    readers.set(id, known);
  }
  return known;
}

interface Memory {
  readonly buffer: ArrayBufferLike;
  readonly u8: Uint8Array;
  readonly view: DataView;
}

/** The memory that was decoded from last: payloads of one chunk share it, and a DataView costs 60 ns. */
let memory: Memory = { buffer: new ArrayBuffer(0), u8: new Uint8Array(0), view: new DataView(new ArrayBuffer(0)) };

function memoryOf(bytes: Uint8Array): Memory {
  const { buffer } = bytes;
  if (memory.buffer !== buffer) memory = { buffer, u8: new Uint8Array(buffer), view: new DataView(buffer) };
  return memory;
}
