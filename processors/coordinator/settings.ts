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
  outstandingRanges: 500,
  outstandingFullRanges: 8,
  worstLineBytes: 600,
  overviewShare: 0.8,
};

export interface CoordinatorSettings {
  readonly plan: PlanSettings;
  /** How often the marks of a backbone's groups are read. */
  readonly pollMs: number;
  /** How often is planned. */
  readonly tickMs: number;
  /** How often batches of finished ranges are looked for. */
  readonly purgeMs: number;
}

export const DEFAULT_COORDINATOR_SETTINGS: CoordinatorSettings = {
  plan: DEFAULT_PLAN_SETTINGS,
  pollMs: 15_000,
  tickMs: 1000,
  purgeMs: 5000,
};
