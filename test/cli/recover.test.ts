import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'ava';
import { mcapRos2 } from '../helpers/command.js';
import { readIndexed } from '../helpers/indexed.js';
import * as mcap from '../helpers/mcap-bytes.js';
import { ROOT, readShared, sharedFiles, sharedTest } from '../helpers/shared.js';

const FOLDER = mkdtempSync(join(tmpdir(), 'recover-'));
test.after.always(() => {
  rmSync(FOLDER, { recursive: true, force: true });
});
const IMU = readFileSync(join(ROOT, 'fixtures/recordings/imu-zstd.mcap'));

async function recovered(name: string, bytes: Uint8Array, ...args: string[]) {
  const input = join(FOLDER, `${name}.mcap`);
  const output = join(FOLDER, `${name}-out.mcap`);
  writeFileSync(input, bytes);
  const ended = await mcapRos2(['recover', input, '-o', output, ...args]);
  return { ...ended, read: await readIndexed(readFileSync(output)) };
}

test('recover of a whole recording keeps all of it and exits 0', async (t) => {
  const { code, read, stderr } = await recovered('whole', IMU);
  t.is(code, 0);
  t.is(read.messages.length, 126);
  t.regex(stderr, /recovered 126 messages of 2 channels.*nothing was lost/);
});

test('recover exits 0 where only the index is missing', async (t) => {
  const summary = IMU.length - 600;
  for (const [name, bytes] of [
    ['cut-in-summary', IMU.subarray(0, summary)],
    ['cut-in-magic', IMU.subarray(0, IMU.length - 3)],
    ['no-summary', mcap.file(mcap.schema(1), mcap.channel(1, 1), mcap.message(1, 7))],
    ['between-records', mcap.open(mcap.schema(1), mcap.channel(1, 1), mcap.message(1, 7))],
    ['cut-in-message-index', IMU.subarray(0, 9000)],
  ] as const) {
    const { code, stderr, read } = await recovered(name, bytes);
    t.is(code, 0, `${name}: ${stderr}`);
    t.regex(stderr, /only the index was missing/);
    t.true(read.messages.length > 0);
  }
});

test('recover of a cut recording says what was lost, exits 3, and its output is indexed', async (t) => {
  const { code, stdout, read } = await recovered('cut', IMU.subarray(0, 8500), '--json');
  t.is(code, 3);
  t.true(read.messages.length > 80 && read.messages.length < 126);
  t.is(read.chunkIndexes > 0, true);
  t.like(JSON.parse(stdout), {
    recovered: { messages: read.messages.length },
    dataLost: true,
    lost: { messages: null },
    damage: [{ code: 'MCAP_TRUNCATED' }],
  });
});

const GOOD = mcap.chunk(Buffer.concat([mcap.schema(1), mcap.channel(1, 1), mcap.message(1, 7)]));
const BAD = mcap.chunk(Buffer.concat([mcap.message(1, 8), mcap.message(1, 9)]), { crc: 5 });

test('a chunk with a wrong CRC is lost, and kept and flagged with --keep-suspect', async (t) => {
  const bytes = mcap.file(GOOD, BAD, mcap.message(1, 10));
  const strict = await recovered('crc', bytes);
  t.is(strict.code, 3);
  t.deepEqual(
    strict.read.messages.map(({ logTime }) => logTime),
    [7n, 10n],
  );
  t.regex(strict.stderr, /lost .*, 1 chunks/);
  const kept = await recovered('crc-kept', bytes, '--keep-suspect');
  t.is(kept.code, 3);
  t.deepEqual(
    kept.read.messages.map(({ logTime }) => logTime),
    [7n, 8n, 9n, 10n],
  );
  t.deepEqual(Object.fromEntries(kept.read.metadata.get('mcap-ros2:suspect') ?? []), {
    reason: 'the CRC of their chunks is wrong',
    chunks: '1',
    messages: '2',
    start: '8',
    end: '9',
  });
});

test('recover leaves nothing behind where the input is no recording', async (t) => {
  const output = join(FOLDER, 'nothing.mcap');
  t.is((await mcapRos2(['recover', 'package.json', '-o', output])).code, 1);
  t.deepEqual(
    readdirSync(FOLDER).filter((name) => name.includes('nothing')),
    [],
  );
});

test('doctor lists faults with offset and code, exits 1 on errors and 0 on warnings', async (t) => {
  const whole = await mcapRos2(['doctor', '--json'], IMU);
  t.is(whole.code, 0);
  t.deepEqual(JSON.parse(whole.stdout), { file: 'stdin', errors: 0, warnings: 0, faults: [] });
  const missing = await mcapRos2(['doctor', '-'], mcap.file(GOOD));
  t.is(missing.code, 0);
  t.regex(missing.stdout, /warning summary-missing/);
  const wrong = await mcapRos2(['doctor', '--json'], mcap.file(GOOD, BAD));
  t.is(wrong.code, 1);
  const offset = mcap.open(GOOD).length;
  t.like(JSON.parse(wrong.stdout), { errors: 1, faults: [{ code: 'MCAP_CHUNK_CRC_MISMATCH', offset }] });
  const other = await mcapRos2(['doctor'], 'no recording');
  t.is(other.code, 1);
  t.regex(other.stdout, /error MCAP_NOT_MCAP at 0/);
});

test('doctor warns of disorder, of a schema that does not parse and of a payload that does not fit', async (t) => {
  const bytes = mcap.file(
    mcap.schema(1),
    mcap.schema(2, { data: '???' }),
    mcap.channel(1, 1),
    mcap.channel(2, 2),
    mcap.message(1, 9),
    mcap.message(1, 8, Buffer.alloc(2)),
  );
  const { code, stdout } = await mcapRos2(['doctor', '--json'], bytes);
  t.is(code, 0);
  const { faults } = JSON.parse(stdout) as { faults: { code: string }[] };
  t.deepEqual(
    faults.map((fault) => fault.code),
    ['summary-missing', 'SCHEMA_SYNTAX', 'CDR_NO_ENCAPSULATION', 'log-time-disorder'],
  );
});

sharedTest('recover keeps exactly what an independent reader found sound in the damaged recordings', async (t) => {
  const expected = JSON.parse(readShared('damaged', 'EXPECTED.json').toString()) as Record<
    string,
    { messagesDeliverable: number }
  >;
  const files = sharedFiles('damaged', '.mcap').filter((name) => name.startsWith('wbag_0') || name.startsWith('cdr_'));
  for (const name of files) {
    const { read } = await recovered(name.replaceAll('/', '-'), readShared('damaged', name));
    t.true(read.messages.length >= (expected[name]?.messagesDeliverable ?? 0), name);
  }
});
