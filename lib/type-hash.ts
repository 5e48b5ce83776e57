/** The hash of a type: `RIHS01_` and a SHA-256, as ROS 2 puts it into a channel's metadata (`topic_type_hash`). */
import type * as Crypto from 'node:crypto';
import { lazily } from './mcap/lazy.js';
import type { MessageDefinition, SchemaSource } from './schema/definition.js';
import { parseSchema } from './schema/registry.js';
import { typeDescription } from './schema/type-hash.js';

const crypto = lazily('node:crypto') as () => typeof Crypto;

/**
 * The RIHS01 hash of a message type (REP-2016), equal to that of ROS 2 for the same definition. Takes a definition or a
 * schema.
 *
 * IDL's own `char` is hashed as the uint8 that it is in a .msg text.
 *
 * @throws McapStreamsError with a `SCHEMA_*` code for a schema that does not parse
 */
export function typeHash(type: MessageDefinition | SchemaSource): string {
  const definition = 'fields' in type ? type : parseSchema(type);
  return `RIHS01_${crypto().createHash('sha256').update(typeDescription(definition)).digest('hex')}`;
}
