/**
 * Text of generated code, and the one place that turns it into functions.
 *
 * Schema text never becomes code: a name enters only as a JSON-quoted key, as an identifier made of [A-Za-z0-9_], or in a
 * comment from which everything that could end it is gone.
 */

/** Lines of generated code, indented by two spaces. */
export class CodeWriter {
  readonly #lines: (string | (() => string))[] = [];
  #indent = '';

  /** Adds a line; `{` at its end indents what follows, `}` at its begin takes that back. */
  line(text: string): void {
    if (text.startsWith('}')) this.#indent = this.#indent.slice(2);
    this.#lines.push(this.#indent + text);
    if (text.endsWith('{')) this.#indent += '  ';
  }

  /** A line whose text is known only later; an empty one leaves no line. */
  later(text: () => string): void {
    const indent = this.#indent;
    this.#lines.push(() => {
      const line = text();
      return line === '' ? '' : indent + line;
    });
  }

  toString(): string {
    return this.#lines
      .map((line) => (typeof line === 'string' ? line : line()))
      .filter((line) => line !== '')
      .join('\n');
  }
}

/** A string literal. JSON is JavaScript but for two line separators inside of strings, which older engines refuse. */
export function literal(text: string): string {
  return JSON.stringify(text).replaceAll('\u2028', '\\u2028').replaceAll('\u2029', '\\u2029');
}

/**
 * A key of an object literal that makes an own data property whatever its name: `__proto__` has to be computed, because
 * the plain form would set the prototype.
 */
export function key(name: string): string {
  if (name === '__proto__') return '["__proto__"]';
  return isIdentifier(name) ? name : literal(name);
}

/** Access to the property `name` of `object`. */
export function member(object: string, name: string): string {
  return isIdentifier(name) && name !== '__proto__' ? `${object}.${name}` : `${object}[${literal(name)}]`;
}

/** An identifier for a type: `decode_sensor_msgs_msg_Imu`. */
export function identifier(prefix: string, name: string): string {
  return `${prefix}_${name.replace(/[^A-Za-z0-9_]+/g, '_')}`;
}

/** Text that is safe inside of a line comment. */
export function comment(text: string): string {
  return text.replace(/[^\x20-\x7e]+/g, ' ').replaceAll('*/', '* /');
}

/** Letters, digits and underscores, no digit first: all that a ROS name may be, and safe as it stands. */
function isIdentifier(name: string): boolean {
  return /^[A-Za-z_][A-Za-z0-9_]*$/.test(name);
}

let probed: boolean | undefined;

/** False where the host forbids code from strings (a Content-Security-Policy, --disallow-code-generation-from-strings). */
export function canGenerateCode(): boolean {
  if (probed === undefined) {
    try {
      probed = (new Function('return true') as () => unknown)() === true;
    } catch {
      probed = false;
    }
  }
  return probed;
}

/**
 * Runs `source` as the body of a function of one parameter, `rt`, and gives back what it returns.
 *
 * @param url name of the source in stack traces and debuggers
 */
export function run(source: string, url: string, rt: object): unknown {
  const safeUrl = url.replace(/[^A-Za-z0-9_./:-]+/g, '_');
  const body = new Function('rt', `${source}\n//# sourceURL=${safeUrl}`) as (rt: object) => unknown;
  return body(rt);
}
