/** Everything that mcap-ros2-streams offers, grouped as in the README. */

// Streams
export { decodeStream, DecodeStream } from './streams/decode-stream.js';
export type { ByteSource, DecodeStreamOptions } from './streams/decode-stream.js';
export { McapRecordParser } from './streams/mcap-record-parser.js';
export type { McapRecordParserOptions } from './streams/mcap-record-parser.js';
export { Ros2Decoder } from './streams/ros2-decoder.js';
export type { Ros2DecoderOptions } from './streams/ros2-decoder.js';
export type {
  ChannelReport,
  DecodedMessage,
  DecodeOptions,
  DecoderFactory,
  DecodeStats,
  MessageDecoderCodec,
} from './streams/message-decoder.js';
export type { ContainerOptions, ContainerStats, DamageReport } from './streams/container-options.js';
export type { Decompress } from './mcap/compression.js';
export type { StreamOptions } from './streams/stream-options.js';
export type { Selection, TopicSelector } from './mcap/filter.js';

// Stages
export { filterMessages, mapMessages, splitByTopic, tapMessages, throttleMessages } from './streams/stages.js';
export type { MessageStage, StageMessage, ThrottleOptions } from './streams/stages.js';

// Text forms
export { ndjson } from './streams/ndjson.js';
export type { NdjsonInput, NdjsonMessage, NdjsonOptions } from './streams/ndjson.js';
export { jsonMessages } from './streams/json-messages.js';
export type { JsonMessage, JsonMessagesOptions } from './streams/json-messages.js';
export { csv } from './streams/csv.js';
export type { CsvInput, CsvOptions } from './streams/csv.js';
export type { DefinitionLookup, SchemaText } from './streams/definition-lookup.js';
export type { PullTransform } from './streams/pull-transform.js';

// Records
export type {
  AttachmentRecord,
  ChannelRecord,
  ChunkRecord,
  HeaderRecord,
  LargeAttachmentRecord,
  McapRecord,
  McapRecordType,
  MessageRecord,
  SchemaRecord,
  StatisticsRecord,
} from './mcap/records.js';

// Codec
export { compileCodec } from './cdr/codec.js';
export type { CodecOptions, MessageCodec } from './cdr/codec.js';

export { readPoints } from './read-points.js';
export type { PointCloud2Like, PointColumn, Points, ReadPointsOptions } from './read-points.js';

// Definitions
export { parseSchema } from './schema/registry.js';
export { definitionToRos2Msg } from './schema/print.js';
export { definitionToTypeScript } from './schema/typescript.js';
export type { TypeScriptOptions } from './schema/typescript.js';
export { typeHash } from './type-hash.js';
export { loadDefinitions, standardDefinitions } from './streams/definition-files.js';
export type { Distribution, LoadDefinitionsOptions } from './streams/definition-files.js';
export { DefinitionSet } from './schema/definition-set.js';
export type { InterfaceFile } from './schema/definition-set.js';
export type {
  ArrayType,
  ConstantDefinition,
  EnumType,
  Extensibility,
  FieldDefinition,
  FieldType,
  LiteralValue,
  MessageDefinition,
  MessageType,
  PrimitiveName,
  PrimitiveType,
  SchemaSource,
  SchemaWarning,
  SequenceType,
} from './schema/definition.js';

// Errors
export { McapStreamsError, OptionError } from './errors.js';
export type {
  CdrErrorCode,
  EncodeErrorCode,
  ErrorCode,
  ErrorDetails,
  McapErrorCode,
  OptionErrorCode,
  SchemaErrorCode,
} from './errors.js';
