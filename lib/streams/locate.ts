/** Errors of one message, with its place in the recording said. */
import { McapStreamsError } from '../errors.js';

/** What is known of the message that an error is about. */
export interface MessagePlace {
  readonly topic: string;
  readonly schemaName?: string | undefined;
  readonly logTime?: bigint | undefined;
}

/** The error with topic, type and time, in its fields and in its text; what is no error of ours stays as it is. */
export function locateError(error: unknown, { topic, schemaName, logTime }: MessagePlace): unknown {
  if (!(error instanceof McapStreamsError)) return error;
  const type = schemaName === undefined ? '' : ` (${schemaName === '' ? 'no schema' : schemaName})`;
  const time = logTime === undefined ? '' : ` at ${logTime}`;
  return error.with({ topic, schemaName, logTime }, `${topic}${type}${time}: ${error.message}`);
}
