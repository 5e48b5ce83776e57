/**
 * All measurements in one go: `npm run bench` writes bench/RESULTS.md, or bench/RESULTS-node26.md on that Node.
 * `npm run bench -- --file X.mcap` reads, decodes and rewrites any recording, and prints. `-- --read`, `--codec` and so on
 * take single parts, and print.
 *
 * What was tried, and why something falls short, stands in bench/NOTES.md, which no program writes.
 */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { cpus } from 'node:os';
import { join } from 'node:path';
import { recordings } from './data.js';
import { measure, median, ROOT, runNode } from './measure.js';

interface Part {
  readonly name: string;
  readonly title: string;
  readonly run: () => { text: string; figures: Record<string, number> };
}

const script = (name: string): string => join(import.meta.dirname, `${name}.js`);
const args = process.argv.slice(2);
const fileAt = args.indexOf('--file');
const file = fileAt < 0 ? undefined : args[fileAt + 1];

/** Median wall time of processes that take turns, ms. */
function start(commands: readonly (readonly string[])[], rounds: number): number[] {
  const times = commands.map((): number[] => []);
  for (let round = 0; round < rounds; round++) {
    for (const [index, command] of commands.entries()) {
      const began = performance.now();
      runNode(command);
      times[index]?.push(performance.now() - began);
    }
  }
  return times.map(median);
}

function startUp(): { text: string; figures: Record<string, number> } {
  const entry = join(ROOT, 'dist');
  const load = (path: string): string[] => ['--input-type=module', '-e', `await import(${JSON.stringify(path)})`];
  const [bare = 0, own = 0, peers = 0, help = 0] = start(
    [
      ['--input-type=module', '-e', ''],
      load(join(entry, 'index.js')),
      ['--input-type=module', '-e', "await import('@mcap/core'); await import('@foxglove/rosmsg2-serialization')"],
      [join(entry, 'cli/main.js'), '--help'],
    ],
    9,
  );
  const rows: [string, number][] = [
    ['node alone', bare],
    ['import the package', own],
    ['import @mcap/core and @foxglove/rosmsg2-serialization', peers],
    ['mcap-ros2 --help', help],
  ];
  const text = rows.map(([name, ms]) => `${name.padEnd(56)}${ms.toFixed(0).padStart(6)}`).join('\n');
  return { text: `ms, median of 9 processes each, taking turns\n${text}`, figures: { start: own - bare, help } };
}

function compile(): { text: string; figures: Record<string, number> } {
  interface Cold {
    types: number;
    parse: number;
    compile: number;
  }
  const runs = Array.from({ length: 9 }, () => JSON.parse(runNode([script('compile/side')])) as Cold);
  const parse = median(runs.map((run) => run.parse));
  const compiled = median(runs.map((run) => run.compile));
  const text = `${runs[0]?.types ?? 0} types, median of 9 cold processes: parseSchema (first, so with its own warming) ${parse.toFixed(1)} ms, then compileCodec, which parses again, ${compiled.toFixed(1)} ms`;
  return { text, figures: { compile: compiled } };
}

const big = join(ROOT, '.cache/bench/big-none.mcap');
const PARTS: readonly Part[] = [
  {
    name: 'codec',
    title: 'The codec alone, against @foxglove/rosmsg2-serialization',
    run: () => measure([script('codec/main'), '--quick']),
  },
  {
    name: 'read',
    title: 'Reading, against @mcap/core and @foxglove/rosmsg2-serialization; own ways against each other',
    run: () => measure([script('read/main'), '--quick']),
  },
  {
    name: 'write',
    title: 'Encoding and writing small messages, against McapWriter and MessageWriter',
    run: () => measure([script('write/main'), '--quick']),
  },
  {
    name: 'write-big',
    title: 'The same with big payloads',
    run: () => ({ ...measure([script('write/main'), '--quick', '--once', big]), figures: {} }),
  },
  ...['small_messages', 'nuscenes_like_0.1'].map((name) => ({
    name: `write-${name}`,
    title: `The same with ${name}.mcap, where it is there`,
    run: () => {
      const path = join(ROOT, `../shared/benchmark/${name}.mcap`);
      if (!existsSync(path)) return { text: 'not there', figures: {} };
      return { ...measure([script('write/main'), '--quick', '--once', path]), figures: {} };
    },
  })),
  {
    name: 'threads',
    title: 'Big zstd payloads with threads and without',
    run: () => measure([script('threads/main')]),
  },
  { name: 'json', title: 'JSON text of a payload', run: () => measure([script('json/main'), '--quick']) },
  { name: 'compile', title: 'Compiling schemas', run: compile },
  { name: 'start', title: 'Start', run: startUp },
];

/** A row of what must be reached: its name, the least, the aim, and the figures that tell. */
const ROWS: readonly [name: string, least: string, aim: string, figures: readonly string[]][] = [
  ['read + decode, small, zstd: fresh / warm', '3 / 4', '5 / 8', ['small-zstd decode fresh', 'small-zstd decode warm']],
  ['the same by CPU time of all threads', '', '', ['small-zstd decode cpu']],
  [
    'the same, small_messages.mcap: fresh / warm / CPU',
    '3 / 4',
    '5 / 8',
    ['small_messages.mcap decode fresh', 'small_messages.mcap decode warm', 'small_messages.mcap decode cpu'],
  ],
  ['read + decode, big, zstd / none (warm)', '2 / 2.2', '3.5 / 4', ['big-zstd decode warm', 'big-none decode warm']],
  ['the same by CPU time of all threads', '', '', ['big-zstd decode cpu', 'big-none decode cpu']],
  ['the same from a path, readRecording', '', '', ['big-zstd file warm', 'big-none file warm']],
  ['the same, nuscenes_like_0.1.mcap (zstd, warm)', '2', '3.5', ['nuscenes_like_0.1.mcap decode warm']],
  ['encode + write, small, zstd / none', '4 / 5', '7 / 8', ['write zstd encodeStream', 'write none encodeStream']],
  [
    'the same in arrays of 512',
    '',
    '',
    ['write zstd encodeStream, arrays of 512', 'write none encodeStream, arrays of 512'],
  ],
  ['codec, geometric mean: decode / encode', '10 / 8', '14 / 12', ['codec decode mean', 'codec encode mean']],
  ['codec, least of the nine: decode / encode', '4 / 3', '6 / 4', ['codec decode least', 'codec encode least']],
  ['raw records, small: zstd / none (warm)', '2', '4', ['small-zstd raw warm', 'small-none raw warm']],
  [
    'raw records, small_messages.mcap: fresh / warm',
    '2',
    '4',
    ['small_messages.mcap raw fresh', 'small_messages.mcap raw warm'],
  ],
  [
    'big zstd with threads / without: read + decode, rewrite; on one core',
    '< 0.75, 0.75; < 1.05',
    '',
    ['threads read + decode', 'threads rewrite', 'threads read + decode on one core, threads: 1'],
  ],
  ['two fields against the full decode, codec: mean / least', '2', '4', ['projection mean', 'projection least']],
  ['compile all schemas of a recording, cold: ms', '< 60', '< 20', ['compile']],
  [
    'peak RSS of read + decode, MiB: small zstd, none, big zstd, none',
    '< 150',
    '< 110',
    ['small-zstd decode RSS', 'small-none decode RSS', 'big-zstd decode RSS', 'big-none decode RSS'],
  ],
];

function version(name: string): string {
  const require = createRequire(import.meta.url);
  const path = [ROOT, 'node_modules', name, 'package.json'].join('/');
  return `${name} ${(require(path) as { version: string }).version}`;
}

if (file !== undefined) {
  console.log(measure([script('read/main'), file]).text);
  console.log(measure([script('write/main'), '--quick', file]).text);
} else {
  await recordings();
  const chosen = PARTS.filter(({ name }) => args.includes(`--${name}`));
  const began = performance.now();
  const figures: Record<string, number> = {};
  const sections: string[] = [];
  for (const { title, run } of chosen.length > 0 ? chosen : PARTS) {
    console.log(`\n${title}`);
    let part: ReturnType<Part['run']>;
    const started = performance.now();
    try {
      part = run();
    } catch (error) {
      // The others are still worth having.
      part = { text: `failed: ${String(error)}`, figures: {} };
      process.exitCode = 1;
    }
    console.log(`${part.text}\n(${((performance.now() - started) / 1000).toFixed(0)} s)`);
    Object.assign(figures, part.figures);
    sections.push(`## ${title}\n\n\`\`\`\n${part.text}\n\`\`\`\n`);
  }
  if (chosen.length === 0) write(figures, sections, (performance.now() - began) / 60_000);
}

function write(figures: Readonly<Record<string, number>>, sections: readonly string[], minutes: number): void {
  const rows = ROWS.map(([name, least, aim, names]) => {
    const reached = names
      .map((figure) => figures[figure]?.toFixed(figures[figure] >= 50 ? 0 : figures[figure] < 10 ? 2 : 1) ?? '-')
      .join(' / ');
    return `| ${name} | ${least} | ${aim} | ${reached} |`;
  });
  const peers = ['@mcap/core', '@foxglove/rosmsg2-serialization', '@foxglove/rosmsg', '@foxglove/wasm-zstd'];
  const text = [
    '# Results\n',
    `Written by \`npm run bench\` on ${new Date().toISOString().slice(0, 10)} in ${minutes.toFixed(1)} minutes: Node ${process.version},`,
    `${cpus().length} x ${cpus()[0]?.model.trim() ?? 'unknown'}. Peers: ${peers.map(version).join(', ')}.`,
    'The sides take turns; ratios are peer / own unless said. What was tried, and where the time goes: NOTES.md.\n',
    '## What must be reached\n',
    '| measure | at least | aim | reached |',
    '| --- | --- | --- | --- |',
    ...rows,
    '',
    ...sections,
  ].join('\n');
  // Of the oldest Node that is supported; others beside it.
  const [major = ''] = process.versions.node.split('.');
  const path = join(ROOT, major === '20' ? 'bench/RESULTS.md' : `bench/RESULTS-node${major}.md`);
  writeFileSync(path, text);
  console.log(`${readFileSync(path, 'utf8').split('\n').length} lines in ${path}`);
}
