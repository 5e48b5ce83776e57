/** Where a verb reads from, and which topics it takes. */
import { createReadStream } from 'node:fs';
import type { Readable } from 'node:stream';
import { UsageError } from './output.js';

/** A file's bytes; `-` or nothing is stdin. */
export function openInput(path: string | undefined): Readable {
  if (path !== undefined && path !== '-') return createReadStream(path, { highWaterMark: 1 << 18 });
  if (process.stdin.isTTY) throw new UsageError('no input: name a file, or pipe a recording in');
  return process.stdin;
}

/** How messages name the input. */
export function inputName(path: string | undefined): string {
  return path === undefined || path === '-' ? 'stdin' : path;
}

/** Patterns that have to match a whole topic. */
export function topicPatterns(patterns: readonly string[]): RegExp[] {
  return patterns.map((pattern) => {
    try {
      return new RegExp(`^(?:${pattern})$`, 'u');
    } catch (error) {
      throw new UsageError(`not a regular expression: ${pattern} (${error instanceof Error ? error.message : ''})`);
    }
  });
}
