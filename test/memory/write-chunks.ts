/**
 * A process by itself: as many chunks as its argument says, each with a message on each of 20 channels, go through
 * McapRecordWriter into a sink that forgets them. Prints the peak RSS, MiB, as JSON.
 */
import { Readable, Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { McapRecordWriter } from '../../lib/index.js';
import type { McapRecord } from '../../lib/index.js';

const CHANNELS = 20;
/** Of a Message record, with its prefix. */
const SIZE = 31 + 4;
const chunks = Number(process.argv[2]);

function* records(): Generator<McapRecord> {
  for (let id = 0; id < CHANNELS; id++) {
    yield { type: 'Channel', id, schemaId: 0, topic: `/t${id}`, messageEncoding: 'x', metadata: new Map() };
  }
  const data = new Uint8Array(4);
  for (let n = 0; n < chunks; n++) {
    const logTime = BigInt(n);
    for (let channelId = 0; channelId < CHANNELS; channelId++) {
      yield { type: 'Message', channelId, sequence: n, logTime, publishTime: logTime, data };
    }
  }
}

let bytes = 0;
const sink = new Writable({
  write(part: Buffer, _encoding, callback) {
    bytes += part.length;
    callback();
  },
});
const stage = new McapRecordWriter({ chunkSize: CHANNELS * SIZE, compression: 'none' });
await pipeline(Readable.from(records()), stage, sink);
console.log(JSON.stringify({ bytes, chunks: stage.stats.chunks, peak: process.resourceUsage().maxRSS / 1024 }));
