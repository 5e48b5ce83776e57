/**
 * A message type's codec: bytes to values and back, by generated code where the host allows it.
 *
 * XCDR1 little-endian, which all ROS 2 recordings have, is compiled at once; the other encodings at first sight.
 */
import { OptionError } from '../errors.js';
import { checkChoice, checkOptions } from '../options.js';
import type { ConstantDefinition, MessageDefinition, SchemaSource, SchemaWarning } from '../schema/definition.js';
import { parseSchema } from '../schema/registry.js';
import { createDecoder, createEncoder } from './compile.js';
import type { Compiled } from './compile.js';
import { canGenerateCode } from './emit.js';
import { EncodeBuffer } from './encode-buffer.js';
import type { Encode } from './encode-interpreter.js';
import { ENCAPSULATIONS, readEncapsulation, WIRES } from './encapsulation.js';
import type { Encapsulation, Wire } from './encapsulation.js';
import type { Decode } from './interpreter.js';
import { createJsonForm } from './json.js';
import type { JsonForm } from './json.js';
import { isMutable } from './layout.js';
import { OwnedBytes } from './owned-bytes.js';
import { copyBytes } from './text.js';
import type { ValueOptions } from './values.js';

export interface CodecOptions extends Partial<ValueOptions> {
  /**
   * Field paths to decode, all others are skipped: `header.stamp`, `poses[].position.x`, `covariance[0]`. The values have the
   * same shapes with the other fields absent; an array of which single elements are asked has only these.
   */
  readonly fields?: readonly string[];
  /** Encoding that `encode` writes. Default `CDR_LE` (XCDR1), as ROS 2 does. Decoding takes every one. */
  readonly encapsulation?: Encapsulation;
  /** A property that the type does not have: `error` (default), or `ignore` it. */
  readonly unknownFields?: 'error' | 'ignore';
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
  /**
   * Encodes a message. The bytes are the caller's; small ones share an ArrayBuffer with other messages, as Node's small
   * Buffers do.
   *
   * Throws McapStreamsError with an `ENCODE_*` code and the field's path.
   */
  encode(value: unknown): Uint8Array;
  /** Encodes into `target` from `offset` on; returns the bytes written. Throws ENCODE_NO_SPACE where they do not fit. */
  encodeInto(value: unknown, target: Uint8Array, offset?: number): number;
  /**
   * Encodes into a buffer that grows, from `offset` on; returns the bytes written. What stands before `offset` stays, what
   * stands behind the message is undefined.
   */
  encodeTo(value: unknown, buffer: EncodeBuffer, offset: number): number;
  /**
   * JSON text as UTF-8 (a Buffer in Node) of a payload, given as a Uint8Array, or of a value. The form is that of the
   * README: exact, and `fromJson` gives the same message back. A payload becomes text directly, which is faster than
   * decoding it.
   *
   * Throws as `decode` does for a payload, as `encode` does for a value of the wrong kind.
   */
  toJson(message: unknown): Uint8Array;
  /** The same into a buffer that grows, from `offset` on; returns the bytes written. */
  toJsonTo(message: unknown, buffer: EncodeBuffer, offset: number): number;
  /** The payload `u8[start, end)` as JSON into a buffer that grows (see `decodeAt`); returns the bytes written. */
  jsonAt(u8: Uint8Array, view: DataView, start: number, end: number, buffer: EncodeBuffer, offset: number): number;
  /**
   * The value that JSON stands for, in the form that decoding gives: `json` is text (a string or UTF-8 bytes), or what
   * `JSON.parse` made of it. Absent fields take their defaults.
   *
   * Throws McapStreamsError with an `ENCODE_*` code and the field's path.
   */
  fromJson(json: unknown): T;
  /** The generated code, to be read; empty where the codec interprets. */
  readonly source: string;
  readonly definition: MessageDefinition;
  /** Constants of the type itself. */
  readonly constants: readonly ConstantDefinition[];
  readonly warnings: readonly SchemaWarning[];
  /** True where `fields` narrows what is decoded: such a value must not be encoded as a whole message. */
  readonly partial: boolean;
}

const OPTIONS: readonly (keyof CodecOptions)[] = [
  'int64',
  'time',
  'arrays',
  'wstring',
  'fields',
  'encapsulation',
  'unknownFields',
  'codegen',
];

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
  checkChoice(options.encapsulation, ENCAPSULATIONS, 'encapsulation');
  checkChoice(options.unknownFields, ['error', 'ignore'], 'unknownFields');
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
  const decoders = new Map<Encapsulation, Compiled<Decode>>();

  function decoder(wire: Wire): Compiled<Decode> {
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
    return decoder(wire).call(u8, view, start, end);
  }

  let encoder: Compiled<Encode> | undefined;
  /** Compiled when it is first used: most codecs only decode. */
  function encoding(): Compiled<Encode> {
    const unknownFields = options.unknownFields ?? 'error';
    const wire = WIRES[options.encapsulation ?? 'CDR_LE'];
    return (encoder ??= createEncoder(definition, wire, { unknownFields, wstring: values.wstring }, generate));
  }

  let jsonForm: JsonForm | undefined;
  function json(): JsonForm {
    const unknownFields = options.unknownFields ?? 'error';
    const partial = options.fields !== undefined;
    // The text is exact whatever forms of values the options ask for.
    const exact = values.int64 === 'bigint' && values.time === 'object';
    const other = exact ? undefined : codecOf(definition, { ...options, int64: 'bigint', time: 'object' });
    const decode: Decode = other === undefined ? decodeAt : (...payload) => other.decodeAt(...payload);
    return (jsonForm ??= createJsonForm(definition, { ...values, unknownFields, partial, generate }, decode));
  }
  function toJsonTo(message: unknown, buffer: EncodeBuffer, offset: number): number {
    if (!(message instanceof Uint8Array)) return json().value(buffer, message, offset) - offset;
    const { u8, view } = memoryOf(message);
    const { byteOffset: start, byteLength } = message;
    return json().at(u8, view, start, start + byteLength, buffer, offset) - offset;
  }

  const first = isMutable(definition) ? undefined : decoder(WIRES.CDR_LE);
  const decodeAt: Decode = generate && first !== undefined ? first.call : other;
  const owned = new OwnedBytes();
  let into: EncodeBuffer | undefined;
  return {
    decode(bytes) {
      const { u8, view } = memoryOf(bytes);
      return decodeAt(u8, view, bytes.byteOffset, bytes.byteOffset + bytes.byteLength);
    },
    decodeAt,
    encode(value) {
      return owned.encode((encoder ?? encoding()).call, value);
    },
    encodeInto(value, target, offset = 0) {
      if (into?.u8 !== target) into = new EncodeBuffer(target);
      return (encoder ?? encoding()).call(into, value, offset) - offset;
    },
    encodeTo(value, buffer, offset) {
      return (encoder ?? encoding()).call(buffer, value, offset) - offset;
    },
    toJson(message) {
      const size = toJsonTo(message, jsonBuffer, 0);
      const json = copyBytes(jsonBuffer.u8, 0, size);
      if (jsonBuffer.capacity > MAX_KEPT) jsonBuffer = new EncodeBuffer();
      return json;
    },
    toJsonTo,
    jsonAt(u8, view, start, end, buffer, offset) {
      return json().at(u8, view, start, end, buffer, offset) - offset;
    },
    fromJson: (text) => json().read(text),
    get source() {
      if (first === undefined || !generate) return '';
      return [first.source, encoding().source, json().source].filter((part) => part !== '').join('\n\n') + '\n';
    },
    definition,
    constants: definition.constants,
    warnings: definition.warnings,
    partial: options.fields !== undefined,
  };
}

/** What `toJson` writes to, before it is copied out. */
let jsonBuffer = new EncodeBuffer();
/** Above this the buffer is not kept: one huge message should not stay for ever. */
const MAX_KEPT = 2 ** 24;

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
