/** Times of recordings: bigint nanoseconds, and how they are shown. */

const SECOND = 1_000_000_000n;

/** `2020-04-02T22:20:35.112411371Z`: RFC 3339 with all nine digits. */
export function formatTime(ns: bigint): string {
  const seconds = ns / SECOND;
  const date = new Date(Number(seconds) * 1000).toISOString();
  return `${date.slice(0, date.indexOf('.'))}.${String(ns % SECOND).padStart(9, '0')}Z`;
}

/** Seconds with as many digits as are needed: `12.5s`. */
export function formatDuration(ns: bigint): string {
  const fraction = String(ns % SECOND)
    .padStart(9, '0')
    .replace(/0+$/, '');
  return `${ns / SECOND}${fraction === '' ? '' : `.${fraction}`}s`;
}
