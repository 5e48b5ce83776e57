/** A schema's text with its places: the one maker of `SCHEMA_*` errors and of warnings. */
import { McapStreamsError, type SchemaErrorCode } from '../errors.js';
import type { SchemaWarning } from './definition.js';

/** So much of a line stands in an error's message. */
const MAX_LINE_SHOWN = 160;

/** So much of a problem, which may hold names from the text. */
const MAX_PROBLEM_SHOWN = 1000;

/** More warnings of one text than this help nobody. */
const MAX_WARNINGS = 1000;

export class SourceText {
  /** Name of the schema, as recorded. */
  readonly schemaName: string;
  readonly text: string;
  readonly warnings: SchemaWarning[] = [];
  #lineStarts: number[] | undefined;

  constructor(schemaName: string, text: string) {
    this.schemaName = schemaName;
    this.text = text;
  }

  /** An error at a place of the text; `offset` below 0 is the text as a whole. */
  error(code: SchemaErrorCode, problem: string, offset: number): McapStreamsError {
    const { schemaName } = this;
    const [name, what] = [shorten(schemaName), shorten(problem, 1, MAX_PROBLEM_SHOWN)];
    if (offset < 0) return new McapStreamsError(code, `${name}: ${what}`, { schemaName });
    const { line, column, text } = this.locate(offset);
    const message = `${name}, line ${line}, column ${column}: ${what}, in: ${shorten(text, column)}`;
    return new McapStreamsError(code, message, { schemaName, line, column });
  }

  /** Notes what was left out. */
  warn(message: string, typeName: string, offset: number): void {
    if (this.warnings.length > MAX_WARNINGS) return;
    if (this.warnings.length === MAX_WARNINGS) {
      this.warnings.push({ message: `more than ${MAX_WARNINGS} warnings, the rest is not listed`, typeName });
      return;
    }
    const { line, text } = this.locate(offset);
    this.warnings.push({ message, typeName, line, text: shorten(text) });
  }

  /** Line and column, both from 1, and the line's text. Lines end in LF, CRLF or CR. */
  locate(offset: number): { line: number; column: number; text: string } {
    const starts = (this.#lineStarts ??= findLineStarts(this.text));
    let low = 0;
    let high = starts.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if ((starts[middle] ?? 0) <= offset) low = middle;
      else high = middle - 1;
    }
    const start = starts[low] ?? 0;
    const end = starts[low + 1] ?? this.text.length;
    return { line: low + 1, column: offset - start + 1, text: this.text.slice(start, end).trim() };
  }
}

function findLineStarts(text: string): number[] {
  const starts = [0];
  for (const match of text.matchAll(/\r\n|\n|\r/g)) starts.push(match.index + match[0].length);
  return starts;
}

/** The line, or the part of it around a column. */
function shorten(line: string, column = 1, length: number = MAX_LINE_SHOWN): string {
  if (line.length <= length) return line;
  const start = Math.max(0, Math.min(column - length / 2, line.length - length));
  const end = start + length;
  return `${start > 0 ? '...' : ''}${line.slice(start, end)}${end < line.length ? '...' : ''}`;
}
