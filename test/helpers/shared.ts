/** The reference material beside the project. A clone elsewhere does not have it; CI fails without it. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import test from 'ava';

/** The project's root: tests run from there. */
export const ROOT = resolve(import.meta.dirname, '../../..');

const SHARED = resolve(ROOT, '../shared');

export const hasShared = existsSync(join(SHARED, 'README.md'));

/** `test` where the reference material is there, `test.skip` where it is not (in CI its absence is a failure). */
export const sharedTest = hasShared || process.env['CI'] !== undefined ? test : test.skip;

export function sharedPath(...parts: string[]): string {
  return join(SHARED, ...parts);
}

/** All files below a folder of the reference material that end in `suffix`, as paths relative to that folder, sorted. */
export function sharedFiles(folder: string, suffix: string): string[] {
  if (!existsSync(sharedPath(folder))) return [];
  return readdirSync(sharedPath(folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith(suffix))
    .sort();
}

export function readShared(...parts: string[]): Buffer {
  return readFileSync(sharedPath(...parts));
}
