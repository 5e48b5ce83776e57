/**
 * The messages of services and actions. Their texts hold two or three parts between lines `---`; the messages on the
 * wire are those parts and others that rosidl derives from them (rosidl_adapter; design "ROS 2 actions"; REP 2012 for
 * service events).
 */
import { plainField, primitive, referenceTo, SERVICE_EVENT_INFO, TIME, UUID } from './builtin.js';
import type { DeclaredField, MessageTable } from './declaration.js';

/** Suffixes of an action's messages, longest first, so that the first that fits is the right one. */
const ACTION_SUFFIXES = [
  '_SendGoal_Response',
  '_GetResult_Response',
  '_SendGoal_Request',
  '_GetResult_Request',
  '_FeedbackMessage',
  '_SendGoal_Event',
  '_GetResult_Event',
  '_Feedback',
  '_Result',
  '_Goal',
];

const SERVICE_SUFFIXES = ['_Response', '_Request', '_Event'];

/** The parts of a service's or action's text, in its order. */
export const SERVICE_PARTS: readonly string[] = ['_Request', '_Response'];
export const ACTION_PARTS: readonly string[] = ['_Goal', '_Result', '_Feedback'];

/** `pkg/srv/Add` of `pkg/srv/Add_Event`; a name without such a suffix is the interface itself. */
export function interfaceOf(name: string, kind: 'srv' | 'action'): string {
  const suffixes = kind === 'srv' ? SERVICE_SUFFIXES : ACTION_SUFFIXES;
  const suffix = suffixes.find((candidate) => name.endsWith(candidate));
  return suffix === undefined ? name : name.slice(0, -suffix.length);
}

/**
 * Adds to the table what rosidl derives for the message `name` from the parts that are declared: an event, or an
 * action's messages with goal ids, and what these need in turn. Does nothing for other names.
 */
export function deriveInterfaceMessage(table: MessageTable, name: string): void {
  if (table.has(name)) return;
  const fields = derive(table, name);
  if (fields === undefined) return;
  table.set(name, { name, extensibility: 'final', fields, constants: [], offset: -1 });
  for (const { type } of fields) {
    const part = type.kind === 'sequence' ? type.element : type;
    if (part.kind !== 'reference') continue;
    for (const candidate of part.candidates) deriveInterfaceMessage(table, candidate);
  }
}

function derive(table: MessageTable, name: string): DeclaredField[] | undefined {
  for (const [suffix, make] of ACTION_MESSAGES) {
    if (!name.endsWith(suffix)) continue;
    const action = name.slice(0, -suffix.length);
    if (!ACTION_PARTS.some((part) => table.has(action + part))) continue;
    return make(action);
  }
  if (!name.endsWith('_Event')) return undefined;
  const service = name.slice(0, -'_Event'.length);
  const action = /_(?:SendGoal|GetResult)$/.test(service);
  if (!action && !SERVICE_PARTS.every((part) => table.has(service + part))) return undefined;
  if (action && !ACTION_PARTS.some((part) => table.has(interfaceOf(name, 'action') + part))) return undefined;
  return [
    plainField('info', referenceTo(SERVICE_EVENT_INFO)),
    plainField('request', { kind: 'sequence', element: referenceTo(`${service}_Request`), maxLength: 1 }),
    plainField('response', { kind: 'sequence', element: referenceTo(`${service}_Response`), maxLength: 1 }),
  ];
}

const GOAL_ID = plainField('goal_id', referenceTo(UUID));

/** What rosidl derives from an action, by suffix. */
const ACTION_MESSAGES: readonly (readonly [string, (action: string) => DeclaredField[]])[] = [
  ['_SendGoal_Request', (action) => [GOAL_ID, plainField('goal', referenceTo(`${action}_Goal`))]],
  ['_SendGoal_Response', () => [plainField('accepted', primitive('bool')), plainField('stamp', referenceTo(TIME))]],
  ['_GetResult_Request', () => [GOAL_ID]],
  [
    '_GetResult_Response',
    (action) => [plainField('status', primitive('int8')), plainField('result', referenceTo(`${action}_Result`))],
  ],
  ['_FeedbackMessage', (action) => [GOAL_ID, plainField('feedback', referenceTo(`${action}_Feedback`))]],
];
