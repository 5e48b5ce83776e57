/**
 * The one error class of the package and the closed union of its codes.
 *
 * An error's scope follows its code: `MCAP_*` is the container (a file, a chunk, a record), `SCHEMA_*` a channel's
 * schema text, `CDR_*` one payload, `ENCODE_*` one value that was to be written. A wrong option is a programming error
 * and so a `TypeError` (see {@link OptionError}).
 */

/** Faults of the container (MCAP specification). */
export type McapErrorCode =
  /** The input does not begin with the MCAP magic. */
  | 'MCAP_NOT_MCAP'
  /** The magic names a version other than '0'. */
  | 'MCAP_UNSUPPORTED_VERSION'
  /** The input ended before the Footer and the closing magic. */
  | 'MCAP_TRUNCATED'
  /** Bytes follow the closing magic. */
  | 'MCAP_TRAILING_DATA'
  /** The closing magic is missing or wrong. */
  | 'MCAP_BAD_END_MAGIC'
  /** A record's opcode is 0. */
  | 'MCAP_BAD_OPCODE'
  /** A record or a part of it is shorter than its fields need, or a length inside it runs over its end. */
  | 'MCAP_BAD_RECORD'
  /** A record stands where the specification does not allow it: inside a chunk, before the Header, after DataEnd. */
  | 'MCAP_UNEXPECTED_RECORD'
  /** The first record is no Header. */
  | 'MCAP_MISSING_HEADER'
  /** The data section does not end with a DataEnd. */
  | 'MCAP_MISSING_DATA_END'
  /** The closing magic stands where the Footer should. */
  | 'MCAP_MISSING_FOOTER'
  /** A record's length is above `maxRecordLength`. */
  | 'MCAP_RECORD_TOO_LARGE'
  /** A chunk says that it is larger, uncompressed, than `maxChunkSize`. */
  | 'MCAP_CHUNK_TOO_LARGE'
  /** A chunk's compression is none that is known. */
  | 'MCAP_UNSUPPORTED_COMPRESSION'
  /** A chunk does not decompress. */
  | 'MCAP_DECOMPRESSION_FAILED'
  /** A chunk decompresses to a size other than it says. */
  | 'MCAP_CHUNK_SIZE_MISMATCH'
  | 'MCAP_CHUNK_CRC_MISMATCH'
  | 'MCAP_ATTACHMENT_CRC_MISMATCH'
  | 'MCAP_DATA_CRC_MISMATCH'
  | 'MCAP_SUMMARY_CRC_MISMATCH'
  /** A message names a channel that no record before it defined. */
  | 'MCAP_UNKNOWN_CHANNEL'
  /** A channel names a schema that no record before it defined. */
  | 'MCAP_UNKNOWN_SCHEMA'
  /** A channel id is defined again with other content. */
  | 'MCAP_CHANNEL_REDEFINED'
  /** A schema id is defined again with other content. */
  | 'MCAP_SCHEMA_REDEFINED'
  /** A chunk index does not point to a chunk. */
  | 'MCAP_BAD_INDEX'
  /** A bag folder lacks files, or its metadata.yaml cannot be read. */
  | 'MCAP_BAD_BAG'
  /** A followed file has become shorter. */
  | 'MCAP_FILE_TRUNCATED'
  /** A followed file is no longer the one that was opened. */
  | 'MCAP_FILE_REPLACED'
  /** More channels than `maxChannels`, or than a file can have. */
  | 'MCAP_TOO_MANY_CHANNELS'
  /** More schemas than a file can have. */
  | 'MCAP_TOO_MANY_SCHEMAS'
  /** No decoder takes the channel's message encoding. */
  | 'MCAP_UNSUPPORTED_ENCODING'
  /** A record to be written has an id, a time or a number that its field cannot hold; a schema's id 0, too. */
  | 'MCAP_OUT_OF_RANGE'
  /** What was to be written is no record, or one with fields of other types. */
  | 'MCAP_INVALID_RECORD'
  /** A record came after the end of the file. */
  | 'MCAP_WRITE_AFTER_END'
  /** An attachment's data is shorter or longer than its `dataLength`. */
  | 'MCAP_ATTACHMENT_LENGTH'
  /** A chunk does not compress. */
  | 'MCAP_COMPRESSION_FAILED'
  /** With `chunks: 'raw'`: a chunk came without its MessageIndex or Message records. */
  | 'MCAP_UNINDEXED_CHUNK';

/** Faults of a schema text. */
export type SchemaErrorCode =
  /** The schema's encoding is neither ros2msg nor ros2idl/omgidl. */
  | 'SCHEMA_UNSUPPORTED_ENCODING'
  /** The channel names a schema that the recording does not define. */
  | 'SCHEMA_MISSING'
  /** The schema has no text. */
  | 'SCHEMA_EMPTY'
  /** A line or token that the grammar does not have. */
  | 'SCHEMA_SYNTAX'
  /** A valid IDL construct that has no ROS 2 form here (union, map, bitset, ...). */
  | 'SCHEMA_UNSUPPORTED_IDL'
  /** The text does not define the type that the schema names. */
  | 'SCHEMA_ROOT_NOT_FOUND'
  /** A field's type is not defined in the text. */
  | 'SCHEMA_UNKNOWN_TYPE'
  /** A type is defined twice with different content. */
  | 'SCHEMA_CONFLICTING_DEFINITIONS'
  /** Two fields of one type have one name. */
  | 'SCHEMA_DUPLICATE_FIELD'
  /** A type contains itself. */
  | 'SCHEMA_CYCLE'
  /** Nesting or size is above the limit. */
  | 'SCHEMA_LIMIT';

/** Faults of one CDR payload. */
export type CdrErrorCode =
  /** The payload is shorter than its 4-byte encapsulation header. */
  | 'CDR_NO_ENCAPSULATION'
  /** The encapsulation kind is unknown, or known and not supported (PL_CDR). */
  | 'CDR_UNSUPPORTED_ENCAPSULATION'
  /** The payload ends before its type does. */
  | 'CDR_TRUNCATED'
  /** A count or a length says more than the bytes left. */
  | 'CDR_BAD_LENGTH'
  /** The payload is a zstd frame: rosbag2's MESSAGE compression mode. */
  | 'CDR_COMPRESSED_MESSAGE'
  /** A decoder of the option `decoders` failed on a payload; its error is the cause. */
  | 'CDR_DECODER_FAILED';

/** Faults of one value that was to be encoded. */
export type EncodeErrorCode =
  /** A value of a kind that the field does not take. */
  | 'ENCODE_WRONG_KIND'
  /** A number outside the range of its type. */
  | 'ENCODE_OUT_OF_RANGE'
  /** A fixed array with another number of elements. */
  | 'ENCODE_WRONG_LENGTH'
  /** A string or sequence longer than its bound. */
  | 'ENCODE_OVER_BOUND'
  /** A string with a lone surrogate or a NUL. */
  | 'ENCODE_BAD_STRING'
  /** A property that the type does not have. */
  | 'ENCODE_UNKNOWN_FIELD'
  /** The target has not enough room (encodeInto). */
  | 'ENCODE_NO_SPACE'
  /** An object that is neither a record nor a message `{ topic, logTime, message }`. */
  | 'ENCODE_NOT_A_MESSAGE'
  /** A topic of which nothing says what type it has. */
  | 'ENCODE_UNKNOWN_TOPIC'
  /** A message that was decoded with `fields`: it is not whole. */
  | 'ENCODE_PARTIAL_MESSAGE'
  /** No encoder takes the channel's message encoding. */
  | 'ENCODE_UNSUPPORTED_ENCODING'
  /** An encoder of the option `encoders` failed on a value; its error is the cause. */
  | 'ENCODE_ENCODER_FAILED'
  /** A text that is no JSON, or JSON that is no message. */
  | 'ENCODE_BAD_JSON'
  /** A line, or an element of an array, of JSON above the limit. */
  | 'ENCODE_LINE_TOO_LONG';

export type ErrorCode = McapErrorCode | SchemaErrorCode | CdrErrorCode | EncodeErrorCode;

/** What an error knows of the place where it arose. */
export interface ErrorDetails {
  /** Topic of the channel. */
  readonly topic?: string | undefined;
  /** Name of the schema, as recorded. */
  readonly schemaName?: string | undefined;
  /** Path of the field, e.g. `poses[3].pose.position.x`. */
  readonly field?: string | undefined;
  /** Byte offset: in the input for `MCAP_*`, in the payload (with its 4-byte header) for `CDR_*`. */
  readonly offset?: number | undefined;
  /** Log time of the message, ns. */
  readonly logTime?: bigint | undefined;
  /** Id of a channel without a definition. */
  readonly channelId?: number | undefined;
  /** Line of the schema text, from 1. */
  readonly line?: number | undefined;
  /** Column in that line, from 1. */
  readonly column?: number | undefined;
  readonly cause?: unknown;
}

/** Every fault in data that this package reports, thrown or handed to a callback. */
export class McapStreamsError extends Error {
  override readonly name: string = 'McapStreamsError';
  readonly code: ErrorCode;
  readonly topic?: string;
  readonly schemaName?: string;
  readonly field?: string;
  readonly offset?: number;
  readonly logTime?: bigint;
  readonly channelId?: number;
  readonly line?: number;
  readonly column?: number;

  constructor(code: ErrorCode, message: string, details: ErrorDetails = {}) {
    super(message, details.cause === undefined ? undefined : { cause: details.cause });
    this.code = code;
    if (details.topic !== undefined) this.topic = details.topic;
    if (details.schemaName !== undefined) this.schemaName = details.schemaName;
    if (details.field !== undefined) this.field = details.field;
    if (details.offset !== undefined) this.offset = details.offset;
    if (details.logTime !== undefined) this.logTime = details.logTime;
    if (details.channelId !== undefined) this.channelId = details.channelId;
    if (details.line !== undefined) this.line = details.line;
    if (details.column !== undefined) this.column = details.column;
  }

  /**
   * The same error with more said of its place: a codec knows field and offset, the stream around it adds topic and
   * time, and says so in the message. What is already set stays.
   */
  with(details: ErrorDetails, message: string = this.message): McapStreamsError {
    const error = new McapStreamsError(this.code, message, {
      topic: this.topic ?? details.topic,
      schemaName: this.schemaName ?? details.schemaName,
      field: this.field ?? details.field,
      offset: this.offset ?? details.offset,
      logTime: this.logTime ?? details.logTime,
      channelId: this.channelId ?? details.channelId,
      line: this.line ?? details.line,
      column: this.column ?? details.column,
      cause: this.cause ?? details.cause,
    });
    if (this.stack !== undefined) error.stack = this.stack.replace(this.message, message);
    return error;
  }
}

export type OptionErrorCode =
  /** An option that does not exist. */
  | 'OPTION_UNKNOWN'
  /** An option with a value that it does not take. */
  | 'OPTION_INVALID';

/** A wrong option: a TypeError, because the program is wrong and not the data. */
export class OptionError extends TypeError {
  override readonly name: string = 'OptionError';
  readonly code: OptionErrorCode;

  constructor(code: OptionErrorCode, message: string) {
    super(message);
    this.code = code;
  }
}
