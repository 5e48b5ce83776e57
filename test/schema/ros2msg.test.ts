import test from 'ava';
import { constantValues, defaultValues, fieldTexts, msg, partOf, SEP } from '../helpers/definitions.js';

test('lines may end in CRLF, CR or LF, and the last one need not end', (t) => {
  for (const end of ['\n', '\r\n', '\r']) {
    t.deepEqual(fieldTexts(msg(`uint8 x${end}${end}uint8 y # c${end}string z`)), ['uint8 x', 'uint8 y', 'string z']);
  }
});

test('tabs, indents, no-break spaces and byte order marks are space', (t) => {
  t.deepEqual(fieldTexts(msg('uint8\tx\n \t uint8   y#c\n')), ['uint8 x', 'uint8 y']);
  t.deepEqual(fieldTexts(msg('\ufeffuint8 x\n\u00a0uint8\u00a0y\u00a0\n')), ['uint8 x', 'uint8 y']);
  t.deepEqual(fieldTexts(msg(`p/B b\n${SEP}\nMSG: p/B\n\ufeffuint8 x`)), ['p/msg/B b']);
});

test('bytes that are no UTF-8 in a comment do no harm', (t) => {
  const bytes = Uint8Array.from([
    ...new TextEncoder().encode('uint8 x # 5 '),
    0xb0,
    0xff,
    0x0a,
    ...new TextEncoder().encode('uint8 y'),
  ]);
  t.deepEqual(fieldTexts(msg(bytes as unknown as string)), ['uint8 x', 'uint8 y']);
});

test('a definition may end without a line end before the separator', (t) => {
  t.deepEqual(fieldTexts(msg(`B b\n${SEP}\nMSG: p/msg/B\nuint8 x`)), ['p/msg/B b']);
});

test('a trailing comment of any shape is a comment', (t) => {
  const definition = msg(
    'bool B=true # Comment: 1 of 2\nfloat64 lon #[x]\nuint8 E = 1   # a = 1, /**< "x" */\nbool[<=3] v # note\nuint8 w#[V]',
  );
  t.deepEqual(fieldTexts(definition), ['float64 lon', 'bool[<=3] v', 'uint8 w']);
  t.deepEqual(constantValues(definition), { B: true, E: 1 });
  t.deepEqual(definition.warnings, []);
  t.is(definition.fields[0]?.comment, '[x]');
});

test('a # inside quotes is text, outside of them it begins a comment', (t) => {
  const definition = msg(
    `string A="a # b" # c\nstring B='#' # c\nstring C=a # b\nstring d "x#y" # "z"\nstring[] e ["a#b", 'c#'] # d\nstring f it's # g`,
  );
  t.deepEqual(constantValues(definition), { A: 'a # b', B: '#', C: 'a' });
  t.deepEqual(defaultValues(definition), { d: 'x#y', e: ['a#b', 'c#'], f: `it's` });
});

test('a comment in lines before a field, and behind it, belongs to it; the first block to the message', (t) => {
  const definition = msg('# the message\n#\n# goes on\n\n# before\nuint8 x # behind\n\n# lost\n\nuint8 y');
  t.is(definition.comment, 'the message\n\ngoes on');
  t.is(definition.fields[0]?.comment, 'before\nbehind');
  t.is(definition.fields[1]?.comment, undefined);
});

test('a separator has three or more = and may be followed by blanks', (t) => {
  for (const separator of ['===', `${SEP}  \t`, `  ${SEP}`, SEP]) {
    t.deepEqual(fieldTexts(partOf(msg(`Foo f\n${separator}\nMSG: p/Foo\nuint8 x`), 'f')), ['uint8 x']);
  }
});

test('comments that look like separators or headers are comments', (t) => {
  const definition = msg(`# ${SEP}\n#${SEP}\n# MSG: p/msg/Z\nuint8 x\n#===\n# MSG: p/msg/A\nuint16 y`);
  t.deepEqual(fieldTexts(definition), ['uint8 x', 'uint16 y']);
});

test('a text may begin with a header, with or without a separator before it', (t) => {
  for (const start of [`${SEP}\nMSG: p/msg/A\n`, 'MSG: p/msg/A\n', `\n# c\n${SEP}\n\nMSG:p/A  \n`]) {
    t.deepEqual(fieldTexts(msg(`${start}uint8 x\nB b\n${SEP}\nMSG: p/msg/B\nuint8 y`)), ['uint8 x', 'p/msg/B b']);
  }
});

test('the root is the type that the schema names, wherever it stands', (t) => {
  const data = `${SEP}\nMSG: p/msg/B\nuint8 x\n${SEP}\nMSG: p/msg/A\nuint16 y`;
  t.deepEqual(fieldTexts(msg(data)), ['uint16 y']);
  t.deepEqual(fieldTexts(msg(data, 'p/msg/B')), ['uint8 x']);
  const error = t.throws(() => msg(data, 'p/msg/C'), { code: 'SCHEMA_ROOT_NOT_FOUND' });
  t.regex(error.message, /p\/msg\/C.*p\/msg\/B, p\/msg\/A/);
  t.throws(() => msg(data, 'q/msg/A'), { code: 'SCHEMA_ROOT_NOT_FOUND' });
});

test('all spellings of a name are the same type, in fields and in headers', (t) => {
  const spellings = ['std_msgs/Header', 'std_msgs/msg/Header', 'std_msgs::msg::Header', 'std_msgs::msg::dds_::Header_'];
  for (const inField of spellings) {
    for (const inHeader of spellings) {
      const definition = msg(`${inField} h\n${SEP}\nMSG: ${inHeader}\nuint8 x`);
      t.deepEqual(fieldTexts(definition), ['std_msgs/msg/Header h']);
      t.deepEqual(fieldTexts(partOf(definition, 'h')), ['uint8 x']);
    }
  }
});

test('the schema itself may be named in any spelling', (t) => {
  for (const name of ['p/A', 'p/msg/A', 'p::msg::A', 'p::msg::dds_::A_']) {
    t.is(msg('B b\n===\nMSG: p/msg/B\nuint8 x', name).name, 'p/msg/A');
  }
  t.is(msg('uint8 x', 'Bare').name, 'Bare');
});

test('middle parts of services and actions are kept', (t) => {
  const data = `p/action/F_Goal g\np/srv/X_Request r\n${SEP}\nMSG: p/action/F_Goal\nuint8 x\n${SEP}\nMSG: p/srv/X_Request\nuint8 y`;
  t.deepEqual(fieldTexts(msg(data)), ['p/action/F_Goal g', 'p/srv/X_Request r']);
});

test('an unqualified name belongs to the package of the message it stands in', (t) => {
  const sections = [
    ['p/msg/A', 'B b'],
    ['q/msg/A', 'B b'],
    ['p/msg/B', 'uint8 x'],
    ['q/msg/B', 'uint16 y'],
  ].map(([name = '', text = '']) => `${SEP}\nMSG: ${name}\n${text}\n`);
  const definition = msg(`p/msg/A a\nq/msg/A b\n${sections.join('')}`, 'r/msg/R');
  t.deepEqual(fieldTexts(partOf(partOf(definition, 'a'), 'b')), ['uint8 x']);
  t.deepEqual(fieldTexts(partOf(partOf(definition, 'b'), 'b')), ['uint16 y']);
});

test('an unqualified name is never a type that only ends alike, nor one of another package', (t) => {
  const data = `Foo b\n${SEP}\nMSG: p/msg/AAAAFoo\nuint8 x\n${SEP}\nMSG: p/msg/Foo\nuint16 y`;
  t.deepEqual(fieldTexts(partOf(msg(data), 'b')), ['uint16 y']);
  t.throws(() => msg(`Foo b\n${SEP}\nMSG: q/msg/Foo\nuint16 y`), { code: 'SCHEMA_UNKNOWN_TYPE' });
});

test(`a bare Header is the package's own, or else that of std_msgs`, (t) => {
  const std = `${SEP}\nMSG: std_msgs/msg/Header\nbuiltin_interfaces/Time stamp\nstring frame_id\n`;
  t.deepEqual(fieldTexts(msg(`Header h\n${std}`)), ['std_msgs/msg/Header h']);
  const own = `${SEP}\nMSG: mypkg/msg/Header\nuint8 x\n`;
  t.deepEqual(fieldTexts(msg(`Header h\n${std}${own}`, 'mypkg/msg/A')), ['mypkg/msg/Header h']);
});

test(`eProsima's recorder writes fastdds/ before the names of dependencies`, (t) => {
  const data = `q/msg/P[] p\ntype_01 s\n${SEP}\nMSG: fastdds/q/msg/P\nstring n\n${SEP}\nMSG: fastdds/type_01\nint32 sec\n`;
  t.deepEqual(fieldTexts(msg(data)), ['q/msg/P[] p', 'fastdds/msg/type_01 s']);
});

test('field names are kept as recorded, also those that rosidl forbids and those that JavaScript knows', (t) => {
  const names = [
    'camelCase',
    'a_',
    'A__B',
    '_x',
    'class',
    'constructor',
    '__proto__',
    'time',
    'values',
    'true',
    'items',
    'message',
    'from',
    'default',
    'then',
    'type',
    'arguments',
    'eval',
    'length',
    'hasOwnProperty',
    'toString',
    'string',
    'uint8',
    'stringy',
  ];
  const definition = msg(names.map((name) => `uint8 ${name}`).join('\n'));
  t.deepEqual(
    definition.fields.map((field) => field.name),
    names,
  );
});

test('types may have names that JavaScript objects have already', (t) => {
  const data = `__proto__ a\nconstructor b\n${SEP}\nMSG: p/msg/__proto__\nuint8 x\n${SEP}\nMSG: p/msg/constructor\nuint16 y`;
  t.deepEqual(fieldTexts(msg(data)), ['p/msg/__proto__ a', 'p/msg/constructor b']);
  t.throws(() => msg('toString x'), { code: 'SCHEMA_UNKNOWN_TYPE' });
  t.throws(() => msg('p/hasOwnProperty x'), { code: 'SCHEMA_UNKNOWN_TYPE' });
});

test('names of types and fields may hold digits', (t) => {
  const data = `tf2_msgs/TF2Error error2\n${SEP}\nMSG: tf2_msgs/TF2Error\nuint8 NO_ERROR=0\nuint8 error`;
  t.deepEqual(fieldTexts(msg(data)), ['tf2_msgs/msg/TF2Error error2']);
});

test('types whose names begin like a primitive are types', (t) => {
  t.deepEqual(fieldTexts(msg(`stringy s\n${SEP}\nMSG: p/msg/stringy\nuint8 x`)), ['p/msg/stringy s']);
});

test('bounds of arrays and strings are kept', (t) => {
  const definition = msg(
    'int32[<=5] a\nstring<=10 b\nstring<=10[] c\nstring<=10[<=5] d\nstring<=22 e "Hello world!"\nwstring<=4[2] f\np/T[<=1] r\nint32[0] z\n===\nMSG: p/T\nuint8 x',
  );
  t.deepEqual(fieldTexts(definition), [
    'int32[<=5] a',
    'string<=10 b',
    'string<=10[] c',
    'string<=10[<=5] d',
    'string<=22 e',
    'wstring<=4[2] f',
    'p/msg/T[<=1] r',
    'int32[0] z',
  ]);
  t.deepEqual(defaultValues(definition), { e: 'Hello world!' });
});

test('blanks may stand before and in brackets', (t) => {
  t.deepEqual(fieldTexts(msg('int32 [ 3 ] a\nstring <= 10 [ <= 5 ] b')), ['int32[3] a', 'string<=10[<=5] b']);
});

test('char and byte are types of their own, as ROS 2 gives both one unsigned byte', (t) => {
  t.deepEqual(fieldTexts(msg('char c\nbyte b\nbyte[<=3] v [0, 1, 255]')), ['char c', 'byte b', 'byte[<=3] v']);
});

test('an empty text is an empty message', (t) => {
  for (const data of ['', '\n', '# only a comment\n', '\n\n  \n']) {
    const definition = msg(data, 'std_msgs/msg/Empty');
    t.deepEqual([definition.name, definition.fields, definition.constants], ['std_msgs/msg/Empty', [], []]);
  }
});

test('a text that a DDS recorder left empty is not taken for an empty message', (t) => {
  t.throws(() => msg('', 'std_msgs::msg::dds_::String_'), { code: 'SCHEMA_EMPTY' });
});

test('a message of constants only has no fields, also as the root with a dependency behind it', (t) => {
  const definition = msg(`uint8 A=1\nuint8 B=2\n${SEP}\nMSG: p/msg/X\nint32 v`);
  t.deepEqual(definition.fields, []);
  t.deepEqual(constantValues(definition), { A: 1, B: 2 });
  const nested = msg(`K k\nK[] ks\nint32 v\n${SEP}\nMSG: p/msg/K\nuint8 A=1`);
  t.deepEqual(fieldTexts(nested), ['p/msg/K k', 'p/msg/K[] ks', 'int32 v']);
  t.deepEqual(partOf(nested, 'ks').fields, []);
});

test('an empty message may be a field, also in arrays', (t) => {
  const definition = msg(`std_msgs/Empty k\nstd_msgs/Empty[] l\nint32 v\n${SEP}\nMSG: std_msgs/msg/Empty\n\n`);
  t.deepEqual(fieldTexts(definition), ['std_msgs/msg/Empty k', 'std_msgs/msg/Empty[] l', 'int32 v']);
  t.deepEqual(partOf(definition, 'l').fields, []);
});

test(`the member that stands for an empty struct is no field`, (t) => {
  t.deepEqual(msg('uint8 structure_needs_at_least_one_member').fields, []);
});

test('Time and Duration may be left out, and have one shape whatever the text calls their fields', (t) => {
  const shapes = [
    'builtin_interfaces/Time t',
    'builtin_interfaces/msg/Time t',
    `builtin_interfaces/Time t\n${SEP}\nMSG: builtin_interfaces/Time\nint32 sec\nuint32 nanosec`,
    `builtin_interfaces/msg/Time t\n${SEP}\nMSG: builtin_interfaces/Time\nint32 sec\nuint32 nsec`,
    'time t',
  ];
  for (const data of shapes) {
    const definition = msg(data);
    t.deepEqual(fieldTexts(definition), ['builtin_interfaces/msg/Time t']);
    t.deepEqual(fieldTexts(partOf(definition, 't')), ['int32 sec', 'uint32 nanosec']);
  }
  t.deepEqual(fieldTexts(partOf(msg('duration d\nbuiltin_interfaces/Duration[] e'), 'e')), [
    'int32 sec',
    'uint32 nanosec',
  ]);
  t.deepEqual(fieldTexts(msg('int32 sec\nuint32 nanosec', 'builtin_interfaces/msg/Time')), [
    'int32 sec',
    'uint32 nanosec',
  ]);
});

test('a Time of another layout is refused, for every codec knows what a Time is', (t) => {
  const data = `builtin_interfaces/Time t\n${SEP}\nMSG: builtin_interfaces/Time\nuint64 ns`;
  t.throws(() => msg(data), { code: 'SCHEMA_CONFLICTING_DEFINITIONS' });
});

test(`a package's own time is its own`, (t) => {
  t.deepEqual(fieldTexts(msg(`time t\n${SEP}\nMSG: p/msg/time\nuint8 x`)), ['p/msg/time t']);
});

test('the same definition twice is fine, also with other blanks and comments', (t) => {
  const data = `B b\n${SEP}\nMSG: p/msg/B\nuint8 x\n${SEP}\nMSG: p/B\nuint8   x # again\n`;
  t.deepEqual(fieldTexts(msg(data)), ['p/msg/B b']);
});

test('two different definitions of one type are an error that names it', (t) => {
  const data = `B b\n${SEP}\nMSG: p/msg/B\nuint8 x\n${SEP}\nMSG: p/B\nuint16 x`;
  const error = t.throws(() => msg(data), { code: 'SCHEMA_CONFLICTING_DEFINITIONS' });
  t.regex(error.message, /p\/msg\/B/);
});

test('a line without a type or a name is an error with its place', (t) => {
  const faults: [string, number, number][] = [
    ['uint8 x\nuint8', 2, 6],
    ['uint8 x\r\n  uint8 1x', 2, 9],
    ['sensor_msgs/msg/PointCloud2', 1, 28],
    ['uint8 a\ruint8[ b', 2, 8],
    ['uint8[2 b', 1, 9],
    ['uint8[][] b', 1, 8],
    ['foo-bar x', 1, 4],
    ['/ x', 1, 1],
    ['string<=x s', 1, 9],
    ['int32 x;', 1, 7],
    [`uint8 x\n${SEP}\nuint8 y`, 2, 1],
    ['a\n---\nb', 1, 2],
  ];
  for (const [data, line, column] of faults) {
    const error = t.throws<Error & { line?: number; column?: number; schemaName?: string }>(() => msg(data), {
      code: 'SCHEMA_SYNTAX',
    });
    t.deepEqual([error.line, error.column, error.schemaName], [line, column, 'p/msg/A'], data);
  }
});

test('an error shows the text of its line', (t) => {
  const error = t.throws(() => msg('uint8 x\n  uint8 1x  # why\n'), { code: 'SCHEMA_SYNTAX' });
  t.regex(error.message, /p\/msg\/A, line 2.*'1x'.*uint8 1x {2}# why/);
});

test('an unknown type is an error at the line of the field, in the text as recorded', (t) => {
  const data = `B b\n${SEP}\nMSG: p/msg/B\nuint8 x\n  q/Gone g`;
  const error = t.throws<Error & { line?: number; column?: number }>(() => msg(data), { code: 'SCHEMA_UNKNOWN_TYPE' });
  t.deepEqual([error.line, error.column], [5, 3]);
  t.regex(error.message, /q\/Gone.*p\/msg\/B/);
});

test('two fields of one name are an error', (t) => {
  t.throws(() => msg('uint8 x\nuint16 x'), { code: 'SCHEMA_DUPLICATE_FIELD', message: /x/ });
});
