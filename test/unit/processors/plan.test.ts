import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  backfillSpans,
  type GroupView,
  liveSpan,
  type PlanInput,
  planRanges,
} from '../../../processors/coordinator/plan.ts';
import { type Room, rangeSize, roomLeft } from '../../../processors/coordinator/reservation.ts';
import { DEFAULT_PLAN_SETTINGS } from '../../../processors/coordinator/settings.ts';
import { countNumbers, mergeIntervals } from '../../../processors/intervals.ts';
import { Epoch, Group } from '../../../streams/ids.ts';
import type { Interval } from '../../../streams/records.ts';
import { propertyRuns } from '../../kit/propertyRuns.ts';

const settings = DEFAULT_PLAN_SETTINGS;
const NOW = 1_700_000_000_000;
const wide: Room = { ranges: 1000, numbers: 1e12 };

const view = (change: Partial<GroupView> = {}): GroupView => ({
  group: Group('a.b'),
  epoch: Epoch(0),
  from: 1,
  liveFrom: 1,
  to: null,
  low: 1,
  high: 1000,
  heldHigh: 1000,
  planned: [],
  livePlannedAt: NOW,
  eras: [],
  wanted: [],
  scanPlannedAt: null,
  ...change,
});
const standing = { epoch: Epoch(0), removed: false, low: 1 };
const input = (views: readonly GroupView[], change: Partial<PlanInput> = {}): PlanInput => ({
  views,
  retries: [],
  short: [],
  standings: new Map(views.map(({ group, epoch, low }) => [group, { ...standing, epoch, low }])),
  room: wide,
  most: wide,
  rangeSize: settings.rangeNumbers,
  settings,
  now: NOW,
  ...change,
});
const plan = (views: readonly GroupView[], room = wide, change: Partial<PlanInput> = {}) =>
  planRanges(input(views, { room, ...change })).plans;
const live = (change: Partial<GroupView>) =>
  liveSpan(view(change), { settings, rangeSize: settings.rangeNumbers, now: NOW });

describe('live planning', () => {
  it('takes 20,000 waiting numbers at once', () => {
    expect(live({ high: 20_000, heldHigh: 20_000 })).toEqual([1, 20_000]);
    expect(live({ high: 19_999, heldHigh: 19_999 })).toBeNull();
  });

  it('takes 2,000 waiting numbers every 30 s', () => {
    const change = { high: 2000, heldHigh: 2000 };
    expect(live({ ...change, livePlannedAt: NOW - 29_999 })).toBeNull();
    expect(live({ ...change, livePlannedAt: NOW - 30_000 })).toEqual([1, 2000]);
    expect(live({ high: 1999, heldHigh: 1999, livePlannedAt: NOW - 30_000 })).toBeNull();
  });

  it('takes any waiting number every 5 min', () => {
    expect(live({ high: 1, heldHigh: 1, livePlannedAt: NOW - 299_999 })).toBeNull();
    expect(live({ high: 1, heldHigh: 1, livePlannedAt: NOW - 300_000 })).toEqual([1, 1]);
  });

  it('takes nothing above the high mark of the hold-back ago', () => {
    expect(live({ high: 90_000, heldHigh: 50_000 })).toEqual([1, 50_000]);
    expect(live({ high: 90_000, heldHigh: null })).toBeNull();
  });

  it('takes nothing of an empty group, nothing below the low mark and nothing beyond the end of the span', () => {
    expect(live({ low: 1, high: 0, heldHigh: 0 })).toBeNull();
    expect(live({ low: 40_001, high: 70_000, heldHigh: 70_000 })).toEqual([40_001, 70_000]);
    expect(live({ high: 70_000, heldHigh: 70_000, to: 30_000 })).toEqual([1, 30_000]);
    expect(live({ high: 70_000, heldHigh: 70_000, to: 30_000, planned: [[1, 30_000]] })).toBeNull();
  });

  it('jumps to the head when it is behind by more than one range, and the gap becomes backfill', () => {
    const behind = view({ high: 2_000_001, heldHigh: 2_000_001 });
    expect(plan([behind])).toMatchObject([{ lane: 'live', ranges: [{ lo: 1_980_002, hi: 2_000_001 }] }]);
    const after = view({ high: 2_000_001, heldHigh: 2_000_001, planned: [[1_980_002, 2_000_001]] });
    expect(plan([after])).toMatchObject([{ lane: 'backfill', ranges: [{ lo: 1, hi: 1_980_001 }] }]);
  });

  it('packs the small spans of many groups into one plan', () => {
    const views = Array.from({ length: 120 }, (_, i) => {
      return view({ group: Group(`g.${i}`), high: 10, heldHigh: 10, livePlannedAt: null });
    });
    const plans = plan(views);
    expect(plans.map((p) => p.ranges.length)).toEqual([50, 50, 20]);
    expect(plans.every((p) => p.lane === 'live')).toBe(true);
  });

  it('works with numbers beyond 2^32', () => {
    const at = 2 ** 33;
    const span = { from: at, liveFrom: at, low: at, high: at + 29_999, heldHigh: at + 29_999 };
    expect(plan([view(span)])).toMatchObject([
      { ranges: [{ lo: at, hi: at + 29_999, rangeId: `0-${at}-${at + 29_999}` }] },
    ]);
  });
});

describe('backfill planning', () => {
  const wanting = (change: Partial<GroupView> = {}) =>
    view({ liveFrom: 5_000_001, high: 5_000_000, heldHigh: 5_000_000, ...change });

  it('cuts what is wanted into ranges, oldest first, and leaves out what any range covers', () => {
    expect([...backfillSpans(wanting(), 2_000_000)]).toEqual([
      [1, 2_000_000],
      [2_000_001, 4_000_000],
      [4_000_001, 5_000_000],
    ]);
    expect([...backfillSpans(wanting({ planned: [[1, 2_000_000]] }), 2_000_000)]).toHaveLength(2);
  });

  it('leaves out what lies below the low mark', () => {
    expect([...backfillSpans(wanting({ low: 2_500_000 }), 2_000_000)][0]).toEqual([2_500_000, 4_000_000]);
  });

  it('plans nothing more once all of it is planned', () => {
    expect(plan([wanting({ planned: [[1, 5_000_000]] })])).toEqual([]);
  });

  it('takes the groups in turn', () => {
    const views = ['x', 'y'].map((name) => wanting({ group: Group(name) }));
    expect(plan(views, { ranges: 3, numbers: 1e12 }).map((p) => p.ranges[0]!.group)).toEqual(['x', 'y', 'x']);
  });

  it('gives the same ranges wherever a crash cut the planning off', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 50_000 }), fc.integer({ min: 1, max: 6 }), (from, stopAfter) => {
        const base = wanting({ from, liveFrom: 100_001, high: 100_000, heldHigh: 100_000 });
        const all = [...backfillSpans(base, 7000)];
        const rest = [...backfillSpans({ ...base, planned: mergeIntervals(all.slice(0, stopAfter)) }, 7000)];
        expect([...all.slice(0, stopAfter), ...rest]).toEqual(all);
      }),
    );
  });
});

describe('the reservation', () => {
  const stream = (bytes: number, maxBytes: number) => ({ bytes, maxBytes });

  it('cuts ranges so small that four fit where one of the usual size would not', () => {
    expect(rangeSize(stream(0, -1), settings)).toBe(2_000_000);
    expect(rangeSize(stream(0, 20 * 2 ** 30), settings)).toBe(2_000_000);
    expect(rangeSize(stream(0, 1_000_000), settings)).toBe(333);
  });

  it('never plans more than fits under 80 % of OVERVIEW, and never comes to a standstill', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 100_000, max: 100_000_000 }),
        fc.array(fc.record({ per: fc.integer({ min: 1, max: 600 }), purge: fc.boolean() }), {
          minLength: 60,
          maxLength: 60,
        }),
        (maxBytes, moves) => {
          const size = rangeSize(stream(0, maxBytes), settings);
          const total = size * 20;
          let bytes = 0;
          let planned: Interval[] = [];
          const open: Interval[] = [];
          const stored: number[] = [];
          const step = () => {
            const outstanding = { ranges: open.length, numbers: countNumbers(open) };
            const room = roomLeft(stream(bytes, maxBytes), outstanding, settings);
            const views = [view({ liveFrom: total + 1, high: total, heldHigh: total, planned })];
            for (const { ranges } of plan(views, room, { rangeSize: size })) {
              for (const { lo, hi } of ranges) open.push([lo, hi]);
            }
            planned = mergeIntervals([...planned, ...open]);
            const reserved = bytes + countNumbers(open) * settings.worstLineBytes;
            expect(reserved).toBeLessThanOrEqual(0.8 * maxBytes);
          };
          for (const { per, purge } of moves) {
            step();
            const fetched = open.shift();
            if (fetched) {
              stored.push((fetched[1] - fetched[0] + 1) * per);
              bytes += stored.at(-1)!;
            }
            // Parsing may lag, but whatever is stored is parsed and purged in the end.
            if (purge || !fetched) bytes -= stored.shift() ?? 0;
          }
          for (let i = 0; i < 100 && countNumbers(planned) < total; i++) {
            step();
            open.shift();
            bytes = 0;
          }
          expect(countNumbers(planned)).toBe(total);
        },
      ),
      { numRuns: propertyRuns(50) },
    );
  });

  it('bounds what is outstanding also where OVERVIEW has no limit', () => {
    const room = roomLeft(stream(0, -1), { ranges: 3, numbers: 15_000_000 }, settings);
    expect(room).toEqual({ ranges: 497, numbers: 1_000_000 });
  });
});
