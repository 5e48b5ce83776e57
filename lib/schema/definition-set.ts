/**
 * The interface files of some packages, as schemas: each type's text with the texts of all types that it needs behind it, as
 * recorders store it.
 */
import type { SchemaSource } from './definition.js';
import { builtinMessage } from './builtin.js';
import { normalizeTypeName, packageOf } from './names.js';

/** A .msg, .srv, .action or .idl file. */
export interface InterfaceFile {
  /** `pkg/msg/Type`, `pkg/srv/Type`, `pkg/action/Type`. */
  readonly name: string;
  readonly kind: 'msg' | 'srv' | 'action' | 'idl';
  /** Its text; asked for when it is first needed. */
  readonly text: () => string;
}

const SEPARATOR = '='.repeat(80);

/** A line of a .msg text that declares a field of a type which is not a primitive. */
const FIELD = /^[ \t]*([A-Za-z]\w*(?:\/\w+){0,2})[ \t]*(?:\[[^\]]*\])?[ \t]+[A-Za-z]\w*/gm;
const SCOPED = /\b([A-Za-z]\w*)::(msg|srv|action)::([A-Za-z]\w*)/g;
const INCLUDE = /^[ \t]*#[ \t]*include[ \t]*["<](?:.*\/)?(\w+)\/(msg|srv|action)\/(\w+)\.idl[">]/gm;

/** What rosidl derives from a service or an action has no file of its own. */
const DERIVED = /_(?:Request|Response|Event|Goal|Result|Feedback|FeedbackMessage|SendGoal_\w+|GetResult_\w+)$/;

/**
 * Schemas by the name of the type: a Map whose values are made when they are asked for. A name may have any spelling
 * (`sensor_msgs/Imu`, `sensor_msgs/msg/Imu`); the messages of a service are `pkg/srv/Type_Request` and so on. It serves the
 * option `definitions`, and each value is what `compileCodec` and `parseSchema` take.
 */
export class DefinitionSet extends Map<string, SchemaSource> {
  readonly #files = new Map<string, InterfaceFile>();
  readonly #base: DefinitionSet | undefined;

  /**
   * @param files the first of a name counts, and a .msg, .srv or .action file before an .idl file
   * @param base where the types stand that these files need and do not hold
   */
  constructor(files: Iterable<InterfaceFile>, base?: DefinitionSet) {
    super();
    this.#base = base;
    for (const file of files) {
      const known = this.#files.get(file.name);
      if (known === undefined || (known.kind === 'idl' && file.kind !== 'idl')) this.#files.set(file.name, file);
    }
  }

  /** Names of the files: a service stands as itself, not as its request and response. */
  get names(): string[] {
    return [...new Set([...this.#files.keys(), ...(this.#base?.names ?? [])])].sort();
  }

  override get size(): number {
    return this.names.length;
  }

  override has(name: string): boolean {
    return this.#find(normalizeTypeName(name)) !== undefined;
  }

  override get(name: string): SchemaSource | undefined {
    const canonical = normalizeTypeName(name);
    const made = super.get(canonical);
    if (made !== undefined) return made;
    const file = this.#find(canonical);
    if (file === undefined) return undefined;
    const schema = this.#compose(canonical, file);
    super.set(canonical, schema);
    return schema;
  }

  override keys(): MapIterator<string> {
    return this.names.values();
  }

  override *values(): MapIterator<SchemaSource> {
    for (const [, schema] of this.entries()) yield schema;
  }

  override *entries(): MapIterator<[string, SchemaSource]> {
    for (const name of this.names) {
      const schema = this.get(name);
      if (schema !== undefined) yield [name, schema];
    }
  }

  override [Symbol.iterator](): MapIterator<[string, SchemaSource]> {
    return this.entries();
  }

  override forEach(call: (schema: SchemaSource, name: string, map: Map<string, SchemaSource>) => void): void {
    for (const [name, schema] of this.entries()) call(schema, name, this);
  }

  /** The file that defines a type: of a derived one, that of its service or action. */
  #find(name: string): InterfaceFile | undefined {
    const own = this.#files.get(name) ?? (this.#base === undefined ? undefined : this.#base.#find(name));
    if (own !== undefined || !DERIVED.test(name)) return own;
    for (let base = name; base.includes('_');) {
      base = base.slice(0, base.lastIndexOf('_'));
      const file = this.#files.get(base);
      if (file !== undefined && !base.includes('/msg/')) return file;
    }
    return undefined;
  }

  #compose(name: string, root: InterfaceFile): SchemaSource {
    const idl = root.kind === 'idl';
    const parts = [idl ? section(root, 'IDL', root.name) : root.text()];
    const seen = new Set([root.name]);
    const queue = [root];
    for (let current = queue.shift(); current !== undefined; current = queue.shift()) {
      for (const candidates of references(current)) {
        const file = candidates.map((candidate) => this.#find(candidate)).find((found) => found !== undefined);
        if (file === undefined || seen.has(file.name)) continue;
        seen.add(file.name);
        queue.push(file);
        const kind = file.kind === 'idl' ? 'IDL' : file.kind === 'msg' ? 'MSG' : file.kind === 'srv' ? 'SRV' : 'ACTION';
        const spelled = kind === 'MSG' && !idl ? file.name.replace('/msg/', '/') : file.name;
        parts.push(section(file, kind, spelled));
      }
    }
    return { name, encoding: idl ? 'ros2idl' : 'ros2msg', data: parts.join('') };
  }
}

function section(file: InterfaceFile, kind: string, name: string): string {
  const text = file.text();
  return `${kind === 'IDL' ? '' : '\n'}${SEPARATOR}\n${kind}: ${name}\n${text}${text.endsWith('\n') ? '' : '\n'}`;
}

/** Names that a file's types may have, best first, for each reference in it. */
function references(file: InterfaceFile): string[][] {
  const text = file.text();
  if (file.kind === 'idl') {
    return [...text.matchAll(SCOPED), ...text.matchAll(INCLUDE)].map(([, home = '', kind = '', type = '']) => [
      `${home}/${kind}/${type}`,
    ]);
  }
  const home = packageOf(file.name);
  const found: string[][] = [];
  for (const [, type = ''] of text.replace(/#.*$/gm, '').matchAll(FIELD)) {
    if (type.includes('/')) found.push([normalizeTypeName(type)]);
    else if (/^[A-Z]/.test(type))
      found.push([`${home}/msg/${type}`, ...(type === 'Header' ? ['std_msgs/msg/Header'] : [])]);
  }
  if (file.kind === 'srv' || file.kind === 'action') found.push(['service_msgs/msg/ServiceEventInfo']);
  return found.filter((candidates) => candidates.some((name) => name !== '' && builtinMessage(name) === undefined));
}
