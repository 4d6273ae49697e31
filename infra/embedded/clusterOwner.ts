import { realpath, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { readJson, writeJson } from './runtimeFile.ts';

/** The data folder that a cluster outside of it belongs to. The inode tells a folder from a copy that took its place. */
interface Owner {
  readonly dataDir: string;
  readonly inode: number;
}

const fileOf = (cluster: string): string => join(cluster, 'owner.json');

async function folder(path: string): Promise<Owner | null> {
  try {
    const dataDir = await realpath(path);
    return { dataDir, inode: (await stat(dataDir)).ino };
  } catch {
    return null;
  }
}

async function recorded(cluster: string): Promise<Owner | null> {
  const value = (await readJson(fileOf(cluster)).catch(() => undefined)) as Partial<Owner> | undefined;
  return typeof value?.dataDir === 'string' && typeof value.inode === 'number' ? (value as Owner) : null;
}

/**
 * The other data folder, still there, that owns the cluster; null when it is `dataDir`'s or nobody's any more. A folder
 * that was moved keeps its inode, or is gone from where it was: both leave the cluster to whoever has the link.
 */
export async function otherOwner(cluster: string, dataDir: string): Promise<string | null> {
  const [owner, me] = await Promise.all([recorded(cluster), folder(dataDir)]);
  if (owner === null || owner.inode === me?.inode || owner.dataDir === me?.dataDir) return null;
  const there = await folder(owner.dataDir);
  return there?.inode === owner.inode ? owner.dataDir : null;
}

/** Writes down that the cluster is that of `dataDir`. */
export async function ownCluster(cluster: string, dataDir: string): Promise<void> {
  const me = await folder(dataDir);
  if (me) await writeJson(fileOf(cluster), me);
}
