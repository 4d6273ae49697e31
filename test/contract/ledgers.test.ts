import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { ClosableDatabase } from '../../infra/postgres/index.ts';
import type { RangeLedger } from '../../processors/ports.ts';
import { control } from '../../projections/control/index.ts';
import { ranges } from '../../projections/ranges/index.ts';
import { coverage, listRanges, rangeCounts, rangeLedger } from '../../projections/ranges/rows.ts';
import { EVENTS, type HeadwaterEvent, makeEvent } from '../../streams/events/index.ts';
import { ArticleNumber, Backbone, Epoch, EpochMs, Group, RangeId } from '../../streams/ids.ts';
import { processorWorld } from '../kit/processorWorld.ts';
import { openDatabase, projectAll } from '../kit/projections.ts';
import { failed, fetched, marks, parsed, planned, plannedMany, retired, retried, wanted } from '../kit/rangeEvents.ts';
import { stored } from '../kit/releaseEvents.ts';
import { type Services, startServices } from '../kit/services.ts';

let services: Services;
let db: ClosableDatabase;

beforeAll(async () => {
  services = await startServices({ nats: false });
});
afterAll(async () => {
  await db?.close();
  await services?.stop();
});
beforeEach(async () => {
  await db?.close();
  db = await openDatabase(await services.freshDatabase());
});

const BB = Backbone('bb');
const GROUP = Group('alt.binaries.test');
const EPOCH = Epoch(0);
const run = (lo: number, hi: number, n: number) => ({
  backbone: BB,
  group: GROUP,
  rangeId: RangeId.of(EPOCH, ArticleNumber(lo), ArticleNumber(hi)),
  run: n,
});

/** The ledger of a projection and the one that unit tests use must give the same answers. */
type Project = (events: readonly HeadwaterEvent[], sizes?: readonly number[]) => Promise<RangeLedger>;
const LEDGERS: readonly (readonly [string, Project])[] = [
  [
    'of the projection',
    async (events, sizes) => {
      await projectAll(db, ranges, stored(events), sizes);
      return rangeLedger(db);
    },
  ],
  [
    'in memory',
    async (events) => {
      const world = processorWorld();
      for (const event of events) await world.events.append(event);
      return world.ledger;
    },
  ],
];

const life = [
  planned({ lo: 1, hi: 1000 }),
  plannedMany([
    { lo: 1001, hi: 2000 },
    { lo: 3001, hi: 4000 },
    { group: 'other.group', lo: 5, hi: 9 },
  ]),
  fetched({ lo: 1, hi: 1000 }, [[7, 9]]),
  planned({ lo: 2001, hi: 2500, lane: 'live' }),
  parsed({ lo: 1, hi: 1000 }, [[7, 9]]),
  fetched({ lo: 1001, hi: 2000 }),
  failed({ lo: 3001, hi: 4000 }),
  planned({ lo: 3001, hi: 4000, run: 2 }),
];
const BATCHES = [[[1]], [[8]], [[3, 2]]];

describe.each(LEDGERS)('the range ledger %s', (_, project) => {
  it.each(BATCHES)('tells what is planned, outstanding and done (batches of %j)', async (sizes) => {
    const ledger = await project(life, sizes);
    expect(await ledger.planned(BB, GROUP, EPOCH)).toEqual([
      [1, 2500],
      [3001, 4000],
    ]);
    expect(await ledger.planned(BB, Group('no.such'), EPOCH)).toEqual([]);
    expect(await ledger.outstanding()).toEqual({ ranges: 4, numbers: 500 + 1000 + 5 });
    expect(await ledger.position()).toEqual({ number: 1, sequence: 8 });
    expect(await ledger.stateOf(run(1, 1000, 1))).toBe('short');
    expect(await ledger.stateOf(run(1001, 2000, 1))).toBe('fetched');
    expect(await ledger.stateOf(run(3001, 4000, 1))).toBe('retired');
    expect(await ledger.stateOf(run(3001, 4000, 2))).toBe('planned');
    expect(await ledger.stateOf(run(3001, 4000, 3))).toBeNull();
    expect(await ledger.stateOf(run(8, 9, 1))).toBeNull();
  });

  it('knows the last marks of each group, read when the backbone was last polled', async () => {
    const ledger = await project(
      [
        marks(
          [
            { group: 'a.one', low: 1, high: 10 },
            { group: 'a.two', low: 5, high: 2 ** 52 },
          ],
          1_000,
        ),
        marks([{ group: 'a.one', low: 2, high: 11 }], 2_000),
        marks([{ group: 'a.two', epoch: 1, low: 1, high: 3 }], 3_000),
        marks([], 4_000),
        marks([{ group: 'a.one', low: 9, high: 9 }], 9_000, 'other'),
      ],
      [1],
    );
    expect(await ledger.marks(BB)).toEqual([
      { group: 'a.one', epoch: 0, low: 2, high: 11, readAt: 4_000 },
      { group: 'a.two', epoch: 1, low: 1, high: 3, readAt: 4_000 },
    ]);
    expect(await ledger.marks(Backbone('none'))).toEqual([]);
    expect(await ledger.lastHigh(BB, Group('a.two'), Epoch(0))).toBe(2 ** 52);
    expect(await ledger.lastHigh(BB, Group('a.two'), Epoch(1))).toBe(3);
    expect(await ledger.lastHigh(BB, Group('a.two'), Epoch(2))).toBeNull();
  });

  it('takes article numbers up to 2^53', async () => {
    const top = { lo: 2 ** 53 - 1000, hi: 2 ** 53 - 2 };
    const ledger = await project([planned(top), fetched(top, [[top.lo, top.hi]]), parsed(top, [[top.lo, top.hi]])]);
    expect(await ledger.planned(BB, GROUP, EPOCH)).toEqual([[top.lo, top.hi]]);
    const [short] = await ledger.short(BB, { parsedUpTo: EpochMs(2 ** 50), runs: 9, intervals: 9 });
    expect(short?.missing).toEqual([{ lo: top.lo, hi: top.hi, run: 1 }]);
  });

  it.each([[[1]], [[99]], [[2, 5]]])('tells what waits to be fetched (batches of %j)', async (sizes) => {
    const ledger = await project(
      [
        ...life,
        planned({ lo: 1, hi: 9, lane: 'import' }),
        planned({ lo: 1, hi: 9, backbone: 'other' }),
        retired({ group: 'other.group', lo: 5, hi: 9 }),
      ],
      sizes,
    );
    expect(await ledger.unfetched(BB)).toEqual([
      { ...run(2001, 2500, 1), epoch: 0, lo: 2001, hi: 2500, lane: 'live' },
      { ...run(3001, 4000, 2), epoch: 0, lo: 3001, hi: 4000, lane: 'backfill' },
    ]);
  });

  describe('about missing numbers', () => {
    const short = (o: object, missing: [number, number][], at: number) => [
      planned(o),
      fetched(o, missing),
      parsed(o, missing, at),
    ];
    const most = { parsedUpTo: EpochMs(3000), runs: 10, intervals: 10 };
    const events = [
      ...short({ lo: 1, hi: 1000 }, [[5, 7], [9, 9]], 2000), // biome-ignore format: one range a line
      ...short({ lo: 1001, hi: 2000 }, [[1001, 2000]], 1000),
      ...short({ lo: 2001, hi: 3000 }, [[2001, 2001]], 3001),
      ...short({ lo: 3001, hi: 4000, lane: 'import' }, [[3001, 3001]], 1),
      ...short({ lo: 1, hi: 1000, backbone: 'other' }, [[1, 1]], 1),
    ];

    it('names the short runs in the order in which they were parsed, with the runs that their missing numbers had', async () => {
      const ledger = await project([...events, planned({ lo: 9, hi: 9, run: 4 })], [3]);
      expect(await ledger.short(BB, most)).toEqual([
        {
          ...{ ...run(1001, 2000, 1), epoch: 0, lo: 1001, hi: 2000, lane: 'backfill' },
          missing: [{ lo: 1001, hi: 2000, run: 1 }],
        },
        {
          ...{ ...run(1, 1000, 1), epoch: 0, lo: 1, hi: 1000, lane: 'backfill' },
          missing: [
            { lo: 5, hi: 7, run: 0 },
            { lo: 9, hi: 9, run: 4 },
          ],
        },
      ]);
    });

    it('gives no more than was asked for', async () => {
      const ledger = await project(events);
      expect((await ledger.short(BB, { ...most, runs: 1 })).map((r) => r.lo)).toEqual([1001]);
      const limited = await ledger.short(BB, { ...most, intervals: 1 });
      expect(limited[1]?.missing).toEqual([{ lo: 5, hi: 7, run: 0 }]);
    });

    it.each([[[1]], [[99]], [[7, 4]]])('forgets a run once they are asked for again (batches of %j)', async (sizes) => {
      const again = plannedMany(
        [
          { lo: 5, hi: 7 },
          { lo: 9, hi: 9 },
        ],
        5000,
        { lo: 1, hi: 1000 },
      );
      const whole = plannedMany([{ lo: 1001, hi: 2000, run: 2 }], 5000, { lo: 1001, hi: 2000 });
      const ledger = await project([...events, again, whole], sizes);
      expect(await ledger.short(BB, most)).toEqual([]);
      expect(await ledger.stateOf(run(1, 1000, 1))).toBe('parsed');
      expect(await ledger.stateOf(run(1001, 2000, 2))).toBe('planned');
      // The numbers are counted as they are asked for, and planned numbers once.
      expect(await ledger.outstanding()).toEqual({ ranges: 3, numbers: 3 + 1 + 1000 });
      expect(await ledger.planned(BB, GROUP, EPOCH)).toEqual([[1, 4000]]);
    });

    it('forgets a run whose missing numbers are given up', async () => {
      const ledger = await project([...events, retired({ lo: 1, hi: 1000 })]);
      expect((await ledger.short(BB, most)).map((r) => r.lo)).toEqual([1001]);
      expect(await ledger.stateOf(run(1, 1000, 1))).toBe('parsed');
    });
  });

  it('names the failed runs that are to be planned again, the earliest failed first', async () => {
    const wishes = [
      { lo: 1, hi: 9 },
      { lo: 10, hi: 19 },
      { lo: 20, hi: 29 },
      { lo: 50, hi: 59, lane: 'import' as const },
    ];
    const ledger = await project(
      [
        ...[1, 10, 20, 30].map((lo) => planned({ lo, hi: lo === 1 ? 9 : lo + 9 })),
        failed({ lo: 1, hi: 9 }, 'fetch', 3000),
        failed({ lo: 10, hi: 19 }, 'fetch', 2000),
        fetched({ lo: 20, hi: 29 }),
        ...[planned({ lo: 50, hi: 59, lane: 'import' }), failed({ lo: 50, hi: 59, lane: 'import' })],
        ...[fetched({ lo: 30, hi: 39 }), failed({ lo: 30, hi: 39 }, 'parse', 1000)],
        retried(wishes),
      ],
      [4],
    );
    expect((await ledger.toRetry(BB, 9)).map((r) => r.rangeId)).toEqual(['0-30-39', '0-10-19', '0-1-9']);
    expect((await ledger.toRetry(BB, 1)).map((r) => r.rangeId)).toEqual(['0-30-39']);
    expect(await ledger.toRetry(Backbone('other'), 9)).toEqual([]);
  });

  it.each([[[1]], [[99]], [[3, 2]]])('names what was retired with its removed group (batches of %j)', async (sizes) => {
    const ledger = await project(
      [
        ...[1, 10, 20, 30, 40].map((lo) => planned({ lo, hi: lo === 1 ? 9 : lo + 9 })),
        ...[planned({ lo: 50, hi: 59, lane: 'import' }), planned({ epoch: 1, lo: 1, hi: 9 })],
        retired({ lo: 10, hi: 19 }, 2000, 'group removed'),
        retired({ lo: 1, hi: 9 }, 3000, 'group removed'),
        retired({ lo: 20, hi: 29 }, 1000, 'below the low mark'),
        ...[retired({ lo: 30, hi: 39 }, 1000, 'group removed'), planned({ lo: 30, hi: 39, run: 2 })],
        retired({ lo: 50, hi: 59, lane: 'import' }, 1000, 'group removed'),
        retired({ epoch: 1, lo: 1, hi: 9 }, 1000, 'group removed'),
      ],
      sizes,
    );
    const returned = async (from: number, limit = 9, group = GROUP, epoch = EPOCH) =>
      (await ledger.returned(BB, [{ group, epoch, from }], limit)).map((r) => `${r.rangeId}/${r.run}`);
    expect(await returned(1)).toEqual(['0-10-19/1', '0-1-9/1']);
    expect(await returned(1, 1)).toEqual(['0-10-19/1']);
    expect(await returned(10)).toEqual(['0-10-19/1']);
    expect(await returned(20)).toEqual([]);
    expect(await returned(1, 9, GROUP, Epoch(1))).toEqual(['1-1-9/1']);
    expect(await returned(1, 9, Group('no.such'))).toEqual([]);
    expect(await ledger.returned(BB, [], 9)).toEqual([]);
  });

  it.each([[[1]], [[99]], [[2, 1]]])('keeps what is wanted and not covered (batches of %j)', async (sizes) => {
    const ledger = await project(
      [
        wanted(
          [
            { lo: 1, hi: 100 },
            { lo: 90, hi: 200 },
            { group: 'z.z', epoch: 2, lo: 7, hi: 7 },
          ],
          'one',
        ),
        planned({ lo: 50, hi: 60 }),
        wanted(
          [
            { lo: 55, hi: 59 },
            { lo: 500, hi: 600 },
          ],
          'two',
        ),
        planned({ lo: 550, hi: 700 }),
      ],
      sizes,
    );
    expect(await ledger.wanted(BB)).toEqual([
      { group: GROUP, epoch: 0, numbers: [[1, 49], [61, 200], [500, 549]] }, // biome-ignore format: a group a line
      { group: 'z.z', epoch: 2, numbers: [[7, 7]] },
    ]);
    expect(await ledger.wanted(Backbone('other'))).toEqual([]);
  });
});

describe('what is shown of ranges', () => {
  const project = async (events: readonly HeadwaterEvent[], sizes?: readonly number[]) => {
    await projectAll(db, control, stored([]));
    await projectAll(db, ranges, stored(events), sizes);
  };

  it.each(BATCHES)('is how many are in each state (batches of %j)', async (sizes) => {
    await project(life, sizes);
    expect(await rangeCounts(db)).toEqual({ planned: 3, fetched: 1, parsed: 0, short: 1, failed: 0, retired: 0 });
  });

  it('lists ranges with what is missing and why they failed', async () => {
    await project(
      [...life, failed({ lo: 1001, hi: 2000 }, 'parse'), retired({ group: 'other.group', lo: 5, hi: 9 })],
      [1],
    );
    const rows = await listRanges(db, { group: GROUP, limit: 10, offset: 0 });
    expect(rows.map((r) => [r.rangeId, r.state, r.run])).toEqual([
      ['0-1-1000', 'short', 1],
      ['0-1001-2000', 'failed', 1],
      ['0-2001-2500', 'planned', 1],
      ['0-3001-4000', 'planned', 2],
    ]);
    expect(rows[0]).toMatchObject({ missing: [[7, 9]], lines: 900, kept: 800, rawBytes: 90_000, releases: 3, pass: 1 });
    expect(rows[1]?.failure).toEqual({ stage: 'parse', class: 'error', code: 'NNTP_TIMEOUT', message: 'silent' });
    expect((await listRanges(db, { state: 'retired', limit: 10, offset: 0 })).map((r) => r.group)).toEqual([
      'other.group',
    ]);
    expect((await listRanges(db, { limit: 1, offset: 1 })).map((r) => r.rangeId)).toEqual(['0-1001-2000']);
  });

  it('keeps missing numbers over events that say nothing about them', async () => {
    await project([planned(), fetched({}, [[7, 9]]), failed({}, 'parse')], [2, 1]);
    const [row] = await listRanges(db, { limit: 1, offset: 0 });
    expect(row).toMatchObject({ state: 'failed', missing: [[7, 9]], rawBytes: 90_000 });
  });

  it('sums up what is covered of a group', async () => {
    await project([...life, marks([{ group: GROUP, low: 1, high: 4000 }])]);
    const rows = await coverage(db);
    expect(
      rows.map(({ group, low, high, planned: p, parsed: q, failed: f, ranges: n }) => [group, low, high, p, q, f, n]),
    ).toEqual([
      [GROUP, 1, 4000, 3500, 1000, 0, 4],
      ['other.group', null, null, 5, 0, 0, 1],
    ]);
  });

  it('counts no number twice that was asked for again', async () => {
    await project([
      planned(),
      fetched({}, [[5, 9]]),
      parsed({}, [[5, 9]]),
      plannedMany([{ lo: 5, hi: 9 }], undefined, {}),
      fetched({ lo: 5, hi: 9 }),
      parsed({ lo: 5, hi: 9 }),
    ]);
    expect(await coverage(db)).toMatchObject([{ ranges: 2, planned: 1000, parsed: 1000, failed: 0 }]);
  });

  it('is the era of each: as the list dated it, or by its own first article; and those of one era alone', async () => {
    await projectAll(
      db,
      ranges,
      stored([
        ...[1, 1001, 2001].map((lo) => planned({ lo, hi: lo + 999 })),
        ...[planned({ lo: 9001, hi: 9002, lane: 'live' }), fetched({ lo: 9001, hi: 9002, lane: 'live' })],
        planned({ group: 'a.undated', lo: 1, hi: 5 }),
      ]),
    );
    const eras = [
      { year: 2019, from: ArticleNumber(1) },
      { year: 2021, from: ArticleNumber(2000) },
    ];
    const span = { backbone: BB, epoch: EPOCH, from: ArticleNumber(1), liveFrom: ArticleNumber(5000), to: null, eras };
    const entry = { group: GROUP, rank: 1, backfill: { kind: 'all' as const }, spans: [span], removed: false };
    const list = { origin: 'coordinator' as const, listVersion: 1, entries: [entry] };
    await projectAll(db, control, stored([makeEvent(EVENTS['control.groups'], EpochMs(1), list)]));
    const shown = async (era?: number) =>
      (await listRanges(db, { era, limit: 10, offset: 0 })).map((r) => [r.rangeId, r.era]);
    expect(await shown()).toEqual([
      ['0-1-5', null],
      ['0-1-1000', 2019],
      ['0-1001-2000', 2019],
      ['0-2001-3000', 2021],
      ['0-9001-9002', 2024],
    ]);
    expect(await shown(2019)).toEqual([
      ['0-1-1000', 2019],
      ['0-1001-2000', 2019],
    ]);
    expect(await shown(2024)).toEqual([['0-9001-9002', 2024]]);
    expect(await shown(2020)).toEqual([]);
  });
});
