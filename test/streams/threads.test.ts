import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import zstd from '@foxglove/wasm-zstd';
import { compressFrameSync } from 'lz4-napi';
import test from 'ava';
import { decodeStream } from '../../lib/index.js';
import type { DecodeStreamOptions } from '../../lib/index.js';
import { runNode } from '../helpers/command.js';
import * as mcap from '../helpers/mcap-bytes.js';
import { ROOT } from '../helpers/shared.js';
import { collect, pieces } from '../helpers/streams.js';

const definitions = Buffer.concat([mcap.schema(1), mcap.channel(1, 1)]);

/** `count` chunks of 100 messages with 2 kB of padding each, every second one lz4. */
async function recording(count: number, spoil?: number): Promise<Buffer> {
  await zstd.isLoaded;
  const chunks = Array.from({ length: count }, (_, n) => {
    const messages = Array.from({ length: 100 }, (_unused, k) => {
      const payload = Buffer.alloc(2000, n + k);
      payload.set([0, 1, 0, 0]);
      return mcap.message(1, n * 100 + k, payload);
    });
    const records = Buffer.concat(messages);
    const compression = n % 2 === 0 ? 'zstd' : 'lz4';
    const data = compression === 'zstd' ? zstd.compress(records) : compressFrameSync(records);
    return mcap.chunk(records, { compression, data, ...(n === spoil ? { crc: 1 } : {}) });
  });
  return mcap.file(definitions, ...chunks);
}

async function times(bytes: Uint8Array, options: DecodeStreamOptions) {
  const { got, error } = await collect(pieces(bytes, 65536), decodeStream(options));
  return { times: got.map(({ logTime }) => Number(logTime)), error };
}

test('with any number of threads the messages are the same, in the same order', async (t) => {
  const bytes = await recording(60);
  const expected = Array.from({ length: 6000 }, (_, n) => n);
  for (const threads of [0, 1, 2, 4]) t.deepEqual((await times(bytes, { threads })).times, expected);
  // A budget below one chunk holds one at a time.
  t.deepEqual((await times(bytes, { threads: 2, maxBufferedBytes: 1000 })).times, expected);
});

test('an error in a chunk that was decompressed ahead stands in its place', async (t) => {
  const bytes = await recording(40, 30);
  for (const threads of [0, 2]) {
    const result = await times(bytes, { threads });
    t.is(result.error?.code, 'MCAP_CHUNK_CRC_MISMATCH');
    t.is(result.times.length, 3000);
    t.is((await times(bytes, { threads, damage: 'skip' })).times.length, 3900);
  }
});

test('decompressors of the user are asked by name, on this thread', async (t) => {
  const records = Buffer.concat([definitions, mcap.message(1, 7)]);
  const data = Buffer.from(records).reverse();
  const bytes = mcap.file(mcap.chunk(records, { compression: 'reversed', data }));
  const asked: number[] = [];
  for (const reversed of [
    (compressed: Uint8Array, size: number) => {
      asked.push(size);
      return Buffer.from(compressed).reverse();
    },
    (compressed: Uint8Array) => Promise.resolve(Buffer.from(compressed).reverse()),
  ]) {
    t.deepEqual((await times(bytes, { compression: { reversed } })).times, [7]);
  }
  t.deepEqual(asked, [records.length]);
  const failing = await times(bytes, {
    compression: {
      reversed: () => {
        throw new Error('my own');
      },
    },
  });
  t.is(failing.error?.code, 'MCAP_DECOMPRESSION_FAILED');
  t.is((failing.error?.cause as Error).message, 'my own');
  t.throws(() => decodeStream({ compression: { zstd: 1 } } as never), { instanceOf: TypeError });
});

/** Runs code in a process of its own, with the recording on stdin; it has to end by itself. */
async function script(code: string, ...flags: string[]) {
  const lib = JSON.stringify(join(ROOT, 'build/lib/index.js'));
  return runNode([...flags, '--input-type=module', '-e', `import * as lib from ${lib};\n${code}`], await recording(60));
}

test('nothing keeps the process alive when the stream has ended, was destroyed or aborted', async (t) => {
  const ends = await script(`
    let n = 0;
    for await (const m of lib.decodeStream(process.stdin, { threads: 2 })) n++;
    console.log(n, process.getActiveResourcesInfo().filter((name) => name !== 'PipeWrap').join());`);
  t.like(ends, { code: 0, stdout: '6000 \n', stderr: '' });
  const broken = await script(`
    let n = 0;
    for await (const m of lib.decodeStream(process.stdin, { threads: 2 })) if (++n === 4000) break;
    console.log(n);`);
  t.like(broken, { code: 0, stdout: '4000\n', stderr: '' });
  const aborted = await script(`
    const controller = new AbortController();
    let n = 0;
    try {
      for await (const m of lib.decodeStream(process.stdin, { threads: 2, signal: controller.signal })) {
        if (++n === 4000) controller.abort(new Error('enough'));
      }
    } catch (error) {
      console.log(n, error.name, error.cause.message);
    }`);
  t.like(aborted, { code: 0, stdout: '4000 AbortError enough\n', stderr: '' });
});

test('where no thread can be started, decompression goes on here', async (t) => {
  const { stdout, code } = await script(
    `
    let n = 0;
    for await (const m of lib.decodeStream(process.stdin, { threads: 2 })) n++;
    console.log(n);`,
    Number(process.versions.node.split('.')[0]) < 24 ? '--experimental-permission' : '--permission',
    '--allow-fs-read=*',
  );
  t.like({ stdout, code }, { stdout: '6000\n', code: 0 });
});

test('a thread that ends under its work is a typed error at most, and the next stream goes on', async (t) => {
  const { stdout, code, stderr } = await script(`
    let ended = 0;
    process.on('worker', (worker) => {
      setTimeout(() => worker.terminate(), 20 + 10 * (ended++ % 8));
    });
    const parts = [];
    for await (const part of process.stdin) parts.push(part);
    const seen = new Set();
    for (let n = 0; n < 16; n++) {
      let count = 0;
      try {
        for await (const m of lib.decodeStream(parts, { threads: 1 })) count++;
        seen.add(count);
      } catch (error) {
        seen.add(error.code);
      }
    }
    const message = { data: new Uint8Array(50_000) };
    const messages = Array.from({ length: 400 }, (_, n) => ({ topic: '/b', logTime: BigInt(n), message }));
    for (let n = 0; n < 8; n++) {
      const encoder = lib.encodeStream({ channels: { '/b': { fields: { data: 'uint8[]' } } }, threads: 1 });
      encoder.end(messages);
      try {
        for await (const part of encoder);
        seen.add(encoder.stats.messages);
      } catch (error) {
        seen.add(error.code);
      }
    }
    for (const expected of [6000, 400, 'MCAP_DECOMPRESSION_FAILED', 'MCAP_COMPRESSION_FAILED']) seen.delete(expected);
    console.log([...seen].join(), ended > 0);`);
  t.like({ stdout, code, stderr }, { stdout: ' true\n', code: 0, stderr: '' });
});

test('a short recording is read and written again without wasm', async (t) => {
  const { stdout, stderr } = await runNode([
    '--input-type=module',
    '-e',
    `
    import { createReadStream } from 'node:fs';
    import { createRequire } from 'node:module';
    import { Writable } from 'node:stream';
    import { pipeline } from 'node:stream/promises';
    import * as lib from './dist/index.js';
    const parts = [];
    const sink = new Writable({ write: (part, _encoding, done) => done(void parts.push(part)) });
    const source = createReadStream('fixtures/recordings/imu-zstd.mcap');
    const decoder = lib.decodeStream({ threads: 1 });
    await pipeline(source, decoder, lib.encodeStream({ threads: 1, compression: 'zstd' }), sink);
    let count = 0;
    for await (const { logTime } of lib.decodeStream(parts, { threads: 1 })) count++;
    const { cache } = createRequire(import.meta.url);
    console.log(count === decoder.stats.messages, count > 0, Object.keys(cache).some((path) => path.includes('wasm')));`,
  ]);
  t.deepEqual({ stdout, stderr }, { stdout: 'true true false\n', stderr: '' });
});

test('a thread loads what it needs, not the package', (t) => {
  const files = new Set<string>();
  const follow = (name: string): void => {
    if (files.has(name)) return;
    files.add(name);
    const text = readFileSync(join(ROOT, 'dist', name), 'utf8');
    for (const [, next = ''] of text.matchAll(/^(?:import|export)\b[^'"\n]*['"]\.\/([^'"]+)['"]/gm)) follow(next);
  };
  follow('compression-worker.js');
  t.deepEqual([...files].toSorted(), ['compression-worker.js', 'compression.js']);
});

test('10,000 streams on one signal and one process leave no listener behind', async (t) => {
  const { stdout, code, stderr } = await script(`
    process.on('warning', (warning) => console.log(warning.message));
    const bytes = Buffer.concat([Buffer.from('894d434150300d0a', 'hex')]);
    const { signal } = new AbortController();
    for (let n = 0; n < 10_000; n++) {
      try {
        for await (const m of lib.decodeStream([bytes], { signal })) console.log(m);
      } catch (error) {
        if (error.code !== 'MCAP_TRUNCATED') throw error;
      }
    }
    console.log('done');`);
  t.like({ stdout, code, stderr }, { stdout: 'done\n', code: 0, stderr: '' });
});
