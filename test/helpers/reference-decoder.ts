/**
 * A decoder that is only meant to be right: it follows a definition field by field through a little-endian XCDR1 payload
 * and gives the canonical text of the golden values (`golden/decoded/README.txt`).
 */
import type { FieldType, MessageDefinition, PrimitiveName } from '../../lib/schema/definition.js';

/** The canonical text of a payload, its 4 bytes of encapsulation included. */
export function canonicalText(definition: MessageDefinition, payload: Uint8Array): string {
  return new ReferenceDecoder(payload).message(definition);
}

class ReferenceDecoder {
  readonly #bytes: Buffer;
  #position = 4;

  constructor(payload: Uint8Array) {
    this.#bytes = Buffer.from(payload);
  }

  message(definition: MessageDefinition): string {
    if (definition.fields.length === 0) {
      this.#position++;
      return '{}';
    }
    const fields = definition.fields.map(({ name, type }) => `${JSON.stringify(name)}:${this.#value(type)}`);
    return `{${fields.join(',')}}`;
  }

  #value(type: FieldType): string {
    switch (type.kind) {
      case 'message':
        return this.message(type.definition);
      case 'array':
        return this.#list(type.element, type.length);
      case 'sequence':
        return this.#list(type.element, this.#number(4, 'readUInt32LE'));
      case 'enum':
        return this.#primitive(type.underlying);
      case 'primitive':
        return this.#primitive(type.name);
    }
  }

  #list(element: FieldType, length: number): string {
    return `[${Array.from({ length }, () => this.#value(element)).join(',')}]`;
  }

  #primitive(name: PrimitiveName): string {
    switch (name) {
      case 'bool':
        return String(this.#number(1, 'readUInt8') !== 0);
      case 'byte':
      case 'char':
      case 'uint8':
        return String(this.#number(1, 'readUInt8'));
      case 'int8':
        return String(this.#number(1, 'readInt8'));
      case 'int16':
        return String(this.#number(2, 'readInt16LE'));
      case 'uint16':
        return String(this.#number(2, 'readUInt16LE'));
      case 'int32':
        return String(this.#number(4, 'readInt32LE'));
      case 'uint32':
        return String(this.#number(4, 'readUInt32LE'));
      case 'int64':
        return String(this.#bytes.readBigInt64LE(this.#take(8, 8)));
      case 'uint64':
        return String(this.#bytes.readBigUInt64LE(this.#take(8, 8)));
      case 'float32':
        return floatText(this.#number(4, 'readFloatLE'));
      case 'float64':
        return floatText(this.#number(8, 'readDoubleLE'));
      case 'string': {
        const length = this.#number(4, 'readUInt32LE');
        const start = this.#take(1, length);
        return JSON.stringify(this.#bytes.toString('utf8', start, start + Math.max(length - 1, 0)));
      }
      default:
        throw new Error(`${name} has no golden values`);
    }
  }

  #number(
    size: number,
    read:
      | 'readUInt8'
      | 'readInt8'
      | 'readInt16LE'
      | 'readUInt16LE'
      | 'readInt32LE'
      | 'readUInt32LE'
      | 'readFloatLE'
      | 'readDoubleLE',
  ): number {
    return this.#bytes[read](this.#take(size, size));
  }

  /** Aligns to the byte after the encapsulation and goes past `size` bytes. */
  #take(alignment: number, size: number): number {
    const start = this.#position + ((alignment - ((this.#position - 4) % alignment)) % alignment);
    this.#position = start + size;
    return start;
  }
}

function floatText(value: number): string {
  const bytes = Buffer.alloc(8);
  bytes.writeDoubleBE(value);
  return JSON.stringify(`f:${bytes.toString('hex')}`);
}
