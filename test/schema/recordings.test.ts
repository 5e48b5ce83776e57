import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import wasmLz4 from '@foxglove/wasm-lz4';
import { decompress as decompressZstd, isLoaded as zstdIsLoaded } from '@foxglove/wasm-zstd';
import { McapStreamReader, type McapTypes } from '@mcap/core';
import type { MessageDefinition } from '../../lib/schema/definition.js';
import { parseSchema } from '../../lib/schema/registry.js';
import { fieldTexts, partOf } from '../helpers/definitions.js';
import { canonicalText } from '../helpers/reference-decoder.js';
import { readShared, sharedFiles, sharedPath, sharedTest } from '../helpers/shared.js';

type McapRecord = McapTypes.TypedMcapRecord;

const ENCODINGS = ['ros2msg', 'ros2idl', 'omgidl'];

/** All whole records of a recording, in order; what is damaged ends them. */
async function readRecords(path: string): Promise<McapRecord[]> {
  await zstdIsLoaded;
  await wasmLz4.isLoaded;
  const reader = new McapStreamReader({
    decompressHandlers: {
      zstd: (bytes, size) => decompressZstd(bytes, Number(size)),
      lz4: (bytes, size) => wasmLz4(bytes, Number(size)),
    },
  });
  const records: McapRecord[] = [];
  try {
    reader.append(readShared('recordings', path));
    for (let record = reader.nextRecord(); record !== undefined; record = reader.nextRecord()) records.push(record);
  } catch {
    // Some of the files are no MCAP at all: their schemas are no matter here.
  }
  return records;
}

sharedTest('every ROS 2 schema in a recording parses without a warning', async (t) => {
  const counts = new Map<string, Set<string>>(ENCODINGS.map((encoding) => [encoding, new Set()]));
  for (const path of sharedFiles('recordings', '.mcap')) {
    for (const record of await readRecords(path)) {
      if (record.type !== 'Schema' || !ENCODINGS.includes(record.encoding)) continue;
      t.notThrows(() => {
        t.deepEqual(parseSchema(record).warnings, []);
      }, `${path}: ${record.name}`);
      counts.get(record.encoding)?.add(`${record.name}\n${new TextDecoder().decode(record.data)}`);
    }
  }
  t.deepEqual(
    [...counts].map(([encoding, texts]) => [encoding, texts.size]),
    [
      ['ros2msg', 138],
      ['ros2idl', 1],
      ['omgidl', 10],
    ],
  );
});

sharedTest('the definitions of recorded schemas read the messages to their golden values', async (t) => {
  let compared = 0;
  const kinds = new Map<string, number>();
  for (const path of sharedFiles('recordings', '.mcap')) {
    const golden = sharedPath('golden', 'decoded', `${path}.jsonl`);
    if (!existsSync(golden)) continue;
    const lines = readShared('golden', 'decoded', `${path}.jsonl`).toString('utf8').trim().split('\n');
    const expected = new Map<string, string>();
    for (const line of lines) {
      const { topic, logTime, sequence, sha256 } = JSON.parse(line) as GoldenLine;
      expected.set(`${topic} ${logTime} ${sequence}`, sha256);
    }
    const schemas = new Map<number, MessageDefinition>();
    const channels = new Map<number, McapTypes.TypedMcapRecords['Channel']>();
    for (const record of await readRecords(path)) {
      if (record.type === 'Schema' && ENCODINGS.includes(record.encoding)) schemas.set(record.id, parseSchema(record));
      if (record.type === 'Channel') channels.set(record.id, record);
      if (record.type !== 'Message') continue;
      const channel = channels.get(record.channelId);
      const definition = schemas.get(channel?.schemaId ?? 0);
      const sha256 = expected.get(`${channel?.topic ?? ''} ${record.logTime} ${record.sequence}`);
      if (definition === undefined || sha256 === undefined) continue;
      const text = canonicalText(definition, record.data);
      if (createHash('sha256').update(text).digest('hex') !== sha256) {
        t.fail(`${path} ${channel?.topic ?? ''} ${record.logTime}: ${text.slice(0, 500)}`);
        return;
      }
      compared++;
      const kind = definition.name.endsWith('_Event') ? 'service event' : (channel?.messageEncoding ?? '');
      kinds.set(kind, (kinds.get(kind) ?? 0) + 1);
    }
  }
  t.is(compared, 9928);
  t.is(kinds.get('service event'), 26);
});

interface GoldenLine {
  readonly topic: string;
  readonly logTime: string;
  readonly sequence: number;
  readonly sha256: string;
}

sharedTest('the schema of an event camera, the real ros2idl one, has the fields of its messages', async (t) => {
  const records = await readRecords('event-camera/test_events_2_0.mcap');
  const schema = records.find((record) => record.type === 'Schema');
  t.truthy(schema);
  if (schema === undefined) return;
  t.is(schema.encoding, 'ros2idl');
  const definition = parseSchema(schema);
  t.deepEqual(fieldTexts(definition), [
    'std_msgs/msg/Header header',
    'uint32 height',
    'uint32 width',
    'uint64 seq',
    'uint64 time_base',
    'string encoding',
    'bool is_bigendian',
    'uint8[] events',
  ]);
  t.is(definition.comment, 'This message contains a packet of camera events');
  t.deepEqual(fieldTexts(partOf(definition, 'header')), ['builtin_interfaces/msg/Time stamp', 'string frame_id']);
});
