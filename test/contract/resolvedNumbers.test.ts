import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ClosableDatabase } from '../../infra/postgres/index.ts';
import type { ResolvedNumbers } from '../../processors/resolution.ts';
import { control } from '../../projections/control/index.ts';
import { ranges } from '../../projections/ranges/index.ts';
import { resolvedNumbers } from '../../projections/ranges/resolved.ts';
import type { GroupSpan } from '../../streams/events/control.ts';
import { EVENTS, type HeadwaterEvent, makeEvent } from '../../streams/events/index.ts';
import { ArticleNumber, Backbone, Epoch, EpochMs, Group } from '../../streams/ids.ts';
import { openDatabase, projectAll } from '../kit/projections.ts';
import { failed, fetched, marks, parsed, planned, retired } from '../kit/rangeEvents.ts';
import { stored } from '../kit/releaseEvents.ts';
import { type Services, startServices } from '../kit/services.ts';

let services: Services;
let db: ClosableDatabase;

beforeAll(async () => {
  services = await startServices({ nats: false });
  db = await openDatabase(await services.freshDatabase());
});
afterAll(async () => {
  await db?.close();
  await services?.stop();
});

const BB = Backbone('bb');
const GROUP = Group('alt.binaries.test');
const TOP = Number.MAX_SAFE_INTEGER;
/** `parsed` of the kit names this RELEASES position. */
const PARSED_AT = { number: 2, sequence: 77 };

const span = (from: number, to: number | null, o: Partial<GroupSpan> = {}): GroupSpan => ({
  backbone: BB,
  epoch: Epoch(0),
  from: ArticleNumber(from),
  liveFrom: ArticleNumber(from),
  to: to === null ? null : ArticleNumber(to),
  ...o,
});
const listOf = (spans: readonly GroupSpan[], removed = false): HeadwaterEvent => {
  const entry = { group: GROUP, rank: 1, backfill: { kind: 'all' as const }, spans: [...spans], removed };
  return makeEvent(EVENTS['control.groups'], EpochMs(1), { origin: 'operator', listVersion: 1, entries: [entry] });
};

async function resolution(
  events: readonly HeadwaterEvent[],
  spans: readonly GroupSpan[] = [],
  { epoch = 0, projected = PARSED_AT, removed = false } = {},
) {
  await projectAll(db, control, stored([listOf(spans, removed)]));
  await projectAll(db, ranges, stored(events));
  const port: ResolvedNumbers = resolvedNumbers(db);
  return port.of(BB, GROUP, Epoch(epoch), projected);
}
const resolved = async (...args: Parameters<typeof resolution>) => (await resolution(...args)).resolved;

const read = (low: number, high: number, at = 5_000, epoch = 0) => marks([{ group: GROUP, epoch, low, high }], at);
const done = (lo: number, hi: number, missing: [number, number][] = []) => [
  planned({ lo, hi }),
  fetched({ lo, hi }, missing),
  parsed({ lo, hi }, missing),
];

describe('resolved numbers in Postgres', () => {
  it('are those of ranges that are parsed, with and without missing numbers, failed or retired', async () => {
    const events = [
      read(0, 9_000),
      ...done(1, 1000),
      ...done(1001, 2000, [[1500, 1600]]),
      ...[planned({ lo: 3001, hi: 4000 }), failed({ lo: 3001, hi: 4000 })],
      ...[planned({ lo: 5001, hi: 6000 }), retired({ lo: 5001, hi: 6000 })],
      planned({ lo: 6001, hi: 7000 }),
      ...[planned({ lo: 7001, hi: 8000 }), fetched({ lo: 7001, hi: 8000 })],
    ];
    expect(await resolved(events, [span(0, null)])).toEqual([
      [1, 2000],
      [3001, 4000],
      [5001, 6000],
    ]);
  });

  it.each([
    [{ number: 2, sequence: 76 }, []],
    [{ number: 1, sequence: 9999 }, []],
    [{ number: 2, sequence: 77 }, [[1, 1000]]],
    [{ number: 3, sequence: 1 }, [[1, 1000]]],
  ])('count a parsed range only behind the position that it names (reader at %j)', async (projected, expected) => {
    expect(await resolved([read(0, 9_000), ...done(1, 1000)], [span(0, null)], { projected })).toEqual(expected);
  });

  it('are no more those of a range that is planned again, nor those that another range still holds', async () => {
    expect(
      await resolved([read(0, 9_000), ...done(1, 1000), planned({ lo: 1, hi: 1000, run: 2 })], [span(0, null)]),
    ).toEqual([]);
    expect(await resolved([read(0, 9_000), ...done(1, 1000), planned({ lo: 900, hi: 1100 })], [span(0, null)])).toEqual(
      [[1, 899]],
    );
  });

  it('are all below the low mark and outside the spans of the list', async () => {
    expect(await resolved([read(500, 9_000)], [span(0, null)])).toEqual([[0, 499]]);
    expect(await resolved([read(500, 9_000)], [span(800, null)])).toEqual([[0, 799]]);
    expect(await resolved([read(500, 9_000)], [span(800, 8_999)])).toEqual([
      [0, 799],
      [9_000, TOP],
    ]);
    // Removed and added again: two spans.
    expect(await resolved([read(0, 9_000)], [span(100, 199), span(300, null)])).toEqual([
      [0, 99],
      [200, 299],
    ]);
  });

  it('are, once a group has left the list, all that no range covers', async () => {
    const events = [read(0, 9_000), ...done(1, 1000), planned({ lo: 1001, hi: 2000 })];
    expect(await resolved(events, [span(1, 9_000)], { removed: true })).toEqual([
      [0, 1000],
      [2001, TOP],
    ]);
    // Its end is not known yet: what lies beyond may still have been planned.
    expect(await resolved(events, [span(1, null)], { removed: true })).toEqual([[0, 1000]]);
  });

  it('are not cut by spans of other backbones and epochs', async () => {
    const others = [span(5, 9, { backbone: Backbone('zz') }), span(5, 9, { epoch: Epoch(1) })];
    expect(await resolved([read(500, 9_000)], [span(0, null), ...others])).toEqual([[0, 499]]);
  });

  it("are, in an epoch that is over, all that no range covers, and its marks are nobody's", async () => {
    const events = [read(100, 9_000), ...done(1001, 2000), planned({ lo: 3001, hi: 4000 }), read(1, 10, 6_000, 1)];
    expect(await resolution(events, [span(0, null)])).toMatchObject({
      resolved: [
        [0, 3000],
        [4001, TOP],
      ],
      high: null,
      highReadAt: null,
    });
    expect(await resolution(events, [span(0, null, { epoch: Epoch(1) })], { epoch: 1 })).toMatchObject({
      resolved: [[0, 0]],
      high: 10,
      highReadAt: 6_000,
    });
  });

  // An import puts its group on the list, with a span that is open to the end.
  it.each([
    ['no list has the group', []],
    ['an import has listed it', [span(1, null)]],
  ])('are, where nobody reads marks and %s, all that no range covers', async (_, spans) => {
    expect(await resolution([...done(1, 1000), planned({ lo: 1001, hi: 2000 })], spans)).toMatchObject({
      resolved: [
        [0, 1000],
        [2001, TOP],
      ],
      high: null,
      highReadAt: null,
    });
  });

  it('come with the last high mark and the time of the last reading, which holds for marks that did not change', async () => {
    const found = await resolution([read(0, 9_000), marks([], 7_000), marks([], 8_000, 'zz')], [span(0, null)]);
    expect(found).toMatchObject({ resolved: [], high: 9_000, highReadAt: 7_000 });
  });

  it('are none where the ledger knows nothing', async () => {
    expect(await resolution([planned({ group: 'other.group' })])).toMatchObject({
      resolved: [],
      high: null,
      highReadAt: null,
    });
  });

  it('take article numbers up to 2^53', async () => {
    expect(await resolved([read(0, TOP), ...done(2 ** 52, TOP)], [span(0, null)])).toEqual([[2 ** 52, TOP]]);
  });
});
