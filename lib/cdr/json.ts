/**
 * The JSON form of messages, in both directions, directed by the type (README, "JSON"): 64-bit integers are decimal strings,
 * NaN and the infinities the strings "NaN", "Infinity", "-Infinity", arrays of uint8, byte and char base64, Time and Duration
 * `{"sec":..,"nanosec":..}`.
 *
 * A payload becomes text by generated code over the layout plan. Where that cannot be (another encoding than XCDR1
 * little-endian, a projection, a host without code generation) it is decoded first, and the value written.
 */
import type { MessageDefinition } from '../schema/definition.js';
import { arrayReaders, explain } from './compile.js';
import { run } from './emit.js';
import { WIRES } from './encapsulation.js';
import type { EncodeBuffer } from './encode-buffer.js';
import { interpretCheck } from './interpreter.js';
import type { Decode } from './interpreter.js';
import { ARRAY_TEXT, putBool } from './json-arrays.js';
import { generateJsonWriter } from './json-emitter.js';
import { putFloat, putInt32, putInt64, putUint32, putUint64 } from './json-numbers.js';
import { jsonReader } from './json-reader.js';
import type { ReadJson } from './json-reader.js';
import { putString, putText } from './json-strings.js';
import { valueWriter } from './json-value.js';
import type { WriteValue } from './json-value.js';
import { planMessage } from './layout.js';
import { writeUtf8 } from './text.js';
import { readWide } from './values.js';
import type { ValueOptions } from './values.js';

/** Writes the payload `u8[start, end)` as JSON to `out` from `q` on; returns the end. */
export type WriteJson = (
  u8: Uint8Array,
  view: DataView,
  start: number,
  end: number,
  out: EncodeBuffer,
  q: number,
) => number;

export interface JsonForm {
  /** From a payload. */
  readonly at: WriteJson;
  /** From a value. */
  readonly value: WriteValue;
  readonly read: ReadJson;
  /** The generated code; empty where there is none. */
  readonly source: string;
}

export interface JsonFormOptions extends ValueOptions {
  readonly unknownFields: 'error' | 'ignore';
  readonly partial: boolean;
  readonly generate: boolean;
}

/** The JSON form of a type. `decode` takes what generated code does not. */
export function createJsonForm(definition: MessageDefinition, options: JsonFormOptions, decode: Decode): JsonForm {
  const wire = WIRES.CDR_LE;
  const root = planMessage(definition, wire);
  const value = valueWriter(root, options);
  const read = jsonReader(root, options, options.unknownFields);
  const decoded: WriteJson = (u8, view, start, end, out, q) => value(out, decode(u8, view, start, end), q);
  if (!options.generate || options.partial) return { at: decoded, value, read, source: '' };
  const source = generateJsonWriter(root, definition, options);
  const rt = {
    putBool,
    putFloat,
    putInt32,
    putUint32,
    putInt64,
    putUint64,
    putString,
    putText,
    readWide,
    arrays: ARRAY_TEXT,
    utf8,
    other: decoded,
    bad: explain(root, interpretCheck(root, wire, options, arrayReaders(true, 'copy'), 'all')),
  };
  const at = run(source, `mcap-ros2:///json/${definition.name}.js`, rt) as WriteJson;
  return { at, value, read, source };
}

function utf8(text: string): Uint8Array {
  const bytes = new Uint8Array(text.length * 3);
  return bytes.slice(0, writeUtf8(bytes, text, 0, bytes.length));
}
