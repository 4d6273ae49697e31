import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { firstDated, type Probe } from '../../../processors/coordinator/bisect.ts';
import { eraOf, findEras } from '../../../processors/coordinator/eras.ts';

const NOW = Date.UTC(2024, 5, 1);
const year = (y: number) => Date.UTC(y, 6, 1);

/** A server whose articles are dated by `dateOf`, null: there is none. Counts what it is asked. */
function server(dateOf: (number: number) => number | null) {
  let asked = 0;
  const probe: Probe = async (from, to) => {
    asked++;
    for (let number = from; number <= to; number++) {
      const date = dateOf(number);
      if (date !== null) return { number, date };
    }
    return null;
  };
  return { probe, asked: () => asked };
}
const eras = async (dateOf: (number: number) => number | null, span: readonly [number, number], now = NOW) =>
  (await findEras(span, now, server(dateOf).probe)).map(({ year: y, from }) => [y, from]);

describe('the eras of a span', () => {
  it('begin where each year does; a year without articles is none', async () => {
    const dateOf = (n: number) => year(n < 300 ? 2015 : n < 310 ? 2017 : n < 700 ? 2018 : 2024);
    expect(await eras(dateOf, [100, 999])).toEqual([
      [2015, 100],
      [2017, 300],
      [2018, 310],
      [2024, 700],
    ]);
  });

  it('are one where all articles are of a year, and none where no article is dated', async () => {
    expect(await eras(() => year(2020), [5, 900])).toEqual([[2020, 5]]);
    expect(await eras(() => null, [5, 900])).toEqual([]);
  });

  it('take a clock that is years off for the end of the range that there is', async () => {
    expect(await eras(() => year(1971), [1, 9])).toEqual([[1980, 1]]);
    expect(await eras(() => year(2061), [1, 9])).toEqual([[2024, 1]]);
  });

  it('are found to a thousandth of a large group, with few questions', async () => {
    const size = 2_000_000_000;
    const first = 2008;
    const { probe, asked } = server((n) => Date.UTC(first, 0, 1) + (n / size) * (NOW - Date.UTC(first, 0, 1)));
    const found = await findEras([1, size], NOW, probe);
    expect(found.map((e) => e.year)).toEqual(Array.from({ length: 17 }, (_, i) => first + i));
    for (const { year: y, from } of found.slice(1)) {
      const exact = (size * (Date.UTC(y, 0, 1) - Date.UTC(first, 0, 1))) / (NOW - Date.UTC(first, 0, 1));
      expect(Math.abs(from - exact)).toBeLessThanOrEqual(100_001);
    }
    expect(asked()).toBeLessThan(250);
  });

  it('ascend, and every number of the span is in the one that it was posted in', async () => {
    const lengths = fc.array(fc.integer({ min: 0, max: 60 }), { minLength: 1, maxLength: 9 });
    await fc.assert(
      fc.asyncProperty(lengths, fc.integer({ min: 1, max: 1e9 }), async (perYear, lo) => {
        const years = perYear.flatMap((n, i) => Array.from({ length: n }, () => 2015 + i));
        if (years.length === 0) return;
        const hi = lo + years.length - 1;
        const found = await findEras([lo, hi], NOW, server((n) => year(years[n - lo]!)).probe);
        for (let n = lo; n <= hi; n++) expect(eraOf(found, n)).toBe(years[n - lo]);
      }),
    );
  });
});

describe('a probe behind a hole', () => {
  it('reads only a few times as many lines as numbers are missing, and looks no further than 100,000', async () => {
    let lines = 0;
    const behind = (hole: number): Probe => {
      lines = 0;
      return async (from, to) => {
        const first = Math.max(from, hole + 1);
        lines += Math.max(0, to - first + 1);
        return first <= to ? { number: first, date: NOW } : null;
      };
    };
    for (const hole of [0, 60, 300, 2100, 7000, 30_000]) {
      expect(await firstDated(1, 10_000_000, behind(hole))).toMatchObject({ number: hole + 1 });
      expect(lines).toBeLessThanOrEqual(Math.max(50, 5 * hole));
    }
    expect(await firstDated(1, 10_000_000, behind(110_000))).toBeNull();
    expect(lines).toBe(0);
  });
});

describe('the era of a number', () => {
  it('is that of the last one that begins at or below it, below all the first, and unknown without any', () => {
    const some = [
      { year: 2019, from: 10 as never },
      { year: 2022, from: 20 as never },
    ];
    expect([9, 10, 19, 20, 1e9].map((n) => eraOf(some, n))).toEqual([2019, 2019, 2019, 2022, 2022]);
    expect(eraOf([], 5)).toBeNull();
  });
});
