import { parse } from '@foxglove/rosmsg';
import type { MessageDefinition } from '../../lib/schema/definition.js';
import { parseSchema } from '../../lib/schema/registry.js';
import { constantValues, defaultValues, fieldTexts, idl, msg, SEP, typeText } from '../helpers/definitions.js';
import { assemble, readInterfaceFiles } from '../helpers/interface-files.js';
import { readShared, sharedFiles, sharedTest } from '../helpers/shared.js';

/** All messages of a definition by name, itself first. */
function allParts(definition: MessageDefinition, found = new Map<string, MessageDefinition>()): typeof found {
  if (found.has(definition.name)) return found;
  found.set(definition.name, definition);
  for (const field of definition.fields) {
    let { type } = field;
    while (type.kind === 'array' || type.kind === 'sequence') type = type.element;
    if (type.kind === 'message') allParts(type.definition, found);
  }
  return found;
}

sharedTest('every .msg of common packages parses without a warning, with all it needs', (t) => {
  const files = readInterfaceFiles();
  const names = [...files.keys()].filter((name) => name.includes('/msg/'));
  t.is(names.length, 645);
  for (const name of names) {
    t.notThrows(() => {
      const definition = msg(assemble(files, name), name);
      t.is(definition.name, name);
      t.deepEqual(definition.warnings, [], name);
    }, name);
  }
});

sharedTest('ordinary texts give what @foxglove/rosmsg gives', (t) => {
  const files = readInterfaceFiles();
  let compared = 0;
  for (const name of files.keys()) {
    if (!name.includes('/msg/')) continue;
    const text = assemble(files, name);
    let peers: ReturnType<typeof parse>;
    try {
      peers = parse(text, { ros2: true });
    } catch {
      continue;
    }
    const parts = allParts(msg(text, name));
    for (const [i, peer] of peers.entries()) {
      const part = parts.get(i === 0 ? name : (peer.name ?? '').replace(/^(\w+)\/(\w+)$/, '$1/msg/$2'));
      if (part === undefined) continue;
      const expected = peer.definitions
        .filter((field) => field.isConstant !== true)
        .map((field) => {
          const bound = field.upperBound === undefined ? '' : `<=${field.upperBound}`;
          const count = field.arrayLength ?? (field.arrayUpperBound === undefined ? '' : `<=${field.arrayUpperBound}`);
          const type = field.isComplex === true ? field.type.replace(/^(\w+)\/(\w+)$/, '$1/msg/$2') : field.type;
          return `${type}${bound}${field.isArray === true ? `[${count}]` : ''} ${field.name}`;
        });
      const ours = part.fields.map((field) => `${peerText(field.type)} ${field.name}`);
      t.deepEqual(ours, expected, `${name}: ${part.name}`);
      const values = peer.definitions.filter((field) => field.isConstant === true);
      t.deepEqual(
        Object.entries(constantValues(part)).map(([key, value]) => [key, plain(value)]),
        values.map((field) => [field.name, plain(field.value)]),
        `${name}: ${part.name}`,
      );
    }
    compared++;
  }
  t.true(compared > 640, String(compared));
});

/** @foxglove/rosmsg calls byte and char uint8, and Time time. */
function peerText(type: Parameters<typeof typeText>[0]): string {
  return typeText(type)
    .replace(/^(?:byte|char)\b/, 'uint8')
    .replace(/^builtin_interfaces\/msg\/Time\b/, 'time')
    .replace(/^builtin_interfaces\/msg\/Duration\b/, 'duration');
}

function plain(value: unknown): unknown {
  return typeof value === 'bigint' ? value.toString() : typeof value === 'number' ? String(value) : value;
}

sharedTest('every .srv and .action gives all messages that go with it', (t) => {
  const files = readInterfaceFiles();
  let count = 0;
  for (const name of files.keys()) {
    if (name.includes('/msg/')) continue;
    const text = assemble(files, name);
    const suffixes = name.includes('/srv/')
      ? ['Request', 'Response', 'Event']
      : ['Goal', 'Result', 'FeedbackMessage', 'SendGoal_Event', 'GetResult_Event', 'GetResult_Response'];
    for (const suffix of suffixes) {
      t.notThrows(() => {
        t.deepEqual(msg(text, `${name}_${suffix}`).warnings, []);
      }, `${name}_${suffix}`);
    }
    count++;
  }
  t.true(count > 120, String(count));
});

sharedTest('every .idl of ROS 2 packages parses, but for the one with a long double', (t) => {
  const files = sharedFiles('definitions', '.idl').filter((path) => !path.startsWith('foxglove-sdk'));
  t.is(files.length, 11);
  const all = files
    .filter((path) => path.startsWith('rosbag2'))
    .map((path) => `${SEP}\nIDL: x/y/Z\n${readShared('definitions', path).toString('utf8')}\n`)
    .join('');
  for (const path of files) {
    const text = readShared('definitions', path).toString('utf8');
    const [, home, folder] = /module (\w+)\s*{\s*module (\w+)/.exec(text) ?? [];
    if (home === undefined || folder === undefined) {
      t.regex(path, /bar\/msg\/Bar\.idl$/);
      continue;
    }
    for (const [, name = ''] of text.matchAll(/struct (\w+)/g)) {
      if (name === 'MyMessage') continue;
      t.notThrows(() => idl(path.startsWith('rosbag2') ? all : text, `${home}/${folder}/${name}`), path);
    }
  }
});

sharedTest(`rosidl's own test of its IDL parser gives its values`, (t) => {
  const path = ['definitions', 'rosidl/files/rosidl_parser/test/msg/MyMessage.idl'];
  const text = readShared(...path).toString('utf8');
  const name = 'rosidl_parser/msg/MyMessage';
  const error = t.throws(() => idl(text, name), { code: 'SCHEMA_UNSUPPORTED_IDL' });
  t.regex(error.message, /MyMessage, line 31.*long double.*rosidl_parser\/msg\/MyMessage/);
  const definition = idl(text.replace('long double long_double_value', 'double long_double_value'), name);
  t.deepEqual(definition.warnings, []);
  t.deepEqual(constantValues(definition), {
    SHORT_CONSTANT: -23,
    UNSIGNED_LONG_CONSTANT: 42,
    FLOAT_CONSTANT: 1.25,
    BOOLEAN_CONSTANT: true,
    STRING_CONSTANT: 'string_value',
    WSTRING_CONSTANT: 'wstring_value_™',
    EMPTY_STRING_CONSTANT: '',
  });
  t.deepEqual(defaultValues(definition), {
    unsigned_short_value: 123,
    int_and_frac_with_positive_scientific: 1.9e10,
    int_and_frac_with_explicit_positive_scientific: 1.9e10,
    int_and_frac_with_negative_scientific: 1.1e-10,
    int_and_frac: 0.00009,
    int_with_empty_frac: 1,
    frac_only: 0.1,
    int_with_positive_scientific: 9e5,
    int_with_explicit_positive_scientific: 9e5,
    int_with_negative_scientific: 9e-5,
    fixed_int_and_frac: 8.7,
    fixed_int_with_dot_only: 4,
    fixed_frac_only: 0.3,
    fixed_int_only: 7,
  });
  t.true(fieldTexts(definition).includes('wstring<=42 constant_bounded_wstring_value'));
  t.true(fieldTexts(definition).includes('string<=3[<=4] bounded_values_of_bounded_strings'));
  t.is(definition.comment, 'Documentation of MyMessage.Adjacent string literal.');
});

sharedTest('the omgidl files of another vendor parse as one text, or say what they need', (t) => {
  const files = sharedFiles('definitions/foxglove-sdk/files/schemas/omgidl/foxglove', '.idl');
  const data = files
    .map((path) => readShared('definitions/foxglove-sdk/files/schemas/omgidl/foxglove', path).toString('utf8'))
    .join('\n');
  const optional = new Set<string>();
  for (const path of files) {
    const name = path.slice(0, -4);
    if (!data.includes(`struct ${name} `)) continue;
    try {
      t.is(parseSchema({ name: `foxglove::${name}`, encoding: 'omgidl', data }).name, `foxglove/msg/${name}`);
    } catch (error) {
      t.regex(String(error), /SCHEMA_UNSUPPORTED_IDL|@optional/);
      optional.add(name);
    }
  }
  t.true(files.length - optional.size > 35);
});
