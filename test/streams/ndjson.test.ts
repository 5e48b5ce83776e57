/** Messages and records to NDJSON, and back. */
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import test from 'ava';
import { decodeStream, jsonMessages, McapRecordParser, ndjson } from '../../lib/index.js';
import type { DecodedMessage, JsonMessage, NdjsonInput, NdjsonOptions } from '../../lib/index.js';
import { compileCodec } from '../../lib/cdr/codec.js';
import { McapStreamsError } from '../../lib/errors.js';
import { readShared, sharedFiles, sharedTest } from '../helpers/shared.js';
import { collect } from '../helpers/streams.js';

const encoder = new TextEncoder();
const schema = {
  type: 'Schema',
  id: 1,
  name: 't/msg/T',
  encoding: 'ros2msg',
  data: encoder.encode('int64 a\nfloat64[] b'),
} as const;
const channel = {
  type: 'Channel',
  id: 1,
  schemaId: 1,
  topic: '/é',
  messageEncoding: 'cdr',
  metadata: new Map([['offered_qos_profiles', '- history: 3\n']]),
} as const;
const value = { a: -9007199254740993n, b: Float64Array.of(1.5, NaN, -0) };
const HEAD =
  '{"topic":"/é","schemaName":"t/msg/T","logTime":"18446744073709551615","publishTime":"0","sequence":7,"message":';
const LINE = `${HEAD}{"a":"-9007199254740993","b":[1.5,"NaN",-0]}}\n`;
const CHANNEL_LINE =
  '{"topic":"/é","schemaName":"t/msg/T","messageEncoding":"cdr","encoding":"ros2msg",' +
  '"definition":"int64 a\\nfloat64[] b","metadata":{"offered_qos_profiles":"- history: 3\\n"}}\n';

function message(more: Partial<DecodedMessage> = {}): DecodedMessage {
  const logTime = 18446744073709551615n;
  return {
    topic: '/é',
    schemaName: 't/msg/T',
    channel,
    schema,
    logTime,
    publishTime: 0n,
    sequence: 7,
    message: value,
    ...more,
  };
}

function record(data: Uint8Array = compileCodec(schema).encode(value)) {
  return { type: 'Message', channelId: 1, sequence: 7, logTime: 18446744073709551615n, publishTime: 0n, data } as const;
}

async function lines(
  inputs: readonly (NdjsonInput | readonly NdjsonInput[])[],
  options?: NdjsonOptions,
): Promise<{ text: string; error: unknown }> {
  const pieces: Buffer[] = [];
  let error: unknown;
  const stage = ndjson(options);
  try {
    stage.on('data', (piece: Buffer) => pieces.push(piece));
    await pipeline(Readable.from(inputs), stage);
  } catch (reason) {
    error = reason;
  }
  return { text: Buffer.concat(pieces).toString(), error };
}

test('messages, batches, records and batches of records become the same lines', async (t) => {
  t.deepEqual(await lines([message()]), { text: LINE, error: undefined });
  t.deepEqual(await lines([[message(), message()]]), { text: LINE + LINE, error: undefined });
  t.deepEqual(await lines([schema, channel, record()]), { text: LINE, error: undefined });
  t.deepEqual(
    await lines([
      [schema, channel],
      [record(), record()],
    ]),
    { text: LINE + LINE, error: undefined },
  );
});

test('withChannels: the line of a channel comes once, before its first message', async (t) => {
  const options = { withChannels: true };
  t.is((await lines([message(), message()], options)).text, CHANNEL_LINE + LINE + LINE);
  t.is((await lines([schema, channel, record(), record()], options)).text, CHANNEL_LINE + LINE + LINE);
});

test('a message without a schema is written as its values tell', async (t) => {
  const { text } = await lines([{ topic: '/a', logTime: 5n, message: { x: 1n, y: [Infinity], z: Uint8Array.of(1) } }]);
  t.is(
    text,
    '{"topic":"/a","schemaName":"","logTime":"5","publishTime":"5","sequence":0,"message":{"x":"1","y":["Infinity"],"z":"AQ=="}}\n',
  );
});

test('an undecoded message keeps its payload and the reason', async (t) => {
  const error = new McapStreamsError('CDR_TRUNCATED', 'too "short"');
  const { text } = await lines([message({ message: undefined, data: Uint8Array.of(1, 2), error })]);
  t.is(text, `${HEAD}null,"data":"AQI=","error":"too \\"short\\""}\n`);
});

test('a payload that does not fit its type: throw, raw, skip', async (t) => {
  const inputs = [schema, channel, record(), record(Uint8Array.of(0, 1, 0, 0, 5)), record()];
  const thrown = await lines(inputs);
  t.is(thrown.text, LINE);
  t.like(thrown.error, { code: 'CDR_TRUNCATED', topic: '/é', logTime: 18446744073709551615n, field: 'a' });
  t.is((await lines(inputs, { undecodable: 'skip' })).text, LINE + LINE);
  t.regex((await lines(inputs, { undecodable: 'raw' })).text, /"message":null,"data":"AAEAAAU=","error":".*a, byte/);
});

test('a value of another kind is an error with topic, time and field', async (t) => {
  const { text, error } = await lines([[message(), message({ message: { a: 'x' } })]]);
  t.is(text, LINE);
  t.like(error, { code: 'ENCODE_WRONG_KIND', topic: '/é', logTime: 18446744073709551615n, field: 'a' });
});

test('a projected message is written as far as it goes', async (t) => {
  const { text } = await lines([message({ message: { a: 1n }, partial: true })]);
  t.is(text, `${HEAD}{"a":"1"}}\n`);
});

test('a wrong option is a TypeError with the nearest one', (t) => {
  t.throws(() => ndjson({ withChannel: true } as NdjsonOptions), { instanceOf: TypeError, message: /withChannels/ });
  t.throws(() => jsonMessages({ maxLine: 1 } as object), { instanceOf: TypeError, message: /maxLineLength/ });
});

test('a slow reader holds the source back', async (t) => {
  let made = 0;
  function* source() {
    for (; made < 10_000; made++) yield message();
  }
  const stage = ndjson();
  Readable.from(source()).pipe(stage);
  await new Promise((resolve) => setTimeout(resolve, 50));
  t.true(stage.readableLength <= stage.readableHighWaterMark + 200);
  t.true(made < 200);
  stage.destroy();
});

sharedTest(
  'decode -> NDJSON -> encode gives the same payloads for every recording, from messages and from records',
  async (t) => {
    let messages = 0;
    for (const file of sharedFiles('recordings', '.mcap')) {
      const bytes = readShared('recordings', file);
      const policy = { undecodable: 'raw', unsupported: 'raw', damage: 'end' } as const;
      const decoded = (await collect(bytes, decodeStream(policy))).got;
      for (const from of ['messages', 'records'] as const) {
        const back: JsonMessage[] = [];
        const out = jsonMessages();
        out.on('data', (item: JsonMessage) => back.push(item));
        const options = { withChannels: true, undecodable: 'raw' } as const;
        await (
          from === 'messages'
            ? pipeline(Readable.from(decoded), ndjson(options), out)
            : pipeline(Readable.from([bytes]), new McapRecordParser({ damage: 'end' }), ndjson(options), out)
        ).catch((error: unknown) => {
          if (!(error instanceof McapStreamsError) || error.code !== 'MCAP_NOT_MCAP') throw error;
        });
        t.is(back.length, decoded.length, file);
        back.forEach((item, index) => {
          const wanted = decoded[index];
          if (wanted === undefined) return;
          messages++;
          const { topic, schemaName, logTime, publishTime, sequence } = wanted;
          t.like(item, { topic, schemaName, logTime, publishTime, sequence });
          t.deepEqual(item.channel?.metadata, wanted.channel.metadata);
          if (wanted.message === undefined || wanted.schema === undefined) {
            t.deepEqual(item.data, wanted.data && Uint8Array.from(wanted.data));
            return;
          }
          const codec = compileCodec(wanted.schema);
          if (item.schema === undefined) t.fail(`${file}: no schema`);
          else if (Buffer.compare(compileCodec(item.schema).encode(item.message), codec.encode(wanted.message)) !== 0)
            t.fail(`${file} ${topic}: other bytes`);
        });
      }
    }
    t.true(messages > 20_000);
  },
);
