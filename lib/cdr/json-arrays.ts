/** Arrays of numbers of a payload as JSON text: a loop for each scalar, so that each sees one kind of read. */
import type { EncodeBuffer } from './encode-buffer.js';
import { NUMBER_ROOM, putFloat, putInt32, putInt64, putUint32, putUint64, room } from './json-numbers.js';
import { putBase64 } from './json-strings.js';
import type { ScalarName } from './layout.js';

/** Writes `count` elements at `u8[at]` to `out` from `q` on; returns the end. The payload is little-endian. */
export type ArrayText = (
  out: EncodeBuffer,
  q: number,
  u8: Uint8Array,
  view: DataView,
  at: number,
  count: number,
) => number;

type ElementText = (b: Uint8Array, w: DataView, q: number, v: DataView, at: number) => number;

/** So many elements share one check of room. */
const BLOCK = 64;

/** The text of arrays, by scalar. uint8 (byte and char too) is base64. */
export const ARRAY_TEXT: Readonly<Record<ScalarName, ArrayText>> = {
  bool(out, q, u8, _view, at, count) {
    room(out, q, count * 6 + 2);
    const b = out.u8;
    b[q++] = 91;
    for (let index = 0; index < count; index++) {
      if (index !== 0) b[q++] = 44;
      q = putBool(b, q, u8[at + index] !== 0);
    }
    b[q] = 93;
    return q + 1;
  },
  uint8: (out, q, u8, _view, at, count) => putBase64(out, q, u8, at, count),
  int8: list(1, (b, w, q, v, at) => putInt32(b, w, q, v.getInt8(at))),
  int16: list(2, (b, w, q, v, at) => putInt32(b, w, q, v.getInt16(at, true))),
  uint16: list(2, (b, w, q, v, at) => putUint32(b, w, q, v.getUint16(at, true))),
  int32: list(4, (b, w, q, v, at) => putInt32(b, w, q, v.getInt32(at, true))),
  uint32: list(4, (b, w, q, v, at) => putUint32(b, w, q, v.getUint32(at, true))),
  int64: list(8, putInt64),
  uint64: list(8, putUint64),
  float32(out, q, _u8, view, at, count) {
    room(out, q, NUMBER_ROOM);
    out.u8[q++] = 91;
    for (let begin = 0; begin < count; begin += BLOCK) {
      const end = Math.min(count, begin + BLOCK);
      room(out, q, (end - begin + 1) * NUMBER_ROOM);
      const b = out.u8;
      const w = out.view;
      for (let index = begin; index < end; index++) {
        if (index !== 0) b[q++] = 44;
        q = putFloat(b, w, q, view.getFloat32(at + 4 * index, true));
      }
    }
    out.u8[q] = 93;
    return q + 1;
  },
  float64(out, q, _u8, view, at, count) {
    room(out, q, NUMBER_ROOM);
    out.u8[q++] = 91;
    for (let begin = 0; begin < count; begin += BLOCK) {
      const end = Math.min(count, begin + BLOCK);
      room(out, q, (end - begin + 1) * NUMBER_ROOM);
      const b = out.u8;
      const w = out.view;
      for (let index = begin; index < end; index++) {
        if (index !== 0) b[q++] = 44;
        const value = view.getFloat64(at + 8 * index, true);
        if (value === 0 && 1 / value > 0) b[q++] = 48;
        else q = putFloat(b, w, q, value);
      }
    }
    out.u8[q] = 93;
    return q + 1;
  },
};

export function putBool(b: Uint8Array, q: number, value: boolean): number {
  if (value) {
    b[q] = 116;
    b[q + 1] = 114;
    b[q + 2] = 117;
    b[q + 3] = 101;
    return q + 4;
  }
  b[q] = 102;
  b[q + 1] = 97;
  b[q + 2] = 108;
  b[q + 3] = 115;
  b[q + 4] = 101;
  return q + 5;
}

function list(size: number, put: ElementText): ArrayText {
  return (out, q, _u8, view, at, count) => {
    room(out, q, NUMBER_ROOM);
    out.u8[q++] = 91;
    for (let begin = 0; begin < count; begin += BLOCK) {
      const end = Math.min(count, begin + BLOCK);
      room(out, q, (end - begin + 1) * NUMBER_ROOM);
      const b = out.u8;
      const w = out.view;
      for (let index = begin; index < end; index++) {
        if (index !== 0) b[q++] = 44;
        q = put(b, w, q, view, at + size * index);
      }
    }
    out.u8[q] = 93;
    return q + 1;
  };
}
