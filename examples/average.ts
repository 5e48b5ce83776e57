/**
 * Averages a field over a recording. Only that field is decoded, the rest of each message is skipped.
 *
 *     node build/examples/average.js fixtures/recordings/imu-zstd.mcap
 */
import { createReadStream } from 'node:fs';
import { decodeStream } from 'mcap-ros2-streams';

interface Imu {
  linear_acceleration: { x: number };
}

const [file = 'fixtures/recordings/imu-zstd.mcap'] = process.argv.slice(2);

let sum = 0;
let count = 0;
const batches = decodeStream<Imu>(createReadStream(file), {
  topics: '/imu',
  fields: ['linear_acceleration.x'],
  batch: 512,
});
for await (const batch of batches) {
  for (const { message } of batch) sum += message.linear_acceleration.x;
  count += batch.length;
}
console.log(`${count} messages, average ${sum / count} m/s²`);
