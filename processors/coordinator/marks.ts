import type { GroupMark } from '../../streams/events/ranges.ts';
import { Epoch, type EpochMs, type Group } from '../../streams/ids.ts';
import type { GroupMarks } from '../ports.ts';

/** One reading of a group's marks. */
export interface Reading extends GroupMarks {
  readonly at: number;
}

/** What is known of one group on one backbone. */
export interface GroupState {
  readonly mark: GroupMark;
  /** High marks by the time of their reading, ascending; as far back as the hold-back needs. */
  readonly history: readonly { readonly at: number; readonly high: number }[];
  /** False while all that is known comes from the ledger: its low mark may have risen since. */
  readonly fresh: boolean;
}

/**
 * The epoch of a reading. The place where number resets are to be found out (high below what was seen, low above it):
 * until then every group stays in the epoch that it had.
 */
const epochOf = (previous: GroupState | undefined): Epoch => previous?.mark.epoch ?? Epoch(0);

/** Keeps the newest reading of at least the hold-back ago, and everything after it. */
const trimmed = (history: GroupState['history'], now: number, holdBackMs: number): GroupState['history'] => {
  const held = history.findLastIndex(({ at }) => at <= now - holdBackMs);
  return held > 0 ? history.slice(held) : history;
};

/** The state after one more reading. */
export function withReading(previous: GroupState | undefined, reading: Reading, holdBackMs: number): GroupState {
  const { group, low, high, at } = reading;
  const history = [...(previous?.history ?? []), { at, high }];
  return {
    mark: { group, epoch: epochOf(previous), low, high },
    history: trimmed(history, at, holdBackMs),
    fresh: true,
  };
}

/** The state that the ledger remembers of an earlier process. */
export function remembered(marks: GroupMarks & { readonly epoch: Epoch; readonly readAt: EpochMs }): GroupState {
  const { group, epoch, low, high, readAt } = marks;
  return { mark: { group, epoch, low, high }, history: [{ at: readAt, high }], fresh: false };
}

/** The high mark that is at least the hold-back old at `now`; null when no reading is. */
export function heldHigh(state: GroupState, now: number, holdBackMs: number): number | null {
  return state.history.findLast(({ at }) => at <= now - holdBackMs)?.high ?? null;
}

/** The marks that differ from what was appended last. */
export function changedMarks(states: Iterable<GroupState>, appended: ReadonlyMap<Group, GroupMark>): GroupMark[] {
  return [...states]
    .map(({ mark }) => mark)
    .filter((mark) => {
      const last = appended.get(mark.group);
      return last?.low !== mark.low || last.high !== mark.high || last.epoch !== mark.epoch;
    });
}
