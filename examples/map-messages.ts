/**
 * Makes other messages of those that come: only the names of a robot's joints.
 *
 *     node build/examples/map-messages.js fixtures/recordings/robot-lz4.mcap
 */
import { createReadStream } from 'node:fs';
import { pipeline } from 'node:stream/promises';
import { decodeStream, mapMessages, ndjson } from 'mcap-ros2-streams';
import type { DecodedMessage } from 'mcap-ros2-streams';

type JointState = DecodedMessage<{ name: string[] }>;

const [file = 'fixtures/recordings/robot-lz4.mcap'] = process.argv.slice(2);

await pipeline(
  createReadStream(file),
  decodeStream({ topics: '/joint_states' }),
  mapMessages(({ topic, logTime, message }: JointState) => ({ topic, logTime, message: { joints: message.name } })),
  ndjson(),
  process.stdout,
  { end: false },
);
