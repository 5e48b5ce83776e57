/** The options that every stream of this package takes. */
export interface StreamOptions {
  /** Destroys the stream at once with an AbortError whose cause is the signal's reason. */
  readonly signal?: AbortSignal | undefined;
  /** Objects buffered before the stream stops, on each side that has objects. Default: Node's. */
  readonly highWaterMark?: number | undefined;
  /** The same for outputs alone: objects, or bytes for a stream of bytes. */
  readonly readableHighWaterMark?: number | undefined;
  /** The same for inputs alone. */
  readonly writableHighWaterMark?: number | undefined;
}

export const STREAM_OPTIONS = ['signal', 'highWaterMark', 'readableHighWaterMark', 'writableHighWaterMark'] as const;

/** The mark of a side; `highWaterMark` is for objects, bytes have their own. */
export function readableMark(options: StreamOptions, kind: 'objects' | 'bytes'): number | undefined {
  return options.readableHighWaterMark ?? (kind === 'objects' ? options.highWaterMark : undefined);
}

export function writableMark(options: StreamOptions, kind: 'objects' | 'bytes'): number | undefined {
  return options.writableHighWaterMark ?? (kind === 'objects' ? options.highWaterMark : undefined);
}
