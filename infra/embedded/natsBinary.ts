import { access, chmod, constants, copyFile, mkdir, mkdtemp, readdir, rename, rm } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { HeadwaterError } from '../base/errors/index.ts';
import type { Log } from '../base/log.ts';
import { withUnpackedPackage } from './aptDownload.ts';
import { runCommand } from './command.ts';
import { atLeast, compareVersions, NATS_FLOOR, parseVersion, showVersion, type Version } from './version.ts';

export interface NatsBinary {
  readonly path: string;
  readonly version: Version;
}

export interface NatsSearch {
  /** Holds `<version>/nats-server` for every version that was downloaded. */
  readonly cacheDir: string;
  readonly env: NodeJS.ProcessEnv;
  readonly log: Log;
  /** Version that last wrote the store; an older one is taken only when no other can be had. */
  readonly lastVersion?: Version | null;
  /** Folders searched after PATH: Debian's are not on the PATH of ordinary users. */
  readonly systemDirs?: readonly string[];
  readonly aptFolder?: string;
  /** Ends a download. */
  readonly signal?: AbortSignal | undefined;
}

const SYSTEM_DIRS = ['/usr/local/sbin', '/usr/local/bin', '/usr/sbin', '/usr/bin'];
/** Suites of Debian that build a fit server, the newest first. */
const SUITES = ['sid', 'trixie'];

/**
 * The server to run: on PATH (>= 2.10), else downloaded before, else from Debian sid, else from Debian trixie.
 * Throws EMBEDDED_NATS_MISSING, which names everything that was passed over and why, or the reason of the signal.
 */
export async function findNatsBinary(search: NatsSearch): Promise<NatsBinary> {
  const passedOver: string[] = [];
  const installed = await onPath(search, passedOver);
  const cached = await inCache(search.cacheDir);
  const candidates = [...installed, ...cached];
  const chosen = chooseBinary(candidates, search.lastVersion ?? null);
  if (chosen) return chosen;
  for (const suite of SUITES) {
    const fetched = await fetchBinary(search, suite);
    // Ctrl-C ends apt too, which then looks as if it had failed.
    search.signal?.throwIfAborted();
    if ('path' in fetched) return fetched;
    search.log.warn('nats-server could not be fetched', { suite, reason: fetched.reason });
    passedOver.push(fetched.reason);
  }
  // Rather an older server than none: it reads the store or refuses it with a message of its own.
  const older = [...candidates].sort((a, b) => compareVersions(b.version, a.version))[0];
  if (older) return older;
  throw new HeadwaterError('EMBEDDED_NATS_MISSING', { tried: passedOver.join('; ') || 'nothing on PATH' });
}

/** The first candidate that is fit and whose minor version is not below the one that wrote the store. */
export function chooseBinary(candidates: readonly NatsBinary[], lastVersion: Version | null): NatsBinary | null {
  const floor: Version = lastVersion ? [lastVersion[0], lastVersion[1], 0] : NATS_FLOOR;
  const fit = candidates.filter((c) => atLeast(c.version, NATS_FLOOR));
  return fit.find((c) => atLeast(c.version, floor)) ?? null;
}

async function onPath(search: NatsSearch, passedOver: string[]): Promise<readonly NatsBinary[]> {
  const folders = [...(search.env.PATH ?? '').split(delimiter), ...(search.systemDirs ?? SYSTEM_DIRS)].filter(Boolean);
  const found: NatsBinary[] = [];
  for (const folder of new Set(folders)) {
    const path = join(folder, 'nats-server');
    if (!(await isExecutable(path))) continue;
    const version = await versionOf(path);
    if (version && atLeast(version, NATS_FLOOR)) found.push({ path, version });
    else passedOver.push(`${path} ${version ? `is ${showVersion(version)}` : 'does not tell its version'}`);
  }
  for (const reason of passedOver) search.log.warn('nats-server passed over', { reason });
  return found;
}

/** Every server that was downloaded before, the newest first. */
async function inCache(cacheDir: string): Promise<readonly NatsBinary[]> {
  const names = await readdir(cacheDir).catch(() => []);
  const found: NatsBinary[] = [];
  for (const name of names) {
    const version = parseVersion(name);
    const path = join(cacheDir, name, 'nats-server');
    if (version && showVersion(version) === name && (await isExecutable(path))) found.push({ path, version });
  }
  return found.sort((a, b) => compareVersions(b.version, a.version));
}

async function fetchBinary(search: NatsSearch, suite: string): Promise<NatsBinary | { reason: string }> {
  search.log.info('fetching nats-server with apt', { suite });
  const download = {
    packageName: 'nats-server',
    suite,
    env: search.env,
    signal: search.signal,
    ...(search.aptFolder ? { aptFolder: search.aptFolder } : {}),
  };
  const result = await withUnpackedPackage(download, (files) => keepBinary(files, search.cacheDir));
  if (!result.ok) return { reason: result.reason };
  return 'path' in result.value ? result.value : { reason: `${suite}: ${result.value.reason}` };
}

/** Moves the unpacked server into the cache in one step, so that no other process ever sees half of one. */
async function keepBinary(files: string, cacheDir: string): Promise<NatsBinary | { reason: string }> {
  const unpacked = join(files, 'usr/sbin/nats-server');
  const version = await versionOf(unpacked);
  if (!version) return { reason: 'the downloaded server does not run on this machine' };
  if (!atLeast(version, NATS_FLOOR)) return { reason: `the downloaded server is ${showVersion(version)}` };
  await mkdir(cacheDir, { recursive: true });
  const temporary = await mkdtemp(join(cacheDir, '.new-'));
  await chmod(temporary, 0o755);
  await copyFile(unpacked, join(temporary, 'nats-server'));
  const folder = join(cacheDir, showVersion(version));
  await rename(temporary, folder).catch(async (error: unknown) => {
    await rm(temporary, { recursive: true, force: true });
    // Another process was faster: its copy is the same.
    if (!(await isExecutable(join(folder, 'nats-server')))) throw error;
  });
  return { path: join(folder, 'nats-server'), version };
}

const isExecutable = (path: string): Promise<boolean> =>
  access(path, constants.X_OK).then(
    () => true,
    () => false,
  );

async function versionOf(path: string): Promise<Version | null> {
  const result = await runCommand(path, ['--version'], { timeoutMs: 10_000 });
  return result.code === 0 ? parseVersion(result.stdout) : null;
}
