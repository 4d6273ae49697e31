import { chmod, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  type AptSource,
  codenameOf,
  debianSources,
  parseDeb822,
  parseOneLine,
  privateAptConfig,
  withSuite,
} from './aptSources.ts';
import { lastLines, runCommand } from './command.ts';

export interface AptDownload {
  readonly packageName: string;
  readonly suite: string;
  /** Where apt keeps its sources; `/etc/apt` unless a test says otherwise. */
  readonly aptFolder?: string;
  readonly env: NodeJS.ProcessEnv;
  readonly timeoutMs?: number;
  readonly signal?: AbortSignal | undefined;
}

const MOST_SOURCES = 3;

/** The machine's own sources that may be the Debian archive, the likeliest first. */
export async function readDebianSources(aptFolder: string): Promise<readonly AptSource[]> {
  const parts = join(aptFolder, 'sources.list.d');
  const names = (await readdir(parts).catch(() => [])).sort().map((name) => join(parts, name));
  const sources: AptSource[] = [];
  for (const path of [join(aptFolder, 'sources.list'), ...names]) {
    const text = await readFile(path, 'utf8').catch(() => '');
    if (path.endsWith('.sources')) sources.push(...parseDeb822(text));
    if (path.endsWith('.list')) sources.push(...parseOneLine(text));
  }
  return debianSources(sources, codenameOf(await readFile('/etc/os-release', 'utf8').catch(() => '')));
}

/**
 * Downloads a package of another Debian suite with apt's own client and a private configuration, unpacks it, and gives
 * the folder of its files to `use`. Needs no root and changes nothing on the system. Resolves with what `use` gives, or
 * with the reason why there is nothing to use.
 */
export async function withUnpackedPackage<T>(
  download: AptDownload,
  use: (files: string) => Promise<T>,
): Promise<{ ok: true; value: T } | { ok: false; reason: string }> {
  const sources = await readDebianSources(download.aptFolder ?? '/etc/apt');
  if (sources.length === 0)
    return { ok: false, reason: `${download.suite}: no Debian source in the apt configuration` };
  const reasons: string[] = [];
  for (const source of sources.slice(0, MOST_SOURCES)) {
    // In the system's own folder for temporary files: apt drops to its own user, who may not be able to enter ours.
    const folder = await mkdtemp(join(tmpdir(), 'headwater-apt-'));
    try {
      const files = await fetchPackage(download, source, folder);
      if ('reason' in files) reasons.push(files.reason);
      else return { ok: true, value: await use(files.folder) };
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  }
  return { ok: false, reason: `${download.suite}: ${[...new Set(reasons)].join('; ')}` };
}

async function fetchPackage(
  download: AptDownload,
  source: AptSource,
  folder: string,
): Promise<{ folder: string } | { reason: string }> {
  await chmod(folder, 0o755);
  for (const name of ['parts', 'lists/partial', 'cache/archives/partial', 'deb', 'files']) {
    await mkdir(join(folder, name), { recursive: true });
  }
  const partName = source.kind === 'deb822' ? 'debian.sources' : 'debian.list';
  await writeFile(join(folder, 'parts', partName), withSuite(source, download.suite), { mode: 0o644 });
  const config = join(folder, 'apt.conf');
  await writeFile(config, privateAptConfig(folder), { mode: 0o644 });
  const deb = join(folder, 'deb');
  const { signal, timeoutMs = 180_000 } = download;
  const options = { env: { ...download.env, LC_ALL: 'C' }, cwd: deb, timeoutMs, signal };
  const apt = (...args: string[]) => runCommand('apt-get', ['-q', '-c', config, ...args], options);
  for (const step of [() => apt('update', '--error-on=any'), () => apt('download', download.packageName)]) {
    const done = await step();
    if (done.code !== 0) return { reason: lastLines(done.stderr, 2) };
  }
  const name = (await readdir(deb)).find((file) => file.endsWith('.deb'));
  if (!name) return { reason: 'apt downloaded nothing' };
  const unpacked = await runCommand('dpkg-deb', ['-x', join(deb, name), join(folder, 'files')], options);
  return unpacked.code === 0 ? { folder: join(folder, 'files') } : { reason: lastLines(unpacked.stderr, 2) };
}
