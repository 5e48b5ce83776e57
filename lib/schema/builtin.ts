/** Definitions that a text may leave out: those that ROS 2 itself puts into every service, action and time stamp. */
import type { ConstantDefinition, PrimitiveName, PrimitiveType } from './definition.js';
import type { DeclaredField, DeclaredMessage, DeclaredType } from './declaration.js';

export const TIME = 'builtin_interfaces/msg/Time';
export const DURATION = 'builtin_interfaces/msg/Duration';
export const UUID = 'unique_identifier_msgs/msg/UUID';
export const SERVICE_EVENT_INFO = 'service_msgs/msg/ServiceEventInfo';

/** The built-in definition of a canonical name. */
export function builtinMessage(name: string): DeclaredMessage | undefined {
  return BUILTINS.get(name);
}

/** A field that no text wrote. */
export function plainField(name: string, type: DeclaredType): DeclaredField {
  return { name, type, offset: -1 };
}

export function primitive(name: PrimitiveName): PrimitiveType {
  return { kind: 'primitive', name };
}

/** A reference to one canonical name. */
export function referenceTo(name: string): DeclaredType {
  return { kind: 'reference', candidates: [name], spelling: name, offset: -1 };
}

/**
 * Whether a declared Time or Duration has the layout that codecs take for granted: seconds, then nanoseconds, both 32
 * bits. Their names differ in the wild (`nsec`, `secs`).
 */
export function isTimeLayout(message: DeclaredMessage): boolean {
  return (
    message.fields.length === 2 &&
    message.fields.every(({ type }) => type.kind === 'primitive' && (type.name === 'int32' || type.name === 'uint32'))
  );
}

function message(
  name: string,
  fields: readonly DeclaredField[],
  constants: readonly ConstantDefinition[] = [],
): [string, DeclaredMessage] {
  return [name, { name, extensibility: 'final', fields, constants, offset: -1 }];
}

function time(name: string): [string, DeclaredMessage] {
  return message(name, [plainField('sec', primitive('int32')), plainField('nanosec', primitive('uint32'))]);
}

const BUILTINS: ReadonlyMap<string, DeclaredMessage> = new Map([
  time(TIME),
  time(DURATION),
  message(UUID, [plainField('uuid', { kind: 'array', element: primitive('uint8'), length: 16 })]),
  message(
    SERVICE_EVENT_INFO,
    [
      plainField('event_type', primitive('uint8')),
      plainField('stamp', referenceTo(TIME)),
      plainField('client_gid', { kind: 'array', element: primitive('char'), length: 16 }),
      plainField('sequence_number', primitive('int64')),
    ],
    ['REQUEST_SENT', 'REQUEST_RECEIVED', 'RESPONSE_SENT', 'RESPONSE_RECEIVED'].map((name, value) => ({
      name,
      type: primitive('uint8'),
      value,
    })),
  ),
]);
