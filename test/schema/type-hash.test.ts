/** RIHS01: against the hashes that ROS 2 itself wrote into recordings and metadata. */
import test from 'ava';
import { McapRecordParser, parseSchema, standardDefinitions, typeHash } from '../../lib/index.js';
import { McapStreamsError } from '../../lib/errors.js';
import { readShared, sharedFiles, sharedTest } from '../helpers/shared.js';
import { collect } from '../helpers/streams.js';
import type { ChannelRecord, McapRecord, SchemaRecord } from '../../lib/index.js';

// As `ros2 topic info --verbose` shows them for jazzy.
const KNOWN: readonly [string, string][] = [
  ['std_msgs/msg/String', 'RIHS01_df668c740482bbd48fb39d76a70dfd4bd59db1288021743503259e948f6b1a18'],
  ['std_msgs/msg/Empty', 'RIHS01_20b625256f32d5dbc0d04fee44f43c41e51c70d3502f84b4a08e7a9c26a96312'],
  ['builtin_interfaces/msg/Time', 'RIHS01_b106235e25a4c5ed35098aa0a61a3ee9c9b18d197f398b0e4206cea9acf9c197'],
];

for (const [name, hash] of KNOWN) {
  test(`the hash of ${name} is that of ROS 2`, (t) => {
    const schema = standardDefinitions('jazzy').get(name);
    t.is(schema && typeHash(schema), hash);
    t.is(schema && typeHash(parseSchema(schema)), hash);
  });
}

test('a schema that does not parse is its own error', (t) => {
  t.throws(() => typeHash({ name: 'a/B', encoding: 'ros2msg', data: 'x y z' }), { instanceOf: McapStreamsError });
});

sharedTest('every topic_type_hash of the recordings is that of the recorded schema', async (t) => {
  let same = 0;
  const other = new Set<string>();
  for (const file of sharedFiles('recordings', '.mcap')) {
    const { got } = await collect<McapRecord>(
      readShared('recordings', file),
      new McapRecordParser({ damage: 'end', include: ['Schema', 'Channel'] }),
    );
    const schemas = new Map(
      got.filter((record): record is SchemaRecord => record.type === 'Schema').map((s) => [s.id, s]),
    );
    for (const channel of got.filter((record): record is ChannelRecord => record.type === 'Channel')) {
      const hash = channel.metadata.get('topic_type_hash');
      const schema = schemas.get(channel.schemaId);
      if (schema === undefined || hash === undefined || !hash.startsWith('RIHS01_')) continue;
      try {
        if (typeHash(schema) === hash) same++;
        else other.add(`${file} ${schema.name}`);
      } catch (error) {
        other.add(`${file} ${schema.name} ${(error as Error).message}`);
      }
    }
  }
  t.deepEqual([...other], []);
  t.true(same > 25);
});

sharedTest('the hashes of bag metadata are those of the standard definitions', (t) => {
  const standard = standardDefinitions('jazzy');
  const counts = { same: 0 };
  const others = new Set<string>();
  for (const file of sharedFiles('rosbag2-metadata', '.yaml')) {
    const text = readShared('rosbag2-metadata', file).toString();
    for (const [, name = '', hash = ''] of text.matchAll(/type: (\S+)[\s\S]*?type_description_hash: (\S+)/g)) {
      if (!hash.startsWith('RIHS01_') || name.includes('/srv/')) continue;
      const schema = standard.get(name);
      if (schema === undefined) continue;
      if (typeHash(schema) === hash) counts.same++;
      else others.add(`${file} ${name}`);
    }
  }
  t.deepEqual([...others], []);
  t.true(counts.same >= 5);
});
