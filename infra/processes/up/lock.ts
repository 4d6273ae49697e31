import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { HeadwaterError } from '../../base/errors/index.ts';
import { folderIdentity, isOfFolder } from '../../embedded/folderIdentity.ts';
import { identityOf, isRunning, type ProcessIdentity } from '../../embedded/processIdentity.ts';
import { ensureRuntimeDir, readJson, runtimeDir, writeJson } from '../../embedded/runtimeFile.ts';

const fileOf = (dataDir: string): string => join(runtimeDir(dataDir), 'up.pid.json');

interface UpRecord extends ProcessIdentity {
  readonly folder?: unknown;
}

/** The `up` that runs on this data folder, or null. */
export async function runningUp(dataDir: string): Promise<ProcessIdentity | null> {
  const record = (await readJson(fileOf(dataDir)).catch(() => undefined)) as UpRecord | undefined;
  if (!record || typeof record.pid !== 'number' || !isOfFolder(dataDir, record)) return null;
  return (await isRunning(record)) ? record : null;
}

/** One `up` a data folder. Throws PROCESS_IN_USE; returns what gives the folder free again. */
export async function lockDataFolder(dataDir: string): Promise<() => Promise<void>> {
  await ensureRuntimeDir(dataDir);
  const other = await runningUp(dataDir);
  if (other && other.pid !== process.pid)
    throw new HeadwaterError('PROCESS_IN_USE', { pid: other.pid, folder: dataDir });
  const me = await identityOf(process.pid);
  if (me) await writeJson(fileOf(dataDir), { ...me, folder: folderIdentity(dataDir) });
  return () => rm(fileOf(dataDir), { force: true });
}
