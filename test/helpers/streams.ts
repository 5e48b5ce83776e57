import { Readable } from 'node:stream';

/** `bytes` in pieces of `size`. */
export function* pieces(bytes: Uint8Array, size: number): Generator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

/** `bytes` cut at the given places. */
export function* cutAt(bytes: Uint8Array, places: readonly number[]): Generator<Uint8Array> {
  let from = 0;
  for (const place of [...places, bytes.length]) {
    if (place > from) yield bytes.subarray(from, place);
    from = Math.max(from, place);
  }
}

export function byteStream(parts: Iterable<Uint8Array>): Readable {
  return Readable.from(parts, { objectMode: false });
}

/** All outputs of a stage that reads `input`, and the error that it ended with. */
export async function collect<T>(
  input: Uint8Array | Iterable<Uint8Array>,
  stage: AsyncIterable<T> & NodeJS.WritableStream,
): Promise<{ got: T[]; error: (Error & { code?: string; offset?: number }) | undefined }> {
  const got: T[] = [];
  const source = byteStream(input instanceof Uint8Array ? [input] : input);
  const reading = (async () => {
    for await (const item of stage) got.push(item);
  })();
  let error: Error | undefined;
  source.on('error', () => undefined).pipe(stage);
  await reading.catch((reason: unknown) => {
    error = reason as Error;
  });
  source.destroy();
  return { got, error };
}
