import { spawnSync } from 'node:child_process';
import { accessSync, constants } from 'node:fs';

/** Programs of Debian packages that some tests need; `install.ts` installs them. */
export type Requirement = 'inn2' | 'nzbget' | 'par2';

export type Met = { readonly ok: true } | { readonly ok: false; readonly reason: string };

/** What must be runnable for a requirement to count as met. */
const PROGRAMS: Readonly<Record<Requirement, readonly string[]>> = {
  inn2: ['/usr/lib/news/bin/innd', '/usr/lib/news/bin/nnrpd', '/usr/lib/news/bin/overchan', 'setpriv', 'openssl'],
  nzbget: ['nzbget', 'setpriv'],
  par2: ['par2'],
};

function runnable(program: string): boolean {
  if (!program.startsWith('/')) {
    return spawnSync('sh', ['-c', 'command -v "$0"', program], { stdio: 'ignore' }).status === 0;
  }
  try {
    accessSync(program, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

function whyNotInstalled(): string {
  if (!runnable('apt-get')) return 'this machine has no apt';
  if (process.getuid?.() !== 0) return 'only root can install it';
  return 'run: npx tsx test/kit/install.ts';
}

/** Whether the programs of `name` are on this machine; if not, the reason to give for a skipped test. */
export function requirement(name: Requirement): Met {
  const absent = PROGRAMS[name].filter((program) => !runnable(program));
  if (absent.length === 0) return { ok: true };
  return { ok: false, reason: `${name} is not installed, ${absent.join(' and ')} missing (${whyNotInstalled()})` };
}
