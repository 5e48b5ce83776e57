/** Abort signals on streams. */
import { addAbortSignal } from 'node:stream';
import type { Readable, Writable } from 'node:stream';

/**
 * Destroys the stream with an AbortError when the signal is aborted; its cause is the signal's reason. A signal that is aborted
 * already does so only when whoever made the stream has had the time to listen: a pipeline then rejects with it.
 */
export function abortWith(signal: AbortSignal, stream: Readable | Writable): void {
  if (!signal.aborted) {
    addAbortSignal(signal, stream);
    return;
  }
  process.nextTick(() => {
    if (!stream.destroyed) addAbortSignal(signal, stream);
  });
}
