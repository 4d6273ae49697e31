import type { StreamState } from '../ports.ts';
import type { PlanSettings } from './settings.ts';

/** What may still be planned: ranges, and article numbers over all of them. */
export interface Room {
  readonly ranges: number;
  readonly numbers: number;
}

/** The numbers for which OVERVIEW has place at all when it holds nothing; infinite when it has no limit. */
const capacity = (maxBytes: number, settings: PlanSettings): number =>
  maxBytes < 0 ? Number.POSITIVE_INFINITY : Math.floor((maxBytes * settings.overviewShare) / settings.worstLineBytes);

/**
 * Most numbers of one range: the setting, but never more than a quarter of what OVERVIEW can hold, so that one range can
 * always be planned once others are parsed, and live finds place beside backfill. Depends on nothing that changes while
 * Headwater runs: backfill is cut on a grid of this size.
 */
export const rangeSize = (overview: Pick<StreamState, 'maxBytes'>, settings: PlanSettings): number =>
  Math.max(1, Math.min(settings.rangeNumbers, Math.floor(capacity(overview.maxBytes, settings) / 4)));

/**
 * The room left beside what is stored and what outstanding ranges may still bring, every number counted as a line of the
 * worst size. Numbers that are both stored and outstanding (a range half fetched) count twice: on the safe side.
 */
export function roomLeft(
  overview: Pick<StreamState, 'bytes' | 'maxBytes'>,
  outstanding: Room,
  settings: PlanSettings,
): Room {
  const stored = overview.bytes / settings.worstLineBytes;
  const free = Math.floor(capacity(overview.maxBytes, settings) - stored) - outstanding.numbers;
  const allowed = settings.outstandingFullRanges * settings.rangeNumbers - outstanding.numbers;
  return {
    ranges: Math.max(0, settings.outstandingRanges - outstanding.ranges),
    numbers: Math.max(0, Math.min(free, allowed)),
  };
}

/** The room when nothing is stored and nothing outstanding: what does not fit in it never will. */
export const mostRoom = (overview: Pick<StreamState, 'maxBytes'>, settings: PlanSettings): Room =>
  roomLeft({ bytes: 0, maxBytes: overview.maxBytes }, { ranges: 0, numbers: 0 }, settings);

/**
 * Deals out the room of one planning. Once something was refused, what is less urgent must not take what is left: it would
 * keep the room from ever becoming large enough.
 */
export class Allowance {
  #ranges: number;
  #numbers: number;
  #refused = false;

  constructor(room: Room) {
    this.#ranges = room.ranges;
    this.#numbers = room.numbers;
  }

  get refused(): boolean {
    return this.#refused;
  }

  take(numbers: number, ranges: number): boolean {
    if (numbers > this.#numbers || ranges > this.#ranges) {
      this.#refused = true;
      return false;
    }
    this.#numbers -= numbers;
    this.#ranges -= ranges;
    return true;
  }

  /** Takes many small ranges while there is room for one: they are over soon, and could wait for ever for all of it. */
  takeSmall(numbers: number, ranges: number): boolean {
    return this.take(numbers, Math.max(1, Math.min(ranges, this.#ranges)));
  }
}
