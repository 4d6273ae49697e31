import { accessSync, constants, existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import type { Met } from './requirements.ts';

/**
 * What this machine allows, for tests that need root or apt. Use the reason in the name, so that a skip says why:
 *
 *     describe.skipIf(!root().ok)(titled('as root', root()), () => { ... });
 */
const OK: Met = { ok: true };

export const root = (): Met => (process.getuid?.() === 0 ? OK : { ok: false, reason: 'needs root' });

/** apt on a Debian machine: what fetching a package of another suite needs. */
export function apt(): Met {
  if (!isOnPath('apt-get')) return { ok: false, reason: 'this machine has no apt' };
  return existsSync('/etc/debian_version') ? OK : { ok: false, reason: 'not a Debian machine' };
}

/** The first that is not met, else ok. */
export const allMet = (...all: readonly Met[]): Met => all.find((met) => !met.ok) ?? OK;

/** The title, with the reason for a skip behind it when there is one. */
export const titled = (title: string, met: Met): string => (met.ok ? title : `${title} [skipped: ${met.reason}]`);

function isOnPath(name: string): boolean {
  return (process.env.PATH ?? '').split(delimiter).some((folder) => {
    try {
      accessSync(join(folder, name), constants.X_OK);
      return folder !== '';
    } catch {
      return false;
    }
  });
}
