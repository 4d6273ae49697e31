import { spawn } from 'node:child_process';
import type { Account } from './account.ts';

export interface CommandResult {
  /** Exit status; null when it was killed (time limit, signal) or could not be started. */
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface CommandOptions {
  readonly cwd?: string;
  readonly env?: NodeJS.ProcessEnv;
  readonly account?: Account | null;
  readonly timeoutMs?: number;
  readonly input?: string;
  /** Ends it by SIGKILL. */
  readonly signal?: AbortSignal | undefined;
}

const KEPT_CHARS = 64 * 1024;

/** Runs a program to its end and keeps the last 64 K characters of what it says. Never rejects: look at `code`. */
export function runCommand(
  file: string,
  args: readonly string[],
  options: CommandOptions = {},
): Promise<CommandResult> {
  return new Promise((resolve) => {
    const child = spawn(file, args, {
      stdio: ['pipe', 'pipe', 'pipe'],
      timeout: options.timeoutMs ?? 30_000,
      killSignal: 'SIGKILL',
      ...(options.signal ? { signal: options.signal } : {}),
      ...(options.cwd ? { cwd: options.cwd } : {}),
      ...(options.env ? { env: options.env } : {}),
      ...(options.account ? { uid: options.account.uid, gid: options.account.gid } : {}),
    });
    let stdout = '';
    let stderr = '';
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      stdout = (stdout + text).slice(-KEPT_CHARS);
    });
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      stderr = (stderr + text).slice(-KEPT_CHARS);
    });
    child.once('error', (error) => resolve({ code: null, stdout, stderr: String(error) }));
    child.once('close', (code) => resolve({ code, stdout, stderr }));
    // A program that ends without reading its input closes the pipe; its exit status tells what matters.
    child.stdin.on('error', () => {});
    child.stdin.end(options.input ?? '');
  });
}

/** The last lines of a program's output, for an error message. */
export const lastLines = (text: string, lines = 6): string =>
  text.trim().split('\n').slice(-lines).join(' | ').slice(-1000) || 'it said nothing';
