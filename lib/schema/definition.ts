/**
 * The one description of a message type that every schema text becomes and every codec is made from.
 *
 * A definition is a tree: a field of message type holds the definition itself. One type is one object wherever it
 * stands. Names are canonical, `package/msg/Type`, whatever form the text used. `JSON.stringify` takes a definition:
 * 64-bit constants and defaults become decimal strings there.
 */

/** Types with no parts, by their ROS 2 names; IDL's own names are mapped to these (`octet` is `byte`, `long` is `int32`). */
export type PrimitiveName =
  | 'bool'
  | 'byte'
  | 'char'
  | 'wchar'
  | 'int8'
  | 'uint8'
  | 'int16'
  | 'uint16'
  | 'int32'
  | 'uint32'
  | 'int64'
  | 'uint64'
  | 'float32'
  | 'float64'
  | 'string'
  | 'wstring';

export interface PrimitiveType {
  readonly kind: 'primitive';
  readonly name: PrimitiveName;
  /** Bound of a string (`string<=N`): bytes without the NUL; of a wstring: UTF-16 units. */
  readonly maxLength?: number;
}

/** An IDL enum. Its values are numbers. */
export interface EnumType {
  readonly kind: 'enum';
  readonly name: string;
  /** The integer on the wire: uint32 unless `@bit_bound` says less. */
  readonly underlying: 'uint8' | 'uint16' | 'uint32' | 'int8' | 'int16' | 'int32';
  readonly members: readonly ConstantDefinition[];
}

export interface MessageType {
  readonly kind: 'message';
  readonly definition: MessageDefinition;
}

/** A fixed array `T[N]`: no count on the wire. */
export interface ArrayType {
  readonly kind: 'array';
  readonly element: FieldType;
  readonly length: number;
}

/** A sequence `T[]` or `T[<=N]`: a uint32 count, then the elements. */
export interface SequenceType {
  readonly kind: 'sequence';
  readonly element: FieldType;
  readonly maxLength?: number;
}

export type FieldType = PrimitiveType | EnumType | MessageType | ArrayType | SequenceType;

/** A literal of a schema text: 64-bit integers are bigint, all other numbers number. */
export type LiteralValue = boolean | number | bigint | string;

export interface ConstantDefinition {
  readonly name: string;
  readonly type: PrimitiveType;
  readonly value: LiteralValue;
  /** The comment that stands with it, without `#`. */
  readonly comment?: string;
}

export interface FieldDefinition {
  readonly name: string;
  readonly type: FieldType;
  /** The schema's default, taken by the encoder where the value is missing. */
  readonly defaultValue?: LiteralValue | readonly LiteralValue[];
  /** IDL's `@key`: DDS tells instances apart by it. No difference on the wire. */
  readonly key?: boolean;
  /** IDL's `@unit`. */
  readonly unit?: string;
  readonly comment?: string;
}

/** XTypes extensibility (7.2.3): decides the DHEADER in XCDR2. ROS 2 types are final. */
export type Extensibility = 'final' | 'appendable' | 'mutable';

/** Something in the text that was left out, because it is not needed to decode. */
export interface SchemaWarning {
  readonly message: string;
  /** The type it stands in. */
  readonly typeName: string;
  readonly line?: number;
  readonly text?: string;
}

export interface MessageDefinition {
  /** Canonical name: `sensor_msgs/msg/Imu`, `pkg/srv/Add_Request`, or a bare `Type` where the text has no package. */
  readonly name: string;
  readonly extensibility: Extensibility;
  /** In wire order. Empty for an empty message, which still takes one byte on the wire. */
  readonly fields: readonly FieldDefinition[];
  readonly constants: readonly ConstantDefinition[];
  /** All warnings of the text; filled on the root only. */
  readonly warnings: readonly SchemaWarning[];
  readonly comment?: string;
}

/** A schema as a Schema record holds it. */
export interface SchemaSource {
  /** Type name as recorded, in any of its spellings. */
  readonly name: string;
  /** `ros2msg`, `ros2idl` or `omgidl`. */
  readonly encoding: string;
  readonly data: Uint8Array | string;
}
