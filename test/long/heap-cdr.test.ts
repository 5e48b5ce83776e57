/** What a payload can make the decoder allocate: at most 128 bytes of heap a byte of it, and 64 KiB. */
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import test from 'ava';
import { codecs, SEP } from '../helpers/codecs.js';

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;

function used(): number {
  collect();
  const { heapUsed, arrayBuffers } = process.memoryUsage();
  return heapUsed + arrayBuffers;
}

const COUNT = 2 ** 20;

const CASES: Readonly<Record<string, [text: string, bytesAnElement: number]>> = {
  'empty structs': [`E[] a\n${SEP}MSG: t/E\n`, 1],
  'structs of one byte': [`E[] a\n${SEP}MSG: t/E\nuint8 a\n`, 1],
  'structs of an empty struct': [`Q[] a\n${SEP}MSG: t/Q\nE e\n${SEP}MSG: t/E\n`, 1],
  'structs of one bool in an array': [`E[] a\n${SEP}MSG: t/E\nbool[1] a\n`, 1],
  'empty strings': ['string[] a', 4],
  'empty arrays': [`E[] a\n${SEP}MSG: t/E\nuint8[] a\n`, 4],
  'floats in structs': [`E[] a\n${SEP}MSG: t/E\nfloat32 a\n`, 4],
  times: ['builtin_interfaces/Time[] a', 8],
  'integers of 64 bits in structs': [`E[] a\n${SEP}MSG: t/E\nuint64 a\n`, 8],
  bytes: ['uint8[] a', 1],
};

for (const [name, [text, size]] of Object.entries(CASES)) {
  test.serial(`${name} keep within the limit`, (t) => {
    for (const codec of codecs(text)) {
      const count = Math.floor(COUNT / size);
      const payload = new Uint8Array(12 + COUNT);
      payload[1] = 1;
      new DataView(payload.buffer).setUint32(4, count, true);
      const before = used();
      const value = codec.decode(payload);
      const grown = used() - before;
      t.true(grown <= 128 * payload.length + 65536, `${grown / payload.length} bytes a byte`);
      t.is((value as { a: ArrayLike<unknown> }).a.length, count);
    }
  });
}

test.serial('a count that lies allocates nothing', (t) => {
  for (const [text] of Object.values(CASES)) {
    for (const codec of codecs(text)) {
      const payload = new Uint8Array(64);
      payload[1] = 1;
      t.throws(() => codec.decode(payload.subarray(0, 4)));
      new DataView(payload.buffer).setUint32(4, 0x40000000, true);
      const attempt = (): unknown => t.throws(() => codec.decode(payload), { code: 'CDR_BAD_LENGTH' });
      // Compiled code and whatever else the process does only add: the least of some attempts is the payload's doing.
      const growths = Array.from({ length: 7 }, () => {
        const before = used();
        attempt();
        return used() - before;
      });
      const grown = Math.min(...growths);
      t.true(grown < 128 * 64 + 65536, `${grown} bytes`);
    }
  }
});
