import type { GroupMark } from '../../streams/events/ranges.ts';
import { ArticleNumber, Epoch, type EpochMs, type Group } from '../../streams/ids.ts';
import type { GroupMarks } from '../ports.ts';
import { agree, isEmpty, misfit, type Reading } from './epochs.ts';

/** What is known of one group on one backbone. */
export interface GroupState {
  readonly mark: GroupMark;
  /** High marks by the time of their reading, ascending; as far back as the hold-back needs. */
  readonly history: readonly { readonly at: number; readonly high: number }[];
  /** False while the marks cannot be planned with: nothing was read since the start, or the last reading is in doubt. */
  readonly fresh: boolean;
  /** The highest number of this epoch that two readings in a row had. */
  readonly seen: number;
  /** The last reading that fitted; null before there is one. */
  readonly last: Reading | null;
  /** When marks that fitted were last read. */
  readonly readAt: number;
  /** A reading that did not fit: the next one decides. */
  readonly doubted: Reading | null;
}

/** Keeps the newest reading of at least the hold-back ago, and everything after it. */
const trimmed = (history: GroupState['history'], now: number, holdBackMs: number): GroupState['history'] => {
  const held = history.findLastIndex(({ at }) => at <= now - holdBackMs);
  return held > 0 ? history.slice(held) : history;
};

/** Articles are numbered from 1, whatever the marks of an empty group say. */
const atLeastOne = (number: number): ArticleNumber => ArticleNumber(Math.max(1, number));

function firstOf(reading: Reading, epoch: Epoch): GroupState {
  const { group, low, high, at } = reading;
  return {
    mark: { group, epoch, low: atLeastOne(low), high },
    history: [{ at, high }],
    fresh: true,
    seen: high,
    last: reading,
    readAt: at,
    doubted: null,
  };
}

/**
 * The low mark after a reading. It may fall at once, but rises only when two readings in a row say so: what lies below it
 * is given up for good.
 */
const lowAfter = (previous: GroupState, { low }: Reading): ArticleNumber =>
  atLeastOne(low <= previous.mark.low ? low : Math.min(low, previous.last?.low ?? previous.mark.low));

/** The state after one more reading; `listEpoch`: the epoch of the group's newest span on the list. */
export function withReading(
  previous: GroupState | undefined,
  reading: Reading,
  holdBackMs: number,
  listEpoch: Epoch = Epoch(0),
): GroupState {
  // The list may know of an epoch that another coordinator found out: nothing that was read before it counts.
  if (previous === undefined || previous.mark.epoch < listEpoch) return firstOf(reading, listEpoch);
  if (isEmpty(reading) && reading.high < previous.mark.high) {
    return { ...previous, fresh: true, readAt: reading.at, doubted: null };
  }
  if (misfit(previous, reading) !== null) {
    const { doubted, mark } = previous;
    if (doubted !== null && agree(doubted, reading)) return firstOf(reading, Epoch(mark.epoch + 1));
    return { ...previous, fresh: false, doubted: reading };
  }
  const { group, high, at } = reading;
  return {
    mark: { group, epoch: previous.mark.epoch, low: lowAfter(previous, reading), high },
    history: trimmed([...previous.history, { at, high }], at, holdBackMs),
    fresh: true,
    seen: Math.max(previous.seen, Math.min(high, previous.last?.high ?? high)),
    last: reading,
    readAt: at,
    doubted: null,
  };
}

/** The state that the ledger remembers of an earlier process. */
export function remembered(marks: GroupMarks & { readonly epoch: Epoch; readonly readAt: EpochMs }): GroupState {
  const { group, epoch, low, high, readAt } = marks;
  return {
    mark: { group, epoch, low, high },
    history: [{ at: readAt, high }],
    fresh: false,
    seen: high,
    last: null,
    readAt,
    doubted: null,
  };
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
