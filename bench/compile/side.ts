/** One cold process: parses and compiles the schemas of ten messages, with all types inside them. Prints JSON, in ms. */
import type { MessageDefinition } from '../../lib/index.js';
import { CASES } from '../codec/types.js';

const { compileCodec, parseSchema } = await import('../../lib/index.js');
const schemas = CASES.map(({ name, text }) => ({ name, encoding: 'ros2msg' as const, data: text }));
const types = new Set<string>();
const began = performance.now();
for (const schema of schemas) collect(parseSchema(schema));
const parsed = performance.now();
let codecs = 0;
for (const schema of schemas) codecs += typeof compileCodec(schema).decode === 'function' ? 1 : 0;
console.log(JSON.stringify({ types: types.size, codecs, parse: parsed - began, compile: performance.now() - parsed }));

function collect({ name, fields }: MessageDefinition): void {
  types.add(name);
  for (const { type } of fields) {
    const inner = type.kind === 'array' || type.kind === 'sequence' ? type.element : type;
    if (inner.kind === 'message') collect(inner.definition);
  }
}
