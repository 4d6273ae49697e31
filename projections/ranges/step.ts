/** What an event makes of a range in the ledger. Pure; the whole life of a range is in this file. */
import type {
  RangeFailed,
  RangeFetched,
  RangeParsed,
  RangePlanned,
  RangeRetired,
} from '../../streams/events/ranges.ts';
import type { Backbone, Epoch, Group, Lane, Position } from '../../streams/ids.ts';
import type { Interval } from '../../streams/records.ts';

export const RANGE_STATES = ['planned', 'fetched', 'parsed', 'short', 'failed', 'retired'] as const;
export type RangeState = (typeof RANGE_STATES)[number];

/** Where a range lies; two ranges are the same when all five are equal. */
export interface RangeKey {
  readonly backbone: Backbone;
  readonly group: Group;
  readonly epoch: Epoch;
  readonly lo: number;
  readonly hi: number;
}

export interface RangeFailure {
  readonly stage: 'fetch' | 'parse';
  readonly class: RangeFailed['class'];
  readonly code: string;
  readonly message: string;
}

/** A range by its highest run. */
export interface RangeRecord {
  readonly run: number;
  /** The last pass that parsed it; 0 before one did. */
  readonly pass: number;
  readonly lane: Lane;
  readonly state: RangeState;
  readonly failure: RangeFailure | null;
  readonly listVersion: number | null;
  readonly garbageVersion: number | null;
  readonly batches: number;
  readonly lines: number;
  readonly rawBytes: number;
  readonly firstAt: number | null;
  readonly lastAt: number | null;
  readonly kept: number;
  readonly skipped: Readonly<Record<string, number>>;
  readonly releases: number;
  readonly files: number;
  readonly segments: number;
  readonly releasesPosition: Position | null;
  readonly chunksPosition: Position | null;
  readonly plannedAt: number | null;
  readonly fetchedAt: number | null;
  readonly parsedAt: number | null;
  /** When it failed or was retired. */
  readonly endedAt: number | null;
  /** Asks for the missing numbers of a range again: what is still missing then is not asked for once more. */
  readonly reask: boolean;
  /**
   * To be planned again as run + 1. Failed: somebody wished it, or it is the one retry of lost batches. Retired: its group was
   * removed, and is to read it when it is added again.
   */
  readonly retry: boolean;
  /** Only what a step set; null leaves what is stored. They can be many, so they are not loaded. */
  readonly missing: readonly Interval[] | null;
}

interface Run {
  readonly run: number;
  readonly lane: Lane;
}
interface Versions {
  readonly listVersion: number;
  readonly garbageVersion: number;
}

const fresh = ({ run, lane }: Run, versions: Versions | null, plannedAt: number | null): RangeRecord => ({
  run,
  lane,
  pass: 0,
  state: 'planned',
  failure: null,
  listVersion: versions?.listVersion ?? null,
  garbageVersion: versions?.garbageVersion ?? null,
  batches: 0,
  lines: 0,
  rawBytes: 0,
  firstAt: null,
  lastAt: null,
  kept: 0,
  skipped: {},
  releases: 0,
  files: 0,
  segments: 0,
  releasesPosition: null,
  chunksPosition: null,
  plannedAt,
  fetchedAt: null,
  parsedAt: null,
  endedAt: null,
  reask: false,
  retry: false,
  missing: [],
});

/** The record that an event about `run` speaks of; null when a later run has replaced it. */
function current(before: RangeRecord | null, run: Run): RangeRecord | null {
  if (before === null || run.run > before.run) return fresh(run, null, null);
  return run.run === before.run ? before : null;
}

/** `reask`: the plan asks for missing numbers again. A range that once did so does it in every later run. */
export function planned(
  before: RangeRecord | null,
  plan: Versions & Run & { readonly reask: boolean },
  at: number,
): RangeRecord | null {
  if (before !== null && plan.run <= before.run) return before;
  return { ...fresh(plan, plan, at), reask: plan.reask || before?.reask === true };
}

/** Its missing numbers were planned as ranges of their own: nothing is left to be asked. */
export function reasked(before: RangeRecord | null, run: number): RangeRecord | null {
  return before?.state === 'short' && before.run === run ? { ...before, state: 'parsed' } : before;
}

/** The wish counts for the run that it names, and only while that is failed. */
export function retried(before: RangeRecord | null, run: number): RangeRecord | null {
  return before?.state === 'failed' && before.run === run && !before.retry ? { ...before, retry: true } : before;
}

/** The first `range.fetched` of a run counts: two workers may both think that the lease is theirs. */
export function fetched(before: RangeRecord | null, data: RangeFetched, at: number): RangeRecord | null {
  const now = current(before, data);
  if (now?.state !== 'planned') return before;
  const { listVersion, garbageVersion, lines, rawBytes, firstAt, lastAt, missing } = data;
  const batches = data.batches.length;
  const counts = { listVersion, garbageVersion, lines, rawBytes, firstAt, lastAt, missing, batches };
  return { ...now, ...counts, state: 'fetched', fetchedAt: at };
}

/**
 * Parsed by its own run only, and by the highest pass of it: a later pass replaced what an earlier one contributed. Nobody
 * can be asked again for what a re-asking range or an imported file lacks.
 */
export function parsed(before: RangeRecord | null, data: RangeParsed, at: number): RangeRecord | null {
  const now = current(before, data);
  if (now === null || data.pass <= now.pass) return before;
  const { pass, lines, kept, skipped, releases, files, segments, missing, releasesPosition, chunksPosition } = data;
  const counts = { pass, lines, kept, skipped, releases, files, segments, missing, releasesPosition, chunksPosition };
  const state = missing.length > 0 && !now.reask && now.lane !== 'import' ? 'short' : 'parsed';
  return { ...now, ...counts, state, failure: null, parsedAt: at, endedAt: null, retry: false };
}

/**
 * A failed fetch ends a range only while nobody has fetched it. A failed parse ends it also after an earlier pass was
 * parsed: the later pass has withdrawn what that one contributed. A parse that fails with class `error` lost its batches:
 * the first run gets its one retry without being asked.
 */
export function failed(before: RangeRecord | null, data: RangeFailed, at: number): RangeRecord | null {
  const now = current(before, data);
  if (now === null || now.state === 'retired') return before;
  if (data.stage === 'fetch' && now.state !== 'planned') return before;
  const failure = { stage: data.stage, class: data.class, code: data.code, message: data.message };
  const lostBatches = data.stage === 'parse' && data.class === 'error' && data.run === 1;
  return { ...now, state: 'failed', failure, endedAt: at, retry: lostBatches };
}

/**
 * What is parsed stays parsed: its releases are there. Of a short range the missing numbers are given up. Articles do not go
 * with the group that is removed: should it return, they are still to be read.
 */
export function retired(before: RangeRecord | null, data: RangeRetired, at: number): RangeRecord | null {
  const now = current(before, data);
  if (now === null || now.state === 'parsed') return before;
  if (now.state === 'short') return { ...now, state: 'parsed' };
  return { ...now, state: 'retired', endedAt: at, retry: data.reason === 'group removed' };
}

/** The ranges that a plan names. */
export const plannedKeys = (plan: RangePlanned): readonly (RangeKey & Run)[] =>
  plan.ranges.map(({ group, epoch, lo, hi, run }) => {
    return { backbone: plan.backbone, group, epoch, lo, hi, run, lane: plan.lane };
  });
