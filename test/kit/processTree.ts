import { readdirSync, readFileSync } from 'node:fs';

/** What /proc says of a process. `startTicks` with the pid names one process, not a later one that got its number. */
export interface ProcessInfo {
  readonly pid: number;
  readonly parent: number;
  readonly state: string;
  readonly startTicks: string;
  /** Its program and arguments, for messages; empty for a zombie. */
  readonly command: string;
}

const read = (path: string): string | null => {
  try {
    return readFileSync(path, 'latin1');
  } catch {
    return null;
  }
};

/** The process with that pid, or null when there is none (a zombie has ended: null too). */
export function processInfo(pid: number): ProcessInfo | null {
  const stat = read(`/proc/${pid}/stat`);
  if (stat === null) return null;
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const state = fields[0] ?? 'X';
  if (state === 'Z' || state === 'X') return null;
  const command = (read(`/proc/${pid}/cmdline`) ?? '').replaceAll('\0', ' ').trim();
  return { pid, parent: Number(fields[1]), state, startTicks: fields[19] ?? '', command };
}

export const isSameRunning = (known: ProcessInfo): boolean => processInfo(known.pid)?.startTicks === known.startTicks;

/** The process and everything below it, parents first. Empty when it does not run. */
export function processTree(root: number): readonly ProcessInfo[] {
  const all = readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map((name) => processInfo(Number(name)))
    .filter((info) => info !== null);
  const found = all.filter((info) => info.pid === root);
  for (let i = 0; i < found.length; i++) {
    const parent = found[i]!.pid;
    found.push(...all.filter((info) => info.parent === parent && !found.includes(info)));
  }
  return found;
}

/** SIGKILL to each of them that still runs, in the given order. */
export function killAll(processes: readonly ProcessInfo[]): void {
  for (const known of processes) {
    if (!isSameRunning(known)) continue;
    try {
      process.kill(known.pid, 'SIGKILL');
    } catch {
      // It ended between the look and the signal.
    }
  }
}

/** The most memory that the process ever had resident, in bytes; 0 when it does not run. */
export function peakMemory(pid: number): number {
  const kib = /^VmHWM:\s+(\d+) kB$/m.exec(read(`/proc/${pid}/status`) ?? '')?.[1];
  return Number(kib ?? 0) * 1024;
}
