/** What each service says of itself on this machine: one small file, read by `status` also while everything else is down. */
import { readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { folderIdentity, isOfFolder } from '../embedded/folderIdentity.ts';

export type ServiceState = 'starting' | 'ready' | 'stopping' | 'stopped';

/** Something that needs attention, as long as it lasts. */
export interface ConditionView {
  readonly about: string;
  readonly code: string;
  readonly message: string;
  readonly hint: string;
  /** Milliseconds since 1970. */
  readonly since: number;
}

export interface ServiceView {
  readonly service: string;
  readonly pid: number;
  readonly state: ServiceState;
  readonly startedAt: number;
  readonly conditions: readonly ConditionView[];
}

const folderOf = (dataDir: string): string => join(dataDir, 'runtime');
const SUFFIX = '.service.json';

/** Replaces the file in one step, so that a reader never sees half of one. */
export function writeServiceView(dataDir: string, view: ServiceView): void {
  const file = join(folderOf(dataDir), `${view.service}${SUFFIX}`);
  const text = JSON.stringify({ ...view, folder: folderIdentity(dataDir) });
  writeFileSync(`${file}.${view.pid}.tmp`, text, { mode: 0o600 });
  renameSync(`${file}.${view.pid}.tmp`, file);
}

function readView(dataDir: string, name: string): ServiceView | null {
  try {
    const { folder, ...view } = JSON.parse(readFileSync(join(folderOf(dataDir), name), 'utf8'));
    return isOfFolder(dataDir, { folder }) ? (view as ServiceView) : null;
  } catch {
    // Written by an older Headwater or cut by a full disk: as good as not there, the service writes it anew.
    return null;
  }
}

export function readServiceViews(dataDir: string): readonly ServiceView[] {
  let names: string[];
  try {
    names = readdirSync(folderOf(dataDir));
  } catch {
    return [];
  }
  const files = names.filter((name) => name.endsWith(SUFFIX)).sort();
  return files.map((name) => readView(dataDir, name)).filter((view) => view !== null);
}

/** Whether a process with that pid lives (another one may have got the number since). */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}
