/**
 * Any value as JSON, as far as it tells its form itself: bigint as a decimal string, NaN and the infinities as strings,
 * Uint8Array as base64, other typed arrays as lists. For what has no schema; `codec.toJson` is for what has one.
 */
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
    case 'string':
    case 'boolean':
      return JSON.stringify(value);
    default:
      return 'null';
  }
}

function isList(value: object): value is ArrayLike<unknown> {
  return Array.isArray(value) || (ArrayBuffer.isView(value) && !(value instanceof DataView));
}
