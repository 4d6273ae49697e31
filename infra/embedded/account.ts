import { stat } from 'node:fs/promises';
import { HeadwaterError } from '../base/errors/index.ts';
import type { Log } from '../base/log.ts';
import { lastLines, runCommand } from './command.ts';

/** A system user by number: whom a child process runs as. */
export interface Account {
  readonly name: string;
  readonly uid: number;
  readonly gid: number;
}

const NEW_ACCOUNT = 'headwater';

/** True when we are root, whom PostgreSQL refuses. */
export const isRoot = (): boolean => process.getuid?.() === 0;

/** What is asked of the system about its users. */
export interface SystemUsers {
  isRoot(): boolean;
  /** The user of that name; null when there is none. */
  lookUp(name: string): Promise<Account | null>;
  /** Makes a system user; resolves with what the tool said. */
  make(name: string): Promise<string>;
}

/**
 * Whom PostgreSQL runs as: null (ourselves) when we are not root; else the owner of an existing cluster, else the user
 * `postgres`, else `headwater`, who is made when missing. Throws EMBEDDED_NO_ACCOUNT.
 */
export async function postgresAccount(clusterDir: string, log: Log, users = systemUsers): Promise<Account | null> {
  if (!users.isRoot()) return null;
  const owner = await stat(clusterDir).catch(() => null);
  if (owner && owner.uid !== 0) return { name: `uid ${owner.uid}`, uid: owner.uid, gid: owner.gid };
  const present = (await users.lookUp('postgres')) ?? (await users.lookUp(NEW_ACCOUNT));
  if (present) return present;
  log.info('making a system account for PostgreSQL', { account: NEW_ACCOUNT });
  const said = await users.make(NEW_ACCOUNT);
  const made = await users.lookUp(NEW_ACCOUNT);
  if (made) return made;
  throw new HeadwaterError('EMBEDDED_NO_ACCOUNT', { reason: said });
}

export const systemUsers: SystemUsers = { isRoot, lookUp, make };

async function make(name: string): Promise<string> {
  const rights = ['--system', '--user-group', '--shell', '/usr/sbin/nologin'];
  const home = ['--no-create-home', '--home-dir', '/nonexistent'];
  return lastLines((await runCommand('useradd', [...rights, ...home, name])).stderr, 2);
}

async function lookUp(name: string): Promise<Account | null> {
  const [uid, gid] = await Promise.all(
    ['-u', '-g'].map(async (what) => {
      const result = await runCommand('id', [what, name]);
      return result.code === 0 ? Number(result.stdout.trim()) : 0;
    }),
  );
  return uid && gid ? { name, uid, gid } : null;
}

/** True when the account can change into the folder: every folder above it must let him through, too. */
export async function canEnter(account: Account | null, folder: string): Promise<boolean> {
  // Asked of the system rather than computed from mode bits, so that access lists and mount options count.
  const result = await runCommand('/bin/sh', ['-c', 'cd "$1"', 'sh', folder], { cwd: '/', account });
  return result.code === 0;
}
