import { chown, readdir, readFile, readlink, realpath, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Clock } from '../base/clock.ts';
import { HeadwaterError } from '../base/errors/index.ts';
import type { Log } from '../base/log.ts';
import type { Account } from './account.ts';
import { signalProcess } from './childProcess.ts';
import { lastLines, runCommand } from './command.ts';
import type { PostgresBinaries } from './postgresBinary.ts';
import { POSTGRES_HBA, parsePostmasterPid, postgresConfig } from './postgresConfig.ts';
import { findProcesses, isRunning } from './processIdentity.ts';
import { waitUntil } from './waiting.ts';

export const DB_USER = 'headwater';

export interface Cluster {
  /** The folder of ours that holds it. */
  readonly home: string;
  /** `<home>/cluster`: what PostgreSQL calls its data directory. */
  readonly dir: string;
  readonly account: Account | null;
  readonly binaries: PostgresBinaries;
  readonly env: NodeJS.ProcessEnv;
  readonly clock: Clock;
  readonly log: Log;
}

/** Major version of the cluster in that folder; null when there is none. */
export async function clusterMajor(dir: string): Promise<number | null> {
  const major = Number(await readFile(join(dir, 'PG_VERSION'), 'utf8').catch(() => '0'));
  return major > 0 ? major : null;
}

/** Makes a new cluster; the superuser `headwater` has the password. A half-made one of an interrupted start is removed. */
export async function createCluster(cluster: Cluster, password: string): Promise<void> {
  const { home, dir, account, binaries, env, log } = cluster;
  for (const name of await readdir(home)) {
    if (name.startsWith('cluster.new')) await rm(join(home, name), { recursive: true });
  }
  const temporary = join(home, 'cluster.new');
  const passwordFile = join(home, 'cluster.new.password');
  await writeAs(passwordFile, `${password}\n`, account);
  const args = ['-D', temporary, '-U', DB_USER, '-A', 'scram-sha-256', `--pwfile=${passwordFile}`, '-E', 'UTF8'];
  log.info('making a new PostgreSQL cluster', { folder: dir, version: binaries.version.join('.') });
  try {
    // C.UTF-8 classifies letters of all languages; where the system lacks it, C does for ASCII only.
    for (const locale of ['C.UTF-8', 'C']) {
      const options = { cwd: home, env, account, timeoutMs: 300_000 };
      const made = await runCommand(join(binaries.dir, 'initdb'), [...args, `--locale=${locale}`], options);
      if (made.code === 0) return await rename(temporary, dir);
      await rm(temporary, { recursive: true, force: true });
      const isLocale = /locale/i.test(made.stderr) && locale !== 'C';
      if (!isLocale)
        throw new HeadwaterError('EMBEDDED_INITDB_FAILED', { folder: dir, output: lastLines(made.stderr) });
    }
  } finally {
    await rm(passwordFile, { force: true });
  }
}

/** Gives the superuser a new password while the server is down: the runtime folder with the old one was lost. */
export async function resetPassword(cluster: Cluster, password: string): Promise<void> {
  cluster.log.warn('the password of the database was lost and is set anew');
  const result = await runCommand(join(cluster.binaries.dir, 'postgres'), ['--single', '-D', cluster.dir, 'postgres'], {
    cwd: cluster.home,
    env: cluster.env,
    account: cluster.account,
    timeoutMs: 300_000,
    input: `ALTER ROLE ${DB_USER} PASSWORD '${password}'\n`,
  });
  if (result.code === 0 && !/ERROR|FATAL/.test(result.stderr)) return;
  throw new HeadwaterError('EMBEDDED_FORBIDDEN', { path: cluster.dir, reason: lastLines(result.stderr, 3) });
}

/** Writes the configuration, as it has to be for this start. */
export async function configureCluster(cluster: Cluster, port: number): Promise<void> {
  await writeAs(join(cluster.dir, 'postgresql.conf'), postgresConfig(port), cluster.account);
  await writeAs(join(cluster.dir, 'pg_hba.conf'), POSTGRES_HBA, cluster.account);
}

async function writeAs(path: string, text: string, account: Account | null): Promise<void> {
  const temporary = `${path}.tmp`;
  await rm(temporary, { force: true });
  // `wx`: the folder belongs to the account, and root must not follow a link that somebody put there.
  await writeFile(temporary, text, { mode: 0o600, flag: 'wx' });
  if (account) await chown(temporary, account.uid, account.gid);
  await rename(temporary, path);
}

const SETTLE_MS = 15_000;

/**
 * Waits for the processes that a killed postmaster left on this cluster (they end by themselves within moments), kills
 * what stays, and removes its postmaster.pid once nobody is left: the pid in it may by now be another program's.
 */
export async function clearCluster(cluster: Cluster): Promise<void> {
  const dir = await realpath(cluster.dir);
  // Every PostgreSQL process has its data directory as its working directory.
  const users = () => findProcesses(async (pid) => (await readlink(`/proc/${pid}/cwd`)) === dir);
  const isFree = async () => ((await users()).length === 0 ? true : undefined);
  const pidPath = join(dir, 'postmaster.pid');
  const record = parsePostmasterPid(await readFile(pidPath, 'utf8').catch(() => ''));
  const postmaster = (await users()).find((p) => p.pid === record?.pid);
  if (postmaster) {
    cluster.log.warn('stopping a PostgreSQL that runs on this data folder without its Headwater', {
      pid: postmaster.pid,
    });
    signalProcess(postmaster.pid, 'SIGINT');
  }
  if (!(await waitUntil(cluster.clock, SETTLE_MS, isFree))) {
    for (const user of await users()) if (await isRunning(user)) signalProcess(user.pid, 'SIGKILL');
    await waitUntil(cluster.clock, SETTLE_MS, isFree);
  }
  if (record && (await isFree())) await rm(pidPath, { force: true });
}
