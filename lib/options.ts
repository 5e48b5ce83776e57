/**
 * Options are checked once, at the door: an option that does not exist is a programming error and is answered with the
 * nearest one that does.
 */
import { OptionError } from './errors.js';

/**
 * Throws OptionError('OPTION_UNKNOWN') for the first key of `given` that is not in `known`, with the nearest known one.
 *
 * @param where the function that took the options, for the message: `compileCodec`
 */
export function checkOptions(given: object | undefined, known: readonly string[], where: string): void {
  if (given === undefined) return;
  for (const key of Object.keys(given)) {
    if (known.includes(key)) continue;
    const near = nearest(key, known, 1);
    const hint = near[0] === undefined ? `it takes ${known.join(', ')}` : `did you mean ${near[0]}?`;
    throw new OptionError('OPTION_UNKNOWN', `${where} has no option ${JSON.stringify(key)}: ${hint}`);
  }
}

/** Throws OptionError('OPTION_INVALID') where `value` is neither undefined nor one of `allowed`. */
export function checkChoice(value: unknown, allowed: readonly (string | boolean)[], option: string): void {
  if (value === undefined || allowed.includes(value as string | boolean)) return;
  const list = allowed.map((choice) => JSON.stringify(choice)).join(', ');
  throw new OptionError('OPTION_INVALID', `option ${option} takes ${list}, not ${describe(value)}`);
}

/** The up to `count` names that are nearest to `name` by edit distance, nearest first. */
export function nearest(name: string, known: readonly string[], count: number): string[] {
  return known
    .map((candidate) => ({ candidate, distance: editDistance(name.toLowerCase(), candidate.toLowerCase()) }))
    .sort((a, b) => a.distance - b.distance)
    .slice(0, count)
    .map(({ candidate }) => candidate);
}

function describe(value: unknown): string {
  return typeof value === 'string' ? JSON.stringify(value) : String(value);
}

function editDistance(a: string, b: string): number {
  let previous = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let i = 1; i <= a.length; i++) {
    const current = [i];
    for (let j = 1; j <= b.length; j++) {
      const change = (previous[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1);
      current.push(Math.min(change, (previous[j] ?? 0) + 1, (current[j - 1] ?? 0) + 1));
    }
    previous = current;
  }
  return previous[b.length] ?? 0;
}
