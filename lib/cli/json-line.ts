/**
 * The JSON form of a message, one line: times and 64-bit integers are decimal strings, NaN and the infinities the strings
 * "NaN", "Infinity", "-Infinity", uint8 arrays base64.
 */
import type { DecodedMessage } from '../streams/message-decoder.js';

/** One line without its newline. An undecoded message has `"message":null`, its payload as base64 and the reason. */
export function jsonLine(message: DecodedMessage): string {
  const { topic, schemaName, logTime, publishTime, sequence, data } = message;
  const head =
    `{"topic":${JSON.stringify(topic)},"schemaName":${JSON.stringify(schemaName)},"logTime":"${logTime}",` +
    `"publishTime":"${publishTime}","sequence":${sequence},"message":`;
  if (data === undefined) return `${head}${jsonValue(message.message)}}`;
  const reason = message.error === undefined ? '' : `,"error":${JSON.stringify(message.error.message)}`;
  return `${head}null,"data":${jsonValue(data)}${reason}}`;
}

export function jsonValue(value: unknown): string {
  switch (typeof value) {
    case 'number':
      if (!Number.isFinite(value)) return `"${value}"`;
      return Object.is(value, -0) ? '-0' : String(value);
    case 'bigint':
      return `"${value}"`;
    case 'object':
      if (value === null) return 'null';
      if (value instanceof Uint8Array)
        return `"${Buffer.from(value.buffer, value.byteOffset, value.byteLength).toString('base64')}"`;
      if (isList(value)) return `[${Array.from(value, jsonValue).join(',')}]`;
      return `{${Object.entries(value)
        .map(([key, item]) => `${JSON.stringify(key)}:${jsonValue(item)}`)
        .join(',')}}`;
    default:
      return value === undefined ? 'null' : JSON.stringify(value);
  }
}

function isList(value: object): value is ArrayLike<unknown> {
  return Array.isArray(value) || (ArrayBuffer.isView(value) && !(value instanceof DataView));
}
