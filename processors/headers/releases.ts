import type { ChunkColumns, FileRows } from '../../streams/codec/segmentColumns.ts';
import type { ArticleNumber, EpochMs, Group, ReleaseKey } from '../../streams/ids.ts';
import type { Contribution } from '../../streams/records.ts';
import type { ArticleTable } from './articles.ts';
import type { FileTable } from './files.ts';
import { type FileRun, type Grouping, KEPT } from './grouping.ts';
import type { XrefReader } from './xref.ts';

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

/** A file of a posting, summed up; `rows` are its kept articles by part. */
interface BuiltFile {
  readonly head: Omit<FileRows, 'rows'>;
  readonly rows: Uint32Array;
  readonly name: string;
  readonly file: number;
  /** Parts that it should have: what the counter says, the highest part seen where it says nothing. */
  readonly expected: number;
  readonly complete: boolean;
  readonly bytes: number;
}

interface Span {
  firstNumber: number;
  lastNumber: number;
  firstAt: number;
  lastAt: number;
}

const byIndexNameHash = (a: BuiltFile, b: BuiltFile): number => {
  const index = (f: BuiltFile) => f.head.fileIndex ?? Number.MAX_SAFE_INTEGER;
  if (index(a) !== index(b)) return index(a) - index(b);
  if (a.name !== b.name) return a.name < b.name ? -1 : 1;
  return a.head.fileHash < b.head.fileHash ? -1 : 1;
};

export class ReleaseBuilder {
  private readonly articles: ArticleTable;
  private readonly files: FileTable;
  private readonly grouping: Grouping;
  private readonly xref: XrefReader;
  private readonly mainGroup: Group;
  private readonly chunkSegments: number;

  constructor(parts: {
    readonly articles: ArticleTable;
    readonly files: FileTable;
    readonly grouping: Grouping;
    readonly xref: XrefReader;
    readonly mainGroup: Group;
    readonly chunkSegments: number;
  }) {
    this.articles = parts.articles;
    this.files = parts.files;
    this.grouping = parts.grouping;
    this.xref = parts.xref;
    this.mainGroup = parts.mainGroup;
    this.chunkSegments = parts.chunkSegments;
  }

  /** Every posting with kept segments, release by release in order of first appearance. */
  *releases(): Generator<NewRelease> {
    for (let release = 0; release < this.files.releaseCount; release++) {
      let posting = 0;
      for (const runs of this.grouping.postingsOf(release)) {
        const built = this.build(release, posting, runs);
        // A posting of nothing but lone parts leaves no trace, so numbers count only those that do.
        if (built === null) continue;
        posting++;
        yield built;
      }
    }
  }

  private build(release: number, posting: number, runs: readonly FileRun[]): NewRelease | null {
    const files: BuiltFile[] = [];
    const span: Span = { firstNumber: Infinity, lastNumber: 0, firstAt: Infinity, lastAt: -Infinity };
    for (const run of runs) {
      const file = this.buildFile(run);
      if (file === null) continue;
      files.push(file);
      this.extend(span, run);
    }
    if (files.length === 0) return null;
    files.sort(byIndexNameHash);
    const key = this.files.keyOf(release);
    const firstAt = span.firstAt as EpochMs;
    const lastAt = span.lastAt as EpochMs;
    const contents = this.slice(files);
    const chunks = contents.map((list, k): NewChunk => {
      const segments = list.reduce((sum, f) => sum + f.rows.length, 0);
      return { key, posting, k, firstAt, lastAt, segments, content: { files: list, columns: this.articles } };
    });
    const contribution = this.contribution(key, posting, files, span, chunks.length);
    return { contribution, chunks };
  }

  /** The span counts every article of the files that stay, also those that were kept out as duplicates. */
  private extend(span: Span, run: FileRun): void {
    const { at, number } = this.articles;
    for (let i = run.from; i < run.to; i++) {
      const row = this.grouping.order[i]!;
      if (at[row]! < span.firstAt) span.firstAt = at[row]!;
      if (at[row]! > span.lastAt) span.lastAt = at[row]!;
      if (number[row]! < span.firstNumber) span.firstNumber = number[row]!;
      if (number[row]! > span.lastNumber) span.lastNumber = number[row]!;
    }
  }

  private keptRows(run: FileRun): Uint32Array {
    const rows = this.grouping.order.subarray(run.from, run.to);
    const { fate } = this.grouping;
    for (const row of rows) if (fate[row] !== KEPT) return rows.filter((r) => fate[r] === KEPT);
    return rows;
  }

  private buildFile(run: FileRun): BuiltFile | null {
    const rows = this.keptRows(run);
    if (rows.length === 0) return null;
    const { articles, files } = this;
    const spelling = this.commonSpelling(rows);
    const parts = files.total(spelling);
    const expected = parts > 0 ? parts : articles.part[rows[rows.length - 1]!]!;
    let bytes = 0;
    let counted = 0;
    for (const row of rows) {
      bytes += articles.bytes[row]!;
      const part = articles.part[row]!;
      if (part >= 1 && part <= expected) counted++;
    }
    const { text, partAt } = files.subjectText(spelling);
    const head = {
      subject: text,
      partAt,
      partWidth: files.width(spelling),
      poster: files.posterText(run.file),
      postedAt: articles.at[rows[0]!]! as EpochMs,
      parts,
      fileIndex: files.indexOf(run.file),
      fileHash: files.fileHash(run.file),
      groups: this.groupsOf(rows),
    };
    const complete = counted === expected && expected > 0;
    return { head, rows, name: text, file: run.file, expected, complete, bytes };
  }

  /** The spelling that most articles share, so that one odd counter does not decide; of equals that of the lowest part. */
  private commonSpelling(rows: Uint32Array): number {
    const { subject } = this.articles;
    const first = subject[rows[0]!]!;
    if (rows.every((row) => subject[row] === first)) return first;
    const counts = new Map<number, number>();
    for (const row of rows) {
      const total = this.files.total(subject[row]!);
      counts.set(total, (counts.get(total) ?? 0) + 1);
    }
    const most = Math.max(...counts.values());
    const total = Math.max(...[...counts].filter(([, n]) => n === most).map(([t]) => t));
    return subject[rows.find((row) => this.files.total(subject[row]!) === total)!]!;
  }

  private groupsOf(rows: Uint32Array): readonly Group[] {
    const { groups } = this.articles;
    const first = groups[rows[0]!]!;
    if (rows.every((row) => groups[row] === first)) return this.mainFirst(this.xref.groupsOf(first));
    const sets = new Set<number>();
    for (const row of rows) sets.add(groups[row]!);
    return this.mainFirst([...sets].flatMap((set) => this.xref.groupsOf(set)));
  }

  private mainFirst(groups: readonly Group[]): readonly Group[] {
    const others = [...new Set(groups)].filter((group) => group !== this.mainGroup);
    return [this.mainGroup, ...others.sort((a, b) => (a < b ? -1 : 1))];
  }

  /** Cuts the files' segments into lists of at most `chunkSegments`; a file may go on in the next list. */
  private slice(files: readonly BuiltFile[]): FileRows[][] {
    const lists: FileRows[][] = [[]];
    let room = this.chunkSegments;
    for (const { head, rows } of files) {
      for (let from = 0; from < rows.length; ) {
        if (room === 0) {
          lists.push([]);
          room = this.chunkSegments;
        }
        const to = Math.min(rows.length, from + room);
        lists.at(-1)!.push({ ...head, rows: rows.subarray(from, to) });
        room -= to - from;
        from = to;
      }
    }
    return lists;
  }

  private contribution(
    key: ReleaseKey,
    posting: number,
    files: readonly BuiltFile[],
    span: Span,
    chunks: number,
  ): NewContribution {
    const first = files[0]!;
    const row = first.rows[0]!;
    const reading = this.files.reading(this.articles.subject[row]!, this.articles.part[row]!);
    const sum = (of: (f: BuiltFile) => number) => files.reduce((total, f) => total + of(f), 0);
    const par2 = files.filter((f) => this.files.isPar2(f.file));
    const sumPar2 = (of: (f: BuiltFile) => number) => par2.reduce((total, f) => total + of(f), 0);
    return {
      key,
      posting,
      name: reading.releaseBase ?? reading.fileName ?? '',
      obfuscated: reading.obfuscated,
      filesTotal: this.files.filesTotal(first.file),
      poster: first.head.poster,
      mainGroup: this.mainGroup,
      groups: this.mainFirst(files.flatMap((f) => f.head.groups)),
      firstNumber: span.firstNumber as ArticleNumber,
      lastNumber: span.lastNumber as ArticleNumber,
      firstAt: span.firstAt as EpochMs,
      lastAt: span.lastAt as EpochMs,
      files: files.length,
      filesComplete: sum((f) => Number(f.complete)),
      segments: sum((f) => f.rows.length),
      segmentsTotal: sum((f) => f.expected),
      bytes: sum((f) => f.bytes),
      par2Files: par2.length,
      par2Segments: sumPar2((f) => f.rows.length),
      par2SegmentsTotal: sumPar2((f) => f.expected),
      par2Bytes: sumPar2((f) => f.bytes),
      hasNfo: files.some((f) => this.files.isNfo(f.file)),
      fileHashes: files.map((f) => f.head.fileHash).sort(),
      chunks,
    };
  }
}
