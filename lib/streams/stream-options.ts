/** The options that every stream of this package takes. */
export interface StreamOptions {
  /** Destroys the stream at once with an AbortError whose cause is the signal's reason. */
  readonly signal?: AbortSignal | undefined;
  /** Outputs buffered before the stream stops: objects, or bytes for a stream of bytes. Default: Node's. */
  readonly readableHighWaterMark?: number | undefined;
  /** The same for inputs. */
  readonly writableHighWaterMark?: number | undefined;
}

export const STREAM_OPTIONS = ['signal', 'readableHighWaterMark', 'writableHighWaterMark'] as const;
