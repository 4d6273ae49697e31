import type { Interval } from '../../streams/records.ts';
import { coarsen } from '../intervals.ts';

/** Which numbers of a range a line came for: a bit each, 250 KB for a full range. */
export class SeenNumbers {
  readonly #lo: number;
  readonly #hi: number;
  readonly #bits: Uint8Array;

  constructor(lo: number, hi: number) {
    this.#lo = lo;
    this.#hi = hi;
    this.#bits = new Uint8Array(Math.floor((hi - lo) / 8) + 1);
  }

  /** Numbers outside the range are of no interest. */
  add(number: number): void {
    if (number < this.#lo || number > this.#hi) return;
    const at = number - this.#lo;
    // Not `at >> 3`: a range's width may pass 2^31 in an import.
    const byte = Math.floor(at / 8);
    this.#bits[byte]! |= 1 << (at % 8);
  }

  has(number: number): boolean {
    const at = number - this.#lo;
    return (this.#bits[Math.floor(at / 8)]! & (1 << (at % 8))) !== 0;
  }

  /** The numbers of the range that were not seen, as merged intervals. */
  missing(): Interval[] {
    const found: Interval[] = [];
    let from = -1;
    for (let number = this.#lo; number <= this.#hi; number++) {
      const seen = this.has(number);
      if (!seen && from < 0) from = number;
      if (seen && from >= 0) {
        found.push([from, number - 1]);
        from = -1;
      }
    }
    if (from >= 0) found.push([from, this.#hi]);
    return found;
  }
}

/** Bytes of JSON that the missing numbers of one event may take: the rest of the payload limit is for its batches. */
const MISSING_BYTES = 5_000_000;
const MISSING_INTERVALS = 200_000;

/**
 * The intervals as an event carries them. Where there are too many, those with the smallest gaps between them become one:
 * the list then names some numbers as missing that are there, and never leaves out one that is missing. Asking for a few
 * numbers twice costs little; a number that nobody asks for again would be lost.
 */
export function boundedMissing(missing: readonly Interval[]): readonly Interval[] {
  const digits = String(missing.at(-1)?.[1] ?? 0).length;
  return coarsen(missing, Math.min(MISSING_INTERVALS, Math.floor(MISSING_BYTES / (2 * digits + 4))));
}
