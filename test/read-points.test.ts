/** PointCloud2 as columns: field order, padding, byte order, rows; views where the bytes allow them. */
import test from 'ava';
import { compileCodec, readPoints, standardDefinitions } from '../lib/index.js';
import type { PointCloud2Like } from '../lib/index.js';

/** Two rows of three points: 1 byte of padding, float64 `t`, int16 `ring`[2], uint8 `c`, float32 `x`; rows padded by 5. */
function cloud(bigEndian: boolean, shift = 0): PointCloud2Like {
  const [step, row] = [18, 3 * 18 + 5];
  const data = new Uint8Array(2 * row + shift).subarray(shift);
  const view = new DataView(data.buffer, data.byteOffset);
  for (let n = 0; n < 6; n++) {
    const at = Math.floor(n / 3) * row + (n % 3) * step;
    view.setFloat64(at + 1, n + 0.5, !bigEndian);
    view.setInt16(at + 9, -n, !bigEndian);
    view.setInt16(at + 11, n * 100, !bigEndian);
    view.setUint8(at + 13, 250 + n);
    view.setFloat32(at + 14, n / 4, !bigEndian);
  }
  return {
    height: 2,
    width: 3,
    fields: [
      { name: 'x', offset: 14, datatype: 7, count: 1 },
      { name: 't', offset: 1, datatype: 8, count: 1 },
      { name: 'ring', offset: 9, datatype: 3, count: 2 },
      { name: 'c', offset: 13, datatype: 2, count: 0 },
    ],
    is_bigendian: bigEndian,
    point_step: step,
    row_step: row,
    data,
  };
}

const COLUMNS = {
  x: Float32Array.of(0, 0.25, 0.5, 0.75, 1, 1.25),
  t: Float64Array.of(0.5, 1.5, 2.5, 3.5, 4.5, 5.5),
  ring: Int16Array.of(0, 0, -1, 100, -2, 200, -3, 300, -4, 400, -5, 500),
  c: Uint8Array.of(250, 251, 252, 253, 254, 255),
};

test('any order, padding, counts, byte order and place in memory', (t) => {
  for (const bigEndian of [false, true]) {
    for (const shift of [0, 1, 4]) {
      t.deepEqual(readPoints(cloud(bigEndian, shift)), { count: 6, width: 3, height: 2, columns: COLUMNS });
    }
  }
  t.deepEqual(readPoints(cloud(false), { fields: ['c', 'x'] }).columns, { c: COLUMNS.c, x: COLUMNS.x });
});

test('aligned points with padding are read right, of each type', (t) => {
  const types = [Int8Array, Uint8Array, Int16Array, Uint16Array, Int32Array, Uint32Array, Float32Array, Float64Array];
  types.forEach((Type, index) => {
    const source = new Type([1, 0, 2, 0, 3, 0]);
    const { columns } = readPoints({
      height: 1,
      width: 3,
      fields: [{ name: 'v', offset: 0, datatype: index + 1, count: 1 }],
      is_bigendian: false,
      point_step: 2 * Type.BYTES_PER_ELEMENT,
      row_step: 0,
      data: new Uint8Array(source.buffer),
    });
    t.deepEqual(columns, { v: new Type([1, 2, 3]) });
  });
});

test('a cloud of one field is a view into its bytes', (t) => {
  const data = new Uint8Array(new Float32Array([1, 2, 3, 4, 5, 6]).buffer);
  const base = { is_bigendian: false, point_step: 12, row_step: 24, data, height: 1, width: 2 };
  const { columns } = readPoints({ ...base, fields: [{ name: 'xyz', offset: 0, datatype: 7, count: 3 }] });
  t.deepEqual(columns['xyz'], Float32Array.of(1, 2, 3, 4, 5, 6));
  t.is(columns['xyz']?.buffer, data.buffer);
  const swapped = readPoints({
    ...base,
    is_bigendian: true,
    fields: [{ name: 'xyz', offset: 0, datatype: 7, count: 3 }],
  });
  t.not(swapped.columns['xyz']?.buffer, data.buffer);
});

test('what decoding gives is taken, an empty cloud too', (t) => {
  const schema = standardDefinitions('jazzy').get('sensor_msgs/msg/PointCloud2');
  if (schema === undefined) return t.fail();
  const codec = compileCodec<PointCloud2Like>(schema);
  const { columns } = readPoints(codec.decode(codec.encode(cloud(false))));
  t.deepEqual(columns, COLUMNS);
  t.deepEqual(readPoints(codec.decode(codec.encode({}))), { count: 0, width: 0, height: 0, columns: {} });
  t.deepEqual(readPoints({ ...cloud(false), width: 0, data: new Uint8Array() }).columns['x'], new Float32Array());
});

test('bytes that do not fit the points are an error, a field that is not there a TypeError', (t) => {
  const good = cloud(false);
  const refused: Partial<PointCloud2Like>[] = [
    { data: good.data.subarray(0, 100) },
    { width: 2 ** 31 },
    { row_step: 10 },
    { fields: [{ name: 'x', offset: 15, datatype: 7, count: 1 }] },
    { fields: [{ name: 'x', offset: 0, datatype: 9, count: 1 }] },
  ];
  for (const change of refused) t.throws(() => readPoints({ ...good, ...change }), { code: 'CDR_BAD_LENGTH' });
  t.throws(() => readPoints(good, { fields: ['rings'] }), { instanceOf: TypeError, message: /ring/ });
});
