/**
 * How what several sources hold of one file is joined. Everything here is a function of the set of entries, whatever
 * their order and grouping, since the same files are joined by the edges of ranges, by settling and for NZBs.
 */
import { compareTexts } from './compareTexts.ts';
import type { Group } from './ids.ts';
import type { ChunkFile, Segment } from './records.ts';

/** A file as its articles say it, taken together. `parts` is the total that most of its segments state, 0 when none does. */
export interface UnionFile extends ChunkFile {
  /** How many parts there should be: the stated total, or the highest part seen. */
  readonly expected: number;
  /** Parts 1 to `expected` are all there; false when none is expected. */
  readonly complete: boolean;
  /** Bytes of all its segments. */
  readonly bytes: number;
}

/** The entries of one file with one subject, and for each part the best segment among them. */
interface Spelling {
  head: ChunkFile;
  partWidth: number;
  readonly groups: Set<Group>;
  parts: Map<number, Segment>;
}
type File = Map<string, Spelling>;

/** Of two articles for one part the larger body wins, of equal ones the lower message-id. */
const compareSegments = (a: Segment, b: Segment): number => b.bytes - a.bytes || compareTexts(a.messageId, b.messageId);

const mainGroup = (file: ChunkFile): string => file.groups[0] ?? '';

/** Which of two entries with one subject tells poster, time and main group. */
const compareHeads = (a: ChunkFile, b: ChunkFile): number =>
  a.postedAt - b.postedAt || compareTexts(a.poster, b.poster) || compareTexts(mainGroup(a), mainGroup(b));

const spellingOf = (f: ChunkFile): string => `${f.partAt}/${f.parts}/${f.fileIndex}/${f.subject}`;

/** An order that no article changes: for one article that two spellings hold. */
const compareSpellings = (a: ChunkFile, b: ChunkFile): number =>
  b.parts - a.parts || compareTexts(a.subject, b.subject) || a.partAt - b.partAt || fileIndexOf(a) - fileIndexOf(b);

const fileIndexOf = (file: ChunkFile): number => file.fileIndex ?? Number.MAX_SAFE_INTEGER;

function addTo(file: File, entry: ChunkFile): void {
  const id = spellingOf(entry);
  let spelling = file.get(id);
  if (!spelling) {
    spelling = { head: entry, partWidth: 0, groups: new Set(), parts: new Map() };
    file.set(id, spelling);
  }
  if (compareHeads(entry, spelling.head) < 0) spelling.head = entry;
  spelling.partWidth = Math.max(spelling.partWidth, entry.partWidth);
  for (const group of entry.groups) spelling.groups.add(group);
  for (const segment of entry.segments) {
    const other = spelling.parts.get(segment.part);
    if (!other || compareSegments(segment, other) < 0) spelling.parts.set(segment.part, segment);
  }
}

/** Leaves each part to the one spelling whose segment wins. Spellings are in the order of `compareSpellings`. */
function settleParts(spellings: readonly Spelling[]): void {
  if (spellings.length === 1) return;
  const winners = new Map<number, Segment>();
  for (const { parts } of spellings) {
    for (const [part, segment] of parts) {
      const other = winners.get(part);
      if (!other || compareSegments(segment, other) < 0) winners.set(part, segment);
    }
  }
  for (const spelling of spellings) {
    const mine = [...spelling.parts].filter(([part, segment]) => winners.get(part) === segment);
    for (const [part] of mine) winners.delete(part);
    spelling.parts = new Map(mine);
  }
}

function filesOf(entries: Iterable<ChunkFile>): ReadonlyMap<string, readonly Spelling[]> {
  const files = new Map<string, File>();
  for (const entry of entries) {
    const file = files.get(entry.fileHash) ?? new Map<string, Spelling>();
    files.set(entry.fileHash, file);
    addTo(file, entry);
  }
  const inOrder = [...files].map(([hash, file]): [string, readonly Spelling[]] => {
    const spellings = [...file.values()].sort((a, b) => compareSpellings(a.head, b.head));
    settleParts(spellings);
    return [hash, spellings];
  });
  return new Map(inOrder.sort(([a], [b]) => compareTexts(a, b)));
}

const groupsOf = (main: string, groups: Iterable<Group>): readonly Group[] => {
  const others = [...groups].filter((group) => group !== main).sort(compareTexts);
  return main === '' ? others : [main as Group, ...others];
};

const byPart = (segments: Iterable<Segment>): Segment[] => [...segments].sort((a, b) => a.part - b.part);

const entryOf = ({ head, partWidth, groups, parts }: Spelling): ChunkFile => ({
  ...head,
  partWidth,
  groups: groupsOf(mainGroup(head), groups),
  segments: byPart(parts.values()),
});

/**
 * The entries of files, joined: one entry a (file, subject, stated total), each part in one entry of its file only, ordered by
 * hash. An entry that lost all of its parts stays, since its time may still be the file's. Joining the result with
 * further entries gives what joining all of them at once gives: what a merge of pieces stores.
 */
export const joinEntries = (files: Iterable<ChunkFile>): readonly ChunkFile[] =>
  [...filesOf(files).values()].flatMap((spellings) => spellings.map(entryOf));

/** The total that most segments state, of two as frequent the larger; 0 only when no segment states any. */
function statedTotal(spellings: readonly Spelling[]): number {
  const votes = new Map<number, number>();
  for (const { head, parts } of spellings) votes.set(head.parts, (votes.get(head.parts) ?? 0) + parts.size);
  const stated = [...votes].filter(([total, segments]) => total > 0 && segments > 0);
  return stated.sort(([a, m], [b, n]) => n - m || b - a)[0]?.[0] ?? 0;
}

/** Of the spellings with this total the earliest, of equal times the smaller subject; of all of them when none has it. */
function headOf(spellings: readonly Spelling[], total: number): Spelling {
  const stating = spellings.filter((s) => s.head.parts === total);
  const order = (a: Spelling, b: Spelling) =>
    a.head.postedAt - b.head.postedAt ||
    compareTexts(a.head.subject, b.head.subject) ||
    compareSpellings(a.head, b.head);
  return [...(stating.length > 0 ? stating : spellings)].sort(order)[0]!;
}

function unionFile(spellings: readonly Spelling[]): UnionFile {
  const total = statedTotal(spellings);
  const { head } = headOf(spellings, total);
  const alike = spellings.filter((s) => s.head.subject === head.subject);
  const groups = new Set(spellings.flatMap((s) => [...s.groups]));
  const segments = byPart(spellings.flatMap((s) => [...s.parts.values()]));
  const expected = total > 0 ? total : Math.max(0, segments.at(-1)?.part ?? 0);
  const there = segments.filter((s) => s.part >= 1 && s.part <= expected).length;
  return {
    ...head,
    parts: total,
    partWidth: Math.max(...alike.map((s) => s.partWidth)),
    groups: groupsOf(mainGroup(head), groups),
    segments,
    expected,
    complete: there === expected && expected > 0,
    bytes: segments.reduce((sum, s) => sum + s.bytes, 0),
  };
}

/**
 * Every file once, ordered by hash: for each part the winning segment, the stated total and who names it by the rules of
 * `streams/README.md`. The same for any order and grouping of the entries, and for what `joinEntries` made of them.
 */
export const unionOf = (files: Iterable<ChunkFile>): readonly UnionFile[] =>
  [...filesOf(files).values()].map(unionFile);
