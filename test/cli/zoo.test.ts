import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'ava';
import { mcapRos2 } from '../helpers/command.js';
import * as mcap from '../helpers/mcap-bytes.js';
import { ROOT } from '../helpers/shared.js';
import { EXIT_CODES, KINDS, VERBS } from '../helpers/zoo.js';
import type { Kind } from '../helpers/zoo.js';

const FOLDER = mkdtempSync(join(tmpdir(), 'zoo-'));
test.after.always(() => {
  rmSync(FOLDER, { recursive: true, force: true });
});

const IMU = readFileSync(join(ROOT, 'fixtures/recordings/imu-zstd.mcap'));
const GOOD = mcap.chunk(Buffer.concat([mcap.schema(1), mcap.channel(1, 1), mcap.message(1, 7)]));
const BAD = mcap.chunk(Buffer.concat([mcap.message(1, 8), mcap.message(1, 9)]), { crc: 5 });

const SAMPLES: Readonly<Record<Kind, Uint8Array>> = {
  whole: IMU,
  'index missing': mcap.file(GOOD),
  cut: IMU.subarray(0, 8500),
  'cut behind the data': IMU.subarray(0, IMU.length - 20),
  'CRC wrong': mcap.file(GOOD, BAD),
  'not an MCAP': Buffer.from('no recording, but some text'),
};

for (const kind of KINDS) {
  test(`every command has its exit code on a recording that is: ${kind}`, async (t) => {
    const path = join(FOLDER, `${kind.replaceAll(' ', '-')}.mcap`);
    writeFileSync(path, SAMPLES[kind]);
    for (const [name, verb] of Object.entries(VERBS)) {
      const output = join(FOLDER, `${kind.replaceAll(' ', '-')}-${name.replaceAll(' ', '-')}.out`);
      const { code, stderr } = await mcapRos2(verb(path, output));
      t.true(EXIT_CODES[name]?.[kind].includes(code ?? -1), `${name} on ${kind}: ${code ?? ''} ${stderr}`);
      t.notRegex(stderr, /\bat .*\.js:\d+/, 'no stack trace');
    }
  });
}
