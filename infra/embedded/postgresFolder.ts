import { chmod, chown, lstat, mkdir, readdir, readlink, rm, stat, symlink } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { HeadwaterError } from '../base/errors/index.ts';
import type { Log } from '../base/log.ts';
import { type Account, canEnter } from './account.ts';
import { otherOwner, ownCluster } from './clusterOwner.ts';
import { lastLines, runCommand } from './command.ts';
import { errno } from './runtimeFile.ts';

/** Where clusters go that cannot lie in the data folder. */
export const EXTERNAL_ROOT = '/var/lib/headwater';

export interface FolderChoice {
  readonly dataDir: string;
  /** Random, kept in the runtime folder: names the external folder, so that one of an earlier life is never taken. */
  readonly clusterId: string;
  readonly account: Account | null;
  readonly externalRoot: string;
  readonly log: Log;
}

const linkPath = (dataDir: string): string => join(dataDir, 'postgres');

/**
 * The id in the name of the external folder: that of the one which `<dataDir>/postgres` links to, else the kept one;
 * null when there is neither, or when a copied runtime folder keeps the id of the cluster of another data folder.
 */
export async function knownClusterId(
  dataDir: string,
  kept: string | null,
  externalRoot: string,
): Promise<string | null> {
  const target = await readlink(linkPath(dataDir)).catch(() => null);
  if (target !== null) return basename(target);
  return kept !== null && (await otherOwner(join(externalRoot, kept), dataDir)) === null ? kept : null;
}

/**
 * The folder in which the cluster lies, owned by the account, mode 0700. It is `<dataDir>/postgres`, or, when the
 * account cannot enter that, `<externalRoot>/<clusterId>` with `<dataDir>/postgres` as a link to it.
 * Throws EMBEDDED_CLUSTER_MISSING when the link leads nowhere: an empty database would hide the loss. Throws
 * EMBEDDED_CLUSTER_SHARED when it leads to the cluster of another data folder: a copy of a data folder copies the link.
 */
export async function postgresFolder(choice: FolderChoice): Promise<string> {
  const path = linkPath(choice.dataDir);
  const now = await lstat(path).catch(() => null);
  if (now?.isSymbolicLink()) return linkedFolder(choice.dataDir, path);
  if (!now) await mkdir(path);
  await own(path, choice.account);
  if (await canEnter(choice.account, path)) return path;
  return moveOutside(choice, path);
}

async function linkedFolder(dataDir: string, path: string): Promise<string> {
  const target = await readlink(path);
  const reason = await stat(target).then(
    (s) => (s.isDirectory() ? null : 'is no folder'),
    (error: unknown) => (errno(error) === 'ENOENT' ? 'does not exist' : `cannot be read (${errno(error)})`),
  );
  if (reason === null) {
    const owner = await otherOwner(target, dataDir);
    if (owner !== null) throw new HeadwaterError('EMBEDDED_CLUSTER_SHARED', { link: path, target, owner });
    await ownCluster(target, dataDir);
    return target;
  }
  throw new HeadwaterError('EMBEDDED_CLUSTER_MISSING', { link: path, target, reason });
}

async function moveOutside(choice: FolderChoice, path: string): Promise<string> {
  const { account, externalRoot, clusterId, log } = choice;
  const target = join(externalRoot, clusterId);
  await mkdir(externalRoot, { recursive: true });
  await chmod(externalRoot, 0o755);
  if ((await readdir(path)).length === 0) {
    await mkdir(target);
    await rm(path, { recursive: true });
  } else {
    // The clone was moved below a closed folder: `mv` keeps owners and works across file systems.
    const moved = await runCommand('mv', ['-T', path, target], { timeoutMs: 3_600_000 });
    if (moved.code !== 0)
      throw new HeadwaterError('EMBEDDED_FORBIDDEN', { path: target, reason: lastLines(moved.stderr) });
  }
  await own(target, account);
  await symlink(target, path);
  await ownCluster(target, choice.dataDir);
  log.warn('the account of PostgreSQL cannot enter the data folder: its files lie outside', {
    folder: target,
    account: account?.name,
    note: 'remove that folder too when you remove the data folder',
  });
  return target;
}

async function own(folder: string, account: Account | null): Promise<void> {
  if (account) await chown(folder, account.uid, account.gid);
  await chmod(folder, 0o700);
}
