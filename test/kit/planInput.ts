import type { GroupView, PlanInput } from '../../processors/coordinator/plan.ts';
import type { Room } from '../../processors/coordinator/reservation.ts';
import { DEFAULT_PLAN_SETTINGS } from '../../processors/coordinator/settings.ts';
import type { LedgerRun } from '../../processors/ports.ts';
import { ArticleNumber, Backbone, Epoch, Group, RangeId } from '../../streams/ids.ts';

/** What the planner's pure core is given, short to write in tests. */
export const settings = DEFAULT_PLAN_SETTINGS;
export const NOW = 1_700_000_000_000;
export const wide: Room = { ranges: 1000, numbers: 1e12 };

/** A group with numbers 1 to 1000, all of them live's. */
export const view = (change: Partial<GroupView> = {}): GroupView => ({
  group: Group('a.b'),
  epoch: Epoch(0),
  from: 1,
  liveFrom: 1,
  to: null,
  low: 1,
  high: 1000,
  heldHigh: 1000,
  planned: [],
  livePlannedAt: NOW,
  eras: [],
  wanted: [],
  scanPlannedAt: null,
  ...change,
});

export const standing = { epoch: Epoch(0), removed: false, low: 1 };
/** Nothing to ask again, and room for everything. */
export const input = (views: readonly GroupView[], change: Partial<PlanInput> = {}): PlanInput => ({
  views,
  retries: [],
  short: [],
  standings: new Map(views.map(({ group, epoch, low }) => [group, { ...standing, epoch, low }])),
  room: wide,
  most: wide,
  rangeSize: settings.rangeNumbers,
  settings,
  now: NOW,
  ...change,
});

/** A run of `a.b` as the ledger names it. */
export const ledgerRun = (lo: number, hi: number, change: Partial<LedgerRun> = {}): LedgerRun => {
  const epoch = change.epoch ?? Epoch(0);
  const ends = { lo: ArticleNumber(lo), hi: ArticleNumber(hi) };
  const place = { backbone: Backbone('bb'), group: Group('a.b'), epoch, rangeId: RangeId.of(epoch, ends.lo, ends.hi) };
  return { ...place, ...ends, run: 1, lane: 'backfill', ...change };
};
