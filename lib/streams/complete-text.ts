/** A .msg text with the types that it needs, as recorders store it. */
import { normalizeTypeName, packageOf } from '../schema/names.js';

const SEPARATOR = '='.repeat(80);
const HEADER = 'std_msgs/msg/Header';

/** The type of a field or constant, without bounds: the first word of a line. */
const TYPE = /^[ \t]*([A-Za-z][\w/]*)(?:<=\d+)?(?:\[[^\]]*\])?[ \t]+[A-Za-z_]/gm;

/**
 * Appends the sections that the text does not have and `find` knows. A type that neither has is left to the parser's
 * complaint; so are the built-in ones, which need no text.
 */
export function completeText(name: string, text: string, find: (name: string) => string | undefined): string {
  const known = new Set([normalizeTypeName(name)]);
  const sections: { owner: string; text: string }[] = [];
  const add = (owner: string, whole: string): void => {
    const [first = '', ...rest] = whole.split(/^={3,}[ \t]*\r?\n/m);
    sections.push({ owner, text: first });
    for (const section of rest) {
      const header = /^MSG:[ \t]*(\S+)/.exec(section)?.[1];
      if (header === undefined) continue;
      known.add(normalizeTypeName(header));
      sections.push({ owner: normalizeTypeName(header), text: section.slice(section.indexOf('\n') + 1) });
    }
  };
  add(normalizeTypeName(name), text);
  let complete = text;
  const append = (full: string): void => {
    if (known.has(full)) return;
    known.add(full);
    const found = find(full);
    if (found === undefined) return;
    complete += `${complete.endsWith('\n') ? '' : '\n'}${SEPARATOR}\nMSG: ${full.replace('/msg/', '/')}\n${found}`;
    add(full, found);
  };
  for (let section = sections.shift(); section !== undefined; section = sections.shift()) {
    for (const [, type = ''] of section.text.matchAll(TYPE)) {
      // Primitive types begin with a small letter, and no package has them.
      if (!type.includes('/') && /^[a-z]/.test(type)) continue;
      const own = type.includes('/') ? normalizeTypeName(type) : `${packageOf(section.owner)}/msg/${type}`;
      // Some texts say `Header` as ROS 1 had it.
      for (const full of type === 'Header' ? [own, HEADER] : [own]) append(full);
    }
  }
  return complete;
}
