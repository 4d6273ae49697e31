import { closeSync, mkdirSync, openSync, renameSync, statSync, writeSync } from 'node:fs';
import { dirname } from 'node:path';

const BYTES_MAX = 10 * 1024 * 1024;
const FILES_KEPT = 5;

export interface RotatingFile {
  /** Appends; a full disk loses log lines and nothing else. */
  write(text: string | Buffer): void;
  close(): void;
}

/** A log file of at most 10 MB; the four before it are kept as `.1` to `.4`. */
export function openRotatingFile(path: string, bytesMax = BYTES_MAX): RotatingFile {
  mkdirSync(dirname(path), { recursive: true });
  let fd = openSync(path, 'a', 0o600);
  let size = statSync(path).size;

  const rotate = (): void => {
    closeSync(fd);
    for (let n = FILES_KEPT - 1; n >= 1; n--) {
      try {
        renameSync(n === 1 ? path : `${path}.${n - 1}`, `${path}.${n}`);
      } catch {
        // There are fewer older files than may be kept.
      }
    }
    fd = openSync(path, 'a', 0o600);
    size = 0;
  };

  return {
    write(text) {
      const bytes = typeof text === 'string' ? Buffer.from(text) : text;
      try {
        if (size > 0 && size + bytes.length > bytesMax) rotate();
        size += writeSync(fd, bytes);
      } catch {
        // ENOSPC and the like: the log must never stop the work.
      }
    },
    close: () => closeSync(fd),
  };
}
