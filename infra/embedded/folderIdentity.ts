import { statSync } from 'node:fs';
import { runtimeDir } from './runtimeFile.ts';

/**
 * What a data folder is, whatever path leads to it: the same after it was moved, another one for a copy. Files below `runtime/`
 * that speak of running processes name it, because `cp -a` copies them too, and those processes are not the copy's.
 */
export function folderIdentity(dataDir: string): string {
  const { dev, ino } = statSync(runtimeDir(dataDir), { bigint: true });
  return `${dev}:${ino}`;
}

/** Whether such a file was written for this data folder; one that names no folder counts. */
export const isOfFolder = (dataDir: string, record: { readonly folder?: unknown }): boolean =>
  record.folder === undefined || record.folder === folderIdentity(dataDir);
