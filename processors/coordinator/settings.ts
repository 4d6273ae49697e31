import { DEFAULT_DENIED_MS } from '../failover/providers.ts';

/** What the planner goes by. All times in ms, all sizes in article numbers unless said otherwise. */
export interface PlanSettings {
  /** A number is planned only once it lies below a high mark of this age: parts posted at the same time come in any order. */
  readonly holdBackMs: number;
  /** Live: this many waiting numbers are planned at once, ... */
  readonly liveAtOnce: number;
  /** ... this many when the last live plan of the group is `liveSoonMs` old, ... */
  readonly liveSoon: number;
  readonly liveSoonMs: number;
  /** ... and any number of them when it is this old. */
  readonly liveLaterMs: number;
  /** Most numbers of one range. Live that is behind by more jumps to the head. */
  readonly rangeNumbers: number;
  /** Most ranges of one live plan: one connection reads them one after the other. */
  readonly rangesPerPlan: number;
  /** Backfill begins with the oldest or with the newest year. */
  readonly order: 'oldest' | 'newest';
  /** Wanted windows of a group are planned no more often than this: several become one. */
  readonly scanEveryMs: number;
  /** Missing numbers are asked for once more when their range was parsed this long ago. */
  readonly reaskAfterMs: number;
  /** More intervals of missing numbers than this: the whole range is run again instead. */
  readonly reaskRanges: number;
  /** Short ranges, and failed ones to be retried, that are looked at in one go. */
  readonly reasksPerTick: number;
  readonly retriesPerTick: number;
  /** Ranges that may be outstanding; backfill stops there. */
  readonly outstandingRanges: number;
  /** Full backfill ranges' worth of numbers that may be outstanding. */
  readonly outstandingFullRanges: number;
  /** Bytes that a line may take in OVERVIEW at worst. */
  readonly worstLineBytes: number;
  /** The share of OVERVIEW's limit that planned ranges may fill. */
  readonly overviewShare: number;
}

export const DEFAULT_PLAN_SETTINGS: PlanSettings = {
  holdBackMs: 120_000,
  liveAtOnce: 20_000,
  liveSoon: 2000,
  liveSoonMs: 30_000,
  liveLaterMs: 300_000,
  rangeNumbers: 2_000_000,
  rangesPerPlan: 50,
  order: 'oldest',
  scanEveryMs: 60_000,
  reaskAfterMs: 24 * 3_600_000,
  reaskRanges: 500,
  reasksPerTick: 4,
  retriesPerTick: 50,
  outstandingRanges: 500,
  outstandingFullRanges: 8,
  worstLineBytes: 600,
  overviewShare: 0.8,
};

export interface CoordinatorSettings {
  readonly plan: PlanSettings;
  /** How often the marks of a backbone's groups are read. */
  readonly pollMs: number;
  /**
   * How often at least it is told that the marks were read, also where none moved: what comes to a release late is waited for
   * by the time of the reading.
   */
  readonly tellEveryMs: number;
  /** How often is planned. */
  readonly tickMs: number;
  /** How often batches of finished ranges are looked for, and ranges of which nothing is to come. */
  readonly purgeMs: number;
  /** The first pause after a login that was rejected; each further one is twice as long, up to ten times the first. */
  readonly deniedMs: number;
}

export const DEFAULT_COORDINATOR_SETTINGS: CoordinatorSettings = {
  plan: DEFAULT_PLAN_SETTINGS,
  pollMs: 15_000,
  tellEveryMs: 600_000,
  tickMs: 1000,
  purgeMs: 5000,
  deniedMs: DEFAULT_DENIED_MS,
};
