import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ClosableDatabase } from '../../infra/postgres/index.ts';
import { chunksMergedEvent, releaseMergedEvent } from '../../processors/fragments/mergeEvents.ts';
import { mergePieces } from '../../processors/fragments/mergePieces.ts';
import { catalog } from '../../projections/catalog/index.ts';
import { releaseById } from '../../projections/catalog/rows.ts';
import { chunks } from '../../projections/chunks/index.ts';
import { fragments } from '../../projections/fragments/index.ts';
import { FragmentsState } from '../../projections/fragments/step.ts';
import { probes } from '../../projections/probes/index.ts';
import { initCompression } from '../../streams/codec/compression.ts';
import type { StoredEvent } from '../../streams/envelope.ts';
import { definitionOf, type HeadwaterEvent } from '../../streams/events/index.ts';
import { EpochMs, type ReleaseId } from '../../streams/ids.ts';
import { generateOverview } from '../bench/overviewGenerator.ts';
import { Random } from '../bench/random.ts';
import { catalogDump, releaseDump } from '../kit/catalogDump.ts';
import { openDatabase, projectAll } from '../kit/projections.ts';
import { type Services, startServices } from '../kit/services.ts';
import { generatedWorld } from '../unit/model/generated.ts';
import { listFor, type Pass, saidBy } from '../unit/model/passes.ts';
import type { Numbered, NumberedArticle } from '../unit/model/world.ts';

/** What a range says twice, on the real projections: only the last time counts, whoever speaks late. */
const AT = EpochMs(Date.UTC(2026, 5, 1));
const world = generatedWorld(5, 1500);
const place = world.places[0]!;
const list = listFor(world);

let services: Services;
let db: ClosableDatabase;
beforeAll(async () => {
  await initCompression();
  services = await startServices({ nats: false });
  db = await openDatabase(await services.freshDatabase());
});
afterAll(async () => {
  await db?.close();
  await services?.stop();
});

/** RELEASES and CHUNKS in memory, with every merge that is due once all numbers are resolved. */
class Streams {
  readonly releases: StoredEvent[] = [];
  readonly chunks: StoredEvent[] = [];

  append(events: readonly HeadwaterEvent[]): this {
    for (const event of events) {
      const stream = definitionOf(event.type).stream === 'CHUNKS' ? this.chunks : this.releases;
      stream.push({ event, position: { number: 1, sequence: stream.length + 1 }, subject: '' });
    }
    return this;
  }

  merge(): this {
    const state = new FragmentsState();
    for (const { event } of this.releases) state.apply(event);
    const revision = { number: 1, sequence: this.releases.length };
    for (const { place: at, fileHash, pieces, open, mergeable } of [...state.units()]) {
      if (!open || !mergeable) continue;
      const sourced = pieces.map(({ rangeId, run, pass, posting, piece }) => {
        return { source: { rangeId, run, pass, posting }, piece: piece! };
      });
      const merges = [mergePieces(at, fileHash, sourced)];
      const decision = { ...at, revision };
      const written = { number: 1, sequence: 1 };
      this.append([chunksMergedEvent(decision, merges, AT), releaseMergedEvent(decision, merges, written, AT)]);
    }
    return this;
  }

  async project(): Promise<this> {
    await projectAll(db, chunks, this.chunks, [7, 40]);
    for (const projection of [catalog, fragments, probes]) await projectAll(db, projection, this.releases, [7, 40]);
    return this;
  }
}

const third = Math.floor((place.high - place.low) / 3);
const SPANS = [
  { lo: place.low, hi: place.low + third },
  { lo: place.low + third + 1, hi: place.low + 2 * third },
  { lo: place.low + 2 * third + 1, hi: place.high },
] as const;
const passOver = (span: (typeof SPANS)[number], run: number, share: (a: NumberedArticle) => boolean): Pass => {
  const articles = place.articles.filter((a) => a.number >= span.lo && a.number <= span.hi && share(a));
  return { place, ...span, run, pass: 1, articles };
};
const said = (pass: Pass): readonly HeadwaterEvent[] => saidBy(pass, list, AT, pass.run);

describe('a range that is run again', () => {
  const random = new Random(3);
  const draw = new Map(place.articles.map((a) => [a.number, random.next()]));
  const [, middle] = SPANS;
  const others = () => [SPANS[0], SPANS[2]].flatMap((span) => said(passOver(span, 1, () => true)));
  const first = () => said(passOver(middle, 1, (a) => draw.get(a.number)! > 0.15));
  const seconds: Readonly<Record<string, (a: NumberedArticle) => boolean>> = {
    'with articles cancelled and others added': (a) => draw.get(a.number)! < 0.9,
    'with articles cancelled': (a) => draw.get(a.number)! > 0.4,
    'with nothing at all left': () => false,
    'with the same articles': (a) => draw.get(a.number)! > 0.15,
  };

  it.each(Object.keys(seconds))(
    '%s leaves what the second run alone would have left; ids stay',
    async (name) => {
      const second = said(passOver(middle, 2, seconds[name]!));
      const once = await new Streams().append(others()).append(second).merge().project();
      const expected = await releaseDump(db);
      expect(once.releases.some(({ event }) => event.type === 'release.merged')).toBe(true);

      const twice = await new Streams().append(others()).append(first()).merge().project();
      const shown = await db.query<{ id: string; key: string }>('select release_id as id, key from catalog.release');
      expect(shown.length).toBeGreaterThan(10);

      const zombie = first();
      const late = zombie.slice(Math.floor(zombie.length / 2));
      const lateMerges = twice.releases
        .filter(({ event }) => event.type === 'release.merged')
        .map(({ event }) => event);
      twice.append(second).append(late).append(lateMerges).merge().append(late).append(lateMerges);
      await twice.project();
      expect(await releaseDump(db)).toBe(expected);
      for (const { id, key } of shown) {
        const now = await releaseById(db, id.replaceAll('-', '') as ReleaseId);
        const left = await db.query('select release_id from catalog.release where key = $1', [key]);
        expect(now !== null, `${id} leads to a release while there is one`).toBe(left.length > 0);
      }
    },
    120_000,
  );
});

describe('articles that nothing groups', () => {
  /** Every fifth line is such a post of the generator's: another name for each article, and no counter. */
  const talk = { readable: 0, obfuscated: 0, random: 1, lines: Math.ceil(place.articles.length / 4), seed: 4 };
  const fresh = [...generateOverview(talk)].map((line) => line.split('\t'));
  const noise = (number: number, i: number): NumberedArticle => {
    const [, subject = '', poster = '', , id = '', , bytes] = fresh[i]!;
    const sent = { messageId: id.slice(1, -1), subject, poster, at: world.end, bytes: Number(bytes) };
    return { number, article: { ...sent, groups: [place.group], file: '' } };
  };
  const spread = place.articles.map(({ article }, i) => ({ number: 1000 + i + Math.floor(i / 4), article }));
  const gaps = spread.filter((_, i) => i % 4 === 3).map(({ number }, i) => noise(number + 1, i));

  async function rows(articles: readonly NumberedArticle[]): Promise<{ dump: string; tables: Record<string, number> }> {
    const sorted = [...articles].sort((a, b) => a.number - b.number);
    const all: Numbered = { ...place, articles: sorted, low: 1000, high: sorted.at(-1)!.number };
    const pass: Pass = { place: all, lo: 1000, hi: spread.at(-1)!.number + 1, run: 1, pass: 1, articles: sorted };
    await new Streams().append(said(pass)).merge().project();
    const tables: Record<string, number> = {};
    const names = await db.query<{ name: string }>(
      `select schemaname || '.' || tablename as name from pg_tables
        where schemaname in ('catalog', 'chunks', 'fragments', 'probes')`,
    );
    for (const { name } of names)
      tables[name] = (await db.query<{ n: number }>(`select count(*) as n from ${name}`))[0]!.n;
    return { dump: await catalogDump(db), tables };
  }

  it('leave no row in any table: neither one each, nor one for each of their subjects', async () => {
    const without = await rows(spread);
    const withThem = await rows([...spread, ...gaps]);
    expect(gaps.length / (spread.length + gaps.length)).toBeGreaterThan(0.15);
    expect(withThem.tables).toEqual(without.tables);
    expect(withThem.dump).toBe(without.dump);
  }, 120_000);

  it('are beside tables whose rows are far fewer than the articles that are kept', async () => {
    const { tables } = await rows(spread);
    for (const [name, n] of Object.entries(tables)) expect(n, name).toBeLessThan(spread.length / 2);
  }, 120_000);
});
