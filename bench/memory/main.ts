/**
 * Memory over a long recording: `npm run bench:memory [-- GB [zstd|none]]` streams so much (default 20 GB, zstd) of a
 * recording that is made on the way and never on disk through decode and through decode + encode, each with and without threads, and
 * prints RSS over time. On glibc once more with large blocks from the kernel, which fragments no heap.
 * The recording comes from a process of its own through a pipe, so that its making is not in the figures.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { Readable, Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { OutgoingMessage } from '../../lib/index.js';
import { CASES } from '../codec/types.js';
import { loadPackage } from '../package.js';

const { compileCodec, decodeStream, encodeStream } = await loadPackage();

const [size = '20', compression = 'zstd', job] = process.argv.slice(2);
const GOAL = Number(size) * 1e9;
const LINES = 10;
const settings = { compression: compression === 'none' ? ('none' as const) : ('zstd' as const) };

/** Ten types in turn, from 100 bytes to a megabyte, and 1,000 small ones between two turns. */
function* messages(): Generator<OutgoingMessage[]> {
  const all = CASES.map(({ name, text, value }, index) => {
    const data = compileCodec({ name, encoding: 'ros2msg', data: text }).encode(value);
    const schema = { type: 'Schema' as const, id: index + 1, name, encoding: 'ros2msg', data: Buffer.from(text) };
    return { topic: `/${name}`, schema, data };
  });
  const small = all.filter(({ data }) => data.length < 10_000);
  const turn = [...Array.from({ length: 1000 }, (_, n) => small[n % small.length]), ...all].flatMap(
    (entry) => entry ?? [],
  );
  const turnBytes = turn.reduce((sum, { data }) => sum + data.length, 0);
  let logTime = 0n;
  for (let made = 0; made < GOAL; made += turnBytes)
    yield turn.map((entry) => ({ ...entry, logTime: (logTime += 1_000_000n) }));
}

if (job === 'make') {
  const level = settings.compression === 'zstd' ? { compressionLevel: 1 } : {};
  await pipeline(Readable.from(messages()), encodeStream({ ...settings, ...level }), process.stdout);
} else if (job === undefined) {
  const glibc = { MALLOC_MMAP_THRESHOLD_: '262144' };
  for (const [each, env] of [
    ['decode', {}],
    ['decode without threads', {}],
    ['rewrite', {}],
    ['rewrite without threads', {}],
    ['decode', glibc],
    ['rewrite', glibc],
  ] as const) {
    const set = Object.entries(env).map(([name, value]) => `, ${name}=${value}`);
    console.log(`${each}, ${size} GB, ${compression}, Node ${process.version}${set.join('')}`);
    const child = spawn(process.execPath, [import.meta.filename, size, compression, each], {
      stdio: 'inherit',
      env: { ...process.env, ...env },
    });
    const [code] = (await once(child, 'exit')) as [number | null];
    if (code !== 0) process.exitCode = 1;
  }
} else await watch(job.startsWith('rewrite'), job.endsWith('without threads') ? { threads: 0 } : {});

async function watch(rewrite: boolean, options: { threads?: number }): Promise<void> {
  const maker = spawn(process.execPath, [import.meta.filename, size, compression, 'make'], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  // A large batch outlives collections of V8's young generation, which grows by that.
  const decoder = decodeStream({ batch: 64, ...options });
  const began = performance.now();
  const peaks: number[] = [];
  const look = (): void => {
    const part = Math.min(LINES - 1, Math.floor((decoder.stats.bytesDecompressed / GOAL) * LINES));
    const rss = process.memoryUsage.rss() / 2 ** 20;
    if (peaks[part] === undefined && part > 0) tell(part - 1);
    peaks[part] = Math.max(peaks[part] ?? 0, rss);
  };
  const tell = (part: number): void => {
    const seconds = ((performance.now() - began) / 1000).toFixed(0);
    const gigabytes = ((Number(size) / LINES) * (part + 1)).toFixed(1);
    console.log(
      `${gigabytes.padStart(7)} GB ${seconds.padStart(5)} s, peak RSS of this part ${(peaks[part] ?? 0).toFixed(0).padStart(4)} MiB`,
    );
  };
  const timer = setInterval(look, 20);
  let bytes = 0;
  const bin = new Writable({
    objectMode: !rewrite,
    write: (chunk: Buffer, _encoding, done) => {
      bytes += chunk.length;
      done();
    },
  });
  if (rewrite) await pipeline(maker.stdout, decoder, encodeStream({ ...settings, ...options }), bin);
  else await pipeline(maker.stdout, decoder, bin);
  clearInterval(timer);
  tell(LINES - 1);
  const { messages: count, bytes: read } = decoder.stats;
  const written = rewrite ? `, ${(bytes / 1e9).toFixed(2)} GB written` : '';
  console.log(
    `${count} messages out of ${(read / 1e9).toFixed(2)} GB of file${written}, peak ${Math.max(...peaks).toFixed(0)} MiB`,
  );
}
