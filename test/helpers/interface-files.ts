/** The interface files of the reference material, put together as recorders do. */
import { readShared, sharedFiles } from './shared.js';
import { SEP } from './definitions.js';

export interface InterfaceFile {
  /** `pkg/msg/Type`, `pkg/srv/Type` or `pkg/action/Type`. */
  readonly name: string;
  readonly text: string;
  readonly path: string;
}

/** Repositories that hold one package at their top. */
const TOP_PACKAGES = new Map([['test_interface_files', 'test_msgs']]);

/** All .msg, .srv and .action files of ROS 2 packages. The first of a name counts. */
export function readInterfaceFiles(): Map<string, InterfaceFile> {
  const files = new Map<string, InterfaceFile>();
  for (const suffix of ['msg', 'srv', 'action']) {
    for (const path of sharedFiles('definitions', `.${suffix}`)) {
      const parts = path.split('/');
      const [repository = '', type = ''] = [parts[0], parts.at(-1)?.slice(0, -suffix.length - 1)];
      if (parts.at(-2) === 'ros1') continue;
      const folder = parts.at(-2) === suffix ? (parts.at(-3) ?? '') : 'foxglove_msgs';
      const home = folder === 'files' ? (TOP_PACKAGES.get(repository) ?? repository) : folder;
      const name = `${home}/${suffix}/${type}`;
      if (!files.has(name)) files.set(name, { name, text: readShared('definitions', path).toString('utf8'), path });
    }
  }
  return files;
}

/**
 * The text that a recorder stores for a file: its own, and after it those of all types it needs. For types of packages
 * that are not there a text of one field stands.
 */
export function assemble(files: ReadonlyMap<string, InterfaceFile>, name: string): string {
  const seen = new Set<string>([name]);
  let text = files.get(name)?.text ?? '';
  const queue = [name];
  for (let current = queue.shift(); current !== undefined; current = queue.shift()) {
    const home = current.split('/')[0] ?? '';
    for (const [, first = '', second] of (files.get(current)?.text ?? '').matchAll(FIELD)) {
      if (second === undefined && !/^[A-Z]/.test(first)) continue;
      let needed = second === undefined ? `${home}/msg/${first}` : `${first}/msg/${second}`;
      if (first === 'Header' && second === undefined && !files.has(needed)) needed = 'std_msgs/msg/Header';
      if (seen.has(needed)) continue;
      seen.add(needed);
      queue.push(needed);
      text += `\n${SEP}\nMSG: ${needed.replace('/msg/', '/')}\n${files.get(needed)?.text ?? 'uint8 stub'}`;
    }
  }
  return text;
}

/** A line with a type that may be a message's, and its parts. */
const FIELD = /^[ \t]*([A-Za-z]\w*)(?:\/(?:msg\/)?(\w+))?(?:<=\d+)?(?:\[[^\]]*\])?[ \t]+\w/gm;
