import type { GroupList } from '../../streams/events/control.ts';
import type { RangeRetired } from '../../streams/events/ranges.ts';
import type { Backbone, Epoch, Group } from '../../streams/ids.ts';
import type { LedgerRun } from '../ports.ts';
import { spanOn } from './joining.ts';
import type { GroupState } from './marks.ts';

/** What list and marks say of a group on a backbone: whether anything is still to be asked of it. */
export interface Standing {
  /** Of the newest span. */
  readonly epoch: Epoch;
  readonly removed: boolean;
  /** What lies below is gone; 0 while the low mark is not known. */
  readonly low: number;
}

/** A run of which nothing more is to come, and why. */
export interface Retirement {
  readonly run: LedgerRun;
  readonly reason: RangeRetired['reason'];
}

/** The standing of every group that has a span on the backbone. */
export function standingsOf(
  list: GroupList,
  backbone: Backbone,
  stateOf: (group: Group) => GroupState | undefined,
): ReadonlyMap<Group, Standing> {
  const standings = new Map<Group, Standing>();
  for (const entry of list.entries) {
    const span = spanOn(entry, backbone);
    if (span === null) continue;
    const state = stateOf(entry.group);
    const known = state?.fresh && state.mark.epoch === span.epoch;
    standings.set(entry.group, { epoch: span.epoch, removed: entry.removed, low: known ? state.mark.low : 0 });
  }
  return standings;
}

/** Why numbers of a group are not asked for any more; null while they may be. */
export function overFor(
  { epoch, hi }: { readonly epoch: Epoch; readonly hi: number },
  standing: Standing,
): Retirement['reason'] | null {
  if (standing.removed) return 'group removed';
  if (epoch < standing.epoch) return 'superseded';
  return epoch === standing.epoch && hi < standing.low ? 'below the low mark' : null;
}

/**
 * The runs that wait to be fetched in vain. What is fetched is left to be parsed: its lines are there. So is, where only
 * the low mark rose, a run of which batches are stored: the fetch that stored them ends it, and says what was missing.
 */
export function retirements(
  unfetched: readonly LedgerRun[],
  standings: ReadonlyMap<Group, Standing>,
  begun: (run: LedgerRun) => boolean,
): readonly Retirement[] {
  return unfetched.flatMap((run) => {
    const standing = standings.get(run.group);
    const reason = standing ? overFor(run, standing) : null;
    if (reason === null || (reason === 'below the low mark' && begun(run))) return [];
    return [{ run, reason }];
  });
}
