import test from 'ava';
import { McapStreamsError } from '../../lib/errors.js';
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
  t.throws(() => parseSchema({ name: 'A', encoding: '', data: new Uint8Array() }), {
    code: 'SCHEMA_UNSUPPORTED_ENCODING',
  });
  t.throws(() => parseSchema({ name: 'A', encoding: 'cdr', data: 'A' }), { code: 'SCHEMA_UNSUPPORTED_ENCODING' });
});

test('two schemas of one name and different texts do not disturb one another', (t) => {
  const first = parseSchema({ name: 'p/msg/A', encoding: 'ros2msg', data: 'uint8 x' });
  const second = parseSchema({ name: 'p/msg/A', encoding: 'ros2msg', data: 'uint16 x' });
  t.deepEqual(first.fields[0]?.type, { kind: 'primitive', name: 'uint8' });
  t.deepEqual(second.fields[0]?.type, { kind: 'primitive', name: 'uint16' });
});

test('the cache forgets what was not asked for longest', (t) => {
  const schema = (i: number): { name: string; encoding: string; data: string } => ({
    name: 'p/msg/A',
    encoding: 'ros2msg',
    data: `uint8 forgotten_${i}`,
  });
  const first = parseSchema(schema(0));
  const used = parseSchema(schema(1));
  for (let i = 2; i < 6000; i++) {
    parseSchema(schema(i));
    if (i % 1000 === 0) parseSchema(schema(1));
  }
  t.is(parseSchema(schema(1)), used);
  t.not(parseSchema(schema(0)), first);
  t.deepEqual(parseSchema(schema(0)), first);
});

test('a text too long for the cache is parsed all the same', (t) => {
  const data = `uint8 x # ${'c'.repeat(20_000_000)}`;
  t.is(parseSchema({ name: 'p/msg/A', encoding: 'ros2msg', data }).fields.length, 1);
  t.is(parseSchema({ name: 'p/msg/A', encoding: 'ros2msg', data: 'uint8 x' }).fields.length, 1);
});

test('a schema without a name is an error', (t) => {
  for (const name of ['', ' ', '/']) {
    t.throws(() => parseSchema({ name, encoding: 'ros2msg', data: 'uint8 x' }), { code: 'SCHEMA_ROOT_NOT_FOUND' });
  }
});

test('errors carry code, schema name, line, column and the text of the line', (t) => {
  const schemas = [
    { name: 'p/A', encoding: 'ros2msg', data: 'uint8 x\nuint8 !y\n' },
    { name: 'p/A', encoding: 'ros2idl', data: 'struct A {\nlong !y;\n};' },
  ];
  for (const schema of schemas) {
    const error = t.throws(() => parseSchema(schema), { instanceOf: McapStreamsError });
    t.is(error.code, 'SCHEMA_SYNTAX');
    t.is(error.schemaName, 'p/A');
    t.is(error.line, 2);
    t.true(error.column === 7 || error.column === 6);
    t.regex(error.message, /line 2.*!y/);
  }
});
