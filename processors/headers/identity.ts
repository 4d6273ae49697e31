import { hash } from 'node:crypto';
import type { Group, ReleaseKey } from '../../streams/ids.ts';

/**
 * The identities of files and releases. All of them are functions of one article's subject, poster and (files) group, so
 * that it cannot matter which other articles a range holds. They are stored for ever: neither the texts hashed here nor
 * the folding may change without a new version number in the prefix.
 */
const FILE_PREFIX = 'headwater/file/1';
const RELEASE_PREFIX = 'headwater/release/1';
/** Cannot occur in a field of an overview line. */
const SEPARATOR = '\0';

/** Punctuation, blanks, symbols and pictures, by block. */
const DROPPED: readonly (readonly [from: number, to: number])[] = [
  [0, 47],
  [58, 64],
  [91, 96],
  [123, 191],
  [0x2000, 0x206f],
  [0x20a0, 0x20cf],
  [0x2100, 0x2bff],
  [0x3000, 0x303f],
  [0xfe00, 0xfe0f],
  [0xff00, 0xff0f],
  [0x1f000, 0x1faff],
];
const isDropped = (c: number): boolean => DROPPED.some(([from, to]) => c >= from && c <= to);

/**
 * A name without letter case and punctuation: two spellings of one base fold to one text. Blocks whose case mapping is
 * settled are lower-cased, others kept, so that every Node version folds alike.
 */
export function foldBase(base: string): string {
  let folded = '';
  for (const char of base.normalize('NFC')) {
    const c = char.codePointAt(0)!;
    if (isDropped(c)) continue;
    folded += c < 0x0590 ? char.toLowerCase() : char;
  }
  return folded;
}

/** What identifies a file. `subject` is the subject without its part counter; `poster` null when it stands for itself. */
export interface FileIdentity {
  readonly group: Group;
  readonly subject: string;
  readonly poster: string | null;
}

/** What identifies a release. `base` null: the subjects name none. `poster` null when the base stands for itself. */
export interface ReleaseIdentity {
  readonly base: string | null;
  readonly filesTotal: number | null;
  readonly poster: string | null;
}

const fields = (prefix: string, values: readonly (string | number | null)[]): string =>
  [prefix, ...values.map((v) => (v === null ? '-' : `=${v}`))].join(SEPARATOR);

/** 32 hex digits; the first 16 are the `fileHash` of the records. */
export const fileDigest = (id: FileIdentity): string =>
  hash('sha256', fields(FILE_PREFIX, [id.group, id.subject, id.poster]), 'hex').slice(0, 32);

export const releaseKey = (id: ReleaseIdentity): ReleaseKey => {
  const base = id.base === null ? null : foldBase(id.base) || null;
  return hash('sha256', fields(RELEASE_PREFIX, [base, id.filesTotal, id.poster]), 'hex').slice(0, 32) as ReleaseKey;
};
