import type { ChunkColumns, FileRows } from '../../streams/codec/segmentColumns.ts';
import type { ArticleNumber, EpochMs, Group, ReleaseKey } from '../../streams/ids.ts';
import type { Contribution } from '../../streams/records.ts';
import type { ArticleTable } from './articles.ts';
import { completenessOf } from './completeness.ts';
import { Earliest } from './earliest.ts';
import { entriesOf, mainFirst, type RangeTables, textBytes } from './fileEntries.ts';
import { type FileRun, KEPT } from './grouping.ts';

/** A contribution as the core makes it: where its chunks are stored is known only after they were appended. */
export type NewContribution = Omit<Contribution, 'chunksPosition'>;

/** A chunk whose segments are rows of the range's columns; `codec/chunk.ts` encodes `content`. */
export interface NewChunk {
  readonly key: ReleaseKey;
  readonly posting: number;
  readonly k: number;
  /** The span of the whole contribution, the same in each of its chunks. */
  readonly firstAt: EpochMs;
  readonly lastAt: EpochMs;
  readonly segments: number;
  readonly content: ChunkColumns;
}

/** One posting of one release, with its chunks in order of k. */
export interface NewRelease {
  readonly contribution: NewContribution;
  readonly chunks: readonly NewChunk[];
}

/** A file of a posting, summed up; `rows` are its kept articles by part, `entries` what its chunks say of it. */
interface BuiltFile {
  readonly file: number;
  readonly rows: Uint32Array;
  readonly entries: readonly FileRows[];
  readonly expected: number;
  readonly complete: boolean;
  readonly bytes: number;
}

const byIndexNameHash = (a: BuiltFile, b: BuiltFile): number => {
  const [one, other] = [a.entries[0]!, b.entries[0]!];
  const index = (f: FileRows) => f.fileIndex ?? Number.MAX_SAFE_INTEGER;
  if (index(one) !== index(other)) return index(one) - index(other);
  if (one.subject !== other.subject) return one.subject < other.subject ? -1 : 1;
  return one.fileHash < other.fileHash ? -1 : 1;
};

/** Texts that one chunk may have: a message has to take it whole. */
const MAX_CHUNK_TEXTS = 4 * 1024 * 1024;

/** Makes contributions of the files that no edge of the range can have cut. */
export class ReleaseBuilder {
  private readonly tables: RangeTables;
  private readonly chunkSegments: number;

  constructor(tables: RangeTables, chunkSegments: number) {
    this.tables = tables;
    this.chunkSegments = chunkSegments;
  }

  /** Every posting with kept segments, release by release in order of first appearance. */
  *releases(): Generator<NewRelease> {
    const { files, grouping } = this.tables;
    for (let release = 0; release < files.releaseCount; release++) {
      for (const [posting, runs] of grouping.postingsOf(release).entries()) {
        const built = this.build(release, posting, runs);
        if (built !== null) yield built;
      }
    }
  }

  private build(release: number, posting: number, runs: readonly FileRun[]): NewRelease | null {
    const files: BuiltFile[] = [];
    const earliest = new Earliest(this.tables);
    for (const run of runs) {
      const file = this.buildFile(run);
      if (file === null) continue;
      files.push(file);
      earliest.addRun(run);
    }
    if (files.length === 0) return null;
    files.sort(byIndexNameHash);
    const key = this.tables.files.keyOf(release);
    const firstAt = earliest.firstAt as EpochMs;
    const lastAt = earliest.lastAt as EpochMs;
    const contents = this.slice(files.flatMap((f) => f.entries));
    const chunks = contents.map((list, k): NewChunk => {
      const segments = list.reduce((sum, f) => sum + f.rows.length, 0);
      return { key, posting, k, firstAt, lastAt, segments, content: { files: list, columns: this.tables.articles } };
    });
    const contribution = this.contribution(key, posting, files, earliest, chunks.length);
    return { contribution, chunks };
  }

  private buildFile(run: FileRun): BuiltFile | null {
    const { articles, files, grouping } = this.tables;
    const rows = grouping.rowsWith(run, KEPT);
    if (rows.length === 0) return null;
    const { expected, complete } = completenessOf(articles, files, rows);
    const entries = entriesOf(this.tables, run, KEPT);
    return { file: run.file, rows, entries, expected, complete, bytes: bytesOf(articles, rows) };
  }

  /** Cuts the entries' segments into lists of at most `chunkSegments`; an entry may go on in the next list. */
  private slice(entries: readonly FileRows[]): FileRows[][] {
    const lists: FileRows[][] = [[]];
    let room = this.chunkSegments;
    let texts = 0;
    for (const entry of entries) {
      const { rows } = entry;
      const bytes = textBytes(entry);
      let from = 0;
      do {
        if ((room === 0 && from < rows.length) || (texts > 0 && texts + bytes > MAX_CHUNK_TEXTS)) {
          lists.push([]);
          room = this.chunkSegments;
          texts = 0;
        }
        const to = Math.min(rows.length, from + room);
        lists.at(-1)!.push({ ...entry, rows: rows.subarray(from, to) });
        texts += bytes;
        room -= to - from;
        from = to;
      } while (from < rows.length);
    }
    return lists;
  }

  private contribution(
    key: ReleaseKey,
    posting: number,
    built: readonly BuiltFile[],
    earliest: Earliest,
    chunks: number,
  ): NewContribution {
    const { files, mainGroup } = this.tables;
    const sum = (of: (f: BuiltFile) => number) => built.reduce((total, f) => total + of(f), 0);
    const par2 = built.filter((f) => files.isPar2(f.file));
    const sumPar2 = (of: (f: BuiltFile) => number) => par2.reduce((total, f) => total + of(f), 0);
    return {
      key,
      posting,
      name: earliest.name,
      obfuscated: built.every((f) => files.isObfuscated(f.file)),
      filesTotal: files.filesTotal(built[0]!.file),
      poster: earliest.poster,
      mainGroup,
      groups: mainFirst(mainGroup, groupsIn(built)),
      firstNumber: earliest.firstNumber as ArticleNumber,
      lastNumber: earliest.lastNumber as ArticleNumber,
      firstAt: earliest.firstAt as EpochMs,
      lastAt: earliest.lastAt as EpochMs,
      files: built.length,
      filesComplete: sum((f) => Number(f.complete)),
      segments: sum((f) => f.rows.length),
      segmentsTotal: sum((f) => f.expected),
      bytes: sum((f) => f.bytes),
      par2Files: par2.length,
      par2Segments: sumPar2((f) => f.rows.length),
      par2SegmentsTotal: sumPar2((f) => f.expected),
      par2Bytes: sumPar2((f) => f.bytes),
      hasNfo: built.some((f) => files.isNfo(f.file)),
      fileHashes: built.map((f) => files.fileHash(f.file)).sort(),
      chunks,
    };
  }
}

/** Bytes of rows, as the server reported them. */
export function bytesOf(articles: ArticleTable, rows: Uint32Array): number {
  let bytes = 0;
  for (const row of rows) bytes += articles.bytes[row]!;
  return bytes;
}

function groupsIn(built: readonly BuiltFile[]): ReadonlySet<Group> {
  const groups = new Set<Group>();
  for (const { entries } of built) for (const entry of entries) for (const group of entry.groups) groups.add(group);
  return groups;
}
