/**
 * Thins messages out by their log time: ten a second.
 *
 *     node build/examples/throttle-messages.js fixtures/recordings/imu-zstd.mcap
 */
import { createReadStream } from 'node:fs';
import { pipeline } from 'node:stream/promises';
import { decodeStream, ndjson, throttleMessages } from 'mcap-ros2-streams';

const [file = 'fixtures/recordings/imu-zstd.mcap'] = process.argv.slice(2);

await pipeline(
  createReadStream(file),
  decodeStream({ topics: '/imu' }),
  throttleMessages({ hz: 10 }),
  ndjson(),
  process.stdout,
  { end: false },
);
