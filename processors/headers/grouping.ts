import { POSTING_GAP_MS } from '../../streams/rules.ts';
import type { ArticleTable } from './articles.ts';
import type { FileTable } from './files.ts';

/** What became of an article that has a file. */
export const KEPT = 0;
export const DUPLICATE = 1;
/** The only part of n ≥ 2 under an obfuscated name: counted, no row. */
export const LONE = 2;

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
 * file, within a file by posting and part, the winner of each part first.
 */
export class Grouping {
  readonly order: Uint32Array;
  readonly fate: Uint8Array;
  private readonly articles: ArticleTable;
  private readonly files: FileTable;
  private readonly fileStarts: Uint32Array;
  private readonly filesOfRelease: { order: Uint32Array; starts: Uint32Array };
  /** Posting of each row; null while every release has but one. */
  private posting: Uint32Array | null = null;

  constructor(articles: ArticleTable, files: FileTable) {
    this.articles = articles;
    this.files = files;
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
    if (this.files.isObfuscated(file)) for (const run of this.runsOf(file)) this.markLone(run);
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

  private markLone(run: FileRun): void {
    let kept = 0;
    let only = 0;
    for (let i = run.from; i < run.to; i++) {
      if (this.fate[this.order[i]!] !== KEPT) continue;
      kept++;
      only = this.order[i]!;
    }
    if (kept === 1 && this.files.total(this.articles.subject[only]!) >= 2) this.fate[only] = LONE;
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
