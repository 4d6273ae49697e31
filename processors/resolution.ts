import type { Backbone, Epoch, Group, Position } from '../streams/ids.ts';
import type { Interval } from '../streams/records.ts';
import { EDGE_NUMBERS, LATE_AFTER_MS } from '../streams/rules.ts';

/** The article numbers of one (backbone, group, epoch) about which nothing more is to come. */
export interface Resolution {
  /** Merged and ascending; the last one may end at Number.MAX_SAFE_INTEGER. */
  readonly resolved: readonly Interval[];
  /** The high mark read last, and when; null where nobody reads marks (imports). */
  readonly high: number | null;
  readonly highReadAt: number | null;
  /** How long after an article the high mark has to be read; default `LATE_AFTER_MS`. */
  readonly lateAfterMs?: number;
}

export interface ResolvedNumbers {
  /** `projected`: the RELEASES position up to which the asker has seen what the ranges contributed; a range parsed beyond it is not resolved yet. */
  of(backbone: Backbone, group: Group, epoch: Epoch, projected: Position): Promise<Resolution>;
}

/** True when every number of the span is resolved; an empty span is. */
export function isResolved(resolved: readonly Interval[], [lo, hi]: Interval): boolean {
  if (hi < lo) return true;
  // The last interval that does not begin after lo.
  let from = 0;
  let to = resolved.length;
  while (from < to) {
    const middle = (from + to) >> 1;
    if (resolved[middle]![0] <= lo) from = middle + 1;
    else to = middle;
  }
  const holding = resolved[from - 1];
  return holding !== undefined && holding[1] >= hi;
}

/**
 * Whether nothing more is to come for articles on [first, last], the newest of `lastAt`: all numbers around them are
 * resolved (`resolved`), or all up to the high mark are and that was read late enough (`late`); null: not yet.
 */
export function resolutionAround(
  resolution: Resolution,
  [first, last]: Interval,
  lastAt: number,
): 'resolved' | 'late' | null {
  const { resolved, high, highReadAt, lateAfterMs = LATE_AFTER_MS } = resolution;
  const span: Interval = [Math.max(0, first - EDGE_NUMBERS), last + EDGE_NUMBERS];
  if (isResolved(resolved, span)) return 'resolved';
  if (high === null || highReadAt === null || highReadAt < lastAt + lateAfterMs) return null;
  return isResolved(resolved, [span[0], Math.min(span[1], high)]) ? 'late' : null;
}
