/** Random definitions, as a model that texts are printed from and as what must come back. */
import fc from 'fast-check';
import type {
  FieldType,
  LiteralValue,
  MessageDefinition,
  PrimitiveName,
  PrimitiveType,
} from '../../lib/schema/definition.js';

/** What is printed: types refer to later types only, so that there is no cycle. */
export interface RandomField {
  readonly name: string;
  readonly type: PrimitiveType | number;
  readonly array: undefined | { readonly kind: 'array' | 'sequence' | 'bounded'; readonly count: number };
  readonly defaultValue: LiteralValue | LiteralValue[] | undefined;
}

export interface RandomMessage {
  readonly package: string;
  readonly fields: readonly RandomField[];
  readonly constants: readonly { readonly name: string; readonly type: PrimitiveType; readonly value: LiteralValue }[];
}

const INTEGERS: readonly [PrimitiveName, bigint, bigint][] = [
  ['byte', 0n, 255n],
  ['char', 0n, 255n],
  ['int8', -128n, 127n],
  ['uint8', 0n, 255n],
  ['int16', -32768n, 32767n],
  ['uint16', 0n, 65535n],
  ['int32', -2147483648n, 2147483647n],
  ['uint32', 0n, 4294967295n],
  ['int64', -(2n ** 63n), 2n ** 63n - 1n],
  ['uint64', 0n, 2n ** 64n - 1n],
];

const identifier = fc.oneof(
  fc.stringMatching(/^[A-Za-z_][A-Za-z0-9_]{0,8}$/),
  fc.constantFrom('__proto__', 'constructor', 'class', 'string', 'time', 'A__B', 'a_', 'MSG', 'nan'),
);

/** A primitive type with a value of it. */
const primitiveAndValues: fc.Arbitrary<{ type: PrimitiveType; values: LiteralValue[] }> = fc.oneof(
  fc.constantFrom(...INTEGERS).chain(([name, min, max]) =>
    fc.array(fc.bigInt({ min, max }), { minLength: 5, maxLength: 5 }).map((values) => ({
      type: { kind: 'primitive' as const, name },
      values: values.map((value) => (name.endsWith('64') ? value : Number(value))),
    })),
  ),
  fc.array(fc.boolean(), { minLength: 5, maxLength: 5 }).map((values) => ({
    type: { kind: 'primitive' as const, name: 'bool' as const },
    values,
  })),
  fc.array(fc.double(), { minLength: 5, maxLength: 5 }).map((values) => ({
    type: { kind: 'primitive' as const, name: 'float64' as const },
    values,
  })),
  fc.array(fc.float(), { minLength: 5, maxLength: 5 }).map((values) => ({
    type: { kind: 'primitive' as const, name: 'float32' as const },
    values,
  })),
  fc
    .tuple(
      fc.constantFrom<PrimitiveName>('string', 'wstring'),
      fc.option(fc.integer({ min: 60, max: 200 }), { nil: undefined }),
      fc.array(
        fc.string({ maxLength: 12, unit: 'binary' }).map((text) => text.replaceAll('\0', '?')),
        { minLength: 5, maxLength: 5 },
      ),
    )
    .map(([name, maxLength, values]) => ({
      type: { kind: 'primitive' as const, name, ...(maxLength === undefined ? {} : { maxLength }) },
      values,
    })),
);

const field = (last: number, index: number): fc.Arbitrary<RandomField> =>
  fc
    .record({
      name: identifier,
      primitive: primitiveAndValues,
      reference: fc.option(fc.integer({ min: index + 1, max: Math.max(index + 1, last) }), { nil: undefined }),
      array: fc.option(
        fc.record({
          kind: fc.constantFrom('array' as const, 'sequence' as const, 'bounded' as const),
          count: fc.nat(5),
        }),
        { nil: undefined },
      ),
      hasDefault: fc.boolean(),
    })
    .map(({ name, primitive, reference, array, hasDefault }) => {
      if (reference !== undefined && reference <= last)
        return { name, type: reference, array, defaultValue: undefined };
      const { type, values } = primitive;
      const value = array === undefined ? values[0] : values.slice(0, array.count);
      return { name, type, array, defaultValue: hasDefault ? value : undefined };
    });

/** A root, first, and what it may refer to. */
export const messages: fc.Arbitrary<RandomMessage[]> = fc.integer({ min: 0, max: 4 }).chain((last) =>
  fc.tuple(
    ...Array.from({ length: last + 1 }, (_, index) =>
      fc.record({
        package: fc.constantFrom('p', 'other_msgs', 'Q9'),
        fields: fc.uniqueArray(field(last, index), { selector: ({ name }) => name, maxLength: 5 }),
        constants: fc.uniqueArray(
          fc
            .tuple(identifier, primitiveAndValues)
            .map(([name, { type, values }]) => ({ name, type, value: values[0] ?? 0 })),
          { selector: ({ name }) => name, maxLength: 3 },
        ),
      }),
    ),
  ),
);

/** Chooses by a list of numbers, so that one list is one text. */
export class Choices {
  readonly #numbers: readonly number[];
  #next = 0;

  constructor(numbers: readonly number[]) {
    this.#numbers = numbers;
  }

  below(limit: number): number {
    return (this.#numbers[this.#next++ % this.#numbers.length] ?? 0) % limit;
  }

  pick<T>(options: readonly T[]): T {
    const picked = options[this.below(options.length)];
    if (picked === undefined) throw new Error('nothing to pick from');
    return picked;
  }

  /** The list in some order. */
  shuffle<T>(list: readonly T[]): T[] {
    return list
      .map((item) => ({ item, key: this.below(1000) }))
      .sort((a, b) => a.key - b.key)
      .map(({ item }) => item);
  }
}

export const choices: fc.Arbitrary<number[]> = fc.array(fc.nat(10_000), { minLength: 20, maxLength: 200 });

/** The definition that must come back. */
export function expectedDefinition(all: readonly RandomMessage[], index: number): MessageDefinition {
  const message = all[index];
  if (message === undefined) throw new Error('no such message');
  return {
    name: `${message.package}/msg/T${index}`,
    extensibility: 'final',
    fields: message.fields.map(({ name, type, array, defaultValue }) => {
      const element: FieldType =
        typeof type === 'number' ? { kind: 'message', definition: expectedDefinition(all, type) } : type;
      return {
        name,
        type: arrayOf(element, array),
        ...(defaultValue === undefined ? {} : { defaultValue }),
      };
    }),
    constants: message.constants,
    warnings: [],
  };
}

function arrayOf(element: FieldType, array: RandomField['array']): FieldType {
  if (array === undefined) return element;
  const { kind, count } = array;
  if (kind === 'array') return { kind, element, length: count };
  return kind === 'sequence' ? { kind, element } : { kind: 'sequence', element, maxLength: count };
}

/** Without comments, and as plain objects. */
export function withoutComments(definition: MessageDefinition): MessageDefinition {
  const type = (fieldType: FieldType): FieldType => {
    if (fieldType.kind === 'message') return { ...fieldType, definition: withoutComments(fieldType.definition) };
    if (fieldType.kind === 'array' || fieldType.kind === 'sequence')
      return { ...fieldType, element: type(fieldType.element) };
    return fieldType;
  };
  const strip = <T extends { comment?: string }>(object: T): Omit<T, 'comment'> => {
    const copy = { ...object };
    delete copy.comment;
    return copy;
  };
  return {
    ...strip(definition),
    fields: definition.fields.map((item) => ({ ...strip(item), type: type(item.type) })),
    constants: definition.constants.map(strip),
  };
}
