import { execFileSync } from 'node:child_process';
import {
  appendFileSync,
  cpSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  rmdirSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const PREFIX = 'hw-disk-';
const BLOCK = Buffer.alloc(1 << 20);

const mountAt = (folder: string, mebibytes: number): void => {
  execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${mebibytes}m,mode=0755`, 'tmpfs', folder], { stdio: 'pipe' });
};

const unmountAt = (folder: string): void => {
  try {
    execFileSync('umount', ['-l', folder], { stdio: 'pipe' });
  } catch {
    // Nothing is mounted there.
  }
  rmdirSync(folder);
};

/** The name says whose it is, so that a later run can clear up after one that was killed. */
const makeFolder = (): string => mkdtempSync(join(tmpdir(), `${PREFIX}${process.pid}-`));

function unmountAbandoned(): void {
  for (const name of readdirSync(tmpdir()).filter((n) => n.startsWith(PREFIX))) {
    const pid = name.slice(PREFIX.length).split('-')[0];
    if (!existsSync(`/proc/${pid}`)) unmountAt(join(tmpdir(), name));
  }
}

/** Why no small file system can be mounted here, or null. */
export function whyNoSmallDisk(): string | null {
  if (process.getuid?.() !== 0) return 'only root can mount a small file system';
  unmountAbandoned();
  const folder = makeFolder();
  try {
    mountAt(folder, 1);
    return null;
  } catch (error) {
    return `a file system cannot be mounted here: ${(error as Error).message.trim().split('\n').at(-1)}`;
  } finally {
    unmountAt(folder);
  }
}

export interface SmallDisk {
  /** Fills it up to `free` bytes with a file that belongs to nobody. */
  fill(free: number): void;
  /** Takes that file away. */
  makeRoom(): void;
  unmount(): void;
}

/**
 * Moves a folder to a file system of its own of that size; a link stands in its place. Nothing may use the folder
 * meanwhile. Needs root.
 */
export function moveToSmallDisk(folder: string, mebibytes: number): SmallDisk {
  const disk = makeFolder();
  mountAt(disk, mebibytes);
  cpSync(folder, disk, { recursive: true });
  rmSync(folder, { recursive: true });
  symlinkSync(disk, folder);
  const ballast = join(disk, 'ballast');
  return {
    fill(free) {
      writeFileSync(ballast, '');
      try {
        for (;;) appendFileSync(ballast, BLOCK);
      } catch {
        truncateSync(ballast, Math.max(0, statSync(ballast).size - free));
      }
    },
    makeRoom: () => rmSync(ballast),
    unmount: () => unmountAt(disk),
  };
}
