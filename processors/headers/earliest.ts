import { compareTexts } from '../../streams/compareTexts.ts';
import type { RangeTables } from './fileEntries.ts';
import type { FileRun } from './grouping.ts';

/**
 * Span, name and poster of some articles, duplicates among them. Name and poster are those of the earliest article, of equal
 * times the smaller name, then the smaller poster, as UTF-8 bytes: the same in whatever order articles are shown to it.
 */
export class Earliest {
  firstNumber = Number.POSITIVE_INFINITY;
  lastNumber = 0;
  firstAt = Number.POSITIVE_INFINITY;
  lastAt = Number.NEGATIVE_INFINITY;
  private readonly tables: RangeTables;
  private nameId = -1;
  private posterId = -1;

  constructor(tables: RangeTables) {
    this.tables = tables;
  }

  get name(): string {
    return this.tables.files.nameText(this.nameId);
  }

  get poster(): string {
    return this.tables.files.posterText(this.posterId);
  }

  addRun(run: FileRun): void {
    const { at, number } = this.tables.articles;
    for (const row of this.tables.grouping.allRows(run)) {
      const n = number[row]!;
      if (n < this.firstNumber) this.firstNumber = n;
      if (n > this.lastNumber) this.lastNumber = n;
      const t = at[row]!;
      if (t > this.lastAt) this.lastAt = t;
      if (t <= this.firstAt) this.consider(row, t);
    }
  }

  private consider(row: number, at: number): void {
    const { articles, files } = this.tables;
    const name = files.nameOf(articles.subject[row]!);
    const poster = articles.poster[row]!;
    if (at === this.firstAt && !this.isSmaller(name, poster)) return;
    this.firstAt = at;
    this.nameId = name;
    this.posterId = poster;
  }

  private isSmaller(name: number, poster: number): boolean {
    const { files } = this.tables;
    if (name !== this.nameId) return Buffer.compare(files.nameBytes(name), files.nameBytes(this.nameId)) < 0;
    return poster !== this.posterId && compareTexts(files.posterText(poster), files.posterText(this.posterId)) < 0;
  }
}
