/** Plausible values of a message type: rising stamps, unit quaternions, sequences that hold something, valid texts. */
import type { FieldType, MessageDefinition, PrimitiveType } from '../schema/definition.js';

const TEXTS = ['base_link', 'map', 'odom', 'camera_front', 'größe', '東京', 'robot-7'];

const INTEGERS: Readonly<Record<string, readonly [number, number]>> = {
  byte: [0, 0xff],
  char: [0, 0xff],
  wchar: [0x20, 0x7e],
  int8: [-0x80, 0x7f],
  uint8: [0, 0xff],
  int16: [-0x8000, 0x7fff],
  uint16: [0, 0xffff],
  int32: [-0x80000000, 0x7fffffff],
  uint32: [0, 0xffffffff],
};

export class ValueGenerator {
  readonly #definition: MessageDefinition;
  #state: number;
  #stamp = 0n;

  /** The same seed gives the same values. */
  constructor(definition: MessageDefinition, seed: number) {
    this.#definition = definition;
    this.#state = (seed ^ 0x9e3779b9) >>> 0;
  }

  /** @param stamp ns; what the message says of its time */
  next(stamp: bigint): unknown {
    this.#stamp = stamp;
    return this.#message(this.#definition);
  }

  /** From 0 up to 1, left out (mulberry32). */
  #random(): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0;
    let mixed = this.#state;
    mixed = Math.imul(mixed ^ (mixed >>> 15), mixed | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  }

  #integer(least: number, most: number): number {
    return least + Math.floor(this.#random() * (most - least + 1));
  }

  #message({ name, fields }: MessageDefinition): unknown {
    if (name === 'builtin_interfaces/msg/Time') {
      return { sec: Number(this.#stamp / 1_000_000_000n), nanosec: Number(this.#stamp % 1_000_000_000n) };
    }
    if (name === 'builtin_interfaces/msg/Duration') {
      return { sec: this.#integer(0, 59), nanosec: this.#integer(0, 999_999_999) };
    }
    if (/^geometry_msgs\/(msg\/)?Quaternion$/.test(name)) return this.#quaternion();
    // fromEntries makes own properties, whatever a field is called.
    return Object.fromEntries(fields.map((field) => [field.name, this.#value(field.type)]));
  }

  #quaternion(): { x: number; y: number; z: number; w: number } {
    const [x, y, z, w] = [this.#signed(), this.#signed(), this.#signed(), this.#signed() + 1.5];
    const length = Math.hypot(x, y, z, w);
    return { x: x / length, y: y / length, z: z / length, w: w / length };
  }

  #signed(): number {
    return this.#random() * 2 - 1;
  }

  #value(type: FieldType): unknown {
    switch (type.kind) {
      case 'primitive':
        return this.#primitive(type);
      case 'enum':
        return Number(type.members[this.#integer(0, type.members.length - 1)]?.value ?? 0);
      case 'message':
        return this.#message(type.definition);
      case 'array':
        return Array.from({ length: type.length }, () => this.#value(type.element));
      case 'sequence': {
        const length = Math.min(this.#integer(1, 4), type.maxLength ?? 4);
        return Array.from({ length }, () => this.#value(type.element));
      }
    }
  }

  #primitive({ name, maxLength }: PrimitiveType): unknown {
    const range = INTEGERS[name];
    if (range !== undefined) return this.#integer(...range);
    switch (name) {
      case 'bool':
        return this.#random() < 0.5;
      case 'int64':
        return BigInt(this.#integer(-0x80000000, 0x7fffffff)) * 0x1_0000_0001n;
      case 'uint64':
        return BigInt(this.#integer(0, 0xffffffff)) * 0x1_0000_0001n;
      case 'float32':
        return Math.fround(this.#signed() * 10);
      case 'string':
      case 'wstring':
        return this.#text(maxLength);
      default:
        return this.#signed() * 10;
    }
  }

  /** One of the texts that a bound, in bytes, lets pass. */
  #text(maxLength = Infinity): string {
    const fitting = TEXTS.filter((text) => Buffer.byteLength(text) <= maxLength);
    return fitting[this.#integer(0, fitting.length - 1)] ?? 'x'.repeat(Math.min(maxLength, 1));
  }
}
