import { compareTexts } from '../../streams/compareTexts.ts';
import type { ChunkFile } from '../../streams/records.ts';
import { type UnionFile, unionOf } from '../../streams/union.ts';

/** A file of a release as the NZB shows it: the union of what every contribution holds of it. */
export type NzbFile = UnionFile;

const inOrder = (a: NzbFile, b: NzbFile): number =>
  (a.fileIndex ?? Number.MAX_SAFE_INTEGER) - (b.fileIndex ?? Number.MAX_SAFE_INTEGER) ||
  compareTexts(a.subject, b.subject) ||
  compareTexts(a.fileHash, b.fileHash);

/** Joins the pieces of every file by its hash: one segment a part number, files in a stable order. */
export const mergeFiles = (files: Iterable<ChunkFile>): readonly NzbFile[] => [...unionOf(files)].sort(inOrder);
