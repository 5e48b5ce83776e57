/** The parts of NDJSON lines that are not the message itself. */
import type { ChannelRecord, SchemaRecord } from '../mcap/records.js';

/** The beginning of all lines of a channel, up to the digits of the log time. */
export function lineHead(topic: string, schemaName: string): string {
  return `{"topic":${JSON.stringify(topic)},"schemaName":${JSON.stringify(schemaName)},"logTime":"`;
}

/**
 * The line that describes a channel: `{"topic","schemaName","messageEncoding","encoding","definition","metadata"}`, where
 * `encoding` is that of the definition. A definition that is no text stands as base64 in `definitionBase64`.
 */
export function channelLine({ topic, messageEncoding, metadata }: ChannelRecord, schema?: SchemaRecord): string {
  const { name = '', encoding = '', data = new Uint8Array() } = schema ?? {};
  const text = textOf(data);
  const definition =
    text === undefined ? { definitionBase64: Buffer.from(data).toString('base64') } : { definition: text };
  // JSON.stringify keeps the order of names, but for those that are array indexes; Map entries keep theirs so.
  const entries = [...metadata].map(([key, value]) => `${JSON.stringify(key)}:${JSON.stringify(value)}`);
  const head = JSON.stringify({ topic, schemaName: name, messageEncoding, encoding, ...definition });
  return `${head.slice(0, -1)},"metadata":{${entries.join(',')}}}\n`;
}

function textOf(data: Uint8Array): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(data);
  } catch {
    return undefined;
  }
}
