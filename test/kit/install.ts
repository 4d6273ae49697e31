/**
 * Installs the Debian packages that the tests against real servers need, and starts none of them.
 *
 *   npx tsx test/kit/install.ts [inn2 nzbget par2 zstd]
 *
 * Without a name: all that the tests use.
 * Quick when all is there. Where root or apt is missing it says so and ends with 0: the tests that need those servers
 * are then skipped with that reason (`requirements.ts`). Ends with 1 when an installation was tried and failed.
 */
import { spawnSync } from 'node:child_process';
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Part name -> Debian packages, in the order in which they must come. leafnode is none: it conflicts with inn2. */
const PARTS: Readonly<Record<string, readonly (readonly string[])[]>> = {
  // inn2 wants a mail transport agent (msmtp-mta has no daemon), and its own inews for the stock inn.conf.
  inn2: [['inn2-inews', 'msmtp-mta', 'openssl'], ['inn2']],
  nzbget: [['nzbget']],
  par2: [['par2']],
  zstd: [['zstd']],
  ngircd: [['ngircd', 'openssl']],
  prometheus: [['prometheus']],
};

/** What the tests of now need. */
const USED = ['inn2', 'nzbget', 'par2', 'zstd'] as const;

const APT = ['-o', 'DPkg::Lock::Timeout=300'];
const POLICY = '/usr/sbin/policy-rc.d';

const say = (line: string): void => {
  process.stdout.write(`${line}\n`);
};

const hasProgram = (name: string): boolean =>
  spawnSync('sh', ['-c', `command -v ${name}`], { stdio: 'ignore' }).status === 0;

function packageStatus(name: string): string {
  const query = spawnSync('dpkg-query', ['-W', '-f=${db:Status-Status}', name], { encoding: 'utf8' });
  return query.status === 0 ? query.stdout : 'not-installed';
}

const missing = (packages: readonly string[]): string[] =>
  packages.filter((name) => packageStatus(name) !== 'installed');

/** Runs apt or dpkg quietly; a failure throws with the end of what it printed. */
function run(program: string, args: readonly string[], env: NodeJS.ProcessEnv): void {
  const done = spawnSync(program, args, {
    env: { ...process.env, ...env, DEBIAN_FRONTEND: 'noninteractive' },
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'pipe'],
    maxBuffer: 64 << 20,
  });
  if (done.status !== 0) {
    const tail = `${done.stdout}\n${done.stderr}`.trim().split('\n').slice(-20).join('\n');
    throw new Error(`${program} ${args.join(' ')} ended with ${done.status}:\n${tail}`);
  }
}

let listsAreFresh = false;
function install(packages: readonly string[], env: NodeJS.ProcessEnv): void {
  const want = missing(packages);
  if (want.length === 0) return;
  if (!listsAreFresh) run('apt-get', [...APT, 'update', '-qq'], env);
  listsAreFresh = true;
  run('apt-get', [...APT, 'install', '-y', '-qq', '--no-install-recommends', ...want], env);
}

/**
 * inn2's postinst fails where the machine has no fully qualified name, and leaves the package half configured. It reads
 * the file that INNCONF names, so a copy of the stock inn.conf with a domain cures it without touching /etc.
 */
function innEnvironment(folder: string): NodeJS.ProcessEnv {
  const stock = readFileSync('/etc/news/inn.conf', 'utf8');
  const kept = stock
    .replace(/^pathhost:.*$/m, 'pathhost: kit.test')
    .split('\n')
    .filter((line) => !/^(domain|fromhost):/.test(line));
  const file = join(folder, 'inn.conf');
  writeFileSync(file, `${kept.join('\n')}\ndomain: kit.test\nfromhost: kit.test\n`, { mode: 0o644 });
  return { INNCONF: file };
}

function installPart(part: string, folder: string): void {
  for (const packages of PARTS[part] ?? []) {
    if (missing(packages).length === 0) continue;
    const env = packages.includes('inn2') ? innEnvironment(folder) : {};
    if (packages.some((name) => packageStatus(name) === 'half-configured')) run('dpkg', ['--configure', '-a'], env);
    install(packages, env);
  }
}

/** Without a policy file packages start their daemons on the standard ports; ours says no while we install. */
function withoutDaemons(work: () => void): void {
  const ours = !existsSync(POLICY);
  if (ours) {
    writeFileSync(POLICY, '#!/bin/sh\nexit 101\n');
    chmodSync(POLICY, 0o755);
  }
  try {
    work();
  } finally {
    if (ours) rmSync(POLICY, { force: true });
  }
}

/** Why nothing can be installed here, or null when it can. */
function obstacle(): string | null {
  if (!hasProgram('apt-get') || !hasProgram('dpkg-query')) return 'this machine has no apt';
  if (process.getuid?.() !== 0) return 'not root';
  return null;
}

function main(parts: readonly string[]): number {
  const unknown = parts.filter((part) => !(part in PARTS));
  if (unknown.length > 0) {
    say(`install: unknown part ${unknown.join(', ')}; known: ${Object.keys(PARTS).join(', ')}`);
    return 2;
  }
  const why = obstacle();
  const debian = hasProgram('dpkg-query');
  const open = parts.filter((part) => !debian || missing((PARTS[part] ?? []).flat()).length > 0);
  for (const part of parts) if (!open.includes(part)) say(`${part}: installed`);
  if (open.length === 0) return 0;
  if (why !== null) {
    for (const part of open) say(`${part}: not installed (${why}); tests that need it are skipped`);
    return 0;
  }
  const folder = mkdtempSync(join(tmpdir(), 'hw-install-'));
  // The postinst runs as another user and must be able to read the copy of inn.conf.
  chmodSync(folder, 0o755);
  try {
    withoutDaemons(() => {
      for (const part of open) {
        say(`${part}: installing`);
        installPart(part, folder);
        say(`${part}: installed`);
      }
    });
    return 0;
  } catch (error) {
    say(`install: ${error instanceof Error ? error.message : String(error)}`);
    return 1;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

const named = process.argv.slice(2);
process.exitCode = main(named.length > 0 ? named : USED);
