/** Codecs for tests: every check runs against generated code and against the interpreter. */
import type { ExecutionContext } from 'ava';
import { compileCodec } from '../../lib/cdr/codec.js';
import type { CodecOptions, MessageCodec } from '../../lib/cdr/codec.js';
import { McapStreamsError } from '../../lib/errors.js';

export const SEP = `${'='.repeat(80)}\n`;

/** Both codecs of a .msg text: of the root and, after `MSG: name` lines, of what it needs. */
export function codecs(text: string, options: CodecOptions = {}, name = 't/msg/T'): MessageCodec[] {
  const schema = { name, encoding: 'ros2msg', data: text };
  return [compileCodec(schema, options), compileCodec(schema, { ...options, codegen: false })];
}

export function bytes(hex: string): Uint8Array {
  return Uint8Array.from(Buffer.from(hex.replaceAll(/\s/g, ''), 'hex'));
}

export function hex(data: Uint8Array): string {
  return Buffer.from(data).toString('hex');
}

/** Both codecs decode `payload` to `value`, alone and inside of a larger buffer. */
export function decodes(
  t: ExecutionContext,
  text: string,
  payload: string,
  value: unknown,
  options: CodecOptions = {},
): void {
  const data = bytes(payload);
  for (const codec of codecs(text, options)) {
    t.deepEqual(codec.decode(data), value);
    for (const start of [3, 4, 8]) {
      const chunk = new Uint8Array(data.length + 40).fill(0x5a);
      chunk.set(data, start);
      const view = new DataView(chunk.buffer);
      t.deepEqual(codec.decodeAt(chunk, view, start, start + data.length), value);
    }
  }
}

/** Both codecs encode `value()` to `payload`, and into a target at an odd place without touching what is around. */
export function encodes(
  t: ExecutionContext,
  text: string,
  value: unknown,
  payload: string,
  options: CodecOptions = {},
): void {
  const wanted = hex(bytes(payload));
  const make = typeof value === 'function' ? (value as () => unknown) : (): unknown => value;
  for (const codec of codecs(text, options)) {
    t.is(hex(codec.encode(make())), wanted);
    const size = wanted.length / 2;
    const target = new Uint8Array(size + 10).fill(0x5a);
    t.is(codec.encodeInto(make(), target.subarray(3, 3 + size + 2), 2), size);
    t.is(hex(target), `${'5a'.repeat(5)}${wanted}${'5a'.repeat(5)}`);
  }
}

/** Both codecs refuse `payload` with the same error; the error. */
export function failsToDecode(
  t: ExecutionContext,
  text: string,
  payload: string,
  expected: { code: string; field?: string; offset?: number },
  options: CodecOptions = {},
): void {
  const errors = codecs(text, options).map((codec) => caught(t, () => codec.decode(bytes(payload))));
  for (const error of errors) {
    t.like(error, expected);
    t.is(error.message, errors[0]?.message ?? '');
  }
}

/** Both codecs refuse to encode `value` with the same error. */
export function failsToEncode(
  t: ExecutionContext,
  text: string,
  value: unknown,
  expected: { code: string; field?: string | undefined; message?: RegExp },
  options: CodecOptions = {},
): void {
  const make = typeof value === 'function' ? (value as () => unknown) : (): unknown => value;
  const errors = codecs(text, options).map((codec) => caught(t, () => codec.encode(make())));
  for (const error of errors) {
    t.is(error.code, expected.code as never);
    t.is(error.field, expected.field);
    if (expected.message !== undefined) t.regex(error.message, expected.message);
    t.is(error.message, errors[0]?.message ?? '');
  }
}

export function caught(t: ExecutionContext, action: () => unknown): McapStreamsError {
  const error = t.throws(action, { instanceOf: McapStreamsError });
  return error;
}
