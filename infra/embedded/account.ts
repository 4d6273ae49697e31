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

/**
 * Whom PostgreSQL runs as: null (ourselves) when we are not root; else the owner of an existing cluster, else the user
 * `postgres`, else `headwater`, who is made when missing. Throws EMBEDDED_NO_ACCOUNT.
 */
export async function postgresAccount(clusterDir: string, log: Log): Promise<Account | null> {
  if (!isRoot()) return null;
  const owner = await stat(clusterDir).catch(() => null);
  if (owner && owner.uid !== 0) return { name: `uid ${owner.uid}`, uid: owner.uid, gid: owner.gid };
  for (const name of ['postgres', NEW_ACCOUNT]) {
    const account = await lookUp(name);
    if (account) return account;
  }
  log.info('making a system account for PostgreSQL', { account: NEW_ACCOUNT });
  const made = await runCommand('useradd', [
    ...['--system', '--user-group', '--no-create-home', '--home-dir', '/nonexistent'],
    ...['--shell', '/usr/sbin/nologin', NEW_ACCOUNT],
  ]);
  const account = await lookUp(NEW_ACCOUNT);
  if (account) return account;
  throw new HeadwaterError('EMBEDDED_NO_ACCOUNT', { reason: lastLines(made.stderr, 2) });
}

async function lookUp(name: string): Promise<Account | null> {
  const ids = await Promise.all([runCommand('id', ['-u', name]), runCommand('id', ['-g', name])]);
  const [uid, gid] = ids.map((result) => (result.code === 0 ? Number(result.stdout.trim()) : 0));
  return uid && gid ? { name, uid, gid } : null;
}

/** True when the account can change into the folder: every folder above it must let him through, too. */
export async function canEnter(account: Account | null, folder: string): Promise<boolean> {
  // Asked of the system rather than computed from mode bits, so that access lists and mount options count.
  const result = await runCommand('/bin/sh', ['-c', 'cd "$1"', 'sh', folder], { cwd: '/', account });
  return result.code === 0;
}
