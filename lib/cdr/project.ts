/**
 * Projection: the fields that a decoder is asked for, as a tree over the plan. `header.stamp`, `poses[].position.x`,
 * `covariance[0]`; a path to a struct or a list means all of it.
 */
import { OptionError } from '../errors.js';
import { nearest } from '../options.js';
import type { PlanNode, StructNode } from './layout.js';

/** What is wanted of one node: all of it, some fields of a struct, or some elements of a list. */
export type Selection = 'all' | FieldSelection | ListSelection;

export interface FieldSelection {
  readonly kind: 'fields';
  readonly fields: Map<string, Selection>;
}

export interface ListSelection {
  readonly kind: 'list';
  /** Of every element: `[]`. */
  each: Selection | undefined;
  /** Of single elements: `[0]`; what `each` wants is in them too. */
  readonly at: Map<number, Selection>;
}

/**
 * The selection that `paths` make over the type `root`.
 *
 * Throws OptionError('OPTION_INVALID') for a path that the type does not have, with the nearest ones.
 */
export function selectFields(root: StructNode, paths: readonly string[]): Selection {
  let selection: Selection | undefined;
  for (const path of paths) selection = add(selection, root, parsePath(path), 0, root, path);
  return selection ?? { kind: 'fields', fields: new Map() };
}

/** One step of a path: a field name, an index, or null for every element. */
type Step = string | number | null;

function parsePath(path: string): Step[] {
  const steps: Step[] = [];
  const pattern = /(?:^|\.)([^.[\]]+)|\[(\d*)\]/y;
  while (pattern.lastIndex < path.length) {
    const match = pattern.exec(path);
    if (match === null) throw new OptionError('OPTION_INVALID', `fields: ${JSON.stringify(path)} is no field path`);
    if (match[1] !== undefined) steps.push(match[1]);
    else steps.push(match[2] === '' ? null : Number(match[2]));
  }
  if (steps.length === 0) throw new OptionError('OPTION_INVALID', 'fields: a path is empty');
  return steps;
}

function add(
  known: Selection | undefined,
  node: PlanNode,
  steps: readonly Step[],
  depth: number,
  root: StructNode,
  path: string,
): Selection {
  const step = steps[depth];
  if (step === undefined) return 'all';
  if (typeof step === 'string') {
    const type = fieldOf(node, step);
    if (type === undefined) throw unknownPath(root, path);
    const inner =
      known !== undefined && known !== 'all' && known.kind === 'fields' ? known.fields : new Map<string, Selection>();
    const selected = add(inner.get(step), type, steps, depth + 1, root, path);
    if (known === 'all') return known;
    inner.set(step, selected);
    return { kind: 'fields', fields: inner };
  }
  if (node.kind !== 'list' || (step !== null && node.length >= 0 && step >= node.length)) throw unknownPath(root, path);
  const list: ListSelection =
    known !== undefined && known !== 'all' && known.kind === 'list'
      ? known
      : { kind: 'list', each: undefined, at: new Map() };
  if (step === null) {
    list.each = add(list.each, node.element, steps, depth + 1, root, path);
    for (const index of list.at.keys())
      list.at.set(index, add(list.at.get(index), node.element, steps, depth + 1, root, path));
  } else {
    const before = list.at.get(step) ?? copy(list.each);
    list.at.set(step, add(before, node.element, steps, depth + 1, root, path));
  }
  // Every element whole is the whole list.
  return known === 'all' || list.each === 'all' ? 'all' : list;
}

function copy(selection: Selection | undefined): Selection | undefined {
  if (selection === undefined || selection === 'all') return selection;
  if (selection.kind === 'fields') {
    const fields = new Map<string, Selection>();
    for (const [name, inner] of selection.fields) fields.set(name, copy(inner) ?? 'all');
    return { kind: 'fields', fields };
  }
  const at = new Map<number, Selection>();
  for (const [index, inner] of selection.at) at.set(index, copy(inner) ?? 'all');
  return { kind: 'list', each: copy(selection.each), at };
}

const TIME_FIELD: PlanNode = { kind: 'scalar', scalar: 'int32', size: 4, align: 4 };

function fieldOf(node: PlanNode, name: string): PlanNode | undefined {
  if (node.kind === 'time') return name === 'sec' || name === 'nanosec' ? TIME_FIELD : undefined;
  if (node.kind !== 'struct') return undefined;
  return node.fields.find((field) => field.name === name)?.node;
}

function unknownPath(root: StructNode, path: string): OptionError {
  const names: string[] = [];
  collect(root, '', names);
  const near = nearest(path, names, 3);
  const hint = near.length === 0 ? 'it has no fields' : `nearest: ${near.join(', ')}`;
  return new OptionError('OPTION_INVALID', `fields: ${root.name} has no ${JSON.stringify(path)}; ${hint}`);
}

/** Paths of a type, at most a few thousand: they serve an error message. */
function collect(node: PlanNode, path: string, names: string[]): void {
  if (names.length > 2000) return;
  if (path !== '') names.push(path);
  if (node.kind === 'struct') {
    for (const field of node.fields) collect(field.node, path === '' ? field.name : `${path}.${field.name}`, names);
  } else if (node.kind === 'list') {
    collect(node.element, `${path}[]`, names);
  } else if (node.kind === 'time') {
    names.push(`${path}.sec`, `${path}.nanosec`);
  }
}
