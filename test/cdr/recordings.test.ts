/** Real messages: decoded to golden values that two other implementations agree on, and encoded back to their bytes. */
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { compileDefinition } from '../../lib/cdr/codec.js';
import type { MessageCodec } from '../../lib/cdr/codec.js';
import { McapStreamsError } from '../../lib/errors.js';
import type { FieldType, MessageDefinition } from '../../lib/schema/definition.js';
import { recordedMessages } from '../helpers/recordings.js';
import { readShared, sharedPath, sharedTest } from '../helpers/shared.js';

interface GoldenLine {
  readonly topic: string;
  readonly logTime: string;
  readonly sequence: number;
  readonly sha256: string;
}

function golden(path: string): Map<string, string> {
  const expected = new Map<string, string>();
  if (!existsSync(sharedPath('golden', 'decoded', `${path}.jsonl`))) return expected;
  for (const line of readShared('golden', 'decoded', `${path}.jsonl`).toString('utf8').trim().split('\n')) {
    const { topic, logTime, sequence, sha256 } = JSON.parse(line) as GoldenLine;
    expected.set(`${topic} ${logTime} ${sequence}`, sha256);
  }
  return expected;
}

/** The canonical text of a decoded value (golden/decoded/README.txt). */
function canonical(definition: MessageDefinition, value: unknown): string {
  const fields = definition.fields.map(({ name, type }) => {
    return `${JSON.stringify(name)}:${canonicalField(type, (value as Record<string, unknown>)[name])}`;
  });
  return `{${fields.join(',')}}`;
}

function canonicalField(type: FieldType, value: unknown): string {
  if (type.kind === 'message') return canonical(type.definition, value);
  if (type.kind === 'array' || type.kind === 'sequence') {
    return `[${Array.from(value as ArrayLike<unknown>, (item) => canonicalField(type.element, item)).join(',')}]`;
  }
  if (type.name === 'float32' || type.name === 'float64') {
    const bits = Buffer.alloc(8);
    bits.writeDoubleBE(value as number);
    return `"f:${bits.toString('hex')}"`;
  }
  return typeof value === 'string' ? JSON.stringify(value) : String(value);
}

sharedTest('every recorded message has its golden value, from generated code and from the interpreter', async (t) => {
  const expected = new Map<string, Map<string, string>>();
  const counts = { compiled: 0, interpreted: 0 };
  for (const { path, topic, logTime, sequence, definition, data } of await recordedMessages()) {
    if (!expected.has(path)) expected.set(path, golden(path));
    const sha256 = expected.get(path)?.get(`${topic} ${logTime} ${sequence}`);
    if (sha256 === undefined) continue;
    for (const codegen of [true, false]) {
      const text = canonical(definition, compileDefinition(definition, { codegen }).decode(data));
      if (createHash('sha256').update(text).digest('hex') === sha256) counts[codegen ? 'compiled' : 'interpreted']++;
      else t.fail(`${path} ${topic} ${logTime}: ${text.slice(0, 300)}`);
    }
  }
  t.deepEqual(counts, { compiled: 9928, interpreted: 9928 });
});

sharedTest('every recorded message encodes back to its bytes, after what values cannot carry', async (t) => {
  const counts = { messages: 0, same: 0, optionBytes: 0, trailing: 0, alignment: 0, emptyByte: 0 };
  const refused = new Map<string, number>();
  const wrong: string[] = [];
  for (const { path, topic, definition, data } of await recordedMessages()) {
    const codec = compileDefinition(definition);
    let value: unknown;
    try {
      value = codec.decode(data);
    } catch (error) {
      if (!(error instanceof McapStreamsError)) throw error;
      refused.set(error.code, (refused.get(error.code) ?? 0) + 1);
      continue;
    }
    counts.messages++;
    const written = codec.encode(value);
    const interpreted = compileDefinition(definition, { codegen: false }).encode(value);
    if (Buffer.compare(written, interpreted) !== 0) wrong.push(`${path} ${topic}: interpreter differs`);
    if (Buffer.compare(written, data) === 0) {
      counts.same++;
      continue;
    }
    if (data.length === 4 && definition.fields.length === 0) {
      // A header alone, for a type without fields: written with the one byte that it should have.
      counts.emptyByte++;
      continue;
    }
    const extra = data.length - written.length;
    if (extra > 0 && extra <= 3) counts.trailing++;
    if (data[2] !== 0 || data[3] !== 0) counts.optionBytes++;
    const differing = [...written.subarray(4).keys()].map((at) => at + 4).filter((at) => written[at] !== data[at]);
    if (differing.length > 0) counts.alignment++;
    const explained = differing.every((at) => isUnread(codec, data, at, written));
    if (extra < 0 || extra > 3 || !explained) wrong.push(`${path} ${topic}: ${differing.join()} ${extra}`);
  }
  t.deepEqual(wrong, []);
  t.deepEqual([...refused], [['CDR_COMPRESSED_MESSAGE', 2]]);
  t.deepEqual(counts, { messages: 10082, same: 6786, optionBytes: 30, trailing: 3291, alignment: 2, emptyByte: 3 });
});

/** True where the byte at `at` makes no difference: padding. It is written as 0. */
function isUnread(codec: MessageCodec, data: Uint8Array, at: number, written: Uint8Array): boolean {
  const changed = Uint8Array.from(data);
  changed[at] = 0xa5;
  return written[at] === 0 && Buffer.compare(codec.encode(codec.decode(changed)), written) === 0;
}
