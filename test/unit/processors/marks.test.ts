import { describe, expect, it } from 'vitest';
import type { Reading } from '../../../processors/coordinator/epochs.ts';
import { type GroupState, remembered, withReading } from '../../../processors/coordinator/marks.ts';
import { ArticleNumber, Epoch, EpochMs, Group } from '../../../streams/ids.ts';

const HOUR = 3_600_000;
const NOW = Date.UTC(2024, 0, 10);
const reading = (low: number, high: number, at: number): Reading => {
  return { group: Group('a.b'), low: ArticleNumber(low), high: ArticleNumber(high), at };
};

type Given = readonly [low: number, high: number, minutes?: number];

/** The state after readings a minute apart, each `[low, high]` or `[low, high, minutes since the one before]`. */
function stateAfter(...readings: readonly Given[]): GroupState {
  let at = NOW;
  let state: GroupState | undefined;
  for (const [low, high, minutes = 1] of readings) {
    at += minutes * 60_000;
    state = withReading(state, reading(low, high, at), 120_000);
  }
  return state!;
}
/** Epoch, low and high, and whether they can be planned with. */
const marks = (...readings: readonly Given[]) => {
  const { mark, fresh } = stateAfter(...readings);
  return [mark.epoch, mark.low, mark.high, fresh];
};

describe('a reading of marks', () => {
  it('below what was seen is doubted, and begins an epoch when the next one agrees', () => {
    expect(marks([1, 5000], [1, 40])).toEqual([0, 1, 5000, false]);
    expect(marks([1, 5000], [1, 40], [1, 45])).toEqual([1, 1, 45, true]);
    expect(marks([1, 5000], [1, 40], [1, 45], [1, 60])).toEqual([1, 1, 60, true]);
    expect(stateAfter([1, 5000], [1, 40], [1, 45]).history).toHaveLength(1);
  });

  it('below what was seen is forgotten when the next one fits again', () => {
    expect(marks([1, 5000], [1, 40], [1, 5010])).toEqual([0, 1, 5010, true]);
    expect(marks([1, 5000], [1, 40], [1, 5010], [1, 40])).toEqual([0, 1, 5010, false]);
  });

  it('that is a little stale is taken: machines behind one name lag behind each other', () => {
    expect(marks([1, 5000], [1, 4950], [1, 4950])).toEqual([0, 1, 4950, true]);
    expect(marks([1, 20], [1, 11], [1, 11])).toEqual([0, 1, 11, true]);
    expect(marks([1, 3e9], [1, 3e9 - 20_000], [1, 3e9 - 20_000])[0]).toBe(0);
    expect(marks([1, 3e9], [1, 3e9 - 20_001], [1, 3e9 - 20_001])[0]).toBe(1);
    // Little by little is no reset either, as long as what two readings had is not missed by more.
    expect(marks([1, 5000], [1, 4960], [1, 4951])[0]).toBe(0);
  });

  it('that alone was far too high is no reset afterwards', () => {
    expect(marks([1, 5000], [1, 9_000_000], [1, 5001], [1, 5002])).toEqual([0, 1, 5002, true]);
  });

  it('above what was seen begins an epoch when the next one agrees and nothing can have expired', () => {
    expect(marks([1, 5000], [80_000, 90_000])).toEqual([0, 1, 5000, false]);
    expect(marks([1, 5000], [80_000, 90_000], [80_000, 90_007])).toEqual([1, 80_000, 90_007, true]);
    expect(marks([1, 5000], [5052, 5060], [5052, 5060])[0]).toBe(1);
    expect(marks([1, 5000], [5051, 5060], [5051, 5060])[0]).toBe(0);
  });

  it('above what was seen is explained by expiry when the last one is a day old', () => {
    expect(marks([1, 5000], [80_000, 90_000, 24 * 60])[0]).toBe(0);
    const old = { group: Group('a.b'), low: ArticleNumber(1), high: ArticleNumber(5000), epoch: Epoch(3) };
    const away = (hours: number) => {
      const before = remembered({ ...old, readAt: EpochMs(NOW) });
      const first = withReading(before, reading(80_000, 90_000, NOW + hours * HOUR), 0);
      return withReading(first, reading(80_000, 90_000, NOW + hours * HOUR + 1), 0).mark.epoch;
    };
    expect(away(30)).toBe(3);
    expect(away(2)).toBe(4);
  });

  it('of two odd ones that do not agree begins none', () => {
    expect(marks([1, 5000], [1, 40], [80_000, 90_000])).toEqual([0, 1, 5000, false]);
    expect(marks([1, 5000], [80_000, 90_000], [1, 40], [1, 41])).toEqual([1, 1, 41, true]);
  });

  it.each([
    [0, 0],
    [1, 0],
  ])('of an empty group (%i to %i) tells nothing about its numbers', (low, high) => {
    const empty = marks([100, 5000], [low, high], [low, high], [low, high]);
    expect(empty).toEqual([0, 100, 5000, true]);
    expect(marks([low, high], [5001, 5003], [5001, 5003])).toEqual([0, 5001, 5003, true]);
  });

  it('of a group whose articles are all gone raises the low mark behind the high mark', () => {
    expect(marks([100, 5000], [5001, 5000], [5001, 5000])).toEqual([0, 5001, 5000, true]);
  });

  it('raises the low mark only when the next one says so too, and lowers it at once', () => {
    expect(marks([1, 5000], [900, 5000])[1]).toBe(1);
    expect(marks([1, 5000], [900, 5000], [700, 5000])[1]).toBe(700);
    expect(marks([1, 5000], [900, 5000], [950, 5000])[1]).toBe(900);
    expect(marks([1, 5000], [900, 5000], [900, 5000], [300, 5000])[1]).toBe(300);
  });

  it('is of the epoch that the list knows, when that is later', () => {
    const state = withReading(stateAfter([1, 5000]), reading(1, 40, NOW + HOUR), 0, Epoch(2));
    expect(state).toMatchObject({ mark: { epoch: 2, low: 1, high: 40 }, fresh: true });
  });
});
