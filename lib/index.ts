/** Everything that mcap-ros2-streams offers, grouped as in the README. */

// Streams
export { decodeStream, DecodeStream } from './streams/decode-stream.js';
export type { ByteSource, DecodeStreamOptions } from './streams/decode-stream.js';
export { encodeStream, EncodeStream } from './streams/encode-stream.js';
export type { EncodeStreamOptions, MessageSource } from './streams/encode-stream.js';
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
export { Ros2Encoder } from './streams/ros2-encoder.js';
export type { EncoderInput, Ros2EncoderOptions } from './streams/ros2-encoder.js';
export type { EncodeOptions, EncoderFactory, MessageEncoderCodec, OutgoingMessage } from './streams/message-encoder.js';
export type { ChannelDeclaration, ChannelDeclarations, FieldDeclarations } from './streams/channel-declarations.js';
export { createRotatingWriter, RotatingWriter } from './streams/rotating-writer.js';
export type { BagMetadataOptions, RotatingWriterOptions } from './streams/rotating-writer.js';
export type { BagFile, BagMetadataVersion } from './mcap/rosbag2-metadata.js';
export { jsonCodec } from './streams/json-codec.js';
export type { JsonCodec } from './streams/json-codec.js';
export { McapRecordWriter } from './streams/mcap-record-writer.js';
export type { McapRecordWriterOptions } from './streams/mcap-record-writer.js';
export type { CompressionCodec, WriterOptions } from './streams/writer-options.js';
export type { WriterStats } from './streams/writer-core.js';
export type { ContainerOptions, ContainerStats, DamageReport } from './streams/container-options.js';
export type { Decompress } from './mcap/compression.js';
export type { Compress } from './mcap/compressors.js';
export type { StreamOptions } from './streams/stream-options.js';
export type { Selection, TopicSelector } from './mcap/filter.js';

// Recordings in files
export { readRecording, RecordingReader } from './streams/read-recording.js';
export type { ReadRecordingOptions } from './streams/read-recording.js';
export { mergeRecordings } from './streams/merge.js';
export type { MergeRecordingsOptions } from './streams/merge.js';
export { followFile } from './streams/follow-file.js';
export type { FollowFileOptions } from './streams/follow-file.js';
export { readAttachment, readMetadata, readSummary } from './streams/read-summary.js';
export type {
  AttachmentSummary,
  CompressionSummary,
  ReadSummaryOptions,
  RecordingSummary,
  TopicSummary,
} from './streams/read-summary.js';
export { isTransientLocal, offeredQosProfiles, parseBagMetadata } from './mcap/rosbag2.js';
export type { BagMetadata, QosDuration, QosProfile } from './mcap/rosbag2.js';
export type { RandomAccess, RecordingSource, SourceStats } from './mcap/source.js';

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
