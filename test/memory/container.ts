/**
 * A process by itself: reads one of the recordings below, made on the fly, and prints its peak RSS over what the process takes
 * without it. Arguments: case, and for some the option.
 */
import { closeSync, ftruncateSync, mkdtempSync, openSync, readSync, rmSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough, Readable, Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import zstd from '@foxglove/wasm-zstd';
import { decodeStream, McapRecordParser } from '../../lib/index.js';
import type { McapRecord } from '../../lib/index.js';
import * as mcap from '../helpers/mcap-bytes.js';

const MIB = 2 ** 20;

/** A sparse file: the records before and behind `gap` zero bytes. */
function* sparse(before: Buffer, gap: number, behind: Buffer): Generator<Buffer> {
  const folder = mkdtempSync(join(tmpdir(), 'mcap-memory-'));
  const fd = openSync(join(folder, 'sparse.mcap'), 'w+');
  try {
    writeSync(fd, before, 0, before.length, 0);
    writeSync(fd, behind, 0, behind.length, before.length + gap);
    const length = before.length + gap + behind.length;
    ftruncateSync(fd, length);
    for (let at = 0; at < length;) {
      const piece = Buffer.allocUnsafeSlow(Math.min(65536, length - at));
      at += readSync(fd, piece, 0, piece.length, at);
      yield piece;
    }
  } finally {
    closeSync(fd);
    rmSync(folder, { recursive: true });
  }
}

const definitions = Buffer.concat([mcap.schema(1), mcap.channel(1, 1)]);

function attachment(length: number): Generator<Buffer> {
  const fields = [mcap.u64(1), mcap.u64(2), mcap.prefixed('big'), mcap.prefixed('x'), mcap.u64(length)];
  const head = Buffer.concat(fields);
  const prefix = Buffer.concat([mcap.u8(9), mcap.u64(head.length + length + 4)]);
  const end = [mcap.u32(0), mcap.message(1, 7), mcap.dataEnd(), mcap.footer(), mcap.MAGIC];
  return sparse(Buffer.concat([mcap.open(definitions), prefix, head]), length, Buffer.concat(end));
}

/** `records` copies of an empty-payload message in one chunk, compressed where asked. */
async function bigChunk(size: number, compression: string): Promise<Generator<Buffer>> {
  const payload = Buffer.alloc(MIB);
  payload.set([0, 1, 0, 0]);
  const one = mcap.message(1, 1, payload);
  const count = Math.floor(size / one.length);
  await zstd.isLoaded;
  if (compression === 'zstd') {
    // Frames one after the other: made without ever holding the whole.
    const frame = zstd.compress(one);
    const data = Buffer.concat(Array.from({ length: count }, () => frame));
    const chunk = mcap.chunk(Buffer.alloc(0), { compression, data, crc: 0, size: count * one.length });
    return (function* () {
      yield mcap.open(definitions);
      yield chunk;
      yield Buffer.concat([mcap.dataEnd(), mcap.footer(), mcap.MAGIC]);
    })();
  }
  const length = count * one.length;
  const head = Buffer.concat([
    mcap.u64(0),
    mcap.u64(0),
    mcap.u64(length),
    mcap.u32(0),
    mcap.prefixed(''),
    mcap.u64(length),
  ]);
  return (function* () {
    yield mcap.open(definitions);
    yield Buffer.concat([mcap.u8(6), mcap.u64(head.length + length), head]);
    for (let n = 0; n < count; n++) yield Buffer.from(one);
    yield Buffer.concat([mcap.dataEnd(), mcap.footer(), mcap.MAGIC]);
  })();
}

function* manyChunks(count: number): Generator<Buffer> {
  yield mcap.open(definitions);
  const chunk = Buffer.concat([mcap.chunk(mcap.message(1, 5)), mcap.record(7, mcap.u16(1), mcap.u32(0))]);
  const thousand = Buffer.concat(Array.from({ length: 1000 }, () => chunk));
  for (let n = 0; n < count; n += 1000) yield thousand;
  yield Buffer.concat([mcap.dataEnd(), mcap.footer(), mcap.MAGIC]);
}

function* manyChannels(count: number): Generator<Buffer> {
  yield mcap.open(mcap.schema(1));
  for (let id = 1; id <= count; id += 100) {
    const ids = Array.from({ length: 100 }, (_, n) => id + n);
    yield Buffer.concat(ids.flatMap((n) => [mcap.channel(n, 1, { topic: `/topic/${n}` }), mcap.message(n, n)]));
  }
  yield Buffer.concat([mcap.dataEnd(), mcap.footer(), mcap.MAGIC]);
}

const [name = '', option = ''] = process.argv.slice(2);

/** Reads a record's data where that is a stream, slowly enough to need backpressure. */
async function drain(record: McapRecord): Promise<number> {
  if (record.type !== 'Attachment' || record.data instanceof Uint8Array) return 0;
  let length = 0;
  for await (const piece of record.data) length += (piece as Buffer).length;
  return length;
}

const cases: Record<string, () => Promise<[Iterable<Buffer>, NodeJS.ReadWriteStream]>> = {
  attachment: () =>
    Promise.resolve([
      attachment(Number(option.split(' ')[1]) * MIB),
      new McapRecordParser({ attachments: option.split(' ')[0] as 'skip' }),
    ]),
  'attachment-decode': () => Promise.resolve([attachment(Number(option) * MIB), decodeStream()]),
  chunk: async () => [await bigChunk(256 * MIB, option), decodeStream()],
  chunks: () => Promise.resolve([manyChunks(Number(option)), decodeStream({ topics: /./ })]),
  channels: () => Promise.resolve([manyChannels(Number(option)), decodeStream()]),
};

const make = cases[name];
if (make === undefined) throw new Error(`no case ${name}`);

let peak = 0;
let outputs = 0;
let streamed = 0;

async function read([source, stage]: [Iterable<Buffer>, NodeJS.ReadWriteStream]): Promise<void> {
  await pipeline(
    Readable.from(source, { objectMode: false }),
    stage,
    new Writable({
      objectMode: true,
      highWaterMark: 1,
      write(output: McapRecord, _encoding, callback) {
        outputs++;
        peak = Math.max(peak, process.memoryUsage.rss());
        if (output.type !== 'Attachment') {
          callback();
          return;
        }
        void drain(output).then((length) => {
          streamed += length;
          callback();
        }, callback);
      },
    }),
  );
}

// What a process takes that has read a small recording and moved bytes through a plain pipeline: Node itself lets some
// 40 MB of buffers lie before it collects them.
await read([manyChannels(200), decodeStream()]);
peak = 0;
await pipeline(
  Readable.from(
    (function* () {
      for (let n = 0; n < 4096; n++) yield Buffer.alloc(65536);
    })(),
    { objectMode: false },
  ),
  new PassThrough(),
  new Writable({
    write(_bytes, _encoding, callback) {
      peak = Math.max(peak, process.memoryUsage.rss());
      callback();
    },
  }),
);
const base = peak;
peak = outputs = 0;
const timer = setInterval(() => {
  peak = Math.max(peak, process.memoryUsage.rss());
}, 5);
await read(await make());
clearInterval(timer);
peak = Math.max(peak, process.memoryUsage.rss());
console.log(JSON.stringify({ outputs, streamed, base: Math.round(base / MIB), over: Math.round((peak - base) / MIB) }));
