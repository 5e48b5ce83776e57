/**
 * One NDJSON file for each topic of a recording.
 *
 *     node build/examples/split-by-topic.js fixtures/recordings/robot-lz4.mcap /tmp/topics
 */
import { createReadStream, createWriteStream, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { decodeStream, ndjson, splitByTopic } from 'mcap-ros2-streams';

const [file = 'fixtures/recordings/robot-lz4.mcap', folder = 'topics'] = process.argv.slice(2);
mkdirSync(folder, { recursive: true });

const files: Promise<void>[] = [];
await pipeline(
  createReadStream(file),
  decodeStream({ batch: 512 }),
  splitByTopic((topic) => {
    const path = join(folder, `${topic.replaceAll(/\W+/g, '_').replace(/^_/, '')}.ndjson`);
    console.log(`${topic} -> ${path}`);
    const lines = ndjson();
    files.push(pipeline(lines, createWriteStream(path)));
    return lines;
  }),
);
await Promise.all(files);
