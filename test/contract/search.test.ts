import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ClosableDatabase } from '../../infra/postgres/index.ts';
import { LEAVES } from '../../projections/catalog/categoryTree.ts';
import { catalog } from '../../projections/catalog/index.ts';
import { type ReleaseQuery, searchReleases } from '../../projections/catalog/rows.ts';
import { parseQuery } from '../../projections/catalog/tokens.ts';
import type { Sql, SqlValue } from '../../projections/ports.ts';
import type { ArticleNumber, EpochMs } from '../../streams/ids.ts';
import type { Contribution } from '../../streams/records.ts';
import { openDatabase, projectAll } from '../kit/projections.ts';
import { type ContributionOptions, contribution, HOUR, opened, seen, stored, T0 } from '../kit/releaseEvents.ts';
import { type Services, startServices } from '../kit/services.ts';

let services: Services;
let db: ClosableDatabase;

const posted = (name: string, hours: number, o: ContributionOptions = {}): Contribution =>
  contribution(name, { firstAt: (T0 + hours * HOUR) as EpochMs, lastAt: (T0 + hours * HOUR) as EpochMs, ...o });

const COMMON = 21_000;
const SMALL: readonly Contribution[] = [
  posted('Linux.Image.One.amd64', 1, { bytes: 100 }),
  posted("Linux Image Two: It's arm64", 2, { bytes: 200, groups: ['a.b', 'alt.binaries.test'] }),
  posted('linux_image-three', 3, { bytes: 300, obfuscated: true }),
  posted('Élan & Co', 4, { bytes: 400 }),
  posted('Harbor.Lights.S01E02.720p.HDTV.x264-GRP', -1, { bytes: 500 }),
  posted('Harbor.Lights.S01E03.1080p.WEB.h264-GRP', -2, { bytes: 500 }),
  posted('Harbor.Lights.S01E04.DVDRip.XviD-GRP', -3, { bytes: 500 }),
  posted('Not.There.Yet.Linux', 5, { chunksPosition: { number: 1, sequence: 1_000 } }),
];

beforeAll(async () => {
  services = await startServices({ nats: false });
  db = await openDatabase(await services.freshDatabase());
  const common = Array.from({ length: COMMON }, (_, i) =>
    posted(`Common words release ${i} ${i % 2 === 0 ? 'even' : 'odd'}`, -1000 - i / 1000, {
      firstNumber: (1000 + i) as ArticleNumber,
    }),
  );
  await projectAll(db, catalog, stored([opened(), seen({}, SMALL), seen({}, common, 1)]));
  await db.query(
    `insert into projection_position (name, projection, version, stream_family, stream_number, sequence, epoch)
     values ('chunks', 'chunks', 1, 'CHUNKS', 1, 999, 1)`,
  );
  await db.script('analyze');
});
afterAll(async () => {
  await db?.close();
  await services?.stop();
});

const search = (q: string, o: Partial<ReleaseQuery> = {}) =>
  searchReleases(db, { ...parseQuery(q), limit: 100, offset: 0, ...o });
const names = async (q: string, o: Partial<ReleaseQuery> = {}) => (await search(q, o)).rows.map((r) => r.name);

describe('a search', () => {
  it('without words lists the newest, but only what has its chunks', async () => {
    const page = await search('', { limit: 3 });
    expect(page.rows.map((r) => r.name)).toEqual(['Élan & Co', 'linux_image-three', "Linux Image Two: It's arm64"]);
    expect(page.total).toBe(10_000);
  });

  it('finds all words, newest first, whatever their case, accents and separators', async () => {
    expect(await names('LINUX image')).toEqual([
      'linux_image-three',
      "Linux Image Two: It's arm64",
      'Linux.Image.One.amd64',
    ]);
    expect(await names('its-two')).toEqual(["Linux Image Two: It's arm64"]);
    expect(await names('elan and co')).toEqual(['Élan & Co']);
    expect(await names('linux nothing')).toEqual([]);
  });

  it('leaves out what has excluded words', async () => {
    expect(await names('linux -image-two')).toEqual(['linux_image-three', 'Linux.Image.One.amd64']);
    expect((await search('-linux', { limit: 1 })).rows.map((r) => r.name)).toEqual(['Élan & Co']);
  });

  it('finds nothing for what no name can have, and never everything', async () => {
    expect(await search('***')).toEqual({ total: 0, rows: [] });
    expect(await search('', { group: 'no.such.group' })).toEqual({ total: 0, rows: [] });
  });

  it('filters by size, age, group and obfuscation', async () => {
    expect(await names('linux', { minBytes: 200 })).toEqual(['linux_image-three', "Linux Image Two: It's arm64"]);
    expect(await names('linux', { maxBytes: 100 })).toEqual(['Linux.Image.One.amd64']);
    expect(await names('', { postedAfter: T0 + 4 * HOUR })).toEqual(['Élan & Co']);
    expect(await names('', { group: 'a.b' })).toEqual(["Linux Image Two: It's arm64"]);
    expect((await names('linux', { group: 'alt.binaries.test' })).length).toBe(3);
    expect(await names('linux', { obfuscated: true })).toEqual(['linux_image-three']);
  });

  it('filters by category, with and without words', async () => {
    const [two, three, four] = SMALL.filter((c) => c.name.startsWith('Harbor')).map((c) => c.name);
    expect(await names('', { categories: [5040] })).toEqual([two]);
    expect(await names('', { categories: [5040, 5030, 5010, 5010] })).toEqual([two, three, four]);
    expect(await search('', { categories: [5010, 5030], limit: 1, offset: 1 })).toMatchObject({ total: 2 });
    expect(await names('', { categories: [5010, 5030], limit: 1, offset: 1 })).toEqual([four]);
    expect(await names('harbor', { categories: [5030, 5040] })).toEqual([two, four]);
    expect(await names('harbor -web', { categories: [5010] })).toEqual([]);
    expect(await search('', { categories: [] })).toEqual({ total: 0, rows: [] });
    expect(await search('', { categories: [7030, 9999] })).toEqual({ total: 0, rows: [] });
    // Words that so many have that the releases of the categories are walked instead.
    expect((await search('common', { categories: [8010, 5040], limit: 3 })).rows.map((r) => r.category)).toEqual([
      8010, 8010, 8010,
    ]);
    expect(await search('common', { categories: [5040] })).toEqual({ total: 0, rows: [] });
    expect((await search('', { categories: LEAVES })).total).toBe((await search('')).total);
  });

  it('pages without a gap or an overlap, with and without words', async () => {
    for (const q of ['', 'linux', 'common', 'even']) {
      const all = (await search(q, { limit: 12 })).rows.map((r) => r.releaseId);
      const pages = [0, 5, 10].map((offset) => search(q, { limit: Math.min(5, 12 - offset), offset }));
      expect((await Promise.all(pages)).flatMap((p) => p.rows.map((r) => r.releaseId))).toEqual(all);
    }
  });

  it('keeps the newest first for words that very many releases have', async () => {
    const page = await search('common', { limit: 5 });
    expect(page.rows.map((r) => r.name.split(' ')[3])).toEqual(['0', '1', '2', '3', '4']);
    expect(page.total).toBe(10_000);
    const half = await search('even release', { limit: 3 });
    expect(half.rows.map((r) => r.name.split(' ')[3])).toEqual(['0', '2', '4']);
    expect(half.total).toBe(10_000);
    expect(await search('odd even')).toEqual({ total: 0, rows: [] });
  });

  it('reads no table from end to end', async () => {
    const explain = async (sql: string) =>
      (await db.query(`explain ${sql}`)).map((row) => String(row['QUERY PLAN'])).join('\n');
    expect(
      await explain(`select * from catalog.release r where (r.tokens @@ '''common'''::tsquery) is true
        order by r.first_at desc, r.release_id limit 100`),
    ).toMatch(/Index Scan using release_newest/);
    expect(await explain('select * from catalog.release order by first_at desc, release_id limit 10')).toMatch(
      /Index Scan using release_newest/,
    );
  });

  it('reads only what is of the categories that are asked for', async () => {
    const plans: string[] = [];
    const explaining = {
      ...db,
      query: async (text: string, values: readonly SqlValue[] = []) => {
        if (text.includes('union all')) {
          const plan = await db.query(`explain (analyze, format text) ${text}`, values);
          plans.push(plan.map((row) => String(row['QUERY PLAN'])).join('\n'));
        }
        return db.query(text, values);
      },
    } as Sql;
    // Nothing of 7030, all but eight releases of 8010.
    await searchReleases(explaining, { ...parseQuery(''), categories: [7030, 5040, 8010], limit: 50, offset: 0 });
    expect(plans.length).toBe(2);
    for (const plan of plans) {
      expect(plan).not.toMatch(/Seq Scan on release|using release_newest/);
      expect(plan).toMatch(/Merge Append/);
    }
    const read = [...plans[0]!.matchAll(/using release_category .*rows=(\d+) loops=1\)/g)].map((m) => Number(m[1]));
    expect(read.length).toBe(3);
    expect(Math.max(...read)).toBeLessThan(60);
  });
});
