import { describe, expect, it } from 'vitest';
import { isResolved, resolutionAround } from '../../../processors/resolution.ts';
import type { Interval } from '../../../streams/records.ts';

const HOUR = 3_600_000;

describe('resolved numbers', () => {
  const resolved: Interval[] = [
    [0, 99],
    [200, 299],
    [400, Number.MAX_SAFE_INTEGER],
  ];

  it.each([
    [[0, 99], true],
    [[50, 60], true],
    [[99, 100], false],
    [[100, 100], false],
    [[199, 250], false],
    [[250, 299], true],
    [[250, 300], false],
    [[400, 2 ** 52], true],
    [[50, 250], false],
    [[7, 6], true],
  ] as const)('%j: %s', (span, expected) => {
    expect(isResolved(resolved, span)).toBe(expected);
  });

  it('hold no span when there are none', () => {
    expect(isResolved([], [1, 1])).toBe(false);
  });
});

describe('what is to come for an article', () => {
  const span: Interval = [100_000, 100_010];
  const around: Interval = [50_000, 150_010];

  it('is nothing once everything within the edge is resolved', () => {
    expect(resolutionAround({ resolved: [around], high: null, highReadAt: null }, span, 0)).toBe('resolved');
    const short = { resolved: [[50_001, 150_010] as const], high: null, highReadAt: null };
    expect(resolutionAround(short, span, 0)).toBeNull();
  });

  it('is nothing once all up to a high mark is resolved that was read 6 h after it', () => {
    const upToHigh = { resolved: [[0, 100_020] as const], high: 100_020, highReadAt: 6 * HOUR };
    expect(resolutionAround(upToHigh, span, 0)).toBe('late');
    expect(resolutionAround(upToHigh, span, 1)).toBeNull();
    expect(resolutionAround({ ...upToHigh, high: 100_021 }, span, 0)).toBeNull();
    expect(resolutionAround({ ...upToHigh, highReadAt: 5, lateAfterMs: 5 }, span, 0)).toBe('late');
    expect(resolutionAround({ ...upToHigh, highReadAt: 4, lateAfterMs: 5 }, span, 0)).toBeNull();
  });
});
