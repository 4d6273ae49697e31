import { type FileRole, roleOf } from './volumes.ts';

/** Which volume of an archive set a file name says it is. */
export interface ArchiveVolume {
  /** From 1. */
  readonly volume: number;
  readonly is7z: boolean;
}

const PART = /\.part(\d{1,6})(?:\.rar)?$/i;
/** `.r00` follows `.rar`, `.s00` follows `.r99`. */
const LETTERED = /\.([r-z])(\d{2,3})$/i;
const NUMBERED = /^(.*)\.(\d{3})$/;
const SEVENZIP = /\.7z$/i;

/**
 * The volume that a file name states, null when it is no archive; `.rar`, `.zip`, `.7z` without a number are the first.
 * `role` is that of the name.
 */
export function archiveVolume(name: string | null, role: FileRole): ArchiveVolume | null {
  if (name === null) return null;
  const plain = name.trim();
  if (role === 'archive') return { volume: 1, is7z: SEVENZIP.test(plain) };
  if (role !== 'volume') return null;
  const part = PART.exec(plain);
  if (part) return { volume: Number(part[1]), is7z: false };
  const lettered = LETTERED.exec(plain);
  if (lettered) {
    const letter = lettered[1]!.toLowerCase().charCodeAt(0) - 'r'.charCodeAt(0);
    return { volume: 2 + letter * 100 + Number(lettered[2]), is7z: false };
  }
  const numbered = NUMBERED.exec(plain);
  // A film that was merely cut, `film.mkv.001`, has no table of contents; nor has a recovery volume.
  if (numbered === null || roleOf(numbered[1]!) === 'media') return null;
  return { volume: Number(numbered[2]), is7z: SEVENZIP.test(numbered[1]!) };
}
