import type { GroupMarks } from '../ports.ts';

/**
 * Number resets. A server may count a group anew (a crash, another machine) or renumber it upwards; its marks are the only
 * sign. But marks are also odd without that: the machines behind one name lag behind each other, a mark is stale for a
 * while, an empty group answers `0 0 0` or `0 1 0`. So a reading has to miss by more than a tolerance, and the next reading
 * has to agree with it, before it begins an epoch.
 */

/** One reading of a group's marks. */
export interface Reading extends GroupMarks {
  readonly at: number;
}

const LEAST_TOLERANCE = 10;
const MOST_TOLERANCE = 20_000;
/** Away for this long, and all that was there may have expired meanwhile; no server forgets what is newer. */
const EXPIRY_EXPLAINS_MS = 24 * 3_600_000;

/** By how many numbers marks may be wrong: a hundredth of what was counted so far, within bounds. */
export const tolerance = (high: number): number =>
  Math.min(MOST_TOLERANCE, Math.max(LEAST_TOLERANCE, Math.ceil(high / 100)));

/** `0 0` and high below low name no article: an empty group, of whose numbers such an answer need not tell anything. */
export const isEmpty = ({ low, high }: Pick<GroupMarks, 'low' | 'high'>): boolean => high < Math.max(low, 1);

/** What is known of the numbering that a reading is held against. */
export interface Known {
  /** The highest number of which it is certain that it existed. */
  readonly seen: number;
  /** When the marks were last read and fitted. */
  readonly readAt: number;
}

/**
 * How a reading does not fit: `lower`, the numbers begin anew below what was seen; `higher`, all of them lie above what was
 * seen, and too little time passed for the rest to have been posted and expired. Null: it fits.
 */
export function misfit(known: Known, reading: Reading): 'lower' | 'higher' | null {
  if (isEmpty(reading)) return null;
  const slack = tolerance(known.seen);
  if (reading.high < known.seen - slack) return 'lower';
  // Of a group that was empty so far no number is known: the first articles may have any.
  if (known.seen === 0 || reading.low <= known.seen + 1 + slack) return null;
  return reading.at - known.readAt < EXPIRY_EXPLAINS_MS ? 'higher' : null;
}

/** Whether two readings that did not fit, one after the other, are of one new numbering. */
export const agree = (doubted: Reading, next: Reading): boolean =>
  misfit({ seen: doubted.high, readAt: doubted.at }, next) === null;
