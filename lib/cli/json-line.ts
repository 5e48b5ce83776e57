/**
 * The JSON form of a message, one line: times and 64-bit integers are decimal strings, NaN and the infinities the strings
 * "NaN", "Infinity", "-Infinity", uint8 arrays base64.
 */
import { jsonValue } from '../streams/json-value.js';
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
