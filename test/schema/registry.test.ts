import test from 'ava';
import { parseSchema } from '../../lib/schema/registry.js';

const RULE = '='.repeat(80);

test('a schema of a message and its dependency becomes a tree', (t) => {
  const data = `std_msgs/Header header\nfloat64[3] v\n${RULE}\nMSG: std_msgs/Header\nbuiltin_interfaces/Time stamp\nstring frame_id\n`;
  const definition = parseSchema({ name: 'p/msg/A', encoding: 'ros2msg', data });
  t.is(definition.name, 'p/msg/A');
  t.deepEqual(
    definition.fields.map((field) => field.name),
    ['header', 'v'],
  );
  const [header, v] = definition.fields.map((field) => field.type);
  t.deepEqual(v, { kind: 'array', element: { kind: 'primitive', name: 'float64' }, length: 3 });
  t.true(header?.kind === 'message' && header.definition.name === 'std_msgs/msg/Header');
});

test('equal content gives the same definition, other content another one', (t) => {
  const schema = { name: 'p/msg/A', encoding: 'ros2msg', data: 'uint8 x' };
  t.is(parseSchema(schema), parseSchema({ ...schema, data: new TextEncoder().encode('uint8 x') }));
  t.not(parseSchema(schema), parseSchema({ ...schema, data: 'uint8 y' }));
  t.not(parseSchema(schema), parseSchema({ ...schema, name: 'p/msg/B' }));
});

test('a fault gives the same error again', (t) => {
  const schema = { name: 'p/msg/A', encoding: 'ros2msg', data: 'uint8' };
  const first = t.throws(() => parseSchema(schema), { code: 'SCHEMA_SYNTAX' });
  t.is(
    t.throws(() => parseSchema(schema)),
    first,
  );
});

test('an encoding that is no ROS 2 schema is refused by name', (t) => {
  const error = t.throws(() => parseSchema({ name: 'A', encoding: 'protobuf', data: '' }), {
    code: 'SCHEMA_UNSUPPORTED_ENCODING',
  });
  t.regex(error.message, /protobuf/);
});
