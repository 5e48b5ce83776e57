/**
 * Every type of the reference definitions: random values give the bytes of @foxglove/rosmsg2-serialization, wherever that
 * package encodes the type, and decode to what it decodes.
 */
import { createRequire } from 'node:module';
import fc from 'fast-check';
import { compileDefinition } from '../../lib/cdr/codec.js';
import type { FieldType, MessageDefinition } from '../../lib/schema/definition.js';
import { parseSchema } from '../../lib/schema/registry.js';
import { assemble, readInterfaceFiles } from '../helpers/interface-files.js';
import { valuesOf } from '../helpers/random-types.js';
import { sharedTest } from '../helpers/shared.js';

interface Peer {
  MessageReader: new (definitions: unknown) => { readMessage(bytes: Uint8Array): unknown };
  MessageWriter: new (definitions: unknown) => { writeMessage(value: unknown): Uint8Array };
}
const require = createRequire(import.meta.url);
const { MessageReader, MessageWriter } = require('@foxglove/rosmsg2-serialization') as Peer;
const { parse } = require('@foxglove/rosmsg') as { parse: (text: string, options: object) => unknown };

/** Hex of both; the peer asks for too many bytes where an 8-byte sequence is empty and leaves zeros at the end. */
function withoutSpare(ours: Uint8Array, peers: Uint8Array): [string, string] {
  const [own, other] = [Buffer.from(ours).toString('hex'), Buffer.from(peers).toString('hex')];
  return [own, /^0*$/.test(other.slice(own.length)) ? other.slice(0, own.length) : other];
}

/** The peer cuts strings that are not ASCII, so these are left to other tests. */
function ascii(value: unknown): unknown {
  if (typeof value === 'string') return value.replaceAll(/[^ -~]/g, '?');
  if (Array.isArray(value)) return value.map(ascii);
  if (typeof value !== 'object' || value === null || ArrayBuffer.isView(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, part]) => [name, ascii(part)]));
}

/** Cuts strings and lists that are over a bound of the schema: the generator does not know all of them. */
function bounded(type: FieldType, value: unknown): unknown {
  switch (type.kind) {
    case 'primitive':
      return typeof value === 'string' && type.maxLength !== undefined ? value.slice(0, type.maxLength) : value;
    case 'message':
      return boundedMessage(type.definition, value);
    case 'array':
    case 'sequence':
      return Array.isArray(value) ? value.map((item) => bounded(type.element, item)) : value;
    case 'enum':
      return value;
  }
}

function boundedMessage(definition: MessageDefinition, value: unknown): unknown {
  if (definition.name.startsWith('builtin_interfaces/')) return value;
  const object = value as Record<string, unknown>;
  return Object.fromEntries(definition.fields.map(({ name, type }) => [name, bounded(type, object[name])]));
}

function hasListDefault(definition: MessageDefinition): boolean {
  return definition.fields.some(({ type, defaultValue }) => {
    if (type.kind === 'sequence' && defaultValue !== undefined) return true;
    let inner = type;
    while (inner.kind === 'array' || inner.kind === 'sequence') inner = inner.element;
    return inner.kind === 'message' && hasListDefault(inner.definition);
  });
}

sharedTest('every reference type encodes and decodes as the peer does', (t) => {
  const files = readInterfaceFiles();
  let compared = 0;
  const refused: string[] = [];
  for (const name of files.keys()) {
    if (!name.includes('/msg/')) continue;
    const text = assemble(files, name);
    const definition = parseSchema({ name, encoding: 'ros2msg', data: text });
    let writer;
    let reader;
    try {
      const definitions = parse(text, { ros2: true });
      writer = new MessageWriter(definitions);
      reader = new MessageReader(definitions);
      writer.writeMessage({});
    } catch {
      refused.push(name);
      continue;
    }
    const codec = compileDefinition(definition);
    const interpreter = compileDefinition(definition, { codegen: false });
    for (const sample of fc.sample(valuesOf(definition), { numRuns: 3, seed: 5 })) {
      const value = boundedMessage(definition, ascii(sample));
      const payload = codec.encode(value);
      const [own, wanted] = withoutSpare(payload, writer.writeMessage(value));
      t.is(own, wanted, name);
      t.deepEqual(interpreter.encode(value), payload, name);
      t.deepEqual(codec.decode(payload), reader.readMessage(payload), name);
      t.deepEqual(interpreter.decode(payload), codec.decode(payload), name);
    }
    // The peer writes a count of 0 before the elements of a sequence's default.
    if (!hasListDefault(definition)) {
      const [own, wanted] = withoutSpare(codec.encode({}), writer.writeMessage({}));
      t.is(own, wanted, `${name} {}`);
    }
    compared++;
  }
  t.log(`${compared} types compared; the peer refuses ${refused.length}: ${refused.join(', ')}`);
  t.true(compared > 500, String(compared));
});
