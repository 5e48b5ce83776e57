import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { ROOT } from './shared.js';

export interface Ended {
  code: number | null;
  signal: NodeJS.Signals | null;
  stdout: string;
  stderr: string;
}

/** Runs `node script ...args` in the project's root with `input` on stdin (none: an empty one). */
export async function runNode(args: readonly string[], input: Uint8Array | string = ''): Promise<Ended> {
  const child = spawn(process.execPath, args, { cwd: ROOT, stdio: ['pipe', 'pipe', 'pipe'] });
  const stdout: Buffer[] = [];
  const stderr: Buffer[] = [];
  child.stdout.on('data', (data: Buffer) => stdout.push(data));
  child.stderr.on('data', (data: Buffer) => stderr.push(data));
  // The command may end before it has read all.
  child.stdin.on('error', () => undefined);
  child.stdin.end(input);
  return new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (code, signal) => {
      resolve({
        code,
        signal,
        stdout: Buffer.concat(stdout).toString(),
        stderr: Buffer.concat(stderr).toString(),
      });
    });
  });
}

/** Runs the built command. */
export async function mcapRos2(args: readonly string[], input?: Uint8Array | string): Promise<Ended> {
  return runNode([join(ROOT, 'dist/cli/main.js'), ...args], input);
}
