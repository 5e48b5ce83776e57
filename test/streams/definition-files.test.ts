/** Interface packages on disk and the standard ones: every type's text holds what it needs. */
import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import test from 'ava';
import {
  compileCodec,
  definitionToRos2Msg,
  loadDefinitions,
  parseSchema,
  Ros2Decoder,
  standardDefinitions,
} from '../../lib/index.js';
import type { DecodedMessage, Distribution } from '../../lib/index.js';
import { sharedPath, sharedTest } from '../helpers/shared.js';

function tree(files: Record<string, string>): string {
  const top = mkdtempSync(join(tmpdir(), 'definitions-'));
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(top, path)), { recursive: true });
    writeFileSync(join(top, path), text);
  }
  return top;
}

const IDL = `#include "a/msg/Point.idl"
module b { module msg { struct Only { a::msg::Point p; uint8 v; }; }; };
`;

const PACKAGES = {
  'install/share/a/msg/Point.msg': 'float64 x',
  'install/share/a/msg/Point.idl': 'not read: the .msg file counts',
  'install/share/a/msg/Path.msg': 'std_msgs/Header header # c\nPoint[] points\nPoint[<=2] few\na/msg/Point one\n',
  'install/share/a/srv/Add.srv': 'Point a\n---\nint64 sum\n',
  'install/share/a/action/Go.action': 'Point goal\n---\nbool ok\n---\nfloat32 done\n',
  'src/folder_name/package.xml': '<package><name>b</name></package>',
  'src/folder_name/msg/sub/Deep.msg': 'a/Point p\r\nb/Flat f\r\n',
  'src/folder_name/msg/Flat.msg': '\ufeffuint8 v\n',
  'src/folder_name/msg/Only.idl': IDL,
};

test('a tree gives the text of every type, with what it needs', (t) => {
  const set = loadDefinitions(tree(PACKAGES), { base: standardDefinitions('jazzy') });
  const path = set.get('a/msg/Path');
  t.is(path?.encoding, 'ros2msg');
  const codec = compileCodec(path ?? raise());
  t.deepEqual(codec.decode(codec.encode({ points: [{ x: 1 }] })), {
    header: { stamp: { sec: 0, nanosec: 0 }, frame_id: '' },
    points: [{ x: 1 }],
    few: [],
    one: { x: 0 },
  });
  t.is(set.get('a/Path'), path);
  t.true(set.has('a/Path'));
  t.is(parseSchema(set.get('b/msg/Deep') ?? raise()).fields.length, 2);
  const only = set.get('b/msg/Only') ?? raise();
  t.is(only.encoding, 'ros2idl');
  t.deepEqual(
    parseSchema(only).fields.map(({ name }) => name),
    ['p', 'v'],
  );
});

test('services and actions give the messages that rosidl derives from them', (t) => {
  const set = loadDefinitions([tree(PACKAGES)]);
  const fields = (name: string): string[] => parseSchema(set.get(name) ?? raise()).fields.map((field) => field.name);
  t.deepEqual(fields('a/srv/Add_Request'), ['a']);
  t.deepEqual(fields('a/srv/Add_Response'), ['sum']);
  t.deepEqual(fields('a/srv/Add_Event'), ['info', 'request', 'response']);
  t.deepEqual(fields('a/action/Go_Goal'), ['goal']);
  t.deepEqual(fields('a/action/Go_FeedbackMessage'), ['goal_id', 'feedback']);
  t.deepEqual(fields('a/action/Go_SendGoal_Request'), ['goal_id', 'goal']);
  t.true(set.names.includes('a/srv/Add'));
});

test('a name that is nowhere is undefined, a path that is nowhere an error', (t) => {
  const set = loadDefinitions(tree(PACKAGES));
  t.is(set.get('a/msg/Nothing'), undefined);
  t.is(set.get('a/msg/Point_Request'), undefined);
  t.false(set.has('__proto__'));
  t.throws(() => loadDefinitions('/nowhere/at/all'), { code: 'ENOENT' });
  t.throws(() => loadDefinitions([], { bases: 1 } as object), { instanceOf: TypeError });
  t.throws(() => standardDefinitions('noetic' as Distribution), { instanceOf: TypeError, message: /jazzy/ });
});

for (const distribution of ['galactic', 'humble', 'iron', 'jazzy', 'kilted', 'rolling'] as const) {
  test(`every type of ${distribution} parses alone, and prints to a text that gives it again`, (t) => {
    const set = standardDefinitions(distribution);
    t.true(set.size > 140);
    for (const [name, schema] of set) {
      const definition = parseSchema(schema);
      t.is(definition.name, name);
      const again = parseSchema({ name, encoding: 'ros2msg', data: definitionToRos2Msg(definition) });
      t.deepEqual(strip(again), strip(definition), name);
    }
  });
}

/** Comments above a type may move to its first field. */
function strip(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value, (key, item: unknown) => (key === 'comment' ? undefined : item)));
}

sharedTest('every type of the reference packages that has its parts there parses', (t) => {
  const set = loadDefinitions(sharedPath('definitions'), { base: standardDefinitions('jazzy') });
  const failed: string[] = [];
  let count = 0;
  for (const name of set.names) {
    const names = name.includes('/srv/') ? [`${name}_Request`] : name.includes('/action/') ? [`${name}_Goal`] : [name];
    for (const one of names) {
      try {
        parseSchema(set.get(one) ?? raise());
        count++;
      } catch (error) {
        failed.push(`${one}: ${(error as Error).message}`);
      }
    }
  }
  // They need packages that are not there, or are no packages but input of rosidl's own tests.
  const known = /geographic_msgs|object_recognition_msgs|nav_msgs\/Goals|test_msgs\/BasicTypes|^(?:bar|test)\//;
  t.deepEqual(
    failed.filter((line) => !known.test(line)),
    [],
  );
  t.true(count > 700);
});

test('definitions stands in for a schema text that is empty, or lacks a type', async (t) => {
  const definitions = standardDefinitions('jazzy');
  const codec = compileCodec(definitions.get('geometry_msgs/PointStamped') ?? raise());
  const data = codec.encode({ point: { x: 1.5 } });
  const decode = async (text: string, options: object): Promise<DecodedMessage[]> => {
    const schema = { type: 'Schema', id: 1, name: 'geometry_msgs/msg/PointStamped', encoding: 'ros2msg' } as const;
    const channel = {
      type: 'Channel',
      id: 1,
      schemaId: 1,
      topic: '/a',
      messageEncoding: 'cdr',
      metadata: new Map(),
    } as const;
    const message = { type: 'Message', channelId: 1, sequence: 0, logTime: 0n, publishTime: 0n, data } as const;
    const stage = new Ros2Decoder(options);
    for (const record of [{ ...schema, data: Buffer.from(text) }, channel, message]) stage.write(record);
    stage.end();
    return (await stage.toArray()) as DecodedMessage[];
  };
  for (const text of ['', '\n', 'std_msgs/Header header\ngeometry_msgs/Point point']) {
    for (const given of [definitions, (name: string) => definitions.get(name), Object.fromEntries(definitions)]) {
      const [message] = await decode(text, { definitions: given });
      t.like(message?.message, { point: { x: 1.5, y: 0 } });
    }
  }
  await t.throwsAsync(decode('std_msgs/Header header\ngeometry_msgs/Point point', {}), { code: 'SCHEMA_UNKNOWN_TYPE' });
});

function raise(): never {
  throw new Error('not there');
}
