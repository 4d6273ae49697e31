import { rm } from 'node:fs/promises';
import { type Clock, systemClock } from '../base/clock.ts';
import { HeadwaterError } from '../base/errors/index.ts';
import { pidFile, type ServerName, signalProcess } from './childProcess.ts';
import { isOfFolder } from './folderIdentity.ts';
import { isRunning, type ProcessIdentity } from './processIdentity.ts';
import { readJson, runtimeDir } from './runtimeFile.ts';
import { waitUntil } from './waiting.ts';

export interface Leftover {
  readonly name: ServerName;
  readonly pid: number;
  /** `stopped`: it ran without its Headwater and was stopped. `in_use`: its Headwater runs too, nothing was done. */
  readonly outcome: 'stopped' | 'in_use';
  readonly owner: number;
}

interface PidRecord {
  readonly server: ProcessIdentity;
  readonly owner: ProcessIdentity;
  readonly stopSignal: 'SIGTERM' | 'SIGINT';
  readonly folder: unknown;
}

const STOP_DEADLINE_MS = 20_000;

/**
 * Stops the servers that a Headwater which died (SIGKILL, power, crash) left running on this data folder, and says which.
 * A server whose Headwater still runs is left alone. A pid that went to another process since is never touched, nor are the
 * servers of a folder that this one is a copy of.
 */
export async function stopLeftovers(dataDir: string, clock: Clock = systemClock): Promise<readonly Leftover[]> {
  const found = await Promise.all((['nats', 'postgres'] as const).map((name) => stopLeftover(dataDir, name, clock)));
  return found.filter((leftover) => leftover !== null);
}

/** The same for one server; null when none was left. */
export async function stopLeftover(dataDir: string, name: ServerName, clock: Clock): Promise<Leftover | null> {
  const path = pidFile(runtimeDir(dataDir), name);
  // A damaged pid file tells nothing; the guards on the store (see natsServer, postgresCluster) still hold.
  const record = asRecord(await readJson(path).catch(() => undefined));
  if (!record || !isOfFolder(dataDir, record) || !(await isRunning(record.server))) {
    await rm(path, { force: true });
    return null;
  }
  const { pid } = record.server;
  if (await isRunning(record.owner)) return { name, pid, outcome: 'in_use', owner: record.owner.pid };
  await stopProcess(record.server, record.stopSignal, clock);
  await rm(path, { force: true });
  return { name, pid, outcome: 'stopped', owner: record.owner.pid };
}

/** Stops a process that is no child of ours: orderly first, by SIGKILL to its group after 20 s. */
export async function stopProcess(
  identity: ProcessIdentity,
  signal: NodeJS.Signals,
  clock: Clock,
  deadlineMs = STOP_DEADLINE_MS,
): Promise<void> {
  const gone = async () => ((await isRunning(identity)) ? undefined : true);
  signalProcess(identity.pid, signal);
  if (await waitUntil(clock, deadlineMs, gone)) return;
  signalProcess(-identity.pid, 'SIGKILL');
  await waitUntil(clock, deadlineMs, gone);
}

/** Before a start: nothing of an earlier one may run on the same folder. Throws EMBEDDED_IN_USE when its owner lives. */
export async function clearTheWay(dataDir: string, name: ServerName, clock: Clock): Promise<Leftover | null> {
  const leftover = await stopLeftover(dataDir, name, clock);
  if (leftover?.outcome !== 'in_use') return leftover;
  throw new HeadwaterError('EMBEDDED_IN_USE', { server: name, folder: dataDir, owner: leftover.owner });
}

const asIdentity = (value: unknown): ProcessIdentity | null => {
  const v = value as Partial<ProcessIdentity> | null | undefined;
  const right = Number.isInteger(v?.pid) && v!.pid! > 1 && typeof v?.startTicks === 'string';
  return right && typeof v?.bootId === 'string' ? (v as ProcessIdentity) : null;
};

function asRecord(value: Readonly<Record<string, unknown>> | undefined): PidRecord | null {
  const [server, owner] = [asIdentity(value?.server), asIdentity(value?.owner)];
  if (!server || !owner) return null;
  return { server, owner, stopSignal: value?.stopSignal === 'SIGINT' ? 'SIGINT' : 'SIGTERM', folder: value?.folder };
}
