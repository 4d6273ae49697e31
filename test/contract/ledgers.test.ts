import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { ClosableDatabase } from '../../infra/postgres/index.ts';
import type { GroupLists, RangeLedger } from '../../processors/ports.ts';
import { control } from '../../projections/control/index.ts';
import { groupLists } from '../../projections/control/rows.ts';
import { allPositions } from '../../projections/position.ts';
import { ranges } from '../../projections/ranges/index.ts';
import { coverage, listRanges, rangeCounts, rangeLedger } from '../../projections/ranges/rows.ts';
import type { GroupList } from '../../streams/events/control.ts';
import { EVENTS, type HeadwaterEvent, makeEvent } from '../../streams/events/index.ts';
import { ArticleNumber, Backbone, Epoch, EpochMs, Group, RangeId } from '../../streams/ids.ts';
import { openDatabase, projectAll } from '../kit/projections.ts';
import { failed, fetched, marks, parsed, planned, plannedMany, retired } from '../kit/rangeEvents.ts';
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

describe('the range ledger', () => {
  const project = (events: readonly HeadwaterEvent[], sizes?: readonly number[]) =>
    projectAll(db, ranges, stored(events), sizes);
  const ledger = (): RangeLedger => rangeLedger(db);

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

  it.each([[[1]], [[8]], [[3, 2]]])('tells what is planned, outstanding and done (batches of %j)', async (sizes) => {
    await project(life, sizes);
    expect(await ledger().planned(BB, GROUP, EPOCH)).toEqual([
      [1, 2500],
      [3001, 4000],
    ]);
    expect(await ledger().planned(BB, Group('no.such'), EPOCH)).toEqual([]);
    expect(await ledger().outstanding()).toEqual({ ranges: 4, numbers: 500 + 1000 + 5 });
    expect(await ledger().position()).toEqual({ number: 1, sequence: 8 });
    expect(await ledger().stateOf(run(1, 1000, 1))).toBe('short');
    expect(await ledger().stateOf(run(1001, 2000, 1))).toBe('fetched');
    expect(await ledger().stateOf(run(3001, 4000, 1))).toBe('retired');
    expect(await ledger().stateOf(run(3001, 4000, 2))).toBe('planned');
    expect(await ledger().stateOf(run(3001, 4000, 3))).toBeNull();
    expect(await ledger().stateOf(run(8, 9, 1))).toBeNull();
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

  it('knows the last marks of each group, read when the backbone was last polled', async () => {
    await project(
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
    expect(await ledger().marks(BB)).toEqual([
      { group: 'a.one', epoch: 0, low: 2, high: 11, readAt: 4_000 },
      { group: 'a.two', epoch: 1, low: 1, high: 3, readAt: 4_000 },
    ]);
    expect(await ledger().marks(Backbone('none'))).toEqual([]);
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

  it('takes article numbers up to 2^53', async () => {
    const top = { lo: 2 ** 53 - 1000, hi: 2 ** 53 - 2 };
    await project([planned(top), fetched(top, [[top.lo, top.hi]])]);
    expect(await ledger().planned(BB, GROUP, EPOCH)).toEqual([[top.lo, top.hi]]);
    expect((await listRanges(db, { limit: 1, offset: 0 }))[0]?.missing).toEqual([[top.lo, top.hi]]);
  });
});

describe('the group lists', () => {
  const version = (listVersion: number, names: readonly string[]): HeadwaterEvent => {
    const entries = names.map((name, i) => {
      return { group: Group(name), rank: i + 1, backfill: { kind: 'all' as const }, spans: [], removed: false };
    });
    return makeEvent(EVENTS['control.groups'], EpochMs(1), { origin: 'operator' as const, listVersion, entries });
  };

  it('keep every version whole, and the entries of the newest', async () => {
    const lists: GroupLists = groupLists(db);
    await projectAll(db, control, stored([version(1, ['b.one']), version(2, ['b.one', 'a.two'])]), [1]);
    expect((await lists.current())?.entries.map((e) => e.group)).toEqual(['b.one', 'a.two']);
    expect(await lists.version(1)).toEqual((version(1, ['b.one']) as { data: GroupList }).data);
    expect(await lists.version(3)).toBeNull();
    expect(await db.query('select group_name from control.group_entry order by rank')).toEqual([
      { group_name: 'b.one' },
      { group_name: 'a.two' },
    ]);
    expect(await allPositions(db)).toEqual([
      { name: 'control', family: 'CONTROL', position: { number: 1, sequence: 2 }, version: 1 },
    ]);
  });

  it('are none before the first', async () => {
    await projectAll(db, control, []);
    expect(await groupLists(db).current()).toBeNull();
  });
});
