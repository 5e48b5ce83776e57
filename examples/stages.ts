/**
 * Stages on the way: counts what passes, keeps ten messages a second of log time, those that turn left, and prints them small.
 *
 *     node build/examples/stages.js fixtures/recordings/imu-zstd.mcap
 */
import { createReadStream } from 'node:fs';
import { pipeline } from 'node:stream/promises';
import { decodeStream, filterMessages, mapMessages, ndjson, tapMessages, throttleMessages } from 'mcap-ros2-streams';
import type { DecodedMessage } from 'mcap-ros2-streams';

type Imu = DecodedMessage<{ angular_velocity: { z: number } }>;

const [file = 'fixtures/recordings/imu-zstd.mcap'] = process.argv.slice(2);

let seen = 0;
await pipeline(
  createReadStream(file),
  decodeStream({ topics: '/imu', batch: 512 }),
  tapMessages(() => {
    seen++;
  }),
  throttleMessages<Imu>({ hz: 10 }),
  filterMessages<Imu>(({ message }) => message.angular_velocity.z >= 0),
  mapMessages(({ topic, logTime, message }: Imu) => ({
    topic,
    logTime,
    message: { turn: message.angular_velocity.z },
  })),
  ndjson(),
  process.stdout,
  { end: false },
);
console.error(`${seen} messages seen`);
