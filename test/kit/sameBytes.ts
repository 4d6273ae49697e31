import { createHash } from 'node:crypto';
import { createReadStream, readdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Posted } from './poster.ts';

export interface BytesCompared {
  /** Names of posted files whose bytes lie somewhere in the folder. */
  readonly same: readonly string[];
  /** Names of posted files whose bytes do not. */
  readonly missing: readonly string[];
}

async function sha256(file: string): Promise<string> {
  const hash = createHash('sha256');
  for await (const chunk of createReadStream(file)) hash.update(chunk as Buffer);
  return hash.digest('hex');
}

const filesBelow = (folder: string): string[] =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));

/**
 * Compares a download folder with what was posted, by sha256. Names may differ (obfuscated posts). `except` names
 * posted files that need not be there, such as recovery volumes that a downloader leaves out.
 */
export async function sameBytes(
  posted: Posted,
  folder: string,
  except: (name: string) => boolean = () => false,
): Promise<BytesCompared> {
  const there = new Set(await Promise.all(filesBelow(folder).map(sha256)));
  const wanted = posted.files.filter((file) => !except(file.name));
  return {
    same: wanted.filter((file) => there.has(file.sha256)).map((file) => file.name),
    missing: wanted.filter((file) => !there.has(file.sha256)).map((file) => file.name),
  };
}
