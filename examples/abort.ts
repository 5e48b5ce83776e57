/**
 * Stops after a number of messages with a signal: the pipeline rejects at once with the signal's reason as the cause,
 * and the file is closed.
 *
 *     node build/examples/abort.js fixtures/recordings/imu-zstd.mcap 10
 */
import { createReadStream } from 'node:fs';
import { pipeline } from 'node:stream/promises';
import { decodeStream } from 'mcap-ros2-streams';
import type { DecodedMessage } from 'mcap-ros2-streams';

const [file = 'fixtures/recordings/imu-zstd.mcap', limit = '10'] = process.argv.slice(2);

const controller = new AbortController();
let count = 0;
try {
  await pipeline(
    createReadStream(file),
    decodeStream({ signal: controller.signal }),
    async (messages: AsyncIterable<DecodedMessage>) => {
      for await (const { topic } of messages) {
        console.log(topic);
        if (++count === Number(limit)) controller.abort(new Error(`${count} are enough`));
      }
    },
  );
} catch (error) {
  if (!(error instanceof Error) || error.name !== 'AbortError') throw error;
  console.log(`stopped: ${(error.cause as Error).message}`);
}
