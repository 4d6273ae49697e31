import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { boundedMissing, SeenNumbers } from '../../../processors/fetch/missing.ts';
import { coarsen, countNumbers, cutOnGrid, mergeIntervals, subtractIntervals } from '../../../processors/intervals.ts';
import type { Interval } from '../../../streams/records.ts';

const numbersOf = (intervals: readonly Interval[]): Set<number> => {
  const all = new Set<number>();
  for (const [lo, hi] of intervals) for (let n = lo; n <= hi; n++) all.add(n);
  return all;
};
const interval = fc.tuple(fc.nat(200), fc.nat(20)).map(([lo, width]): Interval => [lo, lo + width]);
const isMerged = (intervals: readonly Interval[]) =>
  intervals.every(([lo, hi], i) => lo <= hi && (i === 0 || lo > intervals[i - 1]![1] + 1));

describe('intervals', () => {
  it('merging keeps the set of numbers and makes the shortest list of it', () => {
    fc.assert(
      fc.property(fc.array(interval), (list) => {
        const merged = mergeIntervals(list);
        expect(numbersOf(merged)).toEqual(numbersOf(list));
        expect(isMerged(merged)).toBe(true);
      }),
    );
  });

  it('subtracting leaves exactly the numbers that are not taken', () => {
    fc.assert(
      fc.property(interval, fc.array(interval), (span, list) => {
        const taken = mergeIntervals(list);
        const free = subtractIntervals(span, taken);
        const used = numbersOf(taken);
        expect([...numbersOf(free)]).toEqual([...numbersOf([span])].filter((n) => !used.has(n)));
        expect(isMerged(free)).toBe(true);
      }),
    );
  });

  it('cuts on a grid so that what was cut off before does not move the other cuts', () => {
    fc.assert(
      fc.property(interval, fc.nat(100), fc.integer({ min: 1, max: 30 }), fc.nat(20), ([lo, hi], back, size, skip) => {
        const origin = Math.max(0, lo - back);
        const all = [...cutOnGrid([lo, hi], origin, size)];
        expect(numbersOf(all)).toEqual(numbersOf([[lo, hi]]));
        expect(all.every(([a, b]) => b - a < size)).toBe(true);
        const later = all[Math.min(skip, all.length - 1)]!;
        expect([...cutOnGrid([later[0], hi], origin, size)]).toEqual(all.slice(all.indexOf(later)));
      }),
    );
  });

  it('coarsening stays within the limit and loses no number', () => {
    fc.assert(
      fc.property(fc.array(interval), fc.integer({ min: 1, max: 10 }), (list, limit) => {
        const merged = mergeIntervals(list);
        const coarse = coarsen(merged, limit);
        expect(coarse.length).toBeLessThanOrEqual(limit);
        const kept = numbersOf(coarse);
        expect([...numbersOf(merged)].every((n) => kept.has(n))).toBe(true);
        if (merged.length <= limit) expect(coarse).toEqual(merged);
      }),
    );
  });

  it('finds the missing numbers of a range, also beyond 2^32', () => {
    fc.assert(
      fc.property(fc.constantFrom(0, 1, 2 ** 31 - 5, 2 ** 32 - 5, 2 ** 40), fc.array(fc.nat(99)), (lo, seen) => {
        const numbers = new SeenNumbers(lo, lo + 99);
        for (const n of seen) numbers.add(lo + n);
        numbers.add(lo - 1);
        numbers.add(lo + 100);
        const expected = subtractIntervals([lo, lo + 99], mergeIntervals(seen.map((n): Interval => [lo + n, lo + n])));
        expect(numbers.missing()).toEqual(expected);
      }),
    );
  });

  it('bounds the missing numbers of an event on the safe side', () => {
    const every = Array.from({ length: 300_000 }, (_, i): Interval => [2 ** 40 + 3 * i, 2 ** 40 + 3 * i]);
    const bounded = boundedMissing(every);
    expect(bounded.length).toBeLessThanOrEqual(200_000);
    expect(JSON.stringify(bounded).length).toBeLessThanOrEqual(5_100_000);
    expect(countNumbers(bounded)).toBeGreaterThanOrEqual(300_000);
    expect(bounded[0]![0]).toBe(2 ** 40);
    expect(bounded.at(-1)![1]).toBe(every.at(-1)![1]);
  });
});
