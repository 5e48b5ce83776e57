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
  const end = text.length;
  const sections: Section[] = [];
  let header: { kind: SectionKind; name: string } | undefined;
  let start = 0;
  let offset = 0;
  let content: Section['content'] = 'none';
  let separator = -1;
  const close = (sectionEnd: number): void => {
    if (header === undefined && content === 'none') return;
    sections.push({ kind: header?.kind, name: header?.name, content, start, end: sectionEnd, offset });
  };
  for (let from = 0; from < end;) {
    const atStart = header === undefined && content !== 'statements';
    if (separator < 0 && !atStart) {
      // Only a separator matters from here.
      from = lineWith(text, '===', from);
      if (from < 0) break;
    }
    const to = lineEnd(text, from);
    const first = skipSpace(text, from, to);
    const code = first < to ? text.charCodeAt(first) : 0;
    const found = first < to && (separator >= 0 || atStart) ? readHeader(text, first, to) : undefined;
    if (found !== undefined) {
      close(separator >= 0 ? separator : from);
      header = found;
      start = to;
      offset = first;
      content = 'none';
      separator = -1;
    } else if (first < to && isSeparator(text, first, to)) {
      if (separator < 0) separator = from;
    } else if (code === HASH) {
      if (content === 'none' && separator < 0) content = 'comments';
    } else if (first < to) {
      // Not a header after all: the line of `=` belongs to the text, whose grammar judges it.
      separator = -1;
      content = 'statements';
    }
    from = nextLine(text, to);
  }
  close(separator >= 0 ? separator : end);
  if (sections.length === 0) {
    sections.push({ kind: undefined, name: undefined, content, start: 0, end, offset: 0 });
  }
  return sections;
}

/** Where the line ends that `from` stands in: before its LF, CRLF or CR. */
export function lineEnd(text: string, from: number): number {
  LINE_END.lastIndex = from;
  return LINE_END.test(text) ? LINE_END.lastIndex - 1 : text.length;
}

/** Where the line begins that follows the one that ends at `end`. */
export function nextLine(text: string, end: number): number {
  return text.charCodeAt(end) === 13 && text.charCodeAt(end + 1) === 10 ? end + 2 : end + 1;
}

/** Where the next line begins, from the beginning of a line on, that holds a piece of text; -1 for none. */
export function lineWith(text: string, piece: string, from: number): number {
  let start = text.indexOf(piece, from);
  if (start < 0) return -1;
  while (start > from && text.charCodeAt(start - 1) !== 10 && text.charCodeAt(start - 1) !== 13) start--;
  return start;
}

const LINE_END = /[\r\n]/g;
const HASH = 0x23;

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
  while (i < to && text.charCodeAt(i) === 0x3d) i++;
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
