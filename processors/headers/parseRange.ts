import type { GarbageSignature } from '../../streams/events/control.ts';
import type { EpochMs } from '../../streams/ids.ts';
import type { LineCounts, LoneBlob, Piece, ProbeCandidate, RangeRef } from '../../streams/records.ts';
import { ArticleTable } from './articles.ts';
import { CandidateFinder } from './candidates.ts';
import { PartCounter } from './counter.ts';
import { DateMemo } from './date.ts';
import type { RangeTables } from './fileEntries.ts';
import { FileTable } from './files.ts';
import { GarbageTable } from './garbage.ts';
import { DUPLICATE, Grouping, LONE } from './grouping.ts';
import {
  cleanBatch,
  LineCheck,
  LineCursor,
  type OverviewFormat,
  REJECTIONS,
  readCount,
  readNumber,
  XrefField,
} from './lines.ts';
import { PieceBuilder } from './pieces.ts';
import { isBareRandomBytes, isPlainTalk } from './random.ts';
import { type NewRelease, ReleaseBuilder } from './releases.ts';
import { plainSubject } from './subject.ts';
import { CROSSPOST, type GroupRanks, OWN_SET, XrefReader } from './xref.ts';

export interface RangeParserOptions {
  readonly range: RangeRef;
  readonly groupRanks: GroupRanks;
  readonly format: OverviewFormat;
  /** Random-named articles that fit one of these are dropped, counted as `garbage_<signature>`. */
  readonly garbage: readonly GarbageSignature[];
  /** Seeds the tables in memory. Any value gives the same result; take a random one, for posters choose the input. */
  readonly seed: number;
  /** Segments a chunk holds at most; 512 come to about 8 KB. */
  readonly chunkSegments?: number;
  /**
   * The columns of the range before, to be filled again: fresh memory costs more than parsing. What was parsed into them
   * is void from here on.
   */
  readonly columns?: ArticleTable;
}

/** What was counted and not kept: articles under names that nothing groups. Times are null when none had a date. */
export interface RandomSummary {
  readonly lines: number;
  readonly bytes: number;
  readonly firstAt: EpochMs | null;
  readonly lastAt: EpochMs | null;
}

export interface ParsedRange {
  /** The postings, made one by one while they are asked for; may be asked for again. */
  readonly releases: () => Iterable<NewRelease>;
  /** Files that an edge of the range may have cut: in none of the releases. */
  readonly pieces: () => Iterable<Piece>;
  /** Lone parts near an edge, at most one blob an edge. */
  readonly lone: () => readonly LoneBlob[];
  readonly candidates: () => Iterable<ProbeCandidate>;
  readonly counts: LineCounts;
  readonly random: RandomSummary;
  /** First and last date of the range's well-formed lines; null when none had one. */
  readonly dateSpan: { readonly firstAt: EpochMs; readonly lastAt: EpochMs } | null;
}

/** Smallest and largest of the finite numbers shown to it. */
class Extent {
  first = Number.POSITIVE_INFINITY;
  last = Number.NEGATIVE_INFINITY;

  add(value: number): void {
    if (value < this.first) this.first = value;
    if (value > this.last) this.last = value;
  }

  span(): { firstAt: EpochMs; lastAt: EpochMs } | null {
    return this.first <= this.last ? { firstAt: this.first as EpochMs, lastAt: this.last as EpochMs } : null;
  }
}

const NO_PART = 1;
/** Lines beyond it would make a range that no plan asks for; the tables are not built for them. */
const MAX_PART = 9_999_999;
/** A larger size is no article's: it counts as not stated. Sums over a range stay exact below it. */
const MAX_ARTICLE_BYTES = 0xffffffff;
const ZERO = 48;

/**
 * Parses the overview lines of one range: `addBatch` in order of numbers, then `finish` once. A batch is whole lines,
 * ended by CRLF or LF, dot-unstuffed; how the lines are cut into batches does not matter. Keeps no reference to a batch.
 */
export class RangeParser {
  private readonly options: RangeParserOptions;
  private readonly line = new LineCursor();
  private readonly checked = new LineCheck();
  private readonly xrefField = new XrefField();
  private readonly counter = new PartCounter();
  private readonly dates = new DateMemo();
  private readonly xref: XrefReader;
  private readonly files: FileTable;
  private readonly articles: ArticleTable;
  private readonly garbage: GarbageTable;
  private readonly skipped = new Map<string, number>();
  private readonly allDates = new Extent();
  private readonly randomDates = new Extent();
  private lines = 0;
  private randomBytes = 0;
  /** Where the next encoded word of the batch is; beyond the batch when there is none. */
  private nextWord = 0;

  constructor(options: RangeParserOptions) {
    this.options = options;
    this.articles = options.columns ?? new ArticleTable();
    this.articles.clear();
    const { group } = options.range;
    this.xref = new XrefReader(group, options.groupRanks, options.seed);
    this.files = new FileTable(group, options.seed);
    this.garbage = new GarbageTable(options.garbage);
  }

  addBatch(bytes: Uint8Array): void {
    const { line } = this;
    line.load(cleanBatch(bytes));
    this.nextWord = -1;
    while (line.next()) {
      this.lines++;
      const reason = this.addLine();
      if (reason !== null) this.skipped.set(reason, (this.skipped.get(reason) ?? 0) + 1);
    }
    line.load(new Uint8Array(0));
  }

  /** Adds the current line; the reason when it is skipped. */
  private addLine(): string | null {
    const { line, checked } = this;
    const { format, range } = this.options;
    const rejection = checked.check(line, format);
    if (rejection !== 0) return REJECTIONS[rejection]!;
    const { article } = checked;
    if (article < range.lo || article > range.hi) return 'outside_range';
    const b = line.bytes;
    const at = this.dates.read(b, line.fieldStart(format.date), line.fieldEnd(format.date));
    this.allDates.add(at);
    this.xrefField.locate(line, format);
    const { start, end } = this.xrefField;
    const groups = end > start ? this.xref.resolve(b, start, end, article) : OWN_SET;
    if (groups === CROSSPOST) return 'crosspost';
    return this.addArticle(at, groups);
  }

  private addArticle(at: number, groups: number): string | null {
    const { line } = this;
    const { format } = this.options;
    const b = line.bytes;
    let start = line.fieldStart(format.subject);
    let end = line.fieldEnd(format.subject);
    while (start < end && b[start] === 32) start++;
    while (end > start && b[end - 1] === 32) end--;
    if (!this.hasEncodedWord(b, start, end)) return this.addSubject(b, start, end, at, groups);
    const plain = plainSubject(b.subarray(start, end));
    return this.addSubject(plain, 0, plain.length, at, groups);
  }

  private hasEncodedWord(b: Uint8Array, start: number, end: number): boolean {
    if (this.nextWord < start) this.nextWord = nextEncodedWord(b, start);
    return this.nextWord < end;
  }

  /** `s[start..end)` is the subject: in the batch, or decoded beside it. */
  private addSubject(s: Uint8Array, start: number, end: number, at: number, groups: number): string | null {
    const { counter, files, line } = this;
    const { format } = this.options;
    const b = line.bytes;
    const found = counter.find(s, start, end);
    const total = found ? readNumber(s, counter.mStart, counter.mEnd) : 0;
    if (total <= 1 && isBareRandomBytes(s, start, found ? counter.start : end)) return this.countRandom(at);
    if (!found && isPlainTalk(s, start, end)) return 'text';
    const subject = files.subjectOf(s, start, end, counter);
    const verdict = files.verdict(subject);
    if (verdict !== 'file') return verdict === 'random' ? this.countRandom(at) : verdict;
    const fromStart = line.fieldStart(format.from);
    const fromEnd = line.fieldEnd(format.from);
    const file = files.fileOf(subject, b, fromStart, fromEnd);
    const garbage = files.isObfuscated(file) ? this.garbageReason() : null;
    if (garbage !== null) return garbage;
    const row = this.addRow(at, groups);
    const { articles } = this;
    articles.subject[row] = subject;
    articles.file[row] = file;
    articles.part[row] = found ? Math.min(readNumber(s, counter.nStart, counter.nEnd), MAX_PART) : NO_PART;
    articles.width[row] = !found ? 0 : s[counter.nStart] === ZERO ? counter.nEnd - counter.nStart : 1;
    articles.poster[row] = files.posterOf(subject, file, at, b, fromStart, fromEnd);
    return null;
  }

  /** A row with what the line says beside its subject. */
  private addRow(at: number, groups: number): number {
    const { articles, checked, line } = this;
    const row = articles.add(line.bytes, checked.idStart, checked.idEnd);
    articles.bytes[row] = this.lineBytes();
    articles.number[row] = checked.article;
    articles.at[row] = at;
    articles.groups[row] = groups;
    return row;
  }

  /** What the current line, whose name is random, is dropped as. */
  private garbageReason(): string | null {
    if (this.garbage.isEmpty) return null;
    const { checked, line, options } = this;
    const { from } = options.format;
    return this.garbage.reasonOf(
      line.bytes,
      checked.idStart,
      checked.idEnd,
      line.fieldStart(from),
      line.fieldEnd(from),
    );
  }

  private lineBytes(): number {
    const { line } = this;
    const { format } = this.options;
    const bytes = readCount(line.bytes, line.fieldStart(format.bytes), line.fieldEnd(format.bytes));
    return bytes > MAX_ARTICLE_BYTES ? 0 : bytes;
  }

  private countRandom(at: number): string {
    const garbage = this.garbageReason();
    if (garbage !== null) return garbage;
    this.randomBytes += this.lineBytes();
    this.randomDates.add(at);
    return 'random';
  }

  /** Groups what was added. The parser takes no further batch. */
  finish(): ParsedRange {
    const { articles, files, xref, options } = this;
    articles.fillDates(this.allDates.span()?.firstAt ?? 0);
    const edges = { lo: options.range.lo, hi: options.range.hi };
    const grouping = new Grouping(articles, files, edges);
    const counts = this.counts(grouping);
    const tables: RangeTables = { articles, files, grouping, xref, mainGroup: options.range.group };
    const builder = new ReleaseBuilder(tables, options.chunkSegments ?? 512);
    const pieces = new PieceBuilder(tables, edges);
    const finder = new CandidateFinder(tables);
    const span = this.randomDates.span();
    return {
      releases: () => builder.releases(),
      pieces: () => pieces.pieces(),
      lone: () => pieces.lone(),
      candidates: () => finder.candidates(),
      counts,
      random: {
        lines: counts.skipped.random ?? 0,
        bytes: this.randomBytes,
        firstAt: span?.firstAt ?? null,
        lastAt: span?.lastAt ?? null,
      },
      dateSpan: this.allDates.span(),
    };
  }

  private counts(grouping: Grouping): LineCounts {
    const skipped = new Map(this.skipped);
    let kept = 0;
    for (let row = 0; row < this.articles.count; row++) {
      const fate = grouping.fate[row]!;
      if (fate === DUPLICATE) skipped.set('duplicate_part', (skipped.get('duplicate_part') ?? 0) + 1);
      else if (fate === LONE) {
        skipped.set('random', (skipped.get('random') ?? 0) + 1);
        this.randomBytes += this.articles.bytes[row]!;
        this.randomDates.add(this.articles.at[row]!);
      } else kept++;
    }
    const sorted = [...skipped].sort(([a], [b]) => (a < b ? -1 : 1));
    return { lines: this.lines, kept, skipped: Object.fromEntries(sorted) };
  }
}

/** Position of the next `=?` at or after `from`, Infinity when there is none. */
function nextEncodedWord(b: Uint8Array, from: number): number {
  const found = Buffer.from(b.buffer, b.byteOffset, b.byteLength).indexOf('=?', from, 'latin1');
  return found < 0 ? Number.POSITIVE_INFINITY : found;
}

export const createRangeParser = (options: RangeParserOptions): RangeParser => new RangeParser(options);
