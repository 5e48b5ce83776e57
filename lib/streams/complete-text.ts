/** A .msg text with the types that it needs, as recorders store it. */
import { normalizeTypeName, packageOf } from '../schema/names.js';

const SEPARATOR = '='.repeat(80);

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
  for (let section = sections.shift(); section !== undefined; section = sections.shift()) {
    for (const [, type = ''] of section.text.matchAll(TYPE)) {
      const full = type.includes('/') ? normalizeTypeName(type) : `${packageOf(section.owner)}/msg/${type}`;
      // Primitive types begin with a small letter, and no package has them.
      if (known.has(full) || (!type.includes('/') && /^[a-z]/.test(type))) continue;
      known.add(full);
      const found = find(full);
      if (found === undefined) continue;
      complete += `${complete.endsWith('\n') ? '' : '\n'}${SEPARATOR}\nMSG: ${full.replace('/msg/', '/')}\n${found}`;
      add(full, found);
    }
  }
  return complete;
}
