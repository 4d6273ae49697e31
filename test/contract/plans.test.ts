import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ClosableDatabase } from '../../infra/postgres/index.ts';
import { applyBatch } from '../../projections/apply.ts';
import { catalog } from '../../projections/catalog/index.ts';
import {
  catalogCounts,
  contributionsOf,
  parseQuery,
  passLedger,
  type ReleaseQuery,
  releaseById,
  searchReleases,
  settleCatalog,
} from '../../projections/catalog/rows.ts';
import { chunks } from '../../projections/chunks/index.ts';
import { chunksOfContributions } from '../../projections/chunks/rows.ts';
import type { Sql } from '../../projections/ports.ts';
import { claimProjection } from '../../projections/position.ts';
import type { Projection } from '../../projections/projection.ts';
import type { HeadwaterEvent } from '../../streams/events/index.ts';
import type { ArticleNumber, EpochMs, RangeId, ReleaseId, ReleaseKey } from '../../streams/ids.ts';
import { BIG_PLACE, BIG_START, BIG_STEP, bigKey, fillBigCatalog, readEndToEnd } from '../kit/bigCatalog.ts';
import { openDatabase } from '../kit/projections.ts';
import {
  chunksMerged,
  chunksOpened,
  contribution,
  encodedChunk,
  merged,
  opened,
  seen,
  settled,
  settlement,
  stored,
  written,
} from '../kit/releaseEvents.ts';
import { type Services, startServices } from '../kit/services.ts';

const RELEASES = process.env.HEADWATER_TEST_FULL ? 1_000_000 : 21_000;
/** What grows without end. Names of groups and of backbones are as many as there are groups and backbones. */
const BOUNDED = /_name$/;

let services: Services;
let db: ClosableDatabase;
/** As the api connects. */
let api: ClosableDatabase;
let keys: readonly ReleaseKey[];

beforeAll(async () => {
  services = await startServices({ nats: false });
  const url = await services.freshDatabase();
  db = await openDatabase(url);
  api = await openDatabase(url, true);
  await fillBigCatalog(db, RELEASES);
  const rows = await db.query<{ key: string }>(`select unnest(array[${[3, 10, 150, 1111].map(bigKey)}]) as key`);
  keys = rows.map((row) => row.key.replaceAll('-', '') as ReleaseKey);
  await db.query("update projection_position set sequence = 10 where name = 'chunks'");
}, 900_000);
afterAll(async () => {
  await api?.close();
  await db?.close();
  await services?.stop();
});

const growing = async (work: (tx: Sql) => Promise<unknown>, over = db) =>
  (await readEndToEnd(over, ['catalog', 'chunks'], work)).filter((name) => !BOUNDED.test(name));

describe('in a large catalog, no table that grows is read from end to end', () => {
  const queries: readonly [string, Partial<ReleaseQuery>][] = [
    ['', {}],
    ['777', {}],
    ['some release', {}],
    ['some release 777', { categories: [5040] }],
    ['s01e03 -720p', {}],
    ['-nobody', { limit: 1 }],
    // Every release has the word: nothing is found, however far one looks.
    ['-720p', {}],
    ['', { obfuscated: true }],
    ['', { minBytes: 10 ** 12 }],
    ['', { group: 'alt.binaries.other' }],
    ['', { categories: [5040, 7010] }],
    ['', { group: 'alt.binaries.test' }],
    [
      '',
      { postedAfter: BIG_START + 2 * BIG_STEP, postedBefore: BIG_START + 50 * BIG_STEP, minBytes: 1, maxBytes: 2000 },
    ],
  ];
  it.each(queries)('by a search for %j with %j', async (q, o) => {
    const search = (tx: Sql) => searchReleases(tx, { ...parseQuery(q), limit: 100, offset: 0, ...o });
    expect(await growing(search, api)).toEqual([]);
  });

  it('by the details of a release and its NZB', async () => {
    const work = async (tx: Sql) => {
      const id = keys[1] as unknown as ReleaseId;
      expect((await releaseById(tx, id))?.segments).toBe(30);
      const contributions = await contributionsOf(tx, id);
      expect(contributions.map((c) => 'mergeId' in c)).toEqual([false, true]);
      const payloads: Buffer[] = [];
      for await (const payload of chunksOfContributions(tx, contributions)) payloads.push(payload);
      expect(payloads.length).toBe(2);
    };
    expect(await growing(work, api)).toEqual([]);
  });

  it('by what headers and settle ask', async () => {
    const run = { ...BIG_PLACE, rangeId: '0-101-200' as RangeId, run: 1 } as unknown as Parameters<
      ReturnType<typeof passLedger>['highestPass']
    >[0];
    expect(await growing(async (tx) => expect(await passLedger(tx).highestPass(run)).toBe(1))).toEqual([]);
    const due = async (tx: Sql) => {
      const first = await settleCatalog(tx).due((BIG_START + RELEASES * BIG_STEP * 2) as EpochMs, null, 100);
      expect(first.length).toBe(100);
      const next = await settleCatalog(tx).due(Number.MAX_SAFE_INTEGER as EpochMs, first.at(-1)!, 100);
      expect(next[0]!.settleDueAt).toBeGreaterThanOrEqual(first.at(-1)!.settleDueAt);
    };
    expect(await growing(due)).toEqual([]);
  });

  // A small catalog is counted row by row, by design.
  if (RELEASES > 100_000) {
    it('by counting them', async () => {
      expect(await growing((tx) => catalogCounts(tx))).toEqual([]);
    });
  }

  const apply = async (tx: Sql, projection: Projection, events: readonly HeadwaterEvent[]) => {
    const claim = await claimProjection({ ...db, ...tx, transaction: (use) => use(tx) }, projection, projection.name);
    const batch = stored(events, claim.position.sequence + 1);
    await applyBatch(tx, projection, claim, { events: batch, upTo: batch.at(-1)!.position });
  };
  const [rerun, fresh] = [
    { lo: 101, hi: 200, run: 2 },
    { lo: 900_000_001, hi: 900_000_100 },
  ];
  const at = (n: number) => (BIG_START + n * BIG_STEP) as EpochMs;
  const kept = { lo: 1, hi: 100 };
  const kinds = { 'of a new range': [fresh], 'of a range that was parsed before': [rerun], 'of both': [rerun, fresh] };

  it.each(Object.entries(kinds))('by a batch of RELEASES %s', async (_, ranges) => {
    const body = Array.from({ length: 400 }, (_, i) =>
      contribution(`New.${i}`, {
        ...(i < keys.length ? { key: keys[i]! } : {}),
        firstNumber: (900_000_001 + i) as ArticleNumber,
        firstAt: at(i),
      }),
    );
    const events = ranges.flatMap((o) => [opened(o), seen(o, body)]);
    expect(await growing((tx) => apply(tx, catalog, events))).toEqual([]);
  });

  it('by a batch of merges and settlements', async () => {
    const merges = Array.from({ length: 300 }, (_, i) => {
      const c = contribution(`Merged.${i}`, { ...(i < 4 ? { key: keys[i]! } : {}), firstAt: at(i) });
      return merged({ pieces: [kept], revision: 9, fileHash: String(i).padStart(16, '0') }, c);
    });
    const settlements = keys.map((key, i) => settlement('', [], { key, firstAt: at(i) }));
    expect(await growing((tx) => apply(tx, catalog, [...merges, settled(settlements)]))).toEqual([]);
  });

  it('by batches of CHUNKS', async () => {
    const chunk = (i: number) => encodedChunk(`new ${i}`, 'payload', { firstAt: at(i), lastAt: at(i) });
    const writing = [rerun, fresh].flatMap((o) => [chunksOpened(o), written(o, [chunk(1), chunk(2)])]);
    const merges = Array.from({ length: 300 }, (_, i) =>
      chunksMerged({ pieces: [kept], revision: 9, fileHash: String(i).padStart(16, '0') }, [chunk(i)]),
    );
    // The table of dates that cannot be is empty here, and may be read.
    const tables = await growing((tx) => apply(tx, chunks, [...writing, ...merges]));
    expect(tables.filter((name) => name !== 'chunks.chunk_other')).toEqual([]);
  });

  it('would be seen if one were', async () => {
    expect(await growing((tx) => tx.query('select count(*) from catalog.release where bytes = 5'))).toEqual([
      'catalog.release',
    ]);
  });
});
