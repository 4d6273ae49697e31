import type { PlannedRange } from '../../streams/events/ranges.ts';
import { ArticleNumber, type Epoch, type Group, RangeId } from '../../streams/ids.ts';
import type { Interval } from '../../streams/records.ts';
import { cutOnGrid, subtractIntervals } from '../intervals.ts';
import type { Room } from './reservation.ts';
import type { PlanSettings } from './settings.ts';

/** What the planner knows of one group on one backbone. */
export interface GroupView {
  readonly group: Group;
  readonly epoch: Epoch;
  /** The span of the group list; `to` null: open. */
  readonly from: number;
  readonly liveFrom: number;
  readonly to: number | null;
  /** The marks read last. */
  readonly low: number;
  readonly high: number;
  /** The high mark of at least the hold-back ago; null while none is that old. */
  readonly heldHigh: number | null;
  /** Numbers that any range covers, whatever became of it; merged. */
  readonly planned: readonly Interval[];
  /** When this process last planned live for the group; null: never. */
  readonly livePlannedAt: number | null;
}

export interface Plan {
  readonly lane: 'live' | 'backfill';
  readonly ranges: readonly PlannedRange[];
}

export interface PlanInput {
  /** In the order of their ranks. */
  readonly views: readonly GroupView[];
  readonly room: Room;
  /** Most numbers of a range and size of the backfill grid. */
  readonly rangeSize: number;
  readonly settings: PlanSettings;
  readonly now: number;
}

/** The last number that live has taken up; backfill ends here. */
const liveCursor = (view: GroupView): number => Math.max(view.liveFrom - 1, view.planned.at(-1)?.[1] ?? 0);

const rangeOf = ({ group, epoch }: GroupView, [lo, hi]: Interval): PlannedRange => {
  const ends = { lo: ArticleNumber(lo), hi: ArticleNumber(hi) };
  return { group, epoch, rangeId: RangeId.of(epoch, ends.lo, ends.hi), ...ends, run: 1 };
};

/** Takes place in the room, or refuses. */
class Allowance {
  #ranges: number;
  #numbers: number;
  constructor(room: Room) {
    this.#ranges = room.ranges;
    this.#numbers = room.numbers;
  }
  take(numbers: number, ranges: number): boolean {
    if (numbers > this.#numbers || ranges > this.#ranges) return false;
    this.#numbers -= numbers;
    this.#ranges -= ranges;
    return true;
  }
}

/**
 * The numbers of a group that live is to take now, null when there are none or they can wait. Behind by more than one range
 * it takes only the newest: what lies between becomes backfill, which is whatever below the live cursor no range covers.
 */
export function liveSpan(view: GroupView, input: Pick<PlanInput, 'settings' | 'rangeSize' | 'now'>): Interval | null {
  const { settings, rangeSize, now } = input;
  if (view.heldHigh === null) return null;
  const end = Math.min(view.heldHigh, view.high, view.to ?? Number.POSITIVE_INFINITY);
  const start = Math.max(liveCursor(view) + 1, view.low);
  const waiting = end - start + 1;
  if (waiting <= 0) return null;
  const since = view.livePlannedAt === null ? Number.POSITIVE_INFINITY : now - view.livePlannedAt;
  const due =
    waiting >= settings.liveAtOnce ||
    (waiting >= settings.liveSoon && since >= settings.liveSoonMs) ||
    since >= settings.liveLaterMs;
  if (!due) return null;
  return waiting > rangeSize ? [end - Math.min(settings.liveAtOnce, rangeSize) + 1, end] : [start, end];
}

/** Live plans: the due spans of all groups, packed so that one plan is one connection's work of a few seconds. */
function planLive(input: PlanInput, allowance: Allowance): Plan[] {
  const plans: Plan[] = [];
  let ranges: PlannedRange[] = [];
  let numbers = 0;
  for (const view of input.views) {
    const span = liveSpan(view, input);
    // Live is not bounded by the count of outstanding ranges: a thousand small groups are a thousand small ranges.
    if (span === null || !allowance.take(span[1] - span[0] + 1, 0)) continue;
    ranges.push(rangeOf(view, span));
    numbers += span[1] - span[0] + 1;
    if (numbers < input.settings.liveAtOnce && ranges.length < input.settings.rangesPerPlan) continue;
    plans.push({ lane: 'live', ranges });
    ranges = [];
    numbers = 0;
  }
  return ranges.length > 0 ? [...plans, { lane: 'live', ranges }] : plans;
}

/** The pieces of a group's backfill that are not planned yet, oldest first, on a grid that starts at the span's first number. */
export function* backfillSpans(view: GroupView, rangeSize: number): Generator<Interval> {
  const end = Math.min(liveCursor(view), view.high, view.to ?? Number.POSITIVE_INFINITY);
  // What lies below the low mark is gone: it is left out for ever, the low mark only rises.
  for (const free of subtractIntervals([Math.max(view.from, view.low, 1), end], view.planned)) {
    yield* cutOnGrid(free, view.from, rangeSize);
  }
}

/** Backfill plans: one range of each group in turn, until the room is used up. */
function planBackfill(input: PlanInput, allowance: Allowance): Plan[] {
  const plans: Plan[] = [];
  let open = input.views.map((view) => ({ view, spans: backfillSpans(view, input.rangeSize) }));
  while (open.length > 0) {
    const left: typeof open = [];
    for (const entry of open) {
      const next = entry.spans.next();
      if (next.done) continue;
      const [lo, hi] = next.value;
      if (!allowance.take(hi - lo + 1, 1)) return plans;
      plans.push({ lane: 'backfill', ranges: [rangeOf(entry.view, next.value)] });
      left.push(entry);
    }
    open = left;
  }
  return plans;
}

/**
 * What is to be planned now for the groups of one backbone, live first. Pure: the same input gives the same plans, and what
 * was planned by an earlier call is left out once it is in `planned`.
 */
export function planRanges(input: PlanInput): readonly Plan[] {
  const allowance = new Allowance(input.room);
  const live = planLive(input, allowance);
  return [...live, ...planBackfill(input, allowance)];
}
