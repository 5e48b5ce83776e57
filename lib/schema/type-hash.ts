/**
 * The text that a type's hash is taken of: its description as JSON, with the key order and the spaces of Python's
 * `json.dumps` (REP-2016; rosidl_generator_type_description). Names, types, sizes and bounds count, defaults, constants and
 * comments do not.
 */
import type { FieldType, MessageDefinition, PrimitiveName } from './definition.js';

/** type_description_interfaces/msg/FieldType. `char` is what a .msg text means by it: uint8. */
const TYPE_IDS: Readonly<Record<PrimitiveName, number>> = {
  int8: 2,
  uint8: 3,
  int16: 4,
  uint16: 5,
  int32: 6,
  uint32: 7,
  int64: 8,
  uint64: 9,
  float32: 10,
  float64: 11,
  char: 3,
  wchar: 14,
  bool: 15,
  byte: 16,
  string: 17,
  wstring: 18,
};

const NESTED = 1;
const BOUNDED_STRING = 21;
const BOUNDED_WSTRING = 22;
const ARRAY = 48;
const BOUNDED_SEQUENCE = 96;
const UNBOUNDED_SEQUENCE = 144;

/** The description of a message and of all types that it needs, sorted by name. */
export function typeDescription(definition: MessageDefinition): string {
  const referenced = new Map<string, MessageDefinition>();
  collect(definition, referenced);
  referenced.delete(definition.name);
  const others = [...referenced.keys()].sort().map((name) => individual(referenced.get(name) ?? definition));
  return `{"type_description": ${individual(definition)}, "referenced_type_descriptions": [${others.join(', ')}]}`;
}

function collect(definition: MessageDefinition, found: Map<string, MessageDefinition>): void {
  if (found.has(definition.name)) return;
  found.set(definition.name, definition);
  for (const { type } of definition.fields) {
    let element = type;
    while (element.kind === 'array' || element.kind === 'sequence') element = element.element;
    if (element.kind === 'message') collect(element.definition, found);
  }
}

function individual({ name, fields }: MessageDefinition): string {
  const list = fields.map((field) => fieldText(field.name, field.type));
  // IDL has no empty struct: rosidl puts a member there, which is a part of the type.
  if (list.length === 0) {
    list.push(fieldText('structure_needs_at_least_one_member', { kind: 'primitive', name: 'uint8' }));
  }
  return `{"type_name": ${ascii(name)}, "fields": [${list.join(', ')}]}`;
}

function fieldText(name: string, type: FieldType): string {
  let offset = 0;
  let capacity = 0;
  let element = type;
  if (type.kind === 'array') {
    offset = ARRAY;
    capacity = type.length;
    element = type.element;
  } else if (type.kind === 'sequence') {
    offset = type.maxLength === undefined ? UNBOUNDED_SEQUENCE : BOUNDED_SEQUENCE;
    capacity = type.maxLength ?? 0;
    element = type.element;
  }
  let id = NESTED;
  let bound = 0;
  let nested = '';
  if (element.kind === 'message') nested = element.definition.name;
  else if (element.kind === 'enum') id = TYPE_IDS[element.underlying];
  else if (element.kind === 'primitive') {
    id = TYPE_IDS[element.name];
    if (element.maxLength !== undefined) {
      id = element.name === 'wstring' ? BOUNDED_WSTRING : BOUNDED_STRING;
      bound = element.maxLength;
    }
  }
  const details = `"type_id": ${id + offset}, "capacity": ${capacity}, "string_capacity": ${bound}`;
  return `{"name": ${ascii(name)}, "type": {${details}, "nested_type_name": ${ascii(nested)}}}`;
}

/** A string as `json.dumps` writes it with `ensure_ascii`. */
function ascii(text: string): string {
  return JSON.stringify(text).replace(
    /[\u007f-\uffff]/g,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}
