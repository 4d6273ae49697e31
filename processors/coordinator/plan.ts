import type { PlannedRange, RangePlanned } from '../../streams/events/ranges.ts';
import { ArticleNumber, type Epoch, type Group, type Lane, RangeId } from '../../streams/ids.ts';
import type { Interval } from '../../streams/records.ts';
import { cutOnGrid, cutOnGridDown, subtractIntervals } from '../intervals.ts';
import { type AgainInput, NOTHING_AGAIN, planReasks, planRetries } from './again.ts';
import { eraOf } from './eras.ts';
import type { Eras } from './listSpans.ts';
import { Allowance } from './reservation.ts';
import type { PlanSettings } from './settings.ts';
import type { Retirement } from './standing.ts';

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
  /** Where its years begin; null while that is being found out, and backfill waits for it. */
  readonly eras: Eras | null;
  /** Numbers that somebody wants soon. */
  readonly wanted: readonly Interval[];
  /** When this process last planned wanted numbers of the group; null: never. */
  readonly scanPlannedAt: number | null;
}

export interface Plan {
  readonly lane: Lane;
  readonly ranges: readonly PlannedRange[];
  /** The short run whose missing numbers they are. */
  readonly reasks?: RangePlanned['reasks'];
}

export interface PlanInput extends AgainInput {
  /** In the order of their ranks. */
  readonly views: readonly GroupView[];
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
  const wanted = view.wanted.some(([lo, hi]) => lo <= end && hi >= start);
  const due =
    (wanted && since >= settings.scanEveryMs) ||
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

/**
 * Wanted numbers of a group below the live cursor that no range covers, cut where backfill would be. What lies above the
 * cursor is live's, which takes it sooner for the wish; above the high mark it waits until there is something.
 */
export function scanSpans(view: GroupView, input: Pick<PlanInput, 'settings' | 'rangeSize' | 'now'>): Interval[] {
  const { settings, rangeSize, now } = input;
  if (view.scanPlannedAt !== null && now - view.scanPlannedAt < settings.scanEveryMs) return [];
  const first = Math.max(view.low, 1);
  const end = Math.min(liveCursor(view), view.high, view.to ?? Number.POSITIVE_INFINITY);
  return view.wanted
    .flatMap(([lo, hi]) => subtractIntervals([Math.max(lo, first), Math.min(hi, end)], view.planned))
    .flatMap((free) => [...cutOnGrid(free, view.from, rangeSize)]);
}

function planScan(input: PlanInput, allowance: Allowance): Plan[] {
  const plans: Plan[] = [];
  for (const view of input.views) {
    for (const span of scanSpans(view, input)) {
      if (!allowance.take(span[1] - span[0] + 1, 1)) return plans;
      plans.push({ lane: 'scan', ranges: [rangeOf(view, span)] });
    }
  }
  return plans;
}

/** The pieces of a group's backfill that are not planned yet, on a grid that starts at the span's first number. */
export function* backfillSpans(
  view: GroupView,
  rangeSize: number,
  order: PlanSettings['order'] = 'oldest',
): Generator<Interval> {
  const end = Math.min(liveCursor(view), view.high, view.to ?? Number.POSITIVE_INFINITY);
  // What lies below the low mark is gone: it is left out for ever, the low mark only rises.
  const free = subtractIntervals([Math.max(view.from, view.low, 1), end], view.planned);
  const cut = order === 'oldest' ? cutOnGrid : cutOnGridDown;
  for (const span of order === 'oldest' ? free : free.reverse()) yield* cut(span, view.from, rangeSize);
}

/** The backfill of one group: the next piece, and the year that it belongs to. */
class GroupBackfill {
  readonly view: GroupView;
  readonly #spans: Generator<Interval>;
  span: Interval | null = null;

  constructor(view: GroupView, { rangeSize, settings }: PlanInput) {
    this.view = view;
    this.#spans = backfillSpans(view, rangeSize, settings.order);
    this.advance();
  }

  advance(): void {
    const next = this.#spans.next();
    this.span = next.done ? null : next.value;
  }

  /** Undated numbers are those that live left out: the newest. */
  get era(): number {
    return (this.span && eraOf(this.view.eras ?? [], this.span[0])) ?? Number.POSITIVE_INFINITY;
  }
}

/** Backfill plans, year by year over all groups: one range of each group in turn, until the room is used up. */
function planBackfill(input: PlanInput, allowance: Allowance): Plan[] {
  const plans: Plan[] = [];
  const dated = input.views.filter(({ eras }) => eras !== null);
  let open = dated.map((view) => new GroupBackfill(view, input)).filter(({ span }) => span !== null);
  while (open.length > 0) {
    const eras = open.map(({ era }) => era);
    const era = input.settings.order === 'oldest' ? Math.min(...eras) : Math.max(...eras);
    for (const group of open) {
      const { span, view } = group;
      if (span === null || group.era !== era) continue;
      if (!allowance.take(span[1] - span[0] + 1, 1)) return plans;
      plans.push({ lane: 'backfill', ranges: [rangeOf(view, span)] });
      group.advance();
    }
    open = open.filter(({ span }) => span !== null);
  }
  return plans;
}

/** What is to be planned, and what of the ledger's open questions was settled without planning. */
export interface Planned {
  /** The most urgent first. */
  readonly plans: readonly Plan[];
  readonly retire: readonly Retirement[];
}

/**
 * What is to be planned now for the groups of one backbone: live, what failed, what is wanted, what was missing, backfill.
 * Pure: the same input gives the same plans, and what was planned by an earlier call is left out once the ledger knows it.
 */
export function planRanges(input: PlanInput): Planned {
  const allowance = new Allowance(input.room);
  const plans = planLive(input, allowance);
  const retries = allowance.refused ? NOTHING_AGAIN : planRetries(input, allowance);
  plans.push(...retries.plans);
  if (!allowance.refused) plans.push(...planScan(input, allowance));
  const reasks = allowance.refused ? NOTHING_AGAIN : planReasks(input, allowance);
  plans.push(...reasks.plans);
  if (!allowance.refused) plans.push(...planBackfill(input, allowance));
  return { plans, retire: [...retries.retire, ...reasks.retire] };
}
