/**
 * The test streams of Fast-CDR: one value in every encapsulation.
 *
 * A case has one value, in up to six plain and delimited streams. All must decode to one value; that value's leaves are
 * compared with the constants of the case's C++ text, in the order in which the schema has them.
 */
import { compileCodec } from '../../lib/cdr/codec.js';
import type { CodecOptions, MessageCodec } from '../../lib/cdr/codec.js';
import type { Encapsulation } from '../../lib/cdr/encapsulation.js';
import { McapStreamsError } from '../../lib/errors.js';
import { readShared, sharedTest } from '../helpers/shared.js';

interface Vector {
  readonly file: string;
  readonly test: string;
  readonly idl: string | null;
  readonly values: readonly string[];
  readonly streams: Readonly<Record<string, string>>;
}

/** What a stream needs that this package does not have. */
const UNSUPPORTED = /optional|long double|\bmap|bitset|external/;

function vectors(): Vector[] {
  const all = JSON.parse(readShared('golden', 'fast-cdr', 'vectors.json').toString('utf8')) as Vector[];
  return all.map((vector) => {
    // The schema comments of the enum alignment tests leave out the width that their C++ enums have.
    const width = /^enum(8|16)_align/.exec(vector.test)?.[1];
    if (width === undefined || vector.idl === null || vector.idl.includes('@bit_bound')) return vector;
    return { ...vector, idl: `@bit_bound(${width})\n${vector.idl}` };
  });
}

/** Cases whose streams the file holds without their last byte, the enum's: nobody can decode them. */
const CUT = ['enum8_align_1', 'enum8_align_2'];

/** Codecs of the last struct of an IDL text; of all versions of it where the text has several. */
function codecsOf(idl: string, options: CodecOptions = {}): MessageCodec[] {
  const versions = idl.includes('// Encoded version') ? splitVersions(idl) : [idl];
  return versions.flatMap((text) => {
    const names = [...text.matchAll(/struct\s+(\w+)/g)].map((match) => match[1] ?? '');
    const schema = { name: names.at(-1) ?? '', encoding: 'omgidl', data: text };
    return [true, false].map((codegen) => compileCodec(schema, { codegen, wstring: 'fastcdr', ...options }));
  });
}

/** Names of the encapsulations: of the streams, and of the option. */
const NAMES: Readonly<Record<string, Encapsulation>> = {
  'PLAIN_CDR/BE': 'CDR_BE',
  'PLAIN_CDR/LE': 'CDR_LE',
  'PLAIN_CDR2/BE': 'CDR2_BE',
  'PLAIN_CDR2/LE': 'CDR2_LE',
  'DELIMIT_CDR2/BE': 'D_CDR2_BE',
  'DELIMIT_CDR2/LE': 'D_CDR2_LE',
};

/** A text with two versions of a struct becomes two texts with one each: the writer's, then the reader's. */
function splitVersions(idl: string): string[] {
  const structs = idl.split(/(?=@\w+\s+struct)/);
  const [encoded, decoded] = ['Encoded', 'Decoded'].map((version) => {
    const other = version === 'Encoded' ? 'Decoded' : 'Encoded';
    return structs.filter((text) => !text.includes(`// ${other} version`)).join('\n');
  });
  return [encoded ?? '', decoded ?? ''];
}

/** Numbers and strings of a value in order. */
function leaves(value: unknown): unknown[] {
  if (typeof value !== 'object' || value === null) return [value];
  return (
    ArrayBuffer.isView(value) ? Array.from(value as unknown as ArrayLike<unknown>) : Object.values(value)
  ).flatMap(leaves);
}

sharedTest('the plain and delimited streams without unsupported types all decode to one value a case', (t) => {
  let streams = 0;
  let cut = 0;
  let optional = 0;
  const mutable: string[] = [];
  for (const { file, test, idl, streams: all } of vectors()) {
    if (idl === null || UNSUPPORTED.test(idl)) continue;
    const wanted = Object.entries(all).filter(([name]) => !/:|PL_/.test(name));
    if (wanted.length === 0) continue;
    if (file === 'optional.cpp') {
      // The schema comment leaves out the @optional that the streams have.
      optional += wanted.length;
      continue;
    }
    if (CUT.includes(test)) {
      for (const [, hex] of wanted) {
        for (const codec of codecsOf(idl))
          t.throws(() => codec.decode(Buffer.from(hex, 'hex')), { instanceOf: McapStreamsError });
        cut++;
      }
      continue;
    }
    if (idl.includes('@mutable')) {
      // A mutable member inside: a parameter list, refused like one.
      for (const [, hex] of wanted) {
        for (const codec of codecsOf(idl)) {
          t.throws(() => codec.decode(Buffer.from(hex, 'hex')), { code: 'CDR_UNSUPPORTED_ENCAPSULATION' });
        }
        mutable.push(`${file} ${test}`);
      }
      continue;
    }
    const values: unknown[] = [];
    for (const [name, hex] of wanted) {
      streams++;
      const codecs = codecsOf(idl);
      codecs.forEach((codec, index) => {
        // XCDR1 has no DHEADER: only who knows the writer's version can read an inner struct of it.
        if (index >= 2 && !name.startsWith('DELIMIT')) return;
        const value = codec.decode(Buffer.from(hex, 'hex'));
        if (index < 2) values.push(value);
        else compareVersions(value, values[0]);
      });
    }
    for (const value of values) t.deepEqual(value, values[0], `${file} ${test}`);
  }
  t.deepEqual({ streams, mutable: mutable.length, cut, optional }, { streams: 488, mutable: 4, cut: 12, optional: 6 });
  t.deepEqual([...new Set(mutable)], ['appendable.cpp inner_mutable']);

  function compareVersions(reader: unknown, writer: unknown): void {
    if (typeof reader !== 'object' || reader === null) return (t.is(reader, writer), undefined);
    for (const [name, value] of Object.entries(reader)) {
      const written = (writer as Record<string, unknown>)[name];
      if (written === undefined) t.is(value, 0);
      else compareVersions(value, written);
    }
  }
});

sharedTest('the values encode to the streams, but for the option bytes', (t) => {
  let streams = 0;
  for (const { file, test, idl, streams: all } of vectors()) {
    if (idl === null || UNSUPPORTED.test(idl) || file === 'optional.cpp' || CUT.includes(test)) continue;
    if (idl.includes('@mutable')) continue;
    for (const [name, hex] of Object.entries(all)) {
      const encapsulation = NAMES[name];
      if (encapsulation === undefined) continue;
      // The writer's version of a type, compiled and interpreted.
      for (const codec of codecsOf(idl, { encapsulation }).slice(0, 2)) {
        const data = Buffer.from(hex, 'hex');
        const wanted = `${hex.slice(0, 4)}0000${hex.slice(8)}`;
        t.is(Buffer.from(codec.encode(codec.decode(data))).toString('hex'), wanted, `${file} ${test} ${name}`);
      }
      streams++;
    }
  }
  t.is(streams, 488);
});

sharedTest('the values are the constants of the C++ tests', (t) => {
  let compared = 0;
  for (const { file, test, idl, values, streams } of vectors()) {
    const stream = streams['PLAIN_CDR/LE'];
    if (idl === null || UNSUPPORTED.test(idl) || stream === undefined || idl.includes('@mutable') || CUT.includes(test))
      continue;
    if (file === 'optional.cpp') continue;
    const codec = codecsOf(idl)[0];
    const got = leaves(codec?.decode(Buffer.from(stream, 'hex'))).map(plain);
    const text = values.filter((line) => !/\b(ival|fval|iava|fava|valA|valB|valu|b_value)\b/.test(line)).join('\n');
    if (file === 'appendable.cpp') {
      // Every member is the constant `ival`.
      t.deepEqual([...new Set(got)], [0xcd], test);
      compared++;
      continue;
    }
    const wanted = literals(text, idl).map(plain);
    t.true(wanted.length > 0, `${test}: ${text}`);
    // A value that is used for several members is written once; the structs' constructors set both members to theirs.
    const each = test.includes('struct') && !test.includes('strings') ? wanted.flatMap((one) => [one, one]) : wanted;
    const repeated = got.map((_, index) => each[index % each.length]);
    t.deepEqual(got, repeated, `${file} ${test}: ${text}`);
    compared++;
  }
  t.true(compared > 70, String(compared));
});

/** Literals in C++ text: numbers with their sign by the C++ type, characters, strings, enumerators. */
function literals(text: string, idl: string): unknown[] {
  const found: unknown[] = [];
  for (const line of text.split(/;/)) {
    const at = line.indexOf('{');
    const [type, body] = [line.slice(0, at), line.slice(at)];
    const bits = /u?int(\d+)_t/.exec(type)?.[1];
    const signed = bits !== undefined && !/uint/.test(type);
    for (const [token] of body.matchAll(
      /L?"[^"]*"|'[^']*'|0x[0-9A-Fa-f]+|\b\d+\.\d+|\b(?:true|false)\b|ENUM\w+|(?<![\w<])\d+\b(?!_t|>)/g,
    )) {
      if (token.startsWith('"')) found.push(token.slice(1, -1));
      else if (token.startsWith('L"')) found.push(token.slice(2, -1));
      else if (token.startsWith("'")) found.push(token.charCodeAt(1));
      else if (token === 'true' || token === 'false') found.push(token === 'true');
      else if (token.startsWith('ENUM')) found.push(Number(new RegExp(`${token}\\s*=\\s*(\\d+)`).exec(idl)?.[1]));
      else if (token.includes('.')) found.push(Number(token));
      else found.push(signed ? BigInt.asIntN(Number(bits), BigInt(token)) : BigInt(token));
    }
  }
  return found;
}

function plain(value: unknown): unknown {
  return typeof value === 'bigint' && Number.isSafeInteger(Number(value)) ? Number(value) : value;
}

sharedTest('all parameter lists end in the typed error', (t) => {
  let streams = 0;
  const codec = compileCodec({ name: 't/msg/T', encoding: 'ros2msg', data: 'uint8 a' });
  for (const { idl, streams: all } of vectors()) {
    for (const [name, hex] of Object.entries(all)) {
      if (!name.includes('PL_')) continue;
      let used = codec;
      try {
        if (idl !== null) used = codecsOf(idl)[0] ?? codec;
      } catch {
        // A schema that is not supported: the kind is refused all the same.
      }
      // The second halves of eight streams do not begin with a header.
      const expected = name.includes('streams_end')
        ? { instanceOf: McapStreamsError }
        : { code: 'CDR_UNSUPPORTED_ENCAPSULATION', message: /PL_CDR2?_[BL]E/ };
      t.throws(() => used.decode(Buffer.from(hex, 'hex')), expected);
      streams++;
    }
  }
  t.is(streams, 662);
});
