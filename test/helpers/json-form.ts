/** The documented JSON form, written down once more with `JSON.stringify` and the definition alone: the oracle. */
import type { FieldType, MessageDefinition } from '../../lib/index.js';

export function jsonForm(definition: MessageDefinition, value: unknown): string {
  const object = value as Record<string, unknown>;
  const parts = definition.fields.map(({ name, type }) => {
    const item = Object.getOwnPropertyDescriptor(object, name)?.value as unknown;
    return `${JSON.stringify(name)}:${fieldForm(type, item)}`;
  });
  return `{${parts.join(',')}}`;
}

function fieldForm(type: FieldType, value: unknown): string {
  switch (type.kind) {
    case 'message':
      return jsonForm(type.definition, value);
    case 'array':
    case 'sequence': {
      const { element } = type;
      const items = Array.from(value as ArrayLike<unknown>);
      const bytes =
        (element.kind === 'primitive' && ['uint8', 'byte', 'char'].includes(element.name)) ||
        (element.kind === 'enum' && element.underlying === 'uint8');
      if (bytes) return `"${Buffer.from(items as number[]).toString('base64')}"`;
      return `[${items.map((item) => fieldForm(element, item)).join(',')}]`;
    }
    case 'enum':
      return String(value);
    case 'primitive':
      if (type.name === 'int64' || type.name === 'uint64') return `"${String(value)}"`;
      if (typeof value !== 'number') return JSON.stringify(value);
      if (Object.is(value, -0)) return '-0';
      return Number.isFinite(value) ? JSON.stringify(value) : `"${value}"`;
  }
}
