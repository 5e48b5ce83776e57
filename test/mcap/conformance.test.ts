import fc from 'fast-check';
import test from 'ava';
import { McapRecordParser } from '../../lib/streams/mcap-record-parser.js';
import type { McapRecord } from '../../lib/mcap/records.js';
import { readShared, sharedFiles, sharedTest } from '../helpers/shared.js';
import { collect, cutAt, pieces } from '../helpers/streams.js';

/** One record as the official descriptors write it. */
interface Described {
  type: string;
  fields: [string, unknown][];
}

function snake(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

function describeValue(value: unknown): unknown {
  if (value instanceof Uint8Array) return Array.from(value, String);
  if (value instanceof Map) return Object.fromEntries([...value].map(([key, item]) => [String(key), String(item)]));
  return String(value);
}

function describeRecord({ type, ...fields }: McapRecord): Described {
  return {
    type,
    fields: Object.entries(fields)
      .map(([name, value]): [string, unknown] => [snake(name), describeValue(value)])
      .sort(([a], [b]) => (a < b ? -1 : 1)),
  };
}

const names = sharedFiles('conformance', '.mcap').filter((name) => !name.startsWith('tools'));

function expectedRecords(name: string): Described[] {
  const text = readShared('conformance', name.replace(/mcap$/, 'json')).toString();
  return (JSON.parse(text) as { records: Described[] }).records;
}

async function readRecords(parts: Iterable<Uint8Array>): Promise<Described[]> {
  const { got, error } = await collect(parts, new McapRecordParser());
  if (error !== undefined) throw error;
  // The descriptors list no MessageIndex.
  return got.filter(({ type }) => type !== 'MessageIndex').map(describeRecord);
}

sharedTest('there are 416 conformance files', (t) => {
  t.is(names.length, 416);
});

sharedTest('every conformance file gives the records that it lists, fed whole', async (t) => {
  for (const name of names) {
    t.deepEqual(await readRecords([readShared('conformance', name)]), expectedRecords(name), name);
  }
});

sharedTest('every conformance file gives the records that it lists, fed byte by byte', async (t) => {
  for (const name of names) {
    t.deepEqual(await readRecords(pieces(readShared('conformance', name), 1)), expectedRecords(name), name);
  }
});

sharedTest('every conformance file gives the records that it lists, in random splits', async (t) => {
  await fc.assert(
    fc.asyncProperty(
      fc.integer({ min: 0, max: names.length - 1 }),
      fc.array(fc.nat(2000), { maxLength: 12 }),
      async (index, places) => {
        const name = names[index] ?? '';
        const parts = cutAt(
          readShared('conformance', name),
          places.toSorted((a, b) => a - b),
        );
        t.deepEqual(await readRecords(parts), expectedRecords(name), name);
      },
    ),
    { numRuns: 300 },
  );
});

test('the descriptors of another record are not taken for those of a file', (t) => {
  const header: McapRecord = { type: 'Header', profile: 'ros2', library: 'x' };
  t.deepEqual(describeRecord(header), {
    type: 'Header',
    fields: [
      ['library', 'x'],
      ['profile', 'ros2'],
    ],
  });
});
