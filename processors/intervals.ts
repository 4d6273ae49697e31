import type { Interval } from '../streams/records.ts';

/** Sets of whole numbers as closed intervals. A list is "merged" when it ascends and no two touch or overlap. */

/** The merged form of intervals in any order; those that touch become one. */
export function mergeIntervals(intervals: readonly Interval[]): Interval[] {
  const merged: [number, number][] = [];
  for (const [lo, hi] of [...intervals].sort((a, b) => a[0] - b[0])) {
    const last = merged.at(-1);
    if (last && lo <= last[1] + 1) last[1] = Math.max(last[1], hi);
    else merged.push([lo, hi]);
  }
  return merged;
}

/** What of `span` no interval of the merged list `taken` covers, merged. */
export function subtractIntervals([lo, hi]: Interval, taken: readonly Interval[]): Interval[] {
  const free: Interval[] = [];
  let at = lo;
  for (const [from, to] of taken) {
    if (to < at) continue;
    if (from > hi) break;
    if (from > at) free.push([at, from - 1]);
    at = to + 1;
  }
  if (at <= hi) free.push([at, hi]);
  return free;
}

/** `span` in pieces that end where a multiple of `size`, counted from `origin`, begins: the same cuts whatever is left of it. */
export function* cutOnGrid([lo, hi]: Interval, origin: number, size: number): Generator<Interval> {
  for (let at = lo; at <= hi; ) {
    const end = origin + (Math.floor((at - origin) / size) + 1) * size - 1;
    yield [at, Math.min(end, hi)];
    at = end + 1;
  }
}

/** The same cuts as `cutOnGrid`, the last piece first. */
export function* cutOnGridDown([lo, hi]: Interval, origin: number, size: number): Generator<Interval> {
  for (let at = hi; at >= lo; ) {
    const begin = origin + Math.floor((at - origin) / size) * size;
    yield [Math.max(begin, lo), at];
    at = begin - 1;
  }
}

export const countNumbers = (intervals: readonly Interval[]): number =>
  intervals.reduce((sum, [lo, hi]) => sum + hi - lo + 1, 0);

/**
 * At most `limit` intervals that cover all of the merged list: the smallest gaps are closed first. The result covers more
 * numbers than the list where it had to be shortened, never fewer.
 */
export function coarsen(merged: readonly Interval[], limit: number): readonly Interval[] {
  if (merged.length <= limit) return merged;
  const gaps = merged.slice(1).map(([lo], i) => lo - merged[i]![1]);
  // Closing every gap up to this size leaves at most `limit - 1` gaps, which is `limit` intervals.
  const closed = Float64Array.from(gaps).sort()[gaps.length - limit]!;
  const out: [number, number][] = [];
  for (const [lo, hi] of merged) {
    const last = out.at(-1);
    if (last && lo - last[1] <= closed) last[1] = hi;
    else out.push([lo, hi]);
  }
  return out;
}
