import type { HeadwaterError } from '../../infra/base/errors/index.ts';
import { makeEvent } from '../../streams/events/index.ts';
import {
  type FailureClass,
  type PlannedRange,
  type RangePlanned,
  rangeFailed,
  rangeFetched,
} from '../../streams/events/ranges.ts';
import { EpochMs } from '../../streams/ids.ts';
import type { RangeRef } from '../../streams/records.ts';
import type { RangeRun } from '../ports.ts';
import { boundedMissing } from './missing.ts';
import type { RangeProgress } from './stored.ts';

/** A range with what its plan says for all of its ranges. */
export interface RangeJob {
  readonly range: RangeRef;
  readonly listVersion: number;
  readonly garbageVersion: number;
  /** When it was planned. */
  readonly plannedAt: EpochMs;
}

export const jobOf = (plan: RangePlanned, range: PlannedRange, plannedAt: EpochMs): RangeJob => ({
  range: { ...range, lane: plan.lane, backbone: plan.backbone },
  listVersion: plan.listVersion,
  garbageVersion: plan.garbageVersion,
  plannedAt,
});

export const runOf = ({ backbone, group, rangeId, run }: RangeRef): RangeRun => ({ backbone, group, rangeId, run });

/** What the run brought. Its time is that of its last batch, so that a repeat after a crash says the same. */
export function fetchedEvent(job: RangeJob, progress: RangeProgress) {
  const { range, listVersion, garbageVersion, plannedAt } = job;
  const { batches, dates } = progress;
  const sum = (of: (batch: (typeof batches)[number]) => number) => batches.reduce((total, b) => total + of(b), 0);
  return makeEvent(rangeFetched, progress.storedAt ?? plannedAt, {
    ...range,
    listVersion,
    garbageVersion,
    batches: [...batches],
    lines: sum((b) => b.lines),
    rawBytes: sum((b) => b.rawBytes),
    firstAt: dates.firstAt === null ? null : EpochMs(dates.firstAt),
    lastAt: dates.lastAt === null ? null : EpochMs(dates.lastAt),
    missing: [...boundedMissing(progress.seen.missing())],
  });
}

/** The run is given up. `at` in ms. */
export function failedEvent(
  range: RangeRef,
  at: number,
  failure: {
    readonly origin: 'fetch' | 'headers';
    readonly stage: 'fetch' | 'parse';
    readonly class: FailureClass;
    readonly error: HeadwaterError;
  },
) {
  const { error, ...rest } = failure;
  const text = { code: error.code, message: error.message.slice(0, 1000) };
  return makeEvent(rangeFailed, EpochMs(at), { ...range, ...rest, ...text });
}
