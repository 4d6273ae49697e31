import { describe, expect, it } from 'vitest';
import { reaskRanges } from '../../../processors/coordinator/again.ts';
import { type PlanInput, planRanges } from '../../../processors/coordinator/plan.ts';
import { retirements } from '../../../processors/coordinator/standing.ts';
import type { LedgerRun, ShortRun } from '../../../processors/ports.ts';
import { ArticleNumber, Epoch, Group } from '../../../streams/ids.ts';
import { input, ledgerRun, standing, view, wide } from '../../kit/planInput.ts';

describe('asking again', () => {
  const quiet = view({ liveFrom: 1, high: 0, heldHigh: 0 });
  const run = ledgerRun;
  const short = (lo: number, hi: number, missing: readonly (readonly [number, number, number?])[]): ShortRun => ({
    ...run(lo, hi),
    missing: missing.map(([a, b, n = 0]) => ({ lo: ArticleNumber(a), hi: ArticleNumber(b), run: n })),
  });
  const again = (change: Partial<PlanInput>, room = wide) => planRanges(input([quiet], { room, ...change }));
  const low = (n: number) => new Map([[quiet.group, { ...standing, low: n }]]);

  it('plans failed ranges as the next run, in their lane, while there is room', () => {
    const retries = [run(1, 100, { lane: 'live', run: 3 }), run(101, 200), run(201, 300)];
    expect(again({ retries }, { ranges: 2, numbers: 1e6 }).plans).toMatchObject([
      { lane: 'live', ranges: [{ rangeId: '0-1-100', run: 4 }] },
      { lane: 'backfill', ranges: [{ rangeId: '0-101-200', run: 2 }] },
    ]);
    expect(again({ retries }, { ranges: 9, numbers: 199 }).plans).toHaveLength(1);
  });

  it('passes over a failed range that never fits, and holds nothing up for it', () => {
    const retries = [run(1, 5000), run(6000, 6001)];
    const { plans, retire } = again({ retries, most: { ranges: 9, numbers: 4999 } });
    expect(plans.map(({ ranges }) => ranges[0]!.lo)).toEqual([6000]);
    expect(retire).toEqual([]);
  });

  it('asks for missing numbers as ranges of their own, in one plan that names the short run', () => {
    expect(
      again({
        short: [
          short(1, 1000, [
            [5, 7],
            [9, 9, 4],
          ]),
        ],
      }).plans,
    ).toEqual([
      {
        lane: 'backfill',
        ranges: [
          { group: 'a.b', epoch: 0, rangeId: '0-5-7', lo: 5, hi: 7, run: 1 },
          { group: 'a.b', epoch: 0, rangeId: '0-9-9', lo: 9, hi: 9, run: 5 },
        ],
        reasks: { group: 'a.b', rangeId: '0-1-1000', run: 1 },
      },
    ]);
  });

  it('runs the whole range again when more than 500 intervals are missing, or all of it', () => {
    const holes = (n: number) => Array.from({ length: n }, (_, i): [number, number] => [2 * i + 1, 2 * i + 1]);
    expect(again({ short: [short(1, 5000, holes(500))] }).plans[0]!.ranges).toHaveLength(500);
    for (const missing of [holes(501), [[1, 5000, 1] as const]]) {
      expect(again({ short: [short(1, 5000, missing)] }).plans).toMatchObject([
        { ranges: [{ rangeId: '0-1-5000', run: 2 }], reasks: { rangeId: '0-1-5000', run: 1 } },
      ]);
    }
  });

  it('asks for no number below the low mark, and gives up a run of which only such are missing', () => {
    const runs = [short(1, 1000, [[5, 7], [90, 110]]), short(2, 1000, [[5, 7]])]; // biome-ignore format: short
    const { plans, retire } = again({ short: runs, standings: low(100) });
    expect(plans.flatMap(({ ranges }) => ranges.map(({ lo }) => lo))).toEqual([90]);
    expect(retire).toEqual([{ run: runs[1], reason: 'below the low mark' }]);
  });

  it('asks for what fits when the limits were larger once', () => {
    const ranges = reaskRanges(
      short(1, 9000, [
        [1, 3000],
        [4000, 9000, 2],
      ]),
      1,
      3500,
      500,
    );
    expect(ranges.map(({ lo, hi, run: n }) => [lo, hi, n])).toEqual([
      [1, 3000, 1],
      [4000, 4499, 1],
    ]);
    expect(reaskRanges(short(1, 9000, [[1, 9000, 1]]), 1, 3500, 500).map(({ hi }) => hi)).toEqual([3500]);
  });

  it('takes many small ranges while there is room for one', () => {
    const missing = [[1, 1], [3, 3], [5, 5]] as const; // biome-ignore format: short
    const runs = [short(1, 10, missing), short(11, 20, [[12, 12]])];
    expect(again({ short: runs }, { ranges: 1, numbers: 1e6 }).plans).toHaveLength(1);
    expect(again({ short: runs }, { ranges: 0, numbers: 1e6 }).plans).toHaveLength(0);
  });

  it('is no use for a removed group or an epoch that is over: both are answered by retiring', () => {
    const one = { retries: [run(1, 9)], short: [short(10, 19, [[11, 11]])] };
    const reasons = (change: object) =>
      again({ ...one, standings: new Map([[quiet.group, { ...standing, ...change }]]) }).retire.map((r) => r.reason);
    expect(reasons({ removed: true })).toEqual(['group removed', 'group removed']);
    expect(reasons({ epoch: Epoch(1) })).toEqual(['superseded', 'superseded']);
    expect(reasons({ low: 10 })).toEqual(['below the low mark']);
    expect(again({ ...one, standings: new Map() })).toEqual({ plans: [], retire: [] });
  });
});

describe('ranges that wait in vain', () => {
  const group = Group('a.b');
  const run = (lo: number, hi: number, epoch = 1) => ledgerRun(lo, hi, { epoch: Epoch(epoch) });
  const reasons = (runs: readonly LedgerRun[], change: object, begun = () => false) =>
    retirements(runs, new Map([[group, { epoch: Epoch(1), removed: false, low: 50, ...change }]]), begun).map(
      ({ run: r, reason }) => `${r.rangeId} ${reason}`,
    );

  it('are those below the low mark, of an earlier epoch, or of a removed group', () => {
    const runs = [run(1, 49), run(40, 50), run(900, 999, 0)];
    expect(reasons(runs, {})).toEqual(['1-1-49 below the low mark', '0-900-999 superseded']);
    expect(reasons([run(900, 999)], { removed: true })).toEqual(['1-900-999 group removed']);
    expect(reasons([run(1, 9, 2)], {})).toEqual([]);
    expect(retirements(runs, new Map(), () => false)).toEqual([]);
  });

  it('are not those of which batches are stored, where only the low mark rose', () => {
    expect(reasons([run(1, 49)], {}, () => true)).toEqual([]);
    expect(reasons([run(1, 49)], { removed: true }, () => true)).toHaveLength(1);
  });
});
