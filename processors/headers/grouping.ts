import type { EpochMs } from '../../streams/ids.ts';
import { EDGE_NUMBERS, POSTING_GAP_MS } from '../../streams/rules.ts';
import type { ArticleTable } from './articles.ts';
import { completenessOf } from './completeness.ts';
import type { FileTable } from './files.ts';

/** What became of an article that has a file. */
export const KEPT = 0;
export const DUPLICATE = 1;
/** The only part of n ≥ 2 under an obfuscated name: counted, no row. */
export const LONE = 2;
/** Kept, in a file that an edge of the range may have cut. */
export const PIECE = 3;
export type Fate = typeof KEPT | typeof DUPLICATE | typeof LONE | typeof PIECE;

/** The numbers of a range: what lies near one of them may go on beyond it. */
export interface Edges {
  readonly lo: number;
  readonly hi: number;
}

/**
 * What one piece may hold: no file of more articles fits into the window that edges look at, and a message has to take it
 * whole. A larger file stays with its contribution as it is.
 */
const MAX_PIECE_ARTICLES = EDGE_NUMBERS;
const MAX_PIECE_BYTES = 4 * 1024 * 1024;

/** The articles of one file within one posting: rows order[from..to), kept ones by part, duplicates among them. */
export interface FileRun {
  readonly file: number;
  readonly posting: number;
  readonly from: number;
  readonly to: number;
}

/** Positions of `keys` sorted by value, stable: a counting sort. `starts[k]..starts[k + 1]` are those of value k. */
function bucket(keys: ArrayLike<number>, count: number, values: number): { order: Uint32Array; starts: Uint32Array } {
  const starts = new Uint32Array(values + 1);
  for (let i = 0; i < count; i++) starts[keys[i]! + 1]!++;
  for (let k = 0; k < values; k++) starts[k + 1]! += starts[k]!;
  const next = starts.slice();
  const order = new Uint32Array(count);
  for (let i = 0; i < count; i++) order[next[keys[i]!]!++] = i;
  return { order, starts };
}

/**
 * Articles to files to postings of releases. `fate` tells of every row what became of it; `order` holds the rows file by
 * file, within a file by posting and part, the winner of each part first. The runs of a posting keep its number whatever becomes of them.
 */
export class Grouping {
  readonly order: Uint32Array;
  readonly fate: Uint8Array;
  private readonly articles: ArticleTable;
  private readonly files: FileTable;
  private readonly edges: Edges;
  private readonly fileStarts: Uint32Array;
  private readonly filesOfRelease: { order: Uint32Array; starts: Uint32Array };
  /** Posting of each row; null while every release has but one. */
  private posting: Uint32Array | null = null;

  constructor(articles: ArticleTable, files: FileTable, edges: Edges) {
    this.articles = articles;
    this.files = files;
    this.edges = edges;
    const byFile = bucket(articles.file, articles.count, files.fileCount);
    this.order = byFile.order;
    this.fileStarts = byFile.starts;
    this.fate = new Uint8Array(articles.count);
    const releases = Uint32Array.from({ length: files.fileCount }, (_, file) => files.releaseOf(file));
    this.filesOfRelease = bucket(releases, releases.length, files.releaseCount);
    for (let release = 0; release < files.releaseCount; release++) this.splitPostings(release);
    for (let file = 0; file < files.fileCount; file++) this.settleFile(file);
  }

  /** The runs of a release by posting, each posting's in order of file; postings whose parts all were lone are empty. */
  postingsOf(release: number): readonly (readonly FileRun[])[] {
    const postings: FileRun[][] = [];
    for (const file of this.filesIn(release)) {
      for (const run of this.runsOf(file)) {
        while (postings.length <= run.posting) postings.push([]);
        postings[run.posting]!.push(run);
      }
    }
    return postings;
  }

  /** The rows of a run with this fate, by part. */
  rowsWith(run: FileRun, fate: Fate): Uint32Array {
    const rows = this.order.subarray(run.from, run.to);
    for (const row of rows) if (this.fate[row] !== fate) return rows.filter((r) => this.fate[r] === fate);
    return rows;
  }

  /** Whether the articles that a run keeps (or would keep) have this fate: they all have the same. */
  hasFate(run: FileRun, fate: Fate): boolean {
    for (let i = run.from; i < run.to; i++) {
      const found = this.fate[this.order[i]!]!;
      if (found !== DUPLICATE) return found === fate;
    }
    return false;
  }

  /** Whether a release has runs of this fate at all; most have no piece. */
  holds(release: number, fate: Fate): boolean {
    return this.filesIn(release).some((file) => this.rowsOf(file).some((row) => this.fate[row] === fate));
  }

  /** First and last time of some runs. */
  spanOf(runs: readonly FileRun[]): { readonly firstAt: EpochMs; readonly lastAt: EpochMs } {
    const { at } = this.articles;
    let first = Number.POSITIVE_INFINITY;
    let last = Number.NEGATIVE_INFINITY;
    for (const run of runs) {
      for (let i = run.from; i < run.to; i++) {
        const t = at[this.order[i]!]!;
        if (t < first) first = t;
        if (t > last) last = t;
      }
    }
    return { firstAt: first as EpochMs, lastAt: last as EpochMs };
  }

  /** Every row of a run, those that were kept out included. */
  allRows(run: FileRun): Uint32Array {
    return this.order.subarray(run.from, run.to);
  }

  /** Smallest and largest article number of a run. */
  numbersOf(run: FileRun): { readonly first: number; readonly last: number } {
    const { number } = this.articles;
    let first = Number.POSITIVE_INFINITY;
    let last = 0;
    for (let i = run.from; i < run.to; i++) {
      const n = number[this.order[i]!]!;
      if (n < first) first = n;
      if (n > last) last = n;
    }
    return { first, last };
  }

  /** The edge that may have cut a run; near both it is `lo`. */
  edgeOf(run: FileRun): keyof Edges | null {
    const { first, last } = this.numbersOf(run);
    if (first - this.edges.lo <= EDGE_NUMBERS) return 'lo';
    return this.edges.hi - last <= EDGE_NUMBERS ? 'hi' : null;
  }

  private filesIn(release: number): Uint32Array {
    const { order, starts } = this.filesOfRelease;
    return order.subarray(starts[release]!, starts[release + 1]!);
  }

  private rowsOf(file: number): Uint32Array {
    return this.order.subarray(this.fileStarts[file]!, this.fileStarts[file + 1]!);
  }

  private postingAt(row: number): number {
    return this.posting === null ? 0 : this.posting[row]!;
  }

  /** Numbers the postings of a release from 0 by time; most have one. */
  private splitPostings(release: number): void {
    const { at } = this.articles;
    let count = 0;
    let first = Number.POSITIVE_INFINITY;
    let last = Number.NEGATIVE_INFINITY;
    for (const file of this.filesIn(release)) {
      for (const row of this.rowsOf(file)) {
        count++;
        if (at[row]! < first) first = at[row]!;
        if (at[row]! > last) last = at[row]!;
      }
    }
    if (last - first < POSTING_GAP_MS) return;
    const times = new Float64Array(count);
    let k = 0;
    for (const file of this.filesIn(release)) for (const row of this.rowsOf(file)) times[k++] = at[row]!;
    times.sort();
    const begins = [times[0]!];
    for (let i = 1; i < count; i++) if (times[i]! - times[i - 1]! >= POSTING_GAP_MS) begins.push(times[i]!);
    if (begins.length === 1) return;
    this.posting ??= new Uint32Array(this.articles.count);
    for (const file of this.filesIn(release)) {
      for (const row of this.rowsOf(file)) this.posting[row] = lastNotAfter(begins, at[row]!);
    }
  }

  /** Sorts a file's rows and decides which article of each part stays. */
  private settleFile(file: number): void {
    const rows = this.rowsOf(file);
    const { part } = this.articles;
    let sorted = true;
    for (let i = 1; i < rows.length && sorted; i++) {
      sorted = this.postingAt(rows[i - 1]!) === this.postingAt(rows[i]!) && part[rows[i - 1]!]! < part[rows[i]!]!;
    }
    if (!sorted) {
      rows.sort((a, b) => this.compare(a, b));
      for (let i = 1; i < rows.length; i++) {
        const [before, row] = [rows[i - 1]!, rows[i]!];
        if (part[before] === part[row] && this.postingAt(before) === this.postingAt(row)) this.fate[row] = DUPLICATE;
      }
    }
    for (const run of this.runsOf(file)) this.judge(run);
  }

  /** By posting, then part; of one part the larger body first, of equal ones the lower message-id. */
  private compare(a: number, b: number): number {
    const { part, bytes } = this.articles;
    return (
      this.postingAt(a) - this.postingAt(b) ||
      part[a]! - part[b]! ||
      bytes[b]! - bytes[a]! ||
      this.articles.compareIds(a, b) ||
      a - b
    );
  }

  /** Marks a lone part, and what an edge may have cut. */
  private judge(run: FileRun): void {
    if (this.files.isObfuscated(run.file) && this.markLone(run)) return;
    if (this.edgeOf(run) === null) return;
    const kept = this.rowsWith(run, KEPT);
    if (completenessOf(this.articles, this.files, kept).complete || !this.fitsPiece(run)) return;
    for (const row of kept) this.fate[row] = PIECE;
  }

  private markLone(run: FileRun): boolean {
    const kept = this.rowsWith(run, KEPT);
    const [only] = kept;
    if (only === undefined || kept.length > 1 || this.files.total(this.articles.subject[only]!) < 2) return false;
    this.fate[only] = LONE;
    return true;
  }

  private fitsPiece(run: FileRun): boolean {
    if (run.to - run.from > MAX_PIECE_ARTICLES) return false;
    const { idStart, idEnd, subject, poster } = this.articles;
    const subjects = new Set<number>();
    const posters = new Set<number>();
    let bytes = 0;
    for (const row of this.allRows(run)) {
      bytes += idEnd[row]! - idStart[row]!;
      subjects.add(subject[row]!);
      if (poster[row]! >= 0) posters.add(poster[row]!);
    }
    for (const spelling of subjects) bytes += this.files.subjectBytes(spelling);
    for (const from of posters) bytes += this.files.posterBytes(from);
    return bytes <= MAX_PIECE_BYTES;
  }

  private runsOf(file: number): FileRun[] {
    const runs: FileRun[] = [];
    const end = this.fileStarts[file + 1]!;
    for (let from = this.fileStarts[file]!; from < end; ) {
      const posting = this.postingAt(this.order[from]!);
      let to = from + 1;
      while (to < end && this.postingAt(this.order[to]!) === posting) to++;
      runs.push({ file, posting, from, to });
      from = to;
    }
    return runs;
  }
}

/** Index of the last of the ascending `begins` that is not after `time`. */
function lastNotAfter(begins: readonly number[], time: number): number {
  let lo = 0;
  let hi = begins.length - 1;
  while (lo < hi) {
    const middle = (lo + hi + 1) >> 1;
    if (begins[middle]! <= time) lo = middle;
    else hi = middle - 1;
  }
  return lo;
}
