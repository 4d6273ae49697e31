import { randomBytes } from 'node:crypto';
import { chmod, open, readFile, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { HeadwaterError } from '../base/errors/index.ts';
import { makeFolder } from './makeFolder.ts';

/** Where what a data folder has to remember between starts lies: ports, passwords, pid files. Mode 0700, files 0600. */
export const runtimeDir = (dataDir: string): string => join(dataDir, 'runtime');

export const errno = (error: unknown): string | undefined => (error as NodeJS.ErrnoException | null)?.code;

/** Makes the folder `<dataDir>/runtime` when it is missing. Throws EMBEDDED_FORBIDDEN when it may not be made. */
export async function ensureRuntimeDir(dataDir: string): Promise<string> {
  const dir = runtimeDir(dataDir);
  try {
    await makeFolder(dir);
    await chmod(dir, 0o700);
  } catch (error) {
    throw new HeadwaterError('EMBEDDED_FORBIDDEN', { path: dir, reason: String(error) }, { cause: error });
  }
  return dir;
}

/**
 * Reads a JSON file; undefined when there is none.
 * Throws EMBEDDED_FILE_DAMAGED when it is no JSON object, EMBEDDED_FORBIDDEN when it may not be read.
 */
export async function readJson(path: string): Promise<Readonly<Record<string, unknown>> | undefined> {
  const text = await readFile(path, 'utf8').catch((error: unknown) => {
    if (errno(error) === 'ENOENT') return undefined;
    throw new HeadwaterError('EMBEDDED_FORBIDDEN', { path, reason: String(error) }, { cause: error });
  });
  if (text === undefined) return undefined;
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Record<string, unknown>;
  } catch {
    // Falls through to the one error below: what is wrong inside does not matter.
  }
  throw new HeadwaterError('EMBEDDED_FILE_DAMAGED', { path, reason: 'no JSON object' });
}

/** Replaces a file in one step (mode 0600), so that a crash leaves the old or the new text, never half of one. */
export async function writePrivate(path: string, text: string): Promise<void> {
  const temporary = join(dirname(path), `.${randomBytes(6).toString('hex')}.tmp`);
  const file = await open(temporary, 'wx', 0o600);
  try {
    await file.writeFile(text);
    await file.sync();
  } finally {
    await file.close();
  }
  await rename(temporary, path).catch(async (error: unknown) => {
    await rm(temporary, { force: true });
    throw error;
  });
}

export const writeJson = (path: string, value: object): Promise<void> =>
  writePrivate(path, `${JSON.stringify(value, null, 2)}\n`);
