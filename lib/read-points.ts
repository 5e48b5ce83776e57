/** Point clouds as columns: the fields of sensor_msgs/PointCloud2 out of its packed bytes. */
import { McapStreamsError, OptionError } from './errors.js';
import { checkOptions, nearest } from './options.js';

/** The parts of a decoded sensor_msgs/msg/PointCloud2 that tell its points. */
export interface PointCloud2Like {
  readonly height: number;
  readonly width: number;
  readonly fields: readonly {
    readonly name: string;
    /** Bytes from the beginning of a point. */
    readonly offset: number;
    /** 1 to 8: int8, uint8, int16, uint16, int32, uint32, float32, float64. */
    readonly datatype: number;
    /** Values a point; 0 is taken for 1. */
    readonly count: number;
  }[];
  readonly is_bigendian: boolean;
  readonly point_step: number;
  readonly row_step: number;
  readonly data: Uint8Array;
}

export type PointColumn =
  Int8Array | Uint8Array | Int16Array | Uint16Array | Int32Array | Uint32Array | Float32Array | Float64Array;

export interface Points {
  /** Points, `width * height`. */
  readonly count: number;
  readonly width: number;
  readonly height: number;
  /**
   * A typed array for each field, `count` times the field's own count long, row after row. Where a point is nothing but
   * that field and the bytes lie aligned in the host's order, it is a view into `data`, else a copy.
   */
  readonly columns: Readonly<Record<string, PointColumn>>;
}

export interface ReadPointsOptions {
  /** Names of the fields that are read. Default: all that have a name. */
  readonly fields?: readonly string[] | undefined;
}

interface Datatype {
  readonly size: number;
  readonly make: (buffer: ArrayBufferLike, offset: number, length: number) => PointColumn;
  readonly get: (view: DataView, at: number, littleEndian: boolean) => number;
}

/** sensor_msgs/PointField, by the constants' values. */
const DATATYPES: readonly (Datatype | undefined)[] = [
  undefined,
  { size: 1, make: (b, o, n) => new Int8Array(b, o, n), get: (v, at) => v.getInt8(at) },
  { size: 1, make: (b, o, n) => new Uint8Array(b, o, n), get: (v, at) => v.getUint8(at) },
  { size: 2, make: (b, o, n) => new Int16Array(b, o, n), get: (v, at, le) => v.getInt16(at, le) },
  { size: 2, make: (b, o, n) => new Uint16Array(b, o, n), get: (v, at, le) => v.getUint16(at, le) },
  { size: 4, make: (b, o, n) => new Int32Array(b, o, n), get: (v, at, le) => v.getInt32(at, le) },
  { size: 4, make: (b, o, n) => new Uint32Array(b, o, n), get: (v, at, le) => v.getUint32(at, le) },
  { size: 4, make: (b, o, n) => new Float32Array(b, o, n), get: (v, at, le) => v.getFloat32(at, le) },
  { size: 8, make: (b, o, n) => new Float64Array(b, o, n), get: (v, at, le) => v.getFloat64(at, le) },
];

const HOST_LITTLE_ENDIAN = new Uint8Array(new Uint16Array([1]).buffer)[0] === 1;

/**
 * The points of a decoded PointCloud2 as typed columns: fields in any order and of any type, with padding within points and
 * at the ends of rows, in either byte order, organized or not.
 *
 *     const { count, columns } = readPoints(message, { fields: ['x', 'y', 'z', 'intensity'] });
 *
 * @throws McapStreamsError CDR_BAD_LENGTH where `data` is shorter than the points need, or a field lies outside of a point;
 *   OptionError for a field that the cloud does not have
 */
export function readPoints(cloud: PointCloud2Like, options: ReadPointsOptions = {}): Points {
  checkOptions(options, ['fields'], 'readPoints');
  const { width, height, data, point_step: step } = cloud;
  const count = width * height;
  // Writers leave the row step 0 where rows follow each other.
  const row = cloud.row_step === 0 ? width * step : cloud.row_step;
  const needed = count === 0 ? 0 : (height - 1) * row + width * step;
  if (needed > data.length || (height > 1 && row < width * step)) {
    const have = `data has ${data.length} bytes, ${height} rows of ${row}`;
    throw bad(`${width} x ${height} points of ${step} bytes need ${needed}: ${have}`, 'data');
  }
  const names = options.fields ?? cloud.fields.map(({ name }) => name).filter((name) => name !== '');
  const columns: Record<string, PointColumn> = {};
  for (const name of names) {
    const field = cloud.fields.find((candidate) => candidate.name === name);
    if (field === undefined) {
      const known = cloud.fields.map((candidate) => candidate.name);
      const hint = `did you mean ${nearest(name, known, 1)[0] ?? ''}? It has ${known.join(', ')}`;
      throw new OptionError('OPTION_INVALID', `fields: the cloud has no field ${JSON.stringify(name)}: ${hint}`);
    }
    const type = DATATYPES[field.datatype];
    if (type === undefined) throw bad(`field ${name} has the unknown datatype ${field.datatype}`, `fields.${name}`);
    const values = field.count === 0 ? 1 : field.count;
    if (count > 0 && field.offset + values * type.size > step) {
      const end = field.offset + values * type.size;
      throw bad(`field ${name} ends at byte ${end} of a point of ${step}`, `fields.${name}`);
    }
    const value = column(cloud, type, field.offset, values, row);
    Object.defineProperty(columns, name, { value, enumerable: true, writable: true, configurable: true });
  }
  return { count, width, height, columns };
}

function column(cloud: PointCloud2Like, type: Datatype, offset: number, values: number, row: number): PointColumn {
  const { width, height, data, point_step: step } = cloud;
  const { size } = type;
  const length = width * height * values;
  const littleEndian = !cloud.is_bigendian;
  const start = data.byteOffset + offset;
  const dense = step === values * size && (row === width * step || height <= 1);
  const sameOrder = size === 1 || littleEndian === HOST_LITTLE_ENDIAN;
  if (dense && sameOrder && start % size === 0 && length > 0) return type.make(data.buffer, start, length);
  const target = type.make(new ArrayBuffer(length * size), 0, length);
  let index = 0;
  if (sameOrder && data.byteOffset % size === 0 && offset % size === 0 && step % size === 0 && row % size === 0) {
    // Each value lies aligned: typed arrays read them without a call.
    const source = type.make(data.buffer, data.byteOffset, Math.floor(data.length / size));
    const pointStep = step / size;
    for (let line = 0; line < height; line++) {
      let at = (line * row + offset) / size;
      for (let point = 0; point < width; point++, at += pointStep) {
        for (let value = 0; value < values; value++) target[index++] = source[at + value] ?? 0;
      }
    }
    return target;
  }
  const view = new DataView(data.buffer, data.byteOffset, data.byteLength);
  for (let line = 0; line < height; line++) {
    let at = line * row + offset;
    for (let point = 0; point < width; point++, at += step) {
      for (let value = 0; value < values; value++) target[index++] = type.get(view, at + value * size, littleEndian);
    }
  }
  return target;
}

function bad(message: string, field: string): McapStreamsError {
  return new McapStreamsError('CDR_BAD_LENGTH', `PointCloud2: ${message}`, { field });
}
