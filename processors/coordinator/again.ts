import type { PlannedRange } from '../../streams/events/ranges.ts';
import { ArticleNumber, type Group, RangeId } from '../../streams/ids.ts';
import type { LedgerRun, ShortRun } from '../ports.ts';
import type { Plan } from './plan.ts';
import type { Allowance, Room } from './reservation.ts';
import type { PlanSettings } from './settings.ts';
import { overFor, type Retirement, type Standing } from './standing.ts';

/** What is asked for a second time: failed ranges, and missing numbers of parsed ones. */
export interface AgainInput {
  readonly retries: readonly LedgerRun[];
  /** Parsed long enough ago. Of each one interval more than may be planned as ranges of their own. */
  readonly short: readonly ShortRun[];
  readonly standings: ReadonlyMap<Group, Standing>;
  readonly room: Room;
  /** The room when nothing else takes any. */
  readonly most: Room;
  readonly settings: PlanSettings;
}

export interface Again {
  readonly plans: readonly Plan[];
  readonly retire: readonly Retirement[];
}
export const NOTHING_AGAIN: Again = { plans: [], retire: [] };

const sizeOf = ({ lo, hi }: { readonly lo: number; readonly hi: number }): number => hi - lo + 1;

const nextRun = ({ group, epoch, rangeId, lo, hi, run }: LedgerRun): PlannedRange => {
  return { group, epoch, rangeId, lo, hi, run: run + 1 };
};

/** A run that never fits, however long it waits: OVERVIEW was larger when it was planned first. */
export const isTooLarge = (run: LedgerRun, most: Room): boolean => sizeOf(run) > most.numbers;

/** Failed ranges, each in its lane. A wish that nothing can come of is answered by retiring the range. */
export function planRetries(input: AgainInput, allowance: Allowance): Again {
  const plans: Plan[] = [];
  const retire: Retirement[] = [];
  for (const run of input.retries) {
    const standing = input.standings.get(run.group);
    const reason = standing ? overFor(run, standing) : null;
    if (reason !== null) retire.push({ run, reason });
    else if (standing?.epoch === run.epoch && !isTooLarge(run, input.most)) {
      if (!allowance.take(sizeOf(run), 1)) break;
      plans.push({ lane: run.lane, ranges: [nextRun(run)] });
    }
  }
  return { plans, retire };
}

/**
 * The ranges that ask for the missing numbers of a short run, those above `low`: themselves, or where they are too many the
 * whole run again. Never more numbers than `most`, whatever the limits were when the run was planned.
 */
export function reaskRanges(run: ShortRun, low: number, most: number, limit: number): readonly PlannedRange[] {
  const missing = run.missing.filter(({ hi }) => hi >= low);
  const all = missing.length === 1 && sizeOf(missing[0]!) === sizeOf(run);
  if ((missing.length > limit || all) && sizeOf(run) <= most) return [nextRun(run)];
  const ranges: PlannedRange[] = [];
  let left = most;
  for (const { lo, hi, run: before } of missing.slice(0, limit)) {
    const end = ArticleNumber(Math.min(hi, lo + left - 1));
    if (end < lo) break;
    const { group, epoch } = run;
    // A piece of an interval is a range that nobody planned before.
    const next = end === hi ? before + 1 : 1;
    ranges.push({ group, epoch, rangeId: RangeId.of(epoch, lo, end), lo, hi: end, run: next });
    left -= end - lo + 1;
  }
  return ranges;
}

/** Missing numbers of short ranges, one plan a range: the ledger calls the range parsed by it. */
export function planReasks(input: AgainInput, allowance: Allowance): Again {
  const plans: Plan[] = [];
  const retire: Retirement[] = [];
  for (const run of input.short) {
    const standing = input.standings.get(run.group);
    if (!standing || run.epoch > standing.epoch) continue;
    const reason = overFor(run, standing);
    const ranges = reason ? [] : reaskRanges(run, standing.low, input.most.numbers, input.settings.reaskRanges);
    if (ranges.length === 0) retire.push({ run, reason: reason ?? 'below the low mark' });
    else {
      const numbers = ranges.reduce((sum, range) => sum + sizeOf(range), 0);
      if (!allowance.takeSmall(numbers, ranges.length)) break;
      const { group, rangeId, run: asked } = run;
      plans.push({ lane: 'backfill', ranges, reasks: { group, rangeId, run: asked } });
    }
  }
  return { plans, retire };
}
