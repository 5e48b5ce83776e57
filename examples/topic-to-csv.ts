/**
 * One topic as CSV on stdout.
 *
 *     node build/examples/topic-to-csv.js fixtures/recordings/imu-zstd.mcap /imu
 */
import { createReadStream } from 'node:fs';
import { pipeline } from 'node:stream/promises';
import { csv, decodeStream } from 'mcap-ros2-streams';

const [file = 'fixtures/recordings/imu-zstd.mcap', topic = '/imu'] = process.argv.slice(2);

await pipeline(createReadStream(file), decodeStream({ topics: topic, batch: 512 }), csv(), process.stdout, {
  end: false,
});
