/** A rosbag2 folder -> the files of the recording, in order. */
import { access, readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { McapStreamsError } from '../errors.js';
import { parseBagMetadata } from '../mcap/rosbag2.js';

const FILE = /\.mcap(\.zstd)?$/;

/**
 * Paths of a bag's files, as its metadata.yaml names them; without one, all .mcap files of the folder by name. Throws
 * `MCAP_BAD_BAG`: a file that is named is missing, the folder holds none, or they are of another storage.
 */
export async function bagFiles(folder: string): Promise<string[]> {
  const text = await readFile(join(folder, 'metadata.yaml'), 'utf8').catch((error: unknown) => {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  });
  if (text === undefined) return filesByName(folder);
  const { relativeFilePaths, storageIdentifier } = parseBagMetadata(text);
  if (relativeFilePaths.length === 0) return filesByName(folder);
  const paths: string[] = [];
  const missing: string[] = [];
  for (const relative of relativeFilePaths) {
    // Older bags name their files from the folder's parent on.
    const path = await firstThatIs([
      join(folder, relative),
      join(folder, relative.slice(relative.lastIndexOf('/') + 1)),
    ]);
    if (path === undefined) missing.push(relative);
    else paths.push(path);
  }
  if (missing.length > 0) throw bad(folder, `these files are missing: ${missing.join(', ')}`);
  const other = paths.find((path) => !FILE.test(path));
  if (other !== undefined) throw bad(folder, `${other} is of storage ${storageIdentifier}, only mcap is read`);
  return paths;
}

async function filesByName(folder: string): Promise<string[]> {
  const names = (await readdir(folder)).filter((name) => FILE.test(name));
  if (names.length === 0) throw bad(folder, 'it holds no .mcap file');
  const byNumber = new Intl.Collator('en', { numeric: true });
  return names.sort(byNumber.compare).map((name) => join(folder, name));
}

async function firstThatIs(paths: readonly string[]): Promise<string | undefined> {
  for (const path of paths) {
    if (
      await access(path).then(
        () => true,
        () => false,
      )
    ) {
      return path;
    }
  }
  return undefined;
}

function bad(folder: string, why: string): McapStreamsError {
  return new McapStreamsError('MCAP_BAD_BAG', `bag folder ${folder}: ${why}`);
}
