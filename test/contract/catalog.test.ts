import fc from 'fast-check';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { ClosableDatabase } from '../../infra/postgres/index.ts';
import type { PassLedger } from '../../processors/ports.ts';
import { birthOf } from '../../projections/catalog/birth.ts';
import { catalog } from '../../projections/catalog/index.ts';
import { catalogCounts, contributionsOf, passLedger, releaseById } from '../../projections/catalog/rows.ts';
import type { HeadwaterEvent } from '../../streams/events/index.ts';
import type { ArticleNumber, Backbone, Epoch, EpochMs, Group, ReleaseId } from '../../streams/ids.ts';
import { catalogDump } from '../kit/catalogDump.ts';
import { modelCatalog } from '../kit/catalogModel.ts';
import { catalogWorld } from '../kit/catalogWorld.ts';
import { openDatabase, projectAll } from '../kit/projections.ts';
import {
  type ContributionOptions,
  contribution,
  DAY,
  HOUR,
  keyOf,
  opened,
  type PassOptions,
  passFields,
  seen,
  stored,
  T0,
} from '../kit/releaseEvents.ts';
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

const project = (events: readonly HeadwaterEvent[], sizes?: readonly number[]) =>
  projectAll(db, catalog, stored(events), sizes);
/** Every chunk position is behind the chunks projection. */
const chunksAt = (sequence: number) =>
  db.query(
    `insert into projection_position (name, projection, version, stream_family, stream_number, sequence, epoch)
     values ('chunks', 'chunks', 1, 'CHUNKS', 1, $1, 1) on conflict (name) do update set sequence = excluded.sequence`,
    [sequence],
  );
const shown = async () =>
  db.query<{ name: string; segments: number; bytes: number; files: number; first_at: number; last_at: number }>(
    'select name, segments, bytes, files, first_at, last_at from catalog.release order by first_at, name',
  );
const segments = async () => (await shown()).map((r) => r.segments);
const idOf = (o: PassOptions, name: string, firstNumber: number) => {
  const { backbone, group, epoch } = passFields(o);
  return birthOf(backbone as Backbone, group as Group, epoch as Epoch, firstNumber as ArticleNumber, keyOf(name));
};
const at = (days: number): EpochMs => (T0 + days * DAY) as EpochMs;
const part = (days: number, segmentCount: number, o: ContributionOptions = {}) =>
  contribution('name', { firstAt: at(days), lastAt: at(days), segments: segmentCount, ...o });
const number = (n: number) => ({ firstNumber: n as ArticleNumber, lastNumber: n as ArticleNumber });

describe('opened replaces', () => {
  it('a re-run leaves what only the second run said', async () => {
    const first = [opened(), seen({}, [part(0, 5), contribution('gone', { segments: 1 })])];
    const second = [opened({ run: 2 }), seen({ run: 2 }, [part(0, 7)])];
    await project([...first, ...second], [1]);
    const after = await catalogDump(db, { chunks: false });
    await project(second);
    expect(await catalogDump(db, { chunks: false })).toBe(after);
    expect(await segments()).toEqual([7]);
  });

  it('an empty re-run leaves nothing but the births', async () => {
    await project([opened(), seen({}, [part(0, 5)]), opened({ run: 2 })], [2, 1]);
    expect(await shown()).toEqual([]);
    expect(await db.query('select redirect_to from catalog.birth')).toEqual([{ redirect_to: null }]);
  });

  it('a later pass replaces an earlier one, and a release comes back under its id', async () => {
    const events = [opened(), seen({}, [part(0, 5)]), opened({ pass: 2 }), seen({ pass: 2 }, [part(0, 5)])];
    await project(events, [1]);
    const rows = await db.query('select release_id from catalog.release');
    expect(rows.map((r) => String(r.release_id).replaceAll('-', ''))).toEqual([idOf({}, 'name', 1)]);
  });

  it.each([[[1]], [[5]], [[2, 3]], [[3, 2]]])(
    'a zombie of an earlier pass changes nothing (batches of %j)',
    async (sizes) => {
      const zombie = seen({}, [part(0, 100, number(50))], 1);
      await project([opened(), opened({ pass: 2 }), seen({ pass: 2 }, [part(0, 5)]), zombie, opened()], sizes);
      expect(await segments()).toEqual([5]);
      expect(await db.query('select count(*) as n from catalog.birth')).toEqual([{ n: 1 }]);
    },
  );

  it('a contribution that its own batch withdraws still leaves its birth', async () => {
    const events = [
      opened(),
      seen({}, [part(0, 5, number(3))]),
      opened({ run: 2 }),
      seen({ run: 2 }, [part(0, 6, number(9))]),
    ];
    await project(events);
    // The older birth names the release, although nothing of it is left.
    expect(await db.query('select release_id::text as id from catalog.release')).toEqual([
      { id: idOf({}, 'name', 3).replace(/(.{8})(.{4})(.{4})(.{4})(.{12})/, '$1-$2-$3-$4-$5') },
    ]);
  });

  it('other ranges keep what they contributed', async () => {
    const other = { lo: 1001, hi: 2000 };
    await project([
      opened(),
      seen({}, [part(0, 5)]),
      opened(other),
      seen(other, [part(0, 3, number(1500))]),
      opened({ run: 2 }),
    ]);
    expect(await segments()).toEqual([3]);
  });

  it('a message that was stored twice counts once', async () => {
    const message = seen({}, [part(0, 5)]);
    await project([opened(), message, message]);
    expect(await segments()).toEqual([5]);
    await project([opened(), message, message], [1]);
    expect(await segments()).toEqual([5]);
  });
});

describe('what a release shows', () => {
  const range = (n: number): PassOptions => ({ lo: n * 1000 + 1, hi: n * 1000 + 1000 });

  it('sums its contributions within one backbone', async () => {
    await project([
      opened(range(0)),
      seen(range(0), [part(0, 5)]),
      opened(range(1)),
      seen(range(1), [
        part(0.1, 7, { ...number(1001), groups: ['alt.binaries.other', 'alt.binaries.test'], hasNfo: true }),
      ]),
    ]);
    const [release] = await db.query('select * from catalog.release');
    expect(release).toMatchObject({ segments: 12, files: 4, bytes: 14_000_000, par2_files: 2, has_nfo: true });
    expect(release).toMatchObject({ first_at: at(0), last_at: at(0.1), provisional: true });
    await chunksAt(99);
    const row = await releaseById(db, idOf({}, 'name', 1));
    expect(row?.groups).toEqual(['alt.binaries.test', 'alt.binaries.other']);
  });

  it('a second backbone or a renumbering counts nothing twice: the largest sum is shown', async () => {
    const second = { backbone: 'other' };
    const renumbered = { epoch: 1 };
    await project([
      opened(),
      seen({}, [part(0, 5), part(0, 4, { posting: 1, ...number(9) })]),
      opened(second),
      seen(second, [part(0, 8)]),
      opened(renumbered),
      seen(renumbered, [part(0, 3)]),
    ]);
    expect(await segments()).toEqual([9]);
    expect(
      (await contributionsOf(db, idOf({}, 'name', 1))).map((c) => [c.backbone, c.epoch, 'posting' in c && c.posting]),
    ).toEqual([
      ['bb', 0, 0],
      ['bb', 0, 1],
      ['bb', 1, 0],
      ['other', 0, 0],
    ]);
  });

  it('shows the name and poster of its first article, and is found by that name', async () => {
    const events = [
      opened(range(0)),
      seen(range(0), [contribution('NAME', { firstAt: at(1), segments: 1 })]),
      opened(range(1)),
      seen(range(1), [contribution('näme', { key: keyOf('name'), firstAt: at(0), poster: 'first', segments: 2 })]),
    ];
    await project(events, [1]);
    expect(await db.query('select name, poster, tokens::text from catalog.release')).toEqual([
      { name: 'näme', poster: 'first', tokens: "'name'" },
    ]);
    const odd = contribution('Second Title', { key: keyOf('name'), firstAt: at(2), segments: 2 });
    const other = [opened(range(2)), seen(range(2), [odd])];
    // The naming contribution goes; the words of the one that stays came with an earlier batch.
    await project([...events, ...other, opened({ ...range(0), run: 2 }), opened({ ...range(1), run: 2 })], [6, 2]);
    expect(await db.query('select name, tokens::text from catalog.release')).toEqual([
      { name: 'Second Title', tokens: "'second' 'title'" },
    ]);
  });

  it('is filed as the contribution says that names it, whichever came first', async () => {
    const title = 'Harbor.Lights.S01E02.720p.HDTV.x264';
    const hidden = { key: keyOf('one'), obfuscated: true, firstAt: at(1) };
    const named = { key: keyOf('one'), firstAt: at(0) };
    const both = [
      [opened(range(0)), seen(range(0), [contribution('one', hidden)])],
      [opened(range(1)), seen(range(1), [contribution(title, named)])],
    ] as const;
    const category = () => db.query('select name, category from catalog.release');
    for (const order of [both.flat(), [...both].reverse().flat()]) {
      await project(order, [2]);
      expect(await category()).toEqual([{ name: title, category: 5040 }]);
    }
    // The one that named it goes; what it was filed under goes with the name.
    await project([...both.flat(), opened({ ...range(1), run: 2 })], [4, 1]);
    expect(await category()).toEqual([{ name: 'one', category: 8020 }]);
  });

  it('counters that posters made up do not stop it', async () => {
    const absurd = { segmentsTotal: 2 ** 50, bytes: 2 ** 52, filesTotal: 2 ** 40, name: 'a\0b'.padEnd(5_000, 'x') };
    await project([
      opened(),
      seen({}, [contribution('z', absurd)]),
      opened(range(1)),
      seen(range(1), [contribution('z', absurd)]),
    ]);
    const [release] = await db.query('select segments_total, bytes, length(name) as n from catalog.release');
    expect(release).toEqual({ segments_total: 2 ** 31 - 1, bytes: 2 ** 53 - 1, n: 1_000 });
  });
});

describe('identity', () => {
  const range = (n: number): PassOptions => ({ lo: n * 1000 + 1, hi: n * 1000 + 1000 });
  const one = (n: number, days: number, count: number) => [
    opened(range(n)),
    seen(range(n), [part(days, count, number(n * 1000 + 1))]),
  ];
  const ids = async () =>
    (await db.query('select release_id from catalog.release order by first_at')).map((r) =>
      String(r.release_id).replaceAll('-', ''),
    );
  const birth = (n: number) => idOf({}, 'name', n * 1000 + 1);

  it('contributions 3 days apart are two releases, closer ones are one', async () => {
    await project([...one(0, 0, 1), ...one(1, 3, 2)]);
    expect(await segments()).toEqual([1, 2]);
    expect(await ids()).toEqual([birth(0), birth(1)]);
    await project([...one(0, 0, 1), ...one(1, 2.99, 2)]);
    expect(await segments()).toEqual([3]);
    expect(await ids()).toEqual([birth(0)]);
  });

  it.each([[[1]], [[6]], [[4, 2]]])(
    'a late contribution joins two releases; the younger id leads to the older (batches of %j)',
    async (sizes) => {
      await chunksAt(99);
      await project([...one(1, 4, 2), ...one(0, 0, 1), ...one(2, 2, 4)], sizes);
      expect(await segments()).toEqual([7]);
      expect(await ids()).toEqual([birth(1)]);
      for (const n of [0, 1, 2]) expect((await releaseById(db, birth(n)))?.releaseId).toBe(birth(1));
    },
  );

  it('when what joined them is withdrawn, each id leads to its own again', async () => {
    await chunksAt(99);
    const joined = [...one(0, 0, 1), ...one(1, 4, 2), ...one(2, 2, 4)];
    await project([...joined, opened({ ...range(2), run: 2 })], [3, 4]);
    expect(await segments()).toEqual([1, 2]);
    expect((await releaseById(db, birth(0)))?.segments).toBe(1);
    expect((await releaseById(db, birth(1)))?.segments).toBe(2);
    // As near to both: the earlier.
    expect((await releaseById(db, birth(2)))?.segments).toBe(1);
  });

  it('an id that nothing answers to any more leads nowhere', async () => {
    await chunksAt(99);
    await project([...one(0, 0, 1), opened({ ...range(0), run: 2 })]);
    expect(await releaseById(db, birth(0))).toBeNull();
    expect(await releaseById(db, '00000000000000000000000000000000' as ReleaseId)).toBeNull();
  });

  it('a split that moves the first article to the later part still gives both parts an id', async () => {
    const whole = part(0, 9, { lastAt: at(6), ...number(100) });
    const early = part(0, 1, { lastAt: at(1), ...number(400) });
    const late = part(5, 2, { lastAt: at(6), posting: 1, ...number(100) });
    await project([opened(), seen({}, [whole]), opened({ run: 2 }), seen({ run: 2 }, [early, late])], [2]);
    expect(await segments()).toEqual([1, 2]);
    expect(await ids()).toEqual([idOf({}, 'name', 400), idOf({}, 'name', 100)]);
  });

  it('the id is the same in SQL as in TypeScript', async () => {
    const group = 'alt.binaries.ünï' as Group;
    const key = keyOf('x');
    const [row] = await db.query(
      `select replace(catalog.birth_id('b-1', $1, 3, 9007199254740991, $2)::text, '-', '') as id`,
      [group, key],
    );
    expect(row?.id).toBe(birthOf('b-1' as Backbone, group, 3 as Epoch, (2 ** 53 - 1) as ArticleNumber, key));
  });
});

describe('what others read', () => {
  beforeEach(() => chunksAt(99));

  it('names every contribution of a release and its passes', async () => {
    const o = { lo: 5, hi: 9, run: 2, pass: 3 };
    await project([opened(o), seen(o, [part(0, 5, { chunks: 4 })])]);
    expect(await contributionsOf(db, idOf(o, 'name', 1))).toEqual([
      { ...passFields(o), key: keyOf('name'), posting: 0, firstAt: at(0), lastAt: at(0), chunks: 4 },
    ]);
    const ledger: PassLedger = passLedger(db);
    const { backbone, group, rangeId } = passFields(o);
    expect(await ledger.highestPass({ backbone, group, rangeId, run: 2 })).toBe(3);
    expect(await ledger.highestPass({ backbone, group, rangeId, run: 3 })).toBe(0);
    expect(await ledger.highestPass({ backbone, group: 'no.such' as Group, rangeId, run: 2 })).toBe(0);
  });

  it('counts releases, and those whose chunks are there', async () => {
    const late = contribution('late', { chunksPosition: { number: 1, sequence: 100 } });
    await project([opened(), seen({}, [part(0, 5), late])]);
    expect(await catalogCounts(db)).toEqual({ releases: 2, listed: 1 });
    await chunksAt(100);
    expect(await catalogCounts(db)).toEqual({ releases: 2, listed: 2 });
  });
});

describe('the catalog as a whole', () => {
  it('is what the rules say, with the same ids, however the events are cut into batches', async () => {
    const cuts = fc.array(fc.integer({ min: 1, max: 6 }), { minLength: 1, maxLength: 8 });
    await fc.assert(
      fc.asyncProperty(catalogWorld, cuts, async (events, sizes) => {
        await project(events, sizes);
        const cut = await catalogDump(db, { ids: true, chunks: false });
        const model = modelCatalog(stored(events));
        const releases = await db.query(
          `select replace(release_id::text, '-', '') as id, replace(key::text, '-', '') as key, name, poster, category,
                  first_at as "firstAt", last_at as "lastAt", segments, bytes, files, provisional,
                  settle_due_at as "settleDueAt" from catalog.release order by 1`,
        );
        expect(releases).toEqual(model.releases);
        const births = await db.query<{ id: string; to: string | null }>(
          `select replace(b.id::text, '-', '') as id, replace(r.release_id::text, '-', '') as to
             from catalog.birth b left join catalog.release r on r.release_id = coalesce(b.redirect_to, b.id)`,
        );
        expect(new Map(births.map((b) => [b.id, b.to]))).toEqual(model.births);
        await project(events);
        expect(await catalogDump(db, { ids: true, chunks: false })).toBe(cut);
      }),
      { numRuns: Number(process.env.CATALOG_WORLDS ?? 30) },
    );
  });

  it('does not remember an hour that is no event', async () => {
    await project([opened(), seen({}, [part(0, 1)], 0, T0 + HOUR)]);
    const dump = await catalogDump(db, { chunks: false });
    await project([opened(), seen({}, [part(0, 1)], 0, T0 + 2 * HOUR)]);
    expect(await catalogDump(db, { chunks: false })).toBe(dump);
  });
});
