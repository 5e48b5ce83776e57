/**
 * Type names in all their spellings, and the one that this package uses.
 *
 * ROS 2 tools write one type as `pkg/msg/Type`, `pkg/Type`, `pkg::msg::Type` (IDL) or `pkg::msg::dds_::Type_` (the name
 * DDS sees). All become `pkg/msg/Type`; `srv` and `action` middle parts stay.
 */

/** The DDS recorder of eProsima puts this before the names of dependencies: `MSG: fastdds/std_msgs/msg/Header`. */
export const FAST_DDS = 'fastdds';

/** The canonical spelling of a type name; a bare `Type` stays bare, an unusual number of parts keeps its parts. */
export function normalizeTypeName(name: string): string {
  return canonicalName(splitTypeName(name));
}

/** The parts of a type name, without DDS's `dds_` and the `_` that goes with it. */
export function splitTypeName(name: string): string[] {
  const trimmed = name.trim();
  const pieces = /[:.]/.test(trimmed) ? trimmed.split(/::|[/.]/) : trimmed.split('/');
  const parts = pieces.filter((part) => part !== '');
  if (parts.length > 3 && parts[0] === FAST_DDS) parts.shift();
  const last = parts.length - 1;
  if (last > 0 && parts[last - 1] === 'dds_') {
    const type = parts[last] ?? '';
    parts.splice(last - 1, 2, type.length > 1 && type.endsWith('_') ? type.slice(0, -1) : type);
  }
  return parts;
}

/** Joins parts; two parts are a package and a message. */
export function canonicalName(parts: readonly string[]): string {
  const [first = '', second = ''] = parts;
  return parts.length === 2 ? `${first}/msg/${second}` : parts.join('/');
}

/** The package of a canonical name, or '' for a bare one. */
export function packageOf(name: string): string {
  const slash = name.indexOf('/');
  return slash < 0 ? '' : name.slice(0, slash);
}

/** The last part of a canonical name: the type without its package. */
export function baseName(name: string): string {
  return name.slice(name.lastIndexOf('/') + 1);
}

/** Whether this is a name that a field, constant or type can have: wider than rosidl's, as recordings are. */
export function isIdentifier(name: string): boolean {
  return /^[A-Za-z_][A-Za-z0-9_]*$/.test(name);
}
