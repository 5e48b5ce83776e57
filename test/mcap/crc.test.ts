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
