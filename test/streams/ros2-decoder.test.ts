import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { McapStreamReader } from '@mcap/core';
import test from 'ava';
import { Ros2Decoder } from '../../lib/index.js';
import type { DecodedMessage, McapRecord } from '../../lib/index.js';
import * as mcap from '../helpers/mcap-bytes.js';
import { ROOT } from '../helpers/shared.js';

/** Records as @mcap/core gives them. */
function records(bytes: Uint8Array): McapRecord[] {
  const reader = new McapStreamReader();
  reader.append(bytes);
  const all: McapRecord[] = [];
  for (let next = reader.nextRecord(); next !== undefined; next = reader.nextRecord()) all.push(next);
  return all;
}

const UNCHUNKED = readFileSync(join(ROOT, 'fixtures/recordings/status-unchunked.mcap'));

async function decode<Out>(input: readonly McapRecord[], decoder: Ros2Decoder<Out>): Promise<Out[]> {
  const got: Out[] = [];
  await pipeline(Readable.from(input), decoder, async (outputs: AsyncIterable<Out>) => {
    for await (const output of outputs) got.push(output);
  });
  return got;
}

test('it decodes the records that @mcap/core reads', async (t) => {
  const got = await decode(records(UNCHUNKED), new Ros2Decoder());
  const expected = JSON.parse(readFileSync(join(ROOT, 'fixtures/recordings/status-unchunked.json'), 'utf8')) as {
    message: unknown;
  }[];
  t.is(got.length, expected.length);
  t.deepEqual(got.at(-1)?.message, expected.at(-1)?.message);
});

test('passRecords hands every other record on, in its place', async (t) => {
  const input = records(UNCHUNKED);
  const got = await decode(input, new Ros2Decoder<DecodedMessage | McapRecord>({ passRecords: true }));
  t.is(got.length, input.length);
  got.forEach((item, n) => {
    const record = input[n];
    if (record?.type === 'Message') t.is((item as DecodedMessage).logTime, record.logTime);
    else t.is(item as McapRecord, record as McapRecord);
  });
});

test('a message on an unknown channel is a typed error', async (t) => {
  const message: McapRecord = {
    type: 'Message',
    channelId: 3,
    sequence: 0,
    logTime: 0n,
    publishTime: 0n,
    data: mcap.FIVE,
  };
  await t.throwsAsync(decode([message], new Ros2Decoder()), { code: 'MCAP_UNKNOWN_CHANNEL' });
});

test('what is no record is a typed error, and a wrong option a TypeError', async (t) => {
  await t.throwsAsync(decode([Buffer.from('bytes') as never], new Ros2Decoder()), { code: 'MCAP_BAD_RECORD' });
  t.throws(() => new Ros2Decoder({ passrecords: true } as never), { instanceOf: TypeError, message: /passRecords/ });
});

test('records that are written before anybody reads are not lost', async (t) => {
  const records: McapRecord[] = Array.from({ length: 50 }, (_, n) => ({
    type: 'Metadata',
    name: String(n),
    metadata: new Map(),
  }));
  const stage = new Ros2Decoder<McapRecord>({ passRecords: true, readableHighWaterMark: 1 });
  for (const record of records) stage.write(record);
  stage.end();
  const got: McapRecord[] = [];
  for await (const record of stage) got.push(record);
  t.deepEqual(got, records);
});
