import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  backfillSpans,
  type GroupView,
  liveSpan,
  type PlanInput,
  planRanges,
} from '../../../processors/coordinator/plan.ts';
import { mergeIntervals } from '../../../processors/intervals.ts';
import { ArticleNumber, Group } from '../../../streams/ids.ts';
import type { Interval } from '../../../streams/records.ts';
import { input, NOW, settings, view, wide } from '../../kit/planInput.ts';

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

describe('backfill by eras', () => {
  /** Years of a group, `[year, first number]` each. */
  const dated = (name: string, eras: readonly (readonly [number, number])[], change: Partial<GroupView> = {}) =>
    view({
      group: Group(name),
      liveFrom: 40_001,
      high: 40_000,
      heldHigh: 40_000,
      eras: eras.map(([year, from]) => ({ year, from: ArticleNumber(from) })),
      ...change,
    });
  const views = [
    dated('x', [[2019, 1], [2021, 20_001]]), // biome-ignore format: a group a line
    dated('y', [
      [2018, 1],
      [2019, 10_001],
      [2020, 30_001],
    ]),
  ];
  const order = (change: Partial<PlanInput> = {}) =>
    plan(views, wide, { rangeSize: 10_000, ...change }).map(({ ranges: [r] }) => `${r!.group} ${r!.lo}`);

  it('goes year by year over all groups, the oldest first', () => {
    expect(order()).toEqual([...['y 1', 'x 1', 'y 10001', 'x 10001', 'y 20001', 'y 30001', 'x 20001', 'x 30001']]);
  });

  it('turns round for the newest first, over the same ranges', () => {
    const newest = order({ settings: { ...settings, order: 'newest' } });
    expect(newest).toEqual([...['x 30001', 'x 20001', 'y 30001', 'x 10001', 'y 20001', 'x 1', 'y 10001', 'y 1']]);
    expect(newest.toSorted()).toEqual(order().toSorted());
  });

  it('cuts the same ranges in both orders, whatever is planned already', () => {
    const spans = fc.array(fc.tuple(fc.integer({ min: 1, max: 50_000 }), fc.integer({ min: 0, max: 9000 })), {
      maxLength: 6,
    });
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 9000 }), spans, (from, taken) => {
        const planned = mergeIntervals(taken.map(([lo, width]): Interval => [lo, lo + width]));
        const base = view({ from, liveFrom: 50_001, high: 70_000, planned });
        const up = [...backfillSpans(base, 7000, 'oldest')];
        expect([...backfillSpans(base, 7000, 'newest')].reverse()).toEqual(up);
      }),
    );
  });

  it('waits for a group whose years are not known yet, and holds up no other', () => {
    const [x] = views;
    const unknown = dated('z', [], { eras: null });
    expect(plan([unknown, x!]).map(({ ranges: [r] }) => r!.group)).toEqual(['x']);
  });

  it('takes what live left out of an undated group as the newest', () => {
    const gap = dated('gap', [], { liveFrom: 1, planned: [[20_001, 40_000]] });
    const plans = plan([gap, ...views], wide, { rangeSize: 20_000 });
    expect(plans.at(-1)!.ranges[0]).toMatchObject({ group: 'gap', lo: 1 });
  });
});

describe('scan planning', () => {
  const busy = { liveFrom: 5_000_001, high: 5_100_000, heldHigh: 5_000_000, eras: null };
  const scan = (change: Partial<GroupView>, more: Partial<PlanInput> = {}) =>
    plan([view({ ...busy, ...change })], wide, more)
      .filter(({ lane }) => lane === 'scan')
      .flatMap(({ ranges }) => ranges.map(({ lo, hi }) => [lo, hi]));

  it('takes what is wanted and no range covers, cut where backfill would be', () => {
    const wanted: Interval[] = [[1000, 2_100_000], [4_000_001, 4_000_009]]; // biome-ignore format: short
    expect(scan({ wanted, planned: [[1500, 1999]] })).toEqual([
      [1000, 1499],
      [2000, 2_000_000],
      [2_000_001, 2_100_000],
      [4_000_001, 4_000_009],
    ]);
  });

  it('takes a group at most once a minute', () => {
    const wanted: Interval[] = [[1000, 1999]];
    expect(scan({ wanted, scanPlannedAt: NOW - 59_999 })).toEqual([]);
    expect(scan({ wanted, scanPlannedAt: NOW - 60_000 })).toEqual([[1000, 1999]]);
  });

  it('takes nothing below the low mark, above the high mark, or of live', () => {
    expect(scan({ wanted: [[1, 999]], low: 1000 })).toEqual([]);
    expect(scan({ wanted: [[1, 1001]], low: 1000 })).toEqual([[1000, 1001]]);
    expect(scan({ wanted: [[4_999_999, 9_000_000]] })).toEqual([[4_999_999, 5_000_000]]);
    expect(scan({ wanted: [[6_000_000, 9_000_000]] })).toEqual([]);
  });

  it('comes before backfill: where it finds no room, backfill gets none', () => {
    const wanting = view({ ...busy, eras: [], wanted: [[1, 1_000_000]], planned: [[1_000_001, 4_999_000]] });
    expect(plan([wanting], { ranges: 9, numbers: 999_999 })).toEqual([]);
    expect(plan([wanting], { ranges: 9, numbers: 1_000_500 }).map(({ lane }) => lane)).toEqual(['scan']);
  });

  it('lets live take wanted numbers without waiting for more of them, once a minute', () => {
    const wish = { high: 9, heldHigh: 9, wanted: [[5, 900]] as const };
    expect(live({ ...wish, livePlannedAt: NOW - 60_000 })).toEqual([1, 9]);
    expect(live({ ...wish, livePlannedAt: NOW - 59_999 })).toBeNull();
    expect(live({ ...wish, wanted: [[10, 900]], livePlannedAt: NOW - 60_000 })).toBeNull();
  });
});
