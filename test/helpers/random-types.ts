/** Random message types, and random values of them in the form that decoding gives. */
import fc from 'fast-check';
import type {
  EnumType,
  FieldType,
  MessageDefinition,
  PrimitiveName,
  PrimitiveType,
} from '../../lib/schema/definition.js';

/** Names that a careless code generator or object stumbles over. */
const NAMES = [
  ...['a', 'b', 'c', 'data', 'x1', 'long_name_of_a_field'],
  ...[
    'constructor',
    '__proto__',
    'toString',
    'hasOwnProperty',
    'class',
    'return',
    'arguments',
    'length',
    'p',
    'v',
    'u',
  ],
];

const PRIMITIVES: readonly PrimitiveName[] = [
  ...(['bool', 'byte', 'char', 'wchar', 'int8', 'uint8', 'int16', 'uint16', 'int32', 'uint32'] as const),
  ...(['int64', 'uint64', 'float32', 'float64', 'string', 'wstring'] as const),
];

const COLOR: EnumType = { kind: 'enum', name: 't/msg/Color', underlying: 'uint16', members: [] };

const TIME = definition('builtin_interfaces/msg/Time', [
  { name: 'sec', type: { kind: 'primitive', name: 'int32' } },
  { name: 'nanosec', type: { kind: 'primitive', name: 'uint32' } },
]);

function definition(
  name: string,
  fields: MessageDefinition['fields'],
  extensibility: MessageDefinition['extensibility'] = 'final',
): MessageDefinition {
  return { name, extensibility, fields, constants: [], warnings: [] };
}

let serial = 0;

/** Message types, nested up to `depth`. */
export function messages(depth: number): fc.Arbitrary<MessageDefinition> {
  return fc
    .tuple(
      fc.uniqueArray(fc.constantFrom(...NAMES), { maxLength: 6 }),
      fc.array(types(depth), { minLength: 6, maxLength: 6 }),
      fc.constantFrom('final' as const, 'final' as const, 'appendable' as const),
    )
    .map(([names, fieldTypes, extensibility]) =>
      definition(
        `t/msg/T${++serial}`,
        names.map((name, index) => ({ name, type: fieldTypes[index] ?? COLOR })),
        extensibility,
      ),
    );
}

function types(depth: number): fc.Arbitrary<FieldType> {
  const primitive: fc.Arbitrary<FieldType> = fc
    .constantFrom(...PRIMITIVES)
    .map((name): PrimitiveType => ({ kind: 'primitive', name }));
  const simple = fc.oneof(
    { weight: 8, arbitrary: primitive },
    { weight: 1, arbitrary: fc.constant<FieldType>(COLOR) },
    { weight: 1, arbitrary: fc.constant<FieldType>({ kind: 'message', definition: TIME }) },
  );
  if (depth === 0) return simple;
  const inner = types(depth - 1);
  return fc.oneof(
    { weight: 4, arbitrary: simple },
    { weight: 2, arbitrary: messages(depth - 1).map((type): FieldType => ({ kind: 'message', definition: type })) },
    {
      weight: 3,
      arbitrary: fc
        .tuple(inner, fc.option(fc.constant(5), { nil: undefined }))
        .map(([element, maxLength]): FieldType =>
          maxLength === undefined ? { kind: 'sequence', element } : { kind: 'sequence', element, maxLength },
        ),
    },
    {
      weight: 2,
      arbitrary: fc
        .tuple(inner, fc.integer({ min: 1, max: 4 }))
        .map(([element, length]): FieldType => ({ kind: 'array', element, length })),
    },
  );
}

/** Values of a message as decoding gives them. */
export function valuesOf(type: MessageDefinition): fc.Arbitrary<unknown> {
  if (type.name === 'builtin_interfaces/msg/Time') {
    return fc.record({ sec: fc.integer(), nanosec: fc.nat({ max: 2 ** 32 - 1 }) }, { noNullPrototype: true });
  }
  return fc.tuple(...type.fields.map((field) => fieldValues(field.type))).map((values) => {
    const object = {};
    type.fields.forEach(({ name }, index) => {
      Object.defineProperty(object, name, {
        value: values[index],
        enumerable: true,
        writable: true,
        configurable: true,
      });
    });
    return object;
  });
}

function fieldValues(type: FieldType): fc.Arbitrary<unknown> {
  switch (type.kind) {
    case 'message':
      return valuesOf(type.definition);
    case 'enum':
      return fc.nat({ max: 65535 });
    case 'primitive':
      return primitiveValues(type.name);
    case 'array':
      return lists(type.element, type.length, type.length);
    case 'sequence':
      return lists(type.element, 0, type.maxLength ?? 40);
  }
}

function lists(element: FieldType, minLength: number, maxLength: number): fc.Arbitrary<unknown> {
  const size = element.kind === 'primitive' ? ('max' as const) : ('small' as const);
  return fc.array(fieldValues(element), { minLength, maxLength, size }).map((items) => {
    const name = element.kind === 'enum' ? 'uint16' : element.kind === 'primitive' ? element.name : '';
    return ARRAYS[name]?.(items) ?? items;
  });
}

const ARRAYS: Readonly<Record<string, (items: unknown[]) => unknown>> = {
  byte: (items) => Uint8Array.from(items as number[]),
  char: (items) => Uint8Array.from(items as number[]),
  wchar: (items) => Uint16Array.from(items as number[]),
  int8: (items) => Int8Array.from(items as number[]),
  uint8: (items) => Uint8Array.from(items as number[]),
  int16: (items) => Int16Array.from(items as number[]),
  uint16: (items) => Uint16Array.from(items as number[]),
  int32: (items) => Int32Array.from(items as number[]),
  uint32: (items) => Uint32Array.from(items as number[]),
  int64: (items) => BigInt64Array.from(items as bigint[]),
  uint64: (items) => BigUint64Array.from(items as bigint[]),
  float32: (items) => Float32Array.from(items as number[]),
  float64: (items) => Float64Array.from(items as number[]),
};

function primitiveValues(name: PrimitiveName): fc.Arbitrary<unknown> {
  switch (name) {
    case 'bool':
      return fc.boolean();
    case 'int8':
      return fc.integer({ min: -128, max: 127 });
    case 'byte':
    case 'char':
    case 'uint8':
      return fc.nat({ max: 255 });
    case 'int16':
      return fc.integer({ min: -32768, max: 32767 });
    case 'wchar':
    case 'uint16':
      return fc.nat({ max: 65535 });
    case 'int32':
      return fc.integer();
    case 'uint32':
      return fc.nat({ max: 2 ** 32 - 1 });
    case 'int64':
      return fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n });
    case 'uint64':
      return fc.bigInt({ min: 0n, max: 2n ** 64n - 1n });
    case 'float32':
      return fc.float();
    case 'float64':
      return fc.double();
    case 'string':
    case 'wstring':
      return fc.string({ unit: 'grapheme', maxLength: 40 }).map((text) => text.replaceAll('\0', ''));
  }
}
