import type { Interval } from '../../streams/records.ts';
import { firstDated, firstNumberSince, type Probe } from './bisect.ts';
import type { Eras } from './listSpans.ts';

/** What the group list can name; clocks that are further off are wrong. */
const FIRST_YEAR = 1980;
const MOST_SLACK = 100_000;

const startOf = (year: number): number => Date.UTC(year, 0, 1);
const yearOf = (at: number): number => new Date(at).getUTCFullYear();

/**
 * Where backfill of a span stands in time: the number at which each calendar year begins, found by bisecting. Exact in a
 * small group, else to a thousandth of the span: eras order ranges, and a range is larger than that. A year without
 * articles, or with hardly any in a large group, is left out; none at all when no article is dated. `now` bounds the years.
 */
export async function findEras([lo, hi]: Interval, now: number, probe: Probe): Promise<Eras> {
  const first = await firstDated(lo, hi, probe);
  if (first === null) return [];
  const last = yearOf(now);
  const firstYear = Math.min(last, Math.max(FIRST_YEAR, yearOf(first.date)));
  const years = Array.from({ length: last - firstYear }, (_, i) => firstYear + 1 + i);
  const slack = Math.min(MOST_SLACK, Math.floor((hi - lo + 1) / 1000));
  const starts = [{ year: firstYear, from: lo }, ...(await startsOf(years, [lo, hi], probe, slack))];
  // Of years that begin at one place only the last has articles; those that begin beyond the span have none.
  const kept = starts.filter(({ from }, i) => {
    const next = starts[i + 1]?.from;
    return from <= hi && (next === undefined || next - from > slack);
  });
  return kept.map(({ year, from }, i) => ({ year, from: (i === 0 ? lo : from) as Eras[number]['from'] }));
}

interface YearStart {
  readonly year: number;
  readonly from: number;
}

/** The middle year first: it tells where the others need not be looked for. */
async function startsOf(
  years: readonly number[],
  [lo, hi]: Interval,
  probe: Probe,
  slack: number,
): Promise<readonly YearStart[]> {
  const middle = years.length >> 1;
  const year = years[middle];
  if (year === undefined) return [];
  const from = await firstNumberSince(startOf(year), lo, hi, probe, slack);
  const before = await startsOf(years.slice(0, middle), [lo, from - 1], probe, slack);
  const after = await startsOf(years.slice(middle + 1), [from, hi], probe, slack);
  return [...before, { year, from }, ...after];
}

/** The year of a number as the list dated it; before the first era that one's. Null when nothing was dated. */
export function eraOf(eras: Eras, number: number): number | null {
  return (eras.findLast(({ from }) => from <= number) ?? eras[0])?.year ?? null;
}
