/** Random types and values: generated code and the interpreter agree byte by byte, value by value, error by error. */
import { deepStrictEqual } from 'node:assert';
import test from 'ava';
import fc from 'fast-check';
import { compileDefinition } from '../../lib/cdr/codec.js';
import type { CodecOptions } from '../../lib/cdr/codec.js';
import { ENCAPSULATIONS } from '../../lib/cdr/encapsulation.js';
import { McapStreamsError } from '../../lib/errors.js';
import type { FieldType, MessageDefinition } from '../../lib/schema/definition.js';
import { messages, valuesOf } from '../helpers/random-types.js';

const RUNS = Number(process.env['FUZZ_RUNS'] ?? 150);

const typeAndValue = messages(3).chain((type) => fc.tuple(fc.constant(type), valuesOf(type)));

test('a value encodes to the same bytes in both, and decodes to itself in both', (t) => {
  fc.assert(
    fc.property(
      typeAndValue,
      fc.constantFrom(...ENCAPSULATIONS),
      fc.nat({ max: 9 }),
      ([type, value], encapsulation, shift) => {
        const [compiled, interpreted] = both(type, { encapsulation });
        const payload = compiled.encode(value);
        deepStrictEqual(interpreted.encode(value), payload);
        deepStrictEqual(compiled.decode(payload), value);
        deepStrictEqual(interpreted.decode(payload), value);
        const chunk = new Uint8Array(payload.length + shift + 9).fill(0xa5);
        chunk.set(payload, shift);
        const view = new DataView(chunk.buffer);
        deepStrictEqual(compiled.decodeAt(chunk, view, shift, shift + payload.length), value);
        const target = new Uint8Array(payload.length + shift).fill(0x5a);
        deepStrictEqual(compiled.encodeInto(value, target, shift), payload.length);
        deepStrictEqual(target.subarray(shift), payload);
        deepStrictEqual([...target.subarray(0, shift)], new Array(shift).fill(0x5a));
      },
    ),
    { numRuns: RUNS, includeErrorInReport: true },
  );
  t.pass();
});

test('a damaged payload gives the same value or the same error in both', (t) => {
  const damage = fc.record({
    at: fc.nat({ max: 400 }),
    word: fc.constantFrom(0, 1, 0xff, 0x40000000, 0x80000000, 0xffffffff),
    cut: fc.nat({ max: 60 }),
    longer: fc.nat({ max: 5 }),
  });
  fc.assert(
    fc.property(
      typeAndValue,
      fc.constantFrom(...ENCAPSULATIONS),
      damage,
      ([type, value], encapsulation, { at, word, cut, longer }) => {
        const [compiled, interpreted] = both(type, { encapsulation });
        const payload = compiled.encode(value);
        const bytes = new Uint8Array(Math.max(4, payload.length - (cut > 30 ? cut - 30 : 0)) + longer);
        bytes.set(payload.subarray(0, bytes.length));
        const place = 4 + ((at * 4) % Math.max(4, bytes.length - 4));
        if (place + 4 <= bytes.length) new DataView(bytes.buffer).setUint32(place, word, true);
        deepStrictEqual(
          outcome(() => compiled.decode(bytes)),
          outcome(() => interpreted.decode(bytes)),
        );
      },
    ),
    { numRuns: RUNS * 2, includeErrorInReport: true },
  );
  t.pass();
});

test('a value with something wrong in it gives the same bytes or the same error in both', (t) => {
  const junk = fc.constantFrom<unknown>(
    ...[null, undefined, NaN, -1, 1.5, 300, 2 ** 40, 10n, -10n, 2n ** 70n, '', 'x', '5', 'a\0', '\ud800', true],
    ...[[], [1], [undefined], {}, { a: 1 }, new Date(5), new Map(), new Float64Array(3), Symbol.iterator],
  );
  fc.assert(
    fc.property(
      typeAndValue,
      fc.nat(),
      junk,
      fc.constantFrom(...ENCAPSULATIONS),
      ([type, value], seed, wrong, encapsulation) => {
        const [compiled, interpreted] = both(type, { encapsulation });
        spoil(value, seed, wrong);
        deepStrictEqual(
          outcome(() => compiled.encode(value)),
          outcome(() => interpreted.encode(value)),
        );
      },
    ),
    { numRuns: RUNS * 2, includeErrorInReport: true },
  );
  t.pass();
});

test('a projection gives what it selects of the whole value, in both', (t) => {
  fc.assert(
    fc.property(
      typeAndValue,
      fc.array(fc.nat(), { minLength: 1, maxLength: 3 }),
      fc.constantFrom(...ENCAPSULATIONS),
      ([type, value], picks, encapsulation) => {
        const paths = pathsOf(type);
        if (paths.length === 0) return;
        const fields = picks.map((pick) => paths[pick % paths.length] ?? '');
        const payload = compileDefinition(type, { encapsulation }).encode(value);
        const [compiled, interpreted] = both(type, { fields });
        const got = compiled.decode(payload);
        deepStrictEqual(interpreted.decode(payload), got, fields.join());
        deepStrictEqual(compiled.partial, true);
        for (const path of fields) deepStrictEqual(at(got, path), at(value, path), path);
      },
    ),
    { numRuns: RUNS, includeErrorInReport: true },
  );
  t.pass();
});

function both(
  type: MessageDefinition,
  options: CodecOptions,
): [ReturnType<typeof compileDefinition>, ReturnType<typeof compileDefinition>] {
  return [compileDefinition(type, options), compileDefinition(type, { ...options, codegen: false })];
}

/** What came of it: a value, or a typed error by all that it says. Anything else is thrown on. */
function outcome(action: () => unknown): unknown {
  try {
    return { value: action() };
  } catch (error) {
    if (!(error instanceof McapStreamsError)) throw error;
    return { code: error.code, field: error.field, offset: error.offset, message: error.message };
  }
}

/** Replaces one part of a value, somewhere. */
function spoil(value: unknown, seed: number, wrong: unknown): void {
  let place = value;
  let rest = seed;
  for (;;) {
    if (typeof place !== 'object' || place === null) return;
    const keys = ArrayBuffer.isView(place) ? [] : Object.keys(place);
    if (rest % 7 === 0) keys.push('unknown_field');
    const name = keys[rest % keys.length];
    if (name === undefined) return;
    rest = Math.floor(rest / 3) + 1;
    const inner: unknown = Object.hasOwn(place, name) ? (place as Record<string, unknown>)[name] : undefined;
    if (typeof inner === 'object' && inner !== null && !ArrayBuffer.isView(inner) && rest % 4 !== 0) {
      place = inner;
      continue;
    }
    Object.defineProperty(place, name, { value: wrong, enumerable: true, writable: true, configurable: true });
    return;
  }
}

/** Field paths of a type that reach into lists too. */
function pathsOf(type: MessageDefinition): string[] {
  return type.fields.flatMap(({ name, type: field }) => inside(field).map((rest) => name + rest));
}

function inside(type: FieldType): string[] {
  if (type.kind === 'message') {
    return [
      '',
      ...type.definition.fields.flatMap(({ name, type: field }) => inside(field).map((rest) => `.${name}${rest}`)),
    ];
  }
  if (type.kind === 'array' || type.kind === 'sequence') {
    return ['', ...inside(type.element).flatMap((rest) => [`[]${rest}`, `[0]${rest}`])];
  }
  return [''];
}

/** What stands at a path; `[]` gives the parts of all elements. */
function at(value: unknown, path: string): unknown {
  const steps = path.match(/[^.[\]]+|\[\d*\]/g) ?? [];
  return steps.reduce<unknown[]>(
    (places, step) =>
      places.flatMap((place) => {
        if (place === undefined) return [undefined];
        if (step === '[]') return Array.from(place as ArrayLike<unknown>);
        const name = step.startsWith('[') ? step.slice(1, -1) : step;
        return [Object.hasOwn(place as object, name) ? (place as Record<string, unknown>)[name] : undefined];
      }),
    [value],
  );
}
