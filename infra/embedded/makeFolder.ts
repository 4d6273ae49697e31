import { mkdir } from 'node:fs/promises';
import { dirname } from 'node:path';

const codeOf = (error: unknown): string | undefined => (error as NodeJS.ErrnoException).code;

/** A folder that is there already is as good as one that was made. */
async function makeOne(path: string): Promise<void> {
  await mkdir(path).catch((error: unknown) => {
    if (codeOf(error) !== 'EEXIST') throw error;
  });
}

/**
 * Makes a folder and those above it. Node's own recursive mkdir never ends where a file system answers ENOENT for a
 * folder whose parent exists (/proc does): here that is the error that it is.
 */
export async function makeFolder(path: string): Promise<void> {
  try {
    await makeOne(path);
  } catch (error) {
    if (codeOf(error) !== 'ENOENT' || dirname(path) === path) throw error;
    await makeFolder(dirname(path));
    await makeOne(path);
  }
}
