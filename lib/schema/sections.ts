/**
 * A recorded schema is a concatenation: the root's text, then for each dependency a line of `=` signs, a header line
 * `MSG: name` (or `SRV:`, `ACTION:`, `IDL:`) and its text. The text may also begin with a header, with or without the
 * line of `=` before it (rosbag2 writes IDL and services so). MCAP registry, "ros2msg" and "ros2idl".
 */
import type { SourceText } from './source-text.js';

export type SectionKind = 'MSG' | 'SRV' | 'ACTION' | 'IDL';

const KINDS: readonly SectionKind[] = ['MSG', 'SRV', 'ACTION', 'IDL'];

export interface Section {
  /** Undefined where no header says. */
  readonly kind: SectionKind | undefined;
  /** The name in the header, as spelled. */
  readonly name: string | undefined;
  /** Whether it holds anything, and more than comments. */
  readonly content: 'none' | 'comments' | 'statements';
  /** Its part of the text, without header and separator. */
  readonly start: number;
  readonly end: number;
  /** Where the header, or else the section, begins. */
  readonly offset: number;
}

/**
 * The sections of a text, in order. Where it does not begin with a header, the first section has no name; it is left out
 * where it holds nothing at all and others follow.
 */
export function splitSections(source: SourceText): Section[] {
  const { text } = source;
  const sections: Section[] = [];
  let header: { kind: SectionKind; name: string } | undefined;
  let start = 0;
  let offset = 0;
  let content: Section['content'] = 'none';
  let separator = -1;
  const close = (end: number): void => {
    if (header === undefined && content === 'none') return;
    sections.push({ kind: header?.kind, name: header?.name, content, start, end, offset });
  };
  for (const [from, to] of linesOf(text, 0, text.length)) {
    const first = skipSpace(text, from, to);
    if (first === to) continue;
    const found =
      separator >= 0 || (header === undefined && content !== 'statements') ? readHeader(text, first, to) : undefined;
    if (found !== undefined) {
      close(separator >= 0 ? separator : from);
      header = found;
      start = to;
      offset = first;
      content = 'none';
      separator = -1;
    } else if (isSeparator(text, first, to)) {
      if (separator < 0) separator = from;
    } else if (text[first] === '#') {
      if (content === 'none' && separator < 0) content = 'comments';
    } else {
      // Not a header after all: the line of `=` belongs to the text, whose grammar judges it.
      separator = -1;
      content = 'statements';
    }
  }
  close(separator >= 0 ? separator : text.length);
  if (sections.length === 0) {
    sections.push({ kind: undefined, name: undefined, content, start: 0, end: text.length, offset: 0 });
  }
  return sections;
}

/** The lines of a part of a text as [start, end), without their ends (LF, CRLF or CR). */
export function* linesOf(text: string, start: number, end: number): Generator<[number, number]> {
  let from = start;
  for (let i = start; i < end; i++) {
    const code = text.charCodeAt(i);
    if (code !== 10 && code !== 13) continue;
    yield [from, i];
    if (code === 13 && text.charCodeAt(i + 1) === 10) i++;
    from = i + 1;
  }
  if (from < end) yield [from, end];
}

/** Space of any kind that real files hold within a line: blanks, tabs, no-break spaces, byte order marks. */
export function isSpace(code: number): boolean {
  if (code < 128) return code <= 32 || code === 127;
  return (
    code === 0xa0 ||
    code === 0xfeff ||
    code === 0x85 ||
    code === 0x1680 ||
    (code >= 0x2000 && code <= 0x200b) ||
    code === 0x2028 ||
    code === 0x2029 ||
    code === 0x202f ||
    code === 0x205f ||
    code === 0x3000
  );
}

export function skipSpace(text: string, from: number, to: number): number {
  let i = from;
  while (i < to && isSpace(text.charCodeAt(i))) i++;
  return i;
}

/** Whether a line is a separator: three or more `=` and nothing else but space. */
export function isSeparator(text: string, first: number, to: number): boolean {
  let i = first;
  while (i < to && text[i] === '=') i++;
  return i - first >= 3 && skipSpace(text, i, to) === to;
}

function readHeader(text: string, first: number, to: number): { kind: SectionKind; name: string } | undefined {
  for (const kind of KINDS) {
    if (!text.startsWith(kind, first) || text[first + kind.length] !== ':') continue;
    const rest = text.slice(first + kind.length + 1, to);
    if (rest.startsWith(':')) return undefined;
    const comment = rest.indexOf('#');
    return { kind, name: (comment < 0 ? rest : rest.slice(0, comment)).trim() };
  }
  return undefined;
}
