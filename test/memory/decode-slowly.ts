/**
 * A process by itself: chunks made on the fly, at least 2 GB of message bytes and 200,000 messages, go through
 * decodeStream into a sink that waits 1 ms after every 100. Prints RSS over time as JSON.
 */
import { crc32 } from 'node:zlib';
import { Readable, Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { decodeStream } from '../../lib/index.js';
import type { DecodedMessage } from '../../lib/index.js';

const MESSAGES = 210_000;
const PAYLOAD = 10_240;
const PER_CHUNK = 100;
const MIB = 2 ** 20;

function u16(value: number): Buffer {
  const bytes = Buffer.alloc(2);
  bytes.writeUInt16LE(value);
  return bytes;
}

function u32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(value);
  return bytes;
}

function u64(value: number): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64LE(BigInt(value));
  return bytes;
}

function text(value: string): Buffer {
  return Buffer.concat([u32(Buffer.byteLength(value)), Buffer.from(value)]);
}

function record(opcode: number, ...parts: Buffer[]): Buffer {
  const content = Buffer.concat(parts);
  return Buffer.concat([Buffer.of(opcode), u64(content.length), content]);
}

const magic = Buffer.from('894d434150300d0a', 'hex');

/** `uint32 n` and `uint8[] data`: the first message's number is written into each copy. */
function chunk(first: number): Buffer {
  const messages = Array.from({ length: PER_CHUNK }, (_, k) => {
    const cdr = Buffer.alloc(PAYLOAD, first + k);
    cdr.set([0, 1, 0, 0]);
    cdr.writeUInt32LE(first + k, 4);
    cdr.writeUInt32LE(PAYLOAD - 12, 8);
    return record(5, u16(1), u32(first + k), u64(first + k), u64(first + k), cdr);
  });
  const records = Buffer.concat(messages);
  return record(
    6,
    u64(first),
    u64(first),
    u64(records.length),
    u32(crc32(records)),
    text(''),
    u64(records.length),
    records,
  );
}

function* recording(): Generator<Buffer> {
  yield magic;
  yield record(1, text('ros2'), text('test'));
  yield record(3, u16(1), text('p/msg/Blob'), text('ros2msg'), text('uint32 n\nuint8[] data\n'));
  yield record(4, u16(1), u16(1), text('/blob'), text('cdr'), u32(0));
  for (let first = 0; first < MESSAGES; first += PER_CHUNK) {
    const bytes = chunk(first);
    // As a file is read: in pieces.
    for (let at = 0; at < bytes.length; at += 65536) yield bytes.subarray(at, at + 65536);
  }
  yield record(15, u32(0));
  yield record(2, u64(0), u64(0), u32(0));
  yield magic;
}

const rss: number[] = [];
let peak = 0;
let messages = 0;
let bytes = 0;
let wrong = 0;
let buffered = 0;

const stage = decodeStream<{ n: number; data: Uint8Array }>();
const sink = new Writable({
  objectMode: true,
  write({ message }: DecodedMessage<{ n: number; data: Uint8Array }>, _encoding, callback) {
    if (message.n !== messages || message.data.at(-1) !== (messages & 0xff)) wrong++;
    bytes += message.data.length;
    messages++;
    buffered = Math.max(buffered, stage.readableLength);
    if (messages % 100 !== 0) {
      callback();
      return;
    }
    const now = process.memoryUsage.rss();
    peak = Math.max(peak, now);
    rss.push(now);
    setTimeout(callback, 1);
  },
});

await pipeline(Readable.from(recording(), { objectMode: false }), stage, sink);

/** Highest of a quarter of the run. */
function quarter(n: number): number {
  const size = Math.floor(rss.length / 4);
  return Math.max(...rss.slice(n * size, (n + 1) * size)) / MIB;
}

console.log(
  JSON.stringify({
    messages,
    bytes,
    wrong,
    buffered,
    highWaterMark: stage.readableHighWaterMark,
    quarters: [0, 1, 2, 3].map(quarter),
    peak: peak / MIB,
  }),
);
