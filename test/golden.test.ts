import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import test from 'ava';
import { decodeStream, parseSchema } from '../lib/index.js';
import type { DecodedMessage, DecodeStreamOptions } from '../lib/index.js';
import { canonical } from './helpers/canonical.js';
import { readShared, sharedFiles, sharedPath, sharedTest } from './helpers/shared.js';

/** What two independent decoders made of one message. */
interface Row {
  topic: string;
  logTime: string;
  publishTime: string;
  sequence: number;
  sha256: string;
  agree: string;
  canon?: string;
}

function rows(name: string): Row[] {
  return readShared('golden/decoded', name)
    .toString()
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Row);
}

const RAW: DecodeStreamOptions = { undecodable: 'raw', unsupported: 'raw', damage: 'end' };

async function decodeAll(name: string): Promise<DecodedMessage[]> {
  const messages: DecodedMessage[] = [];
  for await (const message of decodeStream(createReadStream(sharedPath('recordings', name)), RAW))
    messages.push(message);
  return messages;
}

for (const file of sharedFiles('golden/decoded', '.mcap.jsonl')) {
  const name = file.replace(/\.jsonl$/, '');
  sharedTest(`every message of ${name} decodes to its golden value`, async (t) => {
    const golden = rows(file);
    const messages = await decodeAll(name);
    const byKey = new Map<string, DecodedMessage[]>();
    const key = (topic: string, logTime: unknown, sequence: number) => `${topic} ${String(logTime)} ${sequence}`;
    for (const message of messages) {
      const id = key(message.topic, message.logTime, message.sequence);
      byKey.set(id, [...(byKey.get(id) ?? []), message]);
    }
    for (const row of golden) {
      const message = byKey.get(key(row.topic, row.logTime, row.sequence))?.shift();
      if (message === undefined) {
        t.fail(`no message ${row.topic} at ${row.logTime}`);
        continue;
      }
      t.is(String(message.publishTime), row.publishTime);
      if (message.schema === undefined || message.message === undefined) {
        t.fail(`${row.topic} at ${row.logTime}: ${message.error?.message ?? 'not decoded'}`);
        continue;
      }
      const text = canonical(message.message, parseSchema(message.schema));
      if (row.canon !== undefined) t.is(text, row.canon);
      t.is(createHash('sha256').update(text).digest('hex'), row.sha256);
    }
  });
}

test('the canonical text tells -0, NaN and the float32 of a tenth apart', (t) => {
  const definition = parseSchema({ name: 'p/msg/A', encoding: 'ros2msg', data: 'float64[] a\nint64 b' });
  t.is(
    canonical({ a: Float64Array.of(-0, NaN, Math.fround(0.1)), b: -5n }, definition),
    '{"a":["f:8000000000000000","f:7ff8000000000000","f:3fb99999a0000000"],"b":-5}',
  );
});
