import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { crc32 as zlibCrc32 } from 'node:zlib';
import fc from 'fast-check';
import test from 'ava';
import { combineCrc32, crc32 } from '../../lib/mcap/crc.js';

test('the CRC of "123456789" is the check value of CRC-32', (t) => {
  t.is(crc32(Buffer.from('123456789')), 0xcbf43926);
});

test('the CRC of two parts follows from theirs', (t) => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 300 }), fc.uint8Array({ maxLength: 5000 }), (first, second) => {
      const both = zlibCrc32(Buffer.concat([first, second]));
      t.is(combineCrc32(crc32(first), crc32(second), second.length), both);
    }),
  );
});

test('long inputs, which are summed by an addon, have the same CRC', (t) => {
  const bytes = randomBytes(9 * 2 ** 20);
  t.is(crc32(bytes), zlibCrc32(bytes));
  fc.assert(
    fc.property(fc.nat(300), fc.nat(100_000), fc.integer({ min: 0, max: 0xffffffff }), (from, length, value) => {
      const part = bytes.subarray(from, from + length);
      t.is(crc32(part, value), zlibCrc32(part, value));
      t.is(crc32(new Uint8Array(part.buffer, part.byteOffset, length), value), zlibCrc32(part, value));
    }),
  );
});

for (const flags of [[], ['--no-addons']]) {
  test(`it is right in a process with ${flags.join() || 'addons'}`, (t) => {
    const script = `
      const { crc32 } = await import(${JSON.stringify(new URL('../../lib/mcap/crc.js', import.meta.url).href)});
      const bytes = Buffer.alloc(2 ** 20, 'ros2');
      let sum = 0;
      for (let n = 0; n < 20; n++) sum = crc32(bytes, sum);
      console.log(sum, process.report.getReport().sharedObjects.some((path) => path.includes('crc32')));
    `;
    const output = execFileSync(process.execPath, [...flags, '--input-type=module', '-e', script], {
      encoding: 'utf8',
    });
    t.is(output, `${zlibCrc32(Buffer.alloc(20 * 2 ** 20, 'ros2'))} ${flags.length === 0}\n`);
  });
}
