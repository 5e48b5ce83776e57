/**
 * Keeps the messages that a function says yes to: satellite fixes that have an altitude.
 *
 *     node build/examples/filter-messages.js fixtures/recordings/imu-zstd.mcap
 */
import { createReadStream } from 'node:fs';
import { pipeline } from 'node:stream/promises';
import { decodeStream, filterMessages, ndjson } from 'mcap-ros2-streams';
import type { DecodedMessage } from 'mcap-ros2-streams';

type Fix = DecodedMessage<{ altitude: number }>;

const [file = 'fixtures/recordings/imu-zstd.mcap'] = process.argv.slice(2);

await pipeline(
  createReadStream(file),
  decodeStream({ topics: '/fix' }),
  filterMessages<Fix>(({ message }) => Number.isFinite(message.altitude)),
  ndjson(),
  process.stdout,
  { end: false },
);
