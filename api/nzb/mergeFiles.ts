import type { ChunkFile, Segment } from '../../streams/records.ts';

/** A file of a release as the NZB shows it: the union of what every contribution holds of it. */
export interface NzbFile extends Omit<ChunkFile, 'segments'> {
  /** One a part number, ascending. */
  readonly segments: readonly Segment[];
}

/** Of two articles for one part the larger body wins, of equal ones the lower message-id. */
const better = (a: Segment, b: Segment): Segment => {
  if (a.bytes !== b.bytes) return a.bytes > b.bytes ? a : b;
  return a.messageId <= b.messageId ? a : b;
};

interface Pieces {
  /** Which piece describes the file must not depend on the order of arrival: the earliest, then the smaller subject. */
  head: ChunkFile;
  readonly parts: Map<number, Segment>;
  readonly groups: Set<string>;
}

const earlier = (a: ChunkFile, b: ChunkFile): ChunkFile => {
  if (a.postedAt !== b.postedAt) return a.postedAt < b.postedAt ? a : b;
  return a.subject <= b.subject ? a : b;
};

function add(pieces: Pieces, file: ChunkFile): void {
  pieces.head = earlier(pieces.head, file);
  for (const group of file.groups) pieces.groups.add(group);
  for (const segment of file.segments) {
    const other = pieces.parts.get(segment.part);
    pieces.parts.set(segment.part, other ? better(other, segment) : segment);
  }
}

const compareText = (a: string, b: string): number => (a < b ? -1 : Number(a > b));

const inOrder = (a: NzbFile, b: NzbFile): number =>
  (a.fileIndex ?? Number.MAX_SAFE_INTEGER) - (b.fileIndex ?? Number.MAX_SAFE_INTEGER) ||
  compareText(a.subject, b.subject) ||
  compareText(a.fileHash, b.fileHash);

function finished({ head, parts, groups }: Pieces): NzbFile {
  const main = head.groups[0];
  const others = [...groups].filter((g) => g !== main).sort();
  return {
    ...head,
    groups: [...(main === undefined ? [] : [main]), ...others] as unknown as NzbFile['groups'],
    segments: [...parts.values()].sort((a, b) => a.part - b.part),
  };
}

/** Joins the pieces of every file by its hash: one segment a part number, files in a stable order. */
export function mergeFiles(files: Iterable<ChunkFile>): readonly NzbFile[] {
  const byHash = new Map<string, Pieces>();
  for (const file of files) {
    let pieces = byHash.get(file.fileHash);
    if (!pieces) {
      pieces = { head: file, parts: new Map(), groups: new Set() };
      byHash.set(file.fileHash, pieces);
    }
    add(pieces, file);
  }
  return [...byHash.values()].map(finished).sort(inOrder);
}
