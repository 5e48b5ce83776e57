/**
 * Looks at messages on their way: how many of each topic go into a copy of a recording.
 *
 *     node build/examples/tap-messages.js fixtures/recordings/robot-lz4.mcap copy.mcap
 */
import { createReadStream, createWriteStream } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { decodeStream, encodeStream, tapMessages } from 'mcap-ros2-streams';

const [file = 'fixtures/recordings/robot-lz4.mcap', copy = join(tmpdir(), 'copy.mcap')] = process.argv.slice(2);

const counts = new Map<string, number>();
await pipeline(
  createReadStream(file),
  decodeStream(),
  tapMessages(({ topic }) => {
    counts.set(topic, (counts.get(topic) ?? 0) + 1);
  }),
  encodeStream(),
  createWriteStream(copy),
);
for (const [topic, count] of counts) console.log(topic, count);
