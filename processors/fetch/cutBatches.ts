import type { Interval } from '../../streams/records.ts';
import { readNumber } from '../headers/lines.ts';
import type { BatchLimits } from './settings.ts';

/** Lines that are to be stored as one message. */
export interface CutBatch {
  /** The span it answers for; the next batch begins at hi + 1. */
  readonly lo: number;
  readonly hi: number;
  readonly lines: number;
  /** Whole lines as they came. */
  readonly raw: Buffer;
  /** The article numbers of its lines, as they came; lines without a number have none. */
  readonly numbers: readonly number[];
}

const LF = 10;
const TAB = 9;

/** The number that a line begins with; -1 when it begins with none. */
export function lineNumber(piece: Buffer, start: number, end: number): number {
  const tab = piece.indexOf(TAB, start);
  return readNumber(piece, start, tab < 0 || tab > end ? end : tab);
}

/**
 * Cuts overview lines into batches that tile a range without gap or overlap. A batch is closed only when a line with a
 * higher number follows, so that it answers for the missing numbers up to there, and repeated numbers stay together.
 */
export class BatchCutter {
  readonly #limits: BatchLimits;
  /** First number of the batch that is being collected. */
  #lo: number;
  #highest = -1;
  #lines = 0;
  #bytes = 0;
  #pieces: Buffer[] = [];
  #numbers: number[] = [];
  #dropped = 0;

  /** `lo`: the first number that is still to be answered for. */
  constructor(lo: number, limits: BatchLimits) {
    this.#lo = lo;
    this.#limits = limits;
  }

  /** Lines whose numbers were not asked for: a server may send them, nobody wants them. */
  get dropped(): number {
    return this.#dropped;
  }

  /** Takes whole lines of the answer to `span`; gives the batches that they complete. */
  push(piece: Buffer, [lo, hi]: Interval): CutBatch[] {
    const closed: CutBatch[] = [];
    let kept = 0;
    for (let start = 0; start < piece.length; ) {
      const lf = piece.indexOf(LF, start);
      const end = lf < 0 ? piece.length : lf + 1;
      const number = lineNumber(piece, start, end);
      if (number >= 0 && (number < lo || number > hi)) {
        this.#keep(piece, kept, start);
        kept = end;
        this.#dropped++;
      } else {
        if (this.#isFull(end - start + (start - kept)) && number > this.#highest) {
          this.#keep(piece, kept, start);
          kept = start;
          closed.push(this.#close(number - 1));
        }
        this.#count(number);
      }
      start = end;
    }
    this.#keep(piece, kept, piece.length);
    return closed;
  }

  /** The last batch: whatever is collected, answering for all numbers up to `hi`. Null when nothing is left to answer for. */
  finish(hi: number): CutBatch | null {
    return this.#lo > hi ? null : this.#close(hi);
  }

  /** `more`: bytes that are counted already plus those of the line that is to be added. */
  #isFull(more: number): boolean {
    return this.#lines > 0 && (this.#lines >= this.#limits.lines || this.#bytes + more > this.#limits.rawBytes);
  }

  #count(number: number): void {
    this.#lines++;
    if (number < 0) return;
    this.#numbers.push(number);
    if (number > this.#highest) this.#highest = number;
  }

  #keep(piece: Buffer, from: number, to: number): void {
    if (to <= from) return;
    this.#pieces.push(piece.subarray(from, to));
    this.#bytes += to - from;
  }

  #close(hi: number): CutBatch {
    const batch = {
      lo: this.#lo,
      hi,
      lines: this.#lines,
      raw: Buffer.concat(this.#pieces, this.#bytes),
      numbers: this.#numbers,
    };
    this.#lo = hi + 1;
    this.#lines = 0;
    this.#bytes = 0;
    this.#pieces = [];
    this.#numbers = [];
    return batch;
  }
}
