/**
 * The options `--start` and `--end`: ns, RFC 3339, `@10s` (after the first message) and `end-30s`.
 */
import { readSummary } from '../streams/read-summary.js';
import { UsageError } from './output.js';

export type TimePoint =
  | { readonly kind: 'absolute'; readonly ns: bigint }
  /** ns after the first message. */
  | { readonly kind: 'afterStart'; readonly ns: bigint }
  /** ns before the last message. */
  | { readonly kind: 'beforeEnd'; readonly ns: bigint };

const UNITS: Readonly<Record<string, bigint>> = {
  ns: 1n,
  us: 1_000n,
  ms: 1_000_000n,
  s: 1_000_000_000n,
  m: 60_000_000_000n,
  min: 60_000_000_000n,
  h: 3_600_000_000_000n,
};

/** `1.5s`, `200ms`, `2m` in ns, by decimal digits: no rounding through floating point. */
export function parseDuration(text: string): bigint | undefined {
  const [, whole = '', fraction = '', unit = ''] = /^(\d+)(?:\.(\d+))?([a-z]+)$/.exec(text) ?? [];
  const size = UNITS[unit];
  if (whole === '' || size === undefined) return undefined;
  return BigInt(whole) * size + (fraction === '' ? 0n : (BigInt(fraction) * size) / 10n ** BigInt(fraction.length));
}

const RFC_3339 = /^(\d{4}-\d\d-\d\d)[Tt ](\d\d:\d\d:\d\d)(?:\.(\d{1,9}))?([Zz]|[+-]\d\d:\d\d)$/;

/** Throws UsageError. */
export function parseTimePoint(text: string): TimePoint {
  if (/^\d+$/.test(text)) return { kind: 'absolute', ns: BigInt(text) };
  if (text.startsWith('@')) {
    const ns = parseDuration(text.slice(1));
    if (ns !== undefined) return { kind: 'afterStart', ns };
  }
  if (text === 'end') return { kind: 'beforeEnd', ns: 0n };
  if (text.startsWith('end-')) {
    const ns = parseDuration(text.slice(4));
    if (ns !== undefined) return { kind: 'beforeEnd', ns };
  }
  const [, date = '', time = '', fraction = '', zone = ''] = RFC_3339.exec(text) ?? [];
  const seconds = date === '' ? NaN : Date.parse(`${date}T${time}${zone.toUpperCase()}`);
  if (Number.isNaN(seconds) || seconds < 0) {
    throw new UsageError(`no time: ${text}; take ns, RFC 3339 (2024-05-15T10:00:00Z), @10s or end-30s`);
  }
  return { kind: 'absolute', ns: BigInt(seconds) * 1_000_000n + BigInt(fraction.padEnd(9, '0')) };
}

export interface TimeOptions {
  readonly start?: string | undefined;
  readonly end?: string | undefined;
}

/** A range of log times. Where it begins may be known only when the first message comes. */
export class TimeRange {
  #start: bigint | undefined;
  #end: bigint | undefined;
  #startAfter: bigint | undefined;
  #endAfter: bigint | undefined;

  private constructor() {
    // Made by `of`.
  }

  /** Reads of the inputs' summaries what the options ask for. Throws UsageError where an input cannot tell. */
  static async of(options: TimeOptions, paths: readonly (string | undefined)[]): Promise<TimeRange> {
    const range = new TimeRange();
    const points = [options.start, options.end].map((text) => (text === undefined ? undefined : parseTimePoint(text)));
    const seekable = paths.every((path) => path !== undefined);
    const relative = points.some((point) => point !== undefined && point.kind !== 'absolute');
    if (!seekable && points.some((point) => point?.kind === 'beforeEnd')) {
      throw new UsageError('a time from the end needs a file: stdin cannot tell where it ends');
    }
    const bounds = relative && seekable ? await boundsOf(paths) : undefined;
    const [start, end] = points;
    for (const [point, isStart] of [
      [start, true],
      [end, false],
    ] as const) {
      if (point === undefined) continue;
      const ns = point.kind === 'absolute' ? point.ns : bounds && relativeTo(bounds, point);
      if (isStart) range.#start = ns;
      else range.#end = ns;
      if (ns !== undefined) continue;
      if (isStart) range.#startAfter = point.ns;
      else range.#endAfter = point.ns;
    }
    return range;
  }

  /** Inclusive; undefined: none, or not known yet. */
  get start(): bigint | undefined {
    return this.#start;
  }

  /** Exclusive. */
  get end(): bigint | undefined {
    return this.#end;
  }

  /** Where the message stands to the range. */
  place(logTime: bigint): 'before' | 'in' | 'behind' {
    if (this.#startAfter !== undefined) {
      this.#start = logTime + this.#startAfter;
      this.#startAfter = undefined;
    }
    if (this.#endAfter !== undefined) {
      this.#end = logTime + this.#endAfter;
      this.#endAfter = undefined;
    }
    if (this.#end !== undefined && logTime >= this.#end) return 'behind';
    return this.#start !== undefined && logTime < this.#start ? 'before' : 'in';
  }
}

interface Bounds {
  readonly first: bigint;
  readonly last: bigint;
}

async function boundsOf(paths: readonly string[]): Promise<Bounds | undefined> {
  let bounds: Bounds | undefined;
  for (const path of paths) {
    const { messageStartTime: first, messageEndTime: last } = await readSummary(path);
    if (first === undefined || last === undefined) continue;
    bounds = {
      first: bounds === undefined || first < bounds.first ? first : bounds.first,
      last: bounds === undefined || last > bounds.last ? last : bounds.last,
    };
  }
  return bounds;
}

function relativeTo({ first, last }: Bounds, point: TimePoint): bigint {
  if (point.kind === 'afterStart') return first + point.ns;
  return point.ns > last ? 0n : last - point.ns;
}
