/** Messages as JSON: for channels whose message encoding is `json` (MCAP registry), in both directions. */
import type { ChannelRecord } from '../mcap/records.js';

/** Values <-> UTF-8 JSON texts. */
export interface JsonCodec {
  decode(data: Uint8Array): unknown;
  encode(value: unknown): Uint8Array;
}

/**
 * A factory for the options `decoders` and `encoders`: it takes the channels whose message encoding is `json`.
 *
 *     decodeStream({ decoders: [jsonCodec] })
 *     encodeStream({ encoders: [jsonCodec], channels: { '/status': { messageEncoding: 'json' } } })
 *
 * What JSON cannot say is written as the command does: 64-bit integers as decimal strings, NaN and the infinities as the
 * strings "NaN", "Infinity", "-Infinity", uint8 arrays as base64. They are read as what they are written as.
 */
export function jsonCodec(channel: ChannelRecord): JsonCodec | undefined {
  return channel.messageEncoding === 'json' ? CODEC : undefined;
}

const CODEC: JsonCodec = {
  decode: (data) => JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(data)) as unknown,
  encode: (value) => {
    const text = JSON.stringify(value, replace) as string | undefined;
    if (text === undefined) throw new TypeError(`JSON has no form for ${typeof value}`);
    return Buffer.from(text);
  },
};

function replace(this: unknown, key: string, value: unknown): unknown {
  // A Buffer has a toJSON of its own, which has been called already.
  const own = (this as Record<string, unknown>)[key];
  if (own instanceof Uint8Array) return Buffer.from(own.buffer, own.byteOffset, own.byteLength).toString('base64');
  if (ArrayBuffer.isView(value)) return Array.from(value as unknown as Iterable<unknown>);
  if (typeof value === 'bigint') return String(value);
  if (typeof value === 'number' && !Number.isFinite(value)) return String(value);
  return value;
}
