/** Recordings that are compressed as a whole (rosbag2's compression mode FILE): `.mcap.zstd`. */
import { mkdtemp, open, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Transform } from 'node:stream';
import * as zlib from 'node:zlib';
import type * as Fzstd from 'fzstd';
import { lazily } from '../mcap/lazy.js';
import { McapStreamsError } from '../errors.js';
import { OpenSource } from '../mcap/source.js';

const fzstd = lazily('fzstd') as () => typeof Fzstd;

const ZSTD_MAGIC = Buffer.of(0x28, 0xb5, 0x2f, 0xfd);

interface ZlibZstd {
  createZstdDecompress?: () => Transform;
}

/** Whether bytes begin a zstd frame. */
export function isZstd(bytes: Uint8Array): boolean {
  return bytes.length >= 4 && Buffer.compare(bytes.subarray(0, 4), ZSTD_MAGIC) === 0;
}

/** A Transform that decompresses zstd as it comes: Node's own where it has one, else one in JavaScript. */
export function zstdDecompressor(): Transform {
  const native = (zlib as ZlibZstd).createZstdDecompress;
  if (native !== undefined) return native();
  const frames = new (fzstd().Decompress)((bytes) => {
    stage.push(bytes);
  });
  const stage = new Transform({
    transform(bytes: Uint8Array, _encoding, callback) {
      callback(
        attempt(() => {
          frames.push(bytes);
        }),
      );
    },
    flush(callback) {
      callback(
        attempt(() => {
          frames.push(new Uint8Array(0), true);
        }),
      );
    },
  });
  return stage;
}

function attempt(work: () => void): Error | null {
  try {
    work();
    return null;
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    return new McapStreamsError('MCAP_DECOMPRESSION_FAILED', `the file does not decompress as zstd: ${why}`, {
      cause: error,
    });
  }
}

/** The source itself, or where it is compressed as a whole, a temporary file with what is in it. */
export async function openWhole(source: OpenSource, signal: AbortSignal): Promise<OpenSource> {
  try {
    if (!isZstd(await source.read(0, 4))) return source;
    const folder = await mkdtemp(join(tmpdir(), 'mcap-zstd-'));
    const file = await open(join(folder, 'data.mcap'), 'wx+', 0o600);
    await rm(folder, { recursive: true, force: true });
    try {
      const stage = zstdDecompressor();
      const writing = (async () => {
        for await (const bytes of stage) await file.writeFile(bytes as Buffer);
      })();
      writing.catch(() => undefined);
      for (let at = 0; at < source.size && !signal.aborted;) {
        const bytes = await source.read(at, 2 ** 18);
        if (bytes.length === 0) break;
        at += bytes.length;
        if (!stage.write(bytes)) await new Promise((resolve) => stage.once('drain', resolve).once('close', resolve));
        if (stage.destroyed) break;
      }
      stage.end();
      await writing;
      await source.close();
      return await OpenSource.open(file);
    } catch (error) {
      await file.close();
      if (error instanceof McapStreamsError) throw error;
      const why = error instanceof Error ? error.message : String(error);
      throw new McapStreamsError('MCAP_DECOMPRESSION_FAILED', `the file does not decompress as zstd: ${why}`, {
        cause: error,
      });
    }
  } catch (error) {
    await source.close();
    throw error;
  }
}
