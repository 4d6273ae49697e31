import { access, chmod, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import type { Log } from '../base/log.ts';
import { isRoot } from './account.ts';
import { lastLines, runCommand } from './command.ts';
import { POSTGRES_FLOOR_MAJOR } from './version.ts';

const CLUSTER_CONFIG = '/etc/postgresql-common/createcluster.conf';
const POLICY = '/usr/sbin/policy-rc.d';
const INSTALL_LIMIT_MS = 15 * 60_000;

/** The package of the newest server (or of exactly the wanted major version) among package names, one a line. */
export function choosePackage(names: string, wantedMajor: number | null): string | null {
  const majors = [...names.matchAll(/^postgresql-(\d+)$/gm)].map((m) => Number(m[1]));
  const fit = majors.filter((m) => (wantedMajor === null ? m >= POSTGRES_FLOOR_MAJOR : m === wantedMajor));
  return fit.length > 0 ? `postgresql-${Math.max(...fit)}` : null;
}

/**
 * Installs a PostgreSQL server from the machine's own suites, without a cluster or a running service of its own.
 * Resolves with null when it is installed, else with the reason why not.
 */
export async function installPostgres(
  wantedMajor: number | null,
  env: NodeJS.ProcessEnv,
  log: Log,
): Promise<string | null> {
  if (!isRoot()) return 'needs root';
  const options = {
    env: { ...env, DEBIAN_FRONTEND: 'noninteractive', LC_ALL: 'C' },
    timeoutMs: INSTALL_LIMIT_MS,
  };
  const apt = (...args: string[]) =>
    runCommand('apt-get', ['-q', '-y', '-o', 'DPkg::Lock::Timeout=120', ...args], options);
  log.info('installing PostgreSQL with apt (once, may take a minute)');
  const updated = await apt('update');
  const names = await runCommand('apt-cache', ['pkgnames', 'postgresql-'], options);
  const name = choosePackage(names.stdout, wantedMajor);
  if (!name) return updated.code === 0 ? 'no suite of this machine has a fit server' : lastLines(updated.stderr, 2);
  const install = (...packages: string[]) => apt('install', '--no-install-recommends', ...packages);
  return withoutServiceStart(async () => {
    const shared = await install('postgresql-common');
    if (shared.code !== 0) return lastLines(shared.stderr, 3);
    const server = await withoutSystemCluster(() => install(name));
    if (server.code !== 0) return lastLines(server.stderr, 3);
    log.info('installed PostgreSQL', { package: name });
    return null;
  });
}

/** Runs `work` while packages may not start services: `policy-rc.d` is how Debian asks. */
async function withoutServiceStart<T>(work: () => Promise<T>): Promise<T> {
  const present = await access(POLICY).then(
    () => true,
    () => false,
  );
  if (present) return work();
  await writeFile(POLICY, '#!/bin/sh\nexit 101\n');
  await chmod(POLICY, 0o755);
  try {
    return await work();
  } finally {
    await rm(POLICY, { force: true });
  }
}

/** Runs `work` while the package makes no cluster of its own, then puts the operator's file back as it was. */
async function withoutSystemCluster<T>(work: () => Promise<T>): Promise<T> {
  const before = await readFile(CLUSTER_CONFIG, 'utf8').catch(() => null);
  await mkdir('/etc/postgresql-common', { recursive: true });
  const others = (before ?? '').replace(/^\s*create_main_cluster\b.*$/gm, '');
  await writeFile(CLUSTER_CONFIG, `${others}\ncreate_main_cluster = false\n`);
  try {
    return await work();
  } finally {
    if (before === null) await rm(CLUSTER_CONFIG, { force: true });
    else await writeFile(CLUSTER_CONFIG, before);
  }
}
