/** Short forms to write schemas and to read definitions in tests. */
import type { FieldType, LiteralValue, MessageDefinition } from '../../lib/schema/definition.js';
import { parseSchema } from '../../lib/schema/registry.js';

/** The line of 80 `=` between the parts of a recorded schema. */
export const SEP = '='.repeat(80);

export function msg(data: string, name = 'p/msg/A'): MessageDefinition {
  return parseSchema({ name, encoding: 'ros2msg', data });
}

export function idl(data: string, name = 'p/msg/A'): MessageDefinition {
  return parseSchema({ name, encoding: 'ros2idl', data });
}

/** A type as .msg texts write it; messages by canonical name. */
export function typeText(type: FieldType): string {
  switch (type.kind) {
    case 'primitive':
      return type.maxLength === undefined ? type.name : `${type.name}<=${type.maxLength}`;
    case 'enum':
      return `enum ${type.name}`;
    case 'message':
      return type.definition.name;
    case 'array':
      return `${typeText(type.element)}[${type.length}]`;
    case 'sequence':
      return `${typeText(type.element)}[${type.maxLength === undefined ? '' : `<=${type.maxLength}`}]`;
  }
}

/** The fields as `type name`, in order. */
export function fieldTexts(definition: MessageDefinition): string[] {
  return definition.fields.map((field) => `${typeText(field.type)} ${field.name}`);
}

/** The definition of a field of message type, or of the messages in its array. */
export function partOf(definition: MessageDefinition, name: string): MessageDefinition {
  let type = definition.fields.find((field) => field.name === name)?.type;
  while (type?.kind === 'array' || type?.kind === 'sequence') type = type.element;
  if (type?.kind !== 'message') throw new Error(`${name} is no message`);
  return type.definition;
}

export function constantValues(definition: MessageDefinition): Record<string, LiteralValue> {
  return Object.fromEntries(definition.constants.map(({ name, value }) => [name, value]));
}

export function defaultValues(definition: MessageDefinition): Record<string, unknown> {
  return Object.fromEntries(
    definition.fields
      .filter((field) => field.defaultValue !== undefined)
      .map(({ name, defaultValue }) => [name, defaultValue]),
  );
}
