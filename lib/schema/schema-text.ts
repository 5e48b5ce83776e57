/**
 * A whole schema text: its sections read by their grammars into one table, and the root looked up in it by the schema's
 * own name.
 */
import type { Extensibility, MessageDefinition } from './definition.js';
import { declareMessage, type MessageTable } from './declaration.js';
import type { IdlDeclaration } from './idl-ast.js';
import { declareIdl } from './idl-declarations.js';
import { ACTION_PARTS, deriveInterfaceMessage, interfaceOf, SERVICE_PARTS } from './interfaces.js';
import { baseName, canonicalName, normalizeTypeName, packageOf, splitTypeName } from './names.js';
import { resolveMessage } from './resolve.js';
import { parseIdlText } from './ros2idl.js';
import { findInterfaceBreaks, parseMessageText } from './ros2msg.js';
import { splitSections, type Section } from './sections.js';
import type { SourceText } from './source-text.js';

/** So many names of a text stand in the error for a root that is missing. */
const MAX_NAMES_SHOWN = 8;

/**
 * Parses a schema; `grammar` is that of a section without a header.
 *
 * A struct without an `@extensibility` is final in ROS 2's own IDL (rosidl), and appendable in that of other DDS systems
 * (the default of IDL 4, DDS-XTypes 1.3 and Fast DDS). It makes a difference in XCDR2 only.
 */
export function parseSchemaText(
  source: SourceText,
  grammar: 'MSG' | 'IDL',
  extensibility: Extensibility,
): MessageDefinition {
  const table: MessageTable = new Map();
  const rootName = normalizeTypeName(source.schemaName);
  if (rootName === '') throw source.error('SCHEMA_ROOT_NOT_FOUND', 'the schema has no name', -1);
  const sections = splitSections(source);
  const named = new Set(sections.map(({ name }) => name && normalizeTypeName(name)));
  const declarations: IdlDeclaration[] = [];
  for (const section of sections) {
    if ((section.kind ?? grammar) === 'IDL') {
      for (const declaration of parseIdlText(source, section.start, section.end)) declarations.push(declaration);
      continue;
    }
    // Comments before the first header are no message where the root has a section of its own.
    if (section.name === undefined && section.content !== 'statements' && named.has(rootName)) continue;
    readMessages(source, table, section, rootName);
  }
  declareIdl(source, table, declarations, extensibility);
  return resolveMessage(source, table, findRoot(source, table, sections));
}

/** Reads a section of .msg, .srv or .action text. */
function readMessages(source: SourceText, table: MessageTable, section: Section, rootName: string): void {
  const { kind, start, end, offset } = section;
  if (section.name === '') throw source.error('SCHEMA_SYNTAX', 'the header has no name', offset);
  const name = section.name === undefined ? rootName : normalizeTypeName(section.name);
  const middle = name.split('/')[1];
  const isInterface = kind === undefined || kind !== 'MSG' || middle === 'srv' || middle === 'action';
  const breaks = isInterface ? findInterfaceBreaks(source.text, start, end) : [];
  if (breaks.length === 0 && kind !== 'SRV' && kind !== 'ACTION') {
    declareMessage(source, table, name, parseMessageText(source, name, start, end));
    return;
  }
  const isAction = kind === 'ACTION' || (kind !== 'SRV' && (middle === 'action' || breaks.length > 1));
  const parts = isAction ? ACTION_PARTS : SERVICE_PARTS;
  if (breaks.length !== parts.length - 1) {
    const [what, wanted] = isAction ? ['an action', 'two lines'] : ['a service', 'one line'];
    throw source.error(
      'SCHEMA_SYNTAX',
      `${what} has ${wanted} '---', this one has ${breaks.length}`,
      breaks.at(-1)?.[0] ?? offset,
    );
  }
  const base = interfaceOf(withMiddle(name, isAction ? 'action' : 'srv'), isAction ? 'action' : 'srv');
  parts.forEach((suffix, i) => {
    const from = i === 0 ? start : (breaks[i - 1]?.[1] ?? start);
    const to = breaks[i]?.[0] ?? end;
    declareMessage(source, table, base + suffix, parseMessageText(source, base + suffix, from, to));
  });
}

/**
 * The key of the message that the schema names. Two tolerances, both exact: a name of two parts may be that of a service
 * or action message, and a bare name that of the header the text begins with.
 */
function findRoot(source: SourceText, table: MessageTable, sections: readonly Section[]): string {
  const parts = splitTypeName(source.schemaName);
  const name = canonicalName(parts);
  const candidates = parts.length === 2 ? [name, withMiddle(name, 'srv'), withMiddle(name, 'action')] : [name];
  const leading = sections[0]?.name;
  if (parts.length === 1 && leading !== undefined) {
    const full = normalizeTypeName(leading);
    if (baseName(full) === name) candidates.push(full);
  }
  for (const candidate of candidates) {
    deriveInterfaceMessage(table, candidate);
    if (table.has(candidate)) return candidate;
  }
  const names = [...table.values()].map((message) => message.name);
  const shown = names.slice(0, MAX_NAMES_SHOWN).join(', ') + (names.length > MAX_NAMES_SHOWN ? ', ...' : '');
  throw source.error('SCHEMA_ROOT_NOT_FOUND', `the text does not define ${name}, it defines ${shown || 'nothing'}`, -1);
}

/** `pkg/srv/Add` of `pkg/msg/Add`: names of two parts are taken for messages at first. */
function withMiddle(name: string, middle: 'srv' | 'action'): string {
  const home = packageOf(name);
  return name.startsWith(`${home}/msg/`) ? `${home}/${middle}/${baseName(name)}` : name;
}
