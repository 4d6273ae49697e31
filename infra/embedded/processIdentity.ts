import { readdir, readFile } from 'node:fs/promises';

/**
 * A process that cannot be mistaken for a later one with the same pid: `startTicks` is when it began, in clock ticks
 * since boot, and `bootId` names that boot.
 */
export interface ProcessIdentity {
  readonly pid: number;
  readonly startTicks: string;
  readonly bootId: string;
}

/** State letter and start time out of the text of /proc/<pid>/stat; the name in brackets may hold blanks and brackets. */
export function parseStat(text: string): { state: string; startTicks: string } | null {
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
  const [state, startTicks] = [fields[0], fields[19]];
  return state && startTicks && /^\d+$/.test(startTicks) ? { state, startTicks } : null;
}

const readOrNull = (path: string): Promise<string | null> => readFile(path, 'utf8').catch(() => null);

/** Who has the pid now; null when nobody has, when it is a zombie, or when the system has no /proc. */
export async function identityOf(pid: number): Promise<ProcessIdentity | null> {
  const stat = parseStat((await readOrNull(`/proc/${pid}/stat`)) ?? '');
  const bootId = (await readOrNull('/proc/sys/kernel/random/boot_id'))?.trim();
  if (!stat || !bootId || stat.state === 'Z' || stat.state === 'X') return null;
  return { pid, startTicks: stat.startTicks, bootId };
}

/** True while that very process runs. */
export async function isRunning(identity: ProcessIdentity): Promise<boolean> {
  const now = await identityOf(identity.pid);
  return now !== null && now.startTicks === identity.startTicks && now.bootId === identity.bootId;
}

/** All running processes for which `matches(pid)` is true. Processes that may not be looked at do not match. */
export async function findProcesses(matches: (pid: number) => Promise<boolean>): Promise<readonly ProcessIdentity[]> {
  const names = await readdir('/proc').catch(() => [] as string[]);
  const found: ProcessIdentity[] = [];
  for (const name of names) {
    if (!/^\d+$/.test(name)) continue;
    const identity = (await matches(Number(name)).catch(() => false)) ? await identityOf(Number(name)) : null;
    if (identity) found.push(identity);
  }
  return found;
}

/** The arguments a process was started with; empty when they may not be read. */
export async function argumentsOf(pid: number): Promise<readonly string[]> {
  return ((await readOrNull(`/proc/${pid}/cmdline`)) ?? '').split('\0').slice(0, -1);
}
