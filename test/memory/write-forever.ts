/** A process by itself that writes numbered messages to the file of its argument until it is killed. */
import { createWriteStream } from 'node:fs';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { encodeStream } from '../../lib/index.js';
import type { OutgoingMessage } from '../../lib/index.js';

function* messages(): Generator<OutgoingMessage> {
  for (let n = 0; ; n++) yield { topic: '/n', logTime: BigInt(n), message: { n, text: `message ${n}`.repeat(20) } };
}

const channels = { '/n': { fields: { n: 'uint32', text: 'string' } } };
await pipeline(
  Readable.from(messages()),
  encodeStream({ channels, chunkSize: 100_000 }),
  createWriteStream(process.argv[2] ?? ''),
);
