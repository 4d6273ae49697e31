import { spawn } from 'node:child_process';
import { closeSync, openSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { until } from './until.ts';

/** A server that a test started: the leader of a process group of its own. */
export interface Daemon {
  readonly name: string;
  readonly pid: number;
  alive(): boolean;
  /** Signals the group, waits up to `graceMs`, then kills what is left of it. Resolves when the group is empty. */
  stop(signal: 'SIGTERM' | 'SIGKILL', graceMs: number): Promise<void>;
  /** The last lines of what it printed. */
  tail(lines?: number): string;
}

export interface DaemonOptions {
  readonly name: string;
  readonly program: string;
  readonly args: readonly string[];
  /** Working folder; its output goes to `<folder>/<name>.log`. */
  readonly folder: string;
  /** The user to run as when we are root. */
  readonly user?: string | undefined;
  readonly env?: NodeJS.ProcessEnv | undefined;
}

export const isRoot = (): boolean => process.getuid?.() === 0;

/**
 * The command that runs `program` as `user`. All by exec, so that the pid stays that of the daemon; the kernel ends it
 * when the test process dies, so that no crash of a test leaves servers behind.
 */
export function asUser(user: string | undefined, program: string, args: readonly string[]): [string, string[]] {
  const become = isRoot() && user !== undefined ? ['--reuid', user, '--regid', user, '--clear-groups'] : [];
  return ['setpriv', ['--pdeathsig', 'KILL', ...become, '--', program, ...args]];
}

interface ProcessStat {
  readonly pid: number;
  readonly state: string;
  readonly group: number;
  /** Ticks since boot: with the pid it names one process, not a later one that got its number. */
  readonly startTime: string;
}

function statOf(pid: number | string): ProcessStat | null {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'latin1');
    const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
    return { pid: Number(pid), state: fields[0] ?? '', group: Number(fields[2]), startTime: fields[19] ?? '' };
  } catch {
    return null;
  }
}

/** The living members of our group; none when the leader's number belongs to another process by now. */
function members(leader: ProcessStat): ProcessStat[] {
  const now = statOf(leader.pid);
  if (now !== null && now.startTime !== leader.startTime) return [];
  return readdirSync('/proc')
    .filter((entry) => /^\d+$/.test(entry))
    .map(statOf)
    .filter((stat) => stat !== null)
    .filter((stat) => stat.group === leader.pid && stat.state !== 'Z');
}

function signalGroup(leader: ProcessStat, signal: NodeJS.Signals): void {
  if (members(leader).length === 0) return;
  try {
    process.kill(-leader.pid, signal);
  } catch {
    // It ended between the look and the signal.
  }
}

async function stopGroup(leader: ProcessStat, signal: NodeJS.Signals, graceMs: number): Promise<void> {
  const empty = () => members(leader).length === 0;
  signalGroup(leader, signal);
  try {
    await until('the process group to end', empty, { deadlineMs: graceMs });
  } catch {
    signalGroup(leader, 'SIGKILL');
    await until('the killed process group to end', empty, { deadlineMs: 10_000 });
  }
}

function tailOf(file: string, lines: number): string {
  try {
    return readFileSync(file, 'utf8').trimEnd().split('\n').slice(-lines).join('\n');
  } catch {
    return '';
  }
}

/** Starts a server in a process group of its own. Throws when the program cannot be started at all. */
export async function startDaemon(options: DaemonOptions): Promise<Daemon> {
  const log = join(options.folder, `${options.name}.log`);
  const output = openSync(log, 'a', 0o644);
  const [program, args] = asUser(options.user, options.program, options.args);
  const child = spawn(program, args, {
    cwd: options.folder,
    detached: true,
    stdio: ['ignore', output, output],
    env: { ...process.env, ...options.env },
  });
  closeSync(output);
  await new Promise<void>((resolve, reject) => {
    child.once('spawn', resolve);
    child.once('error', reject);
  });
  // A test that forgets to stop it must still be able to end.
  child.unref();
  const pid = child.pid ?? 0;
  const leader = statOf(pid) ?? { pid, state: 'Z', group: pid, startTime: '' };
  const alive = (): boolean => {
    const now = statOf(pid);
    return now !== null && now.startTime === leader.startTime && now.state !== 'Z';
  };
  return {
    name: options.name,
    pid,
    alive,
    stop: (signal, graceMs) => stopGroup(leader, signal, graceMs),
    tail: (lines = 8) => tailOf(log, lines),
  };
}
