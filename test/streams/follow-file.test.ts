import { appendFileSync, mkdtempSync, renameSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'ava';
import { followFile } from '../../lib/index.js';
import type { DecodedMessage, FollowFileOptions } from '../../lib/index.js';
import { writeMcap } from '../helpers/write-mcap.js';

interface N {
  n: number;
}

const MESSAGES = Array.from({ length: 40 }, (_, n) => ({ topic: '/a', logTime: n, n }));

/** Follows a file that `grow` changes; gives what came, and the error. */
async function follow(
  start: Uint8Array,
  grow: (path: string, got: number[]) => boolean,
  options: FollowFileOptions = {},
): Promise<{ got: number[]; error: (Error & { code?: string }) | undefined }> {
  const folder = mkdtempSync(join(tmpdir(), 'follow-'));
  const path = join(folder, 'growing.mcap');
  writeFileSync(path, start);
  const got: number[] = [];
  const timer = setInterval(() => {
    if (!grow(path, got)) clearInterval(timer);
  }, 10);
  try {
    for await (const { message } of followFile<N>(path, { pollInterval: 5, ...options }) as AsyncIterable<
      DecodedMessage<N>
    >) {
      got.push(message.n);
    }
    return { got, error: undefined };
  } catch (error) {
    return { got, error: error as Error };
  } finally {
    clearInterval(timer);
    rmSync(folder, { recursive: true });
  }
}

test('messages of a growing file come as they are whole, and the Footer ends it', async (t) => {
  const bytes = await writeMcap(MESSAGES, { chunkSize: 200 });
  let at = 100;
  const { got, error } = await follow(bytes.subarray(0, at), (path) => {
    appendFileSync(path, bytes.subarray(at, (at += 97)));
    return at < bytes.length;
  });
  t.is(error, undefined);
  t.deepEqual(
    got,
    MESSAGES.map(({ n }) => n),
  );
});

test('a chunk is delivered before its indexes are there', async (t) => {
  const bytes = await writeMcap(MESSAGES.slice(0, 5));
  // The file ends with the chunk, before its MessageIndex.
  const chunk = bytes.indexOf(6, 30);
  const end = chunk + 9 + Number(bytes.readBigUInt64LE(chunk + 1));
  const { got, error } = await follow(bytes.subarray(0, end), () => true, { idleTimeout: 60, topics: '/a' });
  t.is(error, undefined);
  t.deepEqual(got, [0, 1, 2, 3, 4]);
});

test('a file that does not grow ends after idleTimeout, cleanly, also in the middle of a record', async (t) => {
  const bytes = await writeMcap(MESSAGES, { useChunks: false });
  const { got, error } = await follow(bytes.subarray(0, 500), () => false, { idleTimeout: 40 });
  t.is(error, undefined);
  t.true(got.length > 0 && got.length < 40);
});

test('a file that becomes shorter, and one that is replaced, are typed errors', async (t) => {
  const bytes = await writeMcap(MESSAGES, { useChunks: false });
  const cut = await follow(bytes.subarray(0, 900), (path, seen) => {
    if (seen.length === 0) return true;
    truncateSync(path, 300);
    return false;
  });
  t.is(cut.error?.code, 'MCAP_FILE_TRUNCATED');
  t.true(cut.got.length > 0);
  const replaced = await follow(bytes.subarray(0, 900), (path, seen) => {
    if (seen.length === 0) return true;
    writeFileSync(`${path}.new`, bytes.subarray(0, 950));
    renameSync(`${path}.new`, path);
    return false;
  });
  t.is(replaced.error?.code, 'MCAP_FILE_REPLACED');
});

test('an abort ends it', async (t) => {
  const bytes = await writeMcap(MESSAGES, { useChunks: false });
  const controller = new AbortController();
  setTimeout(() => {
    controller.abort();
  }, 30);
  const { error } = await follow(bytes.subarray(0, 900), () => true, { signal: controller.signal });
  t.is(error?.name, 'AbortError');
});
