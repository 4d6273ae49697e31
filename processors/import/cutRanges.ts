import { HeadwaterError } from '../../infra/base/errors/index.ts';
import { BatchCutter, type CutBatch, lineNumber } from '../fetch/cutBatches.ts';
import type { ImportSettings } from './settings.ts';

/** What the cutter gives: the batches of a range one by one, then where the range ends. */
export type Cut =
  | { readonly kind: 'batch'; readonly batch: CutBatch }
  | { readonly kind: 'range'; readonly lo: number; readonly hi: number };

/** Lines before the first number that are held; a file with more of them is none of ours. */
const LEADING_MAX = 10_000;
const LF = 10;

/**
 * Cuts an overview file into ranges, and these into batches. The cuts depend on the lines alone, so that a second import of
 * a file finds its ranges again. Articles must ascend; equal numbers stay in one range.
 */
export class RangeCutter {
  readonly #settings: ImportSettings;
  #cutter: BatchCutter | null = null;
  #leading: Buffer[] = [];
  #lo = 0;
  #last = -1;
  #rangeLines = 0;
  #lines = 0;
  #numbered = 0;

  constructor(settings: ImportSettings) {
    this.#settings = settings;
  }

  /** Lines so far. */
  get lines(): number {
    return this.#lines;
  }

  /** Lines so far that begin with an article number. */
  get numbered(): number {
    return this.#numbered;
  }

  /** Takes whole lines. Throws IMPORT_NOT_ASCENDING. */
  *push(piece: Buffer): Generator<Cut> {
    let from = 0;
    for (let start = 0; start < piece.length; ) {
      const lf = piece.indexOf(LF, start);
      const end = lf < 0 ? piece.length : lf + 1;
      this.#lines++;
      const number = lineNumber(piece, start, end);
      if (number >= 0) {
        this.#checkOrder(number);
        if (this.#startsRange(number)) {
          yield* this.#give(piece.subarray(from, start));
          yield* this.#endRange();
          from = start;
          this.#lo = number;
          this.#cutter = new BatchCutter(number, this.#settings.batch);
        }
        this.#numbered++;
        this.#last = number;
      }
      this.#rangeLines++;
      start = end;
    }
    yield* this.#give(piece.subarray(from));
  }

  /** The end of the file. Throws IMPORT_NO_NUMBERS when it had lines and none of them a number. */
  *finish(): Generator<Cut> {
    if (this.#cutter === null && this.#lines > 0) throw this.#noNumbers();
    yield* this.#endRange();
  }

  #checkOrder(number: number): void {
    if (number >= this.#last) return;
    throw new HeadwaterError('IMPORT_NOT_ASCENDING', { line: this.#lines, number, before: this.#last });
  }

  #startsRange(number: number): boolean {
    if (this.#cutter === null) return true;
    const full = this.#rangeLines >= this.#settings.rangeLines || number - this.#lo >= this.#settings.rangeNumbers;
    return full && number > this.#last;
  }

  /** Lines before the first number wait for the range that begins with it. */
  *#give(lines: Buffer): Generator<Cut> {
    if (lines.length === 0) return;
    if (this.#cutter === null) {
      this.#leading.push(lines);
      if (this.#lines > LEADING_MAX) throw this.#noNumbers();
      return;
    }
    for (const piece of [...this.#leading, lines]) {
      for (const batch of this.#cutter.push(piece, [this.#lo, Number.MAX_SAFE_INTEGER])) yield { kind: 'batch', batch };
    }
    this.#leading = [];
  }

  *#endRange(): Generator<Cut> {
    if (this.#cutter === null) return;
    const batch = this.#cutter.finish(this.#last);
    if (batch) yield { kind: 'batch', batch };
    yield { kind: 'range', lo: this.#lo, hi: this.#last };
    this.#cutter = null;
    this.#rangeLines = 0;
  }

  #noNumbers(): HeadwaterError {
    return new HeadwaterError('IMPORT_NO_NUMBERS', { lines: this.#lines });
  }
}
