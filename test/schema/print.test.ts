import { parse } from '@foxglove/rosmsg';
import test from 'ava';
import { definitionToRos2Msg } from '../../lib/schema/print.js';
import { fieldTexts, idl, msg, SEP } from '../helpers/definitions.js';
import { assemble, readInterfaceFiles } from '../helpers/interface-files.js';
import { sharedTest } from '../helpers/shared.js';

test('a definition is printed as a recorder stores it', (t) => {
  const definition = msg(
    `# About A\n\nuint8 X = 0x10 # ten\nstring S='a "b"'\nstd_msgs/msg/Header h\n# many\n# of them\nT[<=3] t\nfloat64[2] d [1, -inf]\nint64 i -5\nstring<=4 s\n${SEP}\nMSG: std_msgs/Header\nbuiltin_interfaces/Time stamp\nstring frame_id\n${SEP}\nMSG: p/T\nbool b`,
  );
  const lines = [
    '# About A',
    '',
    '# ten',
    'uint8 X=16',
    'string S="a \\"b\\""',
    '',
    'std_msgs/Header h',
    '# many',
    '# of them',
    'p/T[<=3] t',
    'float64[2] d [1, -inf]',
    'int64 i -5',
    'string<=4 s',
    '',
    SEP,
    'MSG: std_msgs/Header',
    'builtin_interfaces/Time stamp',
    'string frame_id',
    '',
    SEP,
    'MSG: p/T',
    'bool b',
    '',
    SEP,
    'MSG: builtin_interfaces/Time',
    'int32 sec',
    'uint32 nanosec',
    '',
  ];
  t.is(definitionToRos2Msg(definition), lines.join('\n'));
  t.deepEqual(msg(definitionToRos2Msg(definition)), definition);
});

test('strings, floats and empty messages survive the way through text', (t) => {
  const definition = msg(
    `string a "q\\"\\\\ \\n\\t\\x7f#é日 '"\nfloat32 b -0.0\nfloat64 c nan\nfloat64 d 1e300\nuint64 e 18446744073709551615\nstring[] f ["", "a,b", " x "]\nbool[] g [true]\nE h\n${SEP}\nMSG: p/E\n# nothing\n`,
  );
  t.deepEqual(definition.warnings, []);
  t.deepEqual(msg(definitionToRos2Msg(definition)), definition);
});

test('messages of services keep their names', (t) => {
  const event = msg('int64 a\n---\nint64 sum', 'p/srv/Add_Event');
  t.deepEqual(msg(definitionToRos2Msg(event), 'p/srv/Add_Event'), event);
});

test('what only IDL has is written with the same bytes, or refused', (t) => {
  const text = 'enum E { X, Y }; struct A { E e; sequence<E, 3> f; wchar c; };';
  t.deepEqual(fieldTexts(msg(definitionToRos2Msg(idl(`module p { module msg { ${text} }; };`)))), [
    'uint32 e',
    'uint32[<=3] f',
    'uint16 c',
  ]);
  const nested = idl('module p { module msg { struct A { long x[2][3]; }; }; };');
  const error = t.throws(() => definitionToRos2Msg(nested), { code: 'SCHEMA_UNSUPPORTED_IDL' });
  t.regex(error.message, /field x of p\/msg\/A/);
});

sharedTest('the messages of common packages survive the way through text, and others read it', (t) => {
  const files = readInterfaceFiles();
  for (const name of files.keys()) {
    if (!name.includes('/msg/')) continue;
    const definition = msg(assemble(files, name), name);
    const text = definitionToRos2Msg(definition);
    t.deepEqual(msg(text, name), definition, name);
    if (definition.fields.length > 0) t.notThrows(() => parse(text, { ros2: true }), name);
  }
});
