/**
 * Decodes one topic of a recording to NDJSON.
 *
 *     node build/examples/topic-to-ndjson.js fixtures/recordings/robot-lz4.mcap /tf
 */
import { createReadStream } from 'node:fs';
import { Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { decodeStream } from 'mcap-ros2-streams';
import type { DecodedMessage } from 'mcap-ros2-streams';

const [file = 'fixtures/recordings/robot-lz4.mcap', topic = '/tf'] = process.argv.slice(2);

const toLine = new Transform({
  writableObjectMode: true,
  transform({ logTime, message }: DecodedMessage, _encoding, callback) {
    const line = JSON.stringify({ logTime, message }, (_key, value: unknown) => {
      if (typeof value === 'bigint') return String(value);
      return ArrayBuffer.isView(value) ? Array.from(value as unknown as Iterable<unknown>) : value;
    });
    callback(null, `${line}\n`);
  },
});

await pipeline(createReadStream(file), decodeStream({ topics: topic }), toLine, process.stdout, { end: false });
