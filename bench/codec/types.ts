/** The nine types of the codec benchmark, and one more whose arrays are copied: schema texts and a typical value of each. */

const SEPARATOR = '='.repeat(80);

const TYPES: Readonly<Record<string, string>> = {
  'std_msgs/Header': 'builtin_interfaces/Time stamp\nstring frame_id',
  'builtin_interfaces/Time': 'int32 sec\nuint32 nanosec',
  'geometry_msgs/Vector3': 'float64 x\nfloat64 y\nfloat64 z',
  'geometry_msgs/Point': 'float64 x\nfloat64 y\nfloat64 z',
  'geometry_msgs/Quaternion': 'float64 x 0\nfloat64 y 0\nfloat64 z 0\nfloat64 w 1',
  'geometry_msgs/Pose': 'Point position\nQuaternion orientation',
  'geometry_msgs/PoseStamped': 'std_msgs/Header header\nPose pose',
  'geometry_msgs/Twist': 'Vector3 linear\nVector3 angular',
  'geometry_msgs/PoseWithCovariance': 'Pose pose\nfloat64[36] covariance',
  'geometry_msgs/TwistWithCovariance': 'Twist twist\nfloat64[36] covariance',
  'geometry_msgs/Transform': 'Vector3 translation\nQuaternion rotation',
  'geometry_msgs/TransformStamped': 'std_msgs/Header header\nstring child_frame_id\nTransform transform',
  'tf2_msgs/TFMessage': 'geometry_msgs/TransformStamped[] transforms',
  'nav_msgs/Odometry':
    'std_msgs/Header header\nstring child_frame_id\ngeometry_msgs/PoseWithCovariance pose\ngeometry_msgs/TwistWithCovariance twist',
  'sensor_msgs/Imu':
    'std_msgs/Header header\ngeometry_msgs/Quaternion orientation\nfloat64[9] orientation_covariance\n' +
    'geometry_msgs/Vector3 angular_velocity\nfloat64[9] angular_velocity_covariance\n' +
    'geometry_msgs/Vector3 linear_acceleration\nfloat64[9] linear_acceleration_covariance',
  'sensor_msgs/JointState':
    'std_msgs/Header header\nstring[] name\nfloat64[] position\nfloat64[] velocity\nfloat64[] effort',
  'diagnostic_msgs/KeyValue': 'string key\nstring value',
  'diagnostic_msgs/DiagnosticStatus':
    'byte OK=0\nbyte WARN=1\nbyte ERROR=2\nbyte STALE=3\nbyte level\nstring name\nstring message\nstring hardware_id\nKeyValue[] values',
  'diagnostic_msgs/DiagnosticArray': 'std_msgs/Header header\nDiagnosticStatus[] status',
  'sensor_msgs/Image':
    'std_msgs/Header header\nuint32 height\nuint32 width\nstring encoding\nuint8 is_bigendian\nuint32 step\nuint8[] data',
  'sensor_msgs/PointField':
    'uint8 INT8=1\nuint8 FLOAT32=7\nuint8 FLOAT64=8\nstring name\nuint32 offset\nuint8 datatype\nuint32 count',
  'sensor_msgs/PointCloud2':
    'std_msgs/Header header\nuint32 height\nuint32 width\nPointField[] fields\nbool is_bigendian\nuint32 point_step\n' +
    'uint32 row_step\nuint8[] data\nbool is_dense',
  'sensor_msgs/NavSatStatus':
    'int8 STATUS_NO_FIX=-1\nint8 STATUS_FIX=0\nint8 status\nuint16 SERVICE_GPS=1\nuint16 service',
  'sensor_msgs/NavSatFix':
    'std_msgs/Header header\nNavSatStatus status\nfloat64 latitude\nfloat64 longitude\nfloat64 altitude\n' +
    'float64[9] position_covariance\nuint8 COVARIANCE_TYPE_KNOWN=3\nuint8 position_covariance_type',
  'sensor_msgs/LaserScan':
    'std_msgs/Header header\nfloat32 angle_min\nfloat32 angle_max\nfloat32 angle_increment\nfloat32 time_increment\n' +
    'float32 scan_time\nfloat32 range_min\nfloat32 range_max\nfloat32[] ranges\nfloat32[] intensities',
};

/** The text of a Schema record of `name`: the type and all that it needs. */
export function schemaText(name: string): string {
  const needed = new Set([name]);
  for (const type of needed) {
    const own = type.slice(0, type.indexOf('/') + 1);
    for (const line of (TYPES[type] ?? '').split('\n')) {
      const base = line.slice(0, line.search(/[ [<]/));
      for (const candidate of [base, own + base]) if (TYPES[candidate] !== undefined) needed.add(candidate);
    }
  }
  return [...needed]
    .map((type) => (type === name ? '' : `${SEPARATOR}\nMSG: ${type}\n`) + (TYPES[type] ?? ''))
    .join('\n');
}

export interface Case {
  readonly name: string;
  readonly text: string;
  readonly value: unknown;
  /** Another value of the same kind: seeded, so that each run makes the same ones. */
  readonly make: () => unknown;
  /** Beside the nine: shown, not counted. */
  readonly extra: boolean;
  /** Two fields for the projection benchmark. */
  readonly fields: readonly string[];
}

let seed = 1;
function random(): number {
  seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0;
  return seed / 2 ** 32;
}

const header = (frame: string): unknown => ({ stamp: { sec: 1700000000, nanosec: 123456789 }, frame_id: frame });
const xyz = (): unknown => ({ x: random(), y: random(), z: random() });
const quaternion = (): unknown => ({ x: random(), y: random(), z: random(), w: random() });
const doubles = (count: number): Float64Array => Float64Array.from({ length: count }, random);
/** As most sources fill it: constant, and zero beside the diagonal. */
const covariance = (side: number): Float64Array =>
  Float64Array.from({ length: side * side }, (_, n) => (n % (side + 1) === 0 ? 0.01 : 0));
/** A camera's picture: gradients, and noise in the low bits. zstd takes about a third off. */
function picture(height: number, step: number): Uint8Array {
  const start = random() * 256;
  return Uint8Array.from(
    { length: height * step },
    (_, n) => start + ((n % step) >> 6) + Math.floor(n / step / 32) + random() * 16,
  );
}

/** x, y, z and intensity: a ring of distances around a sensor. zstd takes about a fifth off. */
function points(count: number): Uint8Array {
  const values = Float32Array.from({ length: count * 4 }, (_, n) => {
    const angle = (n >> 2) * 0.001;
    const distance = 10 + Math.round((Math.sin(angle * 7) * 3 + random() * 0.05) * 500) / 500;
    return (
      [Math.cos(angle) * distance, Math.sin(angle) * distance, random() * 0.1, Math.floor(random() * 64)][n % 4] ?? 0
    );
  });
  return new Uint8Array(values.buffer);
}

const VALUES: Readonly<Record<string, () => unknown>> = {
  'sensor_msgs/Imu': () => ({
    header: header('imu_link'),
    orientation: quaternion(),
    orientation_covariance: covariance(3),
    angular_velocity: xyz(),
    angular_velocity_covariance: covariance(3),
    linear_acceleration: xyz(),
    linear_acceleration_covariance: covariance(3),
  }),
  'tf2_msgs/TFMessage': () => ({
    transforms: ['base_link', 'left_wheel', 'right_wheel', 'lidar_front'].map((child) => ({
      header: header('odom'),
      child_frame_id: child,
      transform: { translation: xyz(), rotation: quaternion() },
    })),
  }),
  'nav_msgs/Odometry': () => ({
    header: header('odom'),
    child_frame_id: 'base_link',
    pose: { pose: { position: xyz(), orientation: quaternion() }, covariance: covariance(6) },
    twist: { twist: { linear: xyz(), angular: xyz() }, covariance: covariance(6) },
  }),
  'sensor_msgs/JointState': () => ({
    header: header('base'),
    name: ['shoulder_pan', 'shoulder_lift', 'elbow', 'wrist_1', 'wrist_2', 'wrist_3', 'finger'],
    position: doubles(7),
    velocity: doubles(7),
    effort: doubles(7),
  }),
  'diagnostic_msgs/DiagnosticArray': () => ({
    header: header(''),
    status: ['left_motor', 'right_motor', 'lidar', 'camera', 'gps'].map((name, index) => ({
      level: index % 3,
      name: `/robot/${name}: status`,
      message: index === 0 ? 'everything is fine and has been for a long while' : 'OK',
      hardware_id: `hw-${index}`,
      values: Array.from({ length: 8 }, (_, key) => ({
        key: `measurement ${key}`,
        value: (random() * 100).toFixed(3),
      })),
    })),
  }),
  'geometry_msgs/PoseStamped': () => ({
    header: header('map'),
    pose: { position: xyz(), orientation: quaternion() },
  }),
  'sensor_msgs/Image': () => ({
    header: header('camera_optical'),
    height: 512,
    width: 683,
    encoding: 'rgb8',
    is_bigendian: 0,
    step: 2049,
    data: picture(512, 2049),
  }),
  'sensor_msgs/PointCloud2': () => ({
    header: header('lidar'),
    height: 1,
    width: 20000,
    fields: ['x', 'y', 'z', 'intensity'].map((name, index) => ({ name, offset: index * 4, datatype: 7, count: 1 })),
    is_bigendian: false,
    point_step: 16,
    row_step: 320000,
    data: points(20000),
    is_dense: true,
  }),
  'sensor_msgs/NavSatFix': () => ({
    header: header('gps'),
    status: { status: 0, service: 1 },
    latitude: 48.1 + random(),
    longitude: 11.5 + random(),
    altitude: 500 + random(),
    position_covariance: covariance(3),
    position_covariance_type: 3,
  }),
  'sensor_msgs/LaserScan': () => ({
    header: header('laser'),
    angle_min: -3.140625,
    angle_max: 3.140625,
    angle_increment: 0.00872802734375,
    time_increment: 0,
    scan_time: 0.125,
    range_min: 0.25,
    range_max: 30,
    ranges: Float32Array.from({ length: 720 }, random),
    intensities: Float32Array.from({ length: 720 }, random),
  }),
};

const FIELDS: Readonly<Record<string, readonly string[]>> = {
  'sensor_msgs/Imu': ['header.stamp', 'linear_acceleration.x'],
  'tf2_msgs/TFMessage': ['transforms[].child_frame_id', 'transforms[].transform.translation.x'],
  'nav_msgs/Odometry': ['pose.pose.position.x', 'twist.twist.linear.x'],
  'sensor_msgs/JointState': ['header.stamp', 'position'],
  'diagnostic_msgs/DiagnosticArray': ['status[].name', 'status[].level'],
  'geometry_msgs/PoseStamped': ['header.stamp', 'pose.position.x'],
  'sensor_msgs/Image': ['header.stamp', 'encoding'],
  'sensor_msgs/PointCloud2': ['header.stamp', 'width'],
  'sensor_msgs/NavSatFix': ['header.stamp', 'latitude'],
  'sensor_msgs/LaserScan': ['header.stamp', 'range_max'],
};

export const CASES: readonly Case[] = Object.entries(VALUES).map(([name, value]) => ({
  name,
  text: schemaText(name),
  value: value(),
  make: value,
  extra: name === 'sensor_msgs/LaserScan',
  fields: FIELDS[name] ?? [],
}));
