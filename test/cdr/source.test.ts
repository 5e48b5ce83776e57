/**
 * The generated code is there to be read: it stands beside this test for five types. `UPDATE_GOLDEN=1` writes it anew, and
 * the difference is for a person to look at.
 */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'ava';
import { schemaText } from '../../bench/codec/types.js';
import { compileCodec } from '../../lib/cdr/codec.js';
import { ROOT } from '../helpers/shared.js';

const FOLDER = join(ROOT, 'test', 'cdr', 'generated');
const TYPES = [
  ...['sensor_msgs/Imu', 'tf2_msgs/TFMessage', 'sensor_msgs/JointState', 'sensor_msgs/PointCloud2'],
  'diagnostic_msgs/DiagnosticArray',
];

for (const name of TYPES) {
  test(`the generated code of ${name} is as it was looked at last`, (t) => {
    const { source } = compileCodec({ name, encoding: 'ros2msg', data: schemaText(name) });
    const file = join(FOLDER, `${name.replace('/', '_')}.js.txt`);
    if (process.env['UPDATE_GOLDEN'] !== undefined) {
      mkdirSync(FOLDER, { recursive: true });
      writeFileSync(file, source);
    }
    t.is(source, readFileSync(file, 'utf8'));
    t.regex(source, new RegExp(`function decode_${name.replace('/', '_msg_')}\\(`));
    t.regex(source, new RegExp(`function encode_${name.replace('/', '_msg_')}\\(`));
  });
}
