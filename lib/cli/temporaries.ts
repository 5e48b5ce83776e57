/** What must not outlive the process: half outputs and temporary folders. */
import { rmSync } from 'node:fs';

/** Paths that are in use. Whoever adds one takes it away again. */
export const temporaries: Set<string> = new Set<string>();

/** For a process that is ended by a signal. */
export function removeTemporaries(): void {
  for (const path of temporaries) rmSync(path, { recursive: true, force: true });
  temporaries.clear();
}
