import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { isHeadwaterError } from '../../infra/base/errors/index.ts';
import type { ClosableDatabase } from '../../infra/postgres/index.ts';
import { catalog } from '../../projections/catalog/index.ts';
import { chunks } from '../../projections/chunks/index.ts';
import { type ChunkedContribution, chunksOfContributions } from '../../projections/chunks/rows.ts';
import { encodeChunk } from '../../streams/codec/chunk.ts';
import type { HeadwaterEvent } from '../../streams/events/index.ts';
import { ArticleNumber, type EpochMs, Group, MessageId } from '../../streams/ids.ts';
import type { ChunkFile } from '../../streams/records.ts';
import { catalogDump, releaseDump } from '../kit/catalogDump.ts';
import { openDatabase, projectAll } from '../kit/projections.ts';
import {
  chunksMerged,
  chunksOpened,
  contribution,
  DAY,
  encodedChunk,
  keyOf,
  mergeIdOfPieces,
  opened,
  type PassOptions,
  passFields,
  seen,
  settled,
  settlement,
  stored,
  T0,
  written,
} from '../kit/releaseEvents.ts';
import { type Services, startServices } from '../kit/services.ts';

let services: Services;
let db: ClosableDatabase;

beforeAll(async () => {
  services = await startServices({ nats: false });
});
afterAll(() => services?.stop());
beforeEach(async () => {
  await db?.close();
  db = await openDatabase(await services.freshDatabase());
});
afterAll(() => db?.close());

const project = (events: readonly HeadwaterEvent[], sizes?: readonly number[]) =>
  projectAll(db, chunks, stored(events), sizes);
const payloads = async () =>
  (await db.query<{ payload: Buffer }>('select payload from chunks.chunk order by payload')).map((r) =>
    String(r.payload),
  );
const reference = (o: PassOptions, name: string, count: number, more: Partial<ChunkedContribution> = {}) => ({
  ...passFields(o),
  key: keyOf(name),
  posting: 0,
  firstAt: T0,
  lastAt: T0,
  chunks: count,
  ...more,
});
const read = async (refs: readonly ChunkedContribution[]) => {
  const out: string[] = [];
  for await (const payload of chunksOfContributions(db, refs)) out.push(String(payload));
  return out;
};

describe('the chunk store', () => {
  it.each([[[1]], [[9]], [[2, 3, 1]]])(
    'a pass replaces lower ones, and zombies change nothing (batches of %j)',
    async (sizes) => {
      const other = { lo: 1001, hi: 2000 };
      await project(
        [
          chunksOpened(),
          written({}, [encodedChunk('a', 'one'), encodedChunk('b', 'gone')]),
          chunksOpened(other),
          written(other, [encodedChunk('a', 'other range')]),
          chunksOpened({ run: 2 }),
          written({ run: 2 }, [encodedChunk('a', 'two')]),
          written({}, [encodedChunk('b', 'zombie')], 1),
          written({ run: 2 }, [encodedChunk('a', 'two')]),
        ],
        sizes,
      );
      expect(await payloads()).toEqual(['other range', 'two']);
    },
  );

  it('an empty re-run leaves nothing', async () => {
    await project([chunksOpened(), written({}, [encodedChunk('a', 'one')]), chunksOpened({ pass: 2 })], [2, 1]);
    expect(await payloads()).toEqual([]);
  });

  it('keeps each month apart, and dates that cannot be in a table of their own', async () => {
    const times = [
      T0,
      T0 + 40 * DAY,
      Date.UTC(1970, 0, 1),
      Date.UTC(2024, 1, 1),
      Date.UTC(2024, 0, 31, 23, 59, 59, 999),
    ];
    const dated = [...times, 2 ** 52].map((t, k) =>
      encodedChunk('a', `at ${k}`, { k, firstAt: t as EpochMs, lastAt: t as EpochMs }),
    );
    await project([chunksOpened(), written({}, dated)]);
    const tables = await db.query(
      'select tableoid::regclass::text as name, count(*) as n from chunks.chunk group by 1 order by 1',
    );
    expect(tables).toEqual([
      { name: 'chunks.chunk_2024_01', n: 2 },
      { name: 'chunks.chunk_2024_02', n: 2 },
      { name: 'chunks.chunk_other', n: 2 },
    ]);
    // Also when it is built beside itself: the same names in another schema.
    await projectAll(db, { ...chunks, name: 'chunks_next' }, stored([chunksOpened(), written({}, dated)]));
    expect(await db.query('select count(*) as n from chunks_next.chunk_2024_01')).toEqual([{ n: 2 }]);
    const [storage] = await db.query(`select attstorage as s from pg_attribute
      where attrelid = 'chunks.chunk_2024_01'::regclass and attname = 'payload'`);
    expect(storage).toEqual({ s: 'e' });
  });

  it('gives the chunks of contributions in their order and by slice, more than fit one query', async () => {
    const many = Array.from({ length: 150 }, (_, k) => encodedChunk('a', `a${String(k).padStart(3, '0')}`, { k }));
    const second = { lo: 1001, hi: 2000, backbone: 'bc' };
    await project([
      chunksOpened(),
      written({}, many.toReversed()),
      written({}, [encodedChunk('a', 'posting 1', { posting: 1 }), encodedChunk('b', 'other key')], 1),
      chunksOpened(second),
      written(second, [encodedChunk('a', 'second backbone')]),
    ]);
    const refs = [reference(second, 'a', 1), reference({}, 'a', 150), reference({}, 'a', 1, { posting: 1 })];
    const all = await read(refs);
    expect(all.length).toBe(152);
    expect(all).toEqual(['second backbone', ...many.map((c) => String(c.payload)), 'posting 1']);
  });

  it.each([[[1]], [[99]], [[3, 2]]])(
    'keeps the chunks of a merge while its pieces live and no other takes them (batches of %j)',
    async (sizes) => {
      const [left, right] = [{}, { lo: 1001, hi: 2000 }];
      const both = { pieces: [left, right], revision: 5 };
      const older = { pieces: [right], revision: 4 };
      const chunksOf = (text: string) => [encodedChunk('a', `${text} 0`), encodedChunk('a', `${text} 1`, { k: 1 })];
      const opening = [chunksOpened(left), chunksOpened(right)];
      const merging = [chunksMerged(both, chunksOf('both')), chunksMerged(older, chunksOf('older'))];
      await project([...opening, ...merging], sizes);
      expect(await payloads()).toEqual(['both 0', 'both 1']);
      const ref = { key: keyOf('a'), group: passFields().group, firstAt: T0, lastAt: T0, chunks: 2 };
      expect(await read([{ ...ref, mergeId: mergeIdOfPieces(both) }])).toEqual(['both 0', 'both 1']);
      const missing = await read([{ ...ref, mergeId: mergeIdOfPieces(older) }]).catch((e: unknown) => e);
      expect(isHeadwaterError(missing, 'CHUNKS_NOT_READY')).toBe(true);

      const newer = chunksMerged({ ...older, revision: 6 }, chunksOf('newer'));
      await project([...opening, ...merging, newer, ...merging], sizes);
      expect(await payloads()).toEqual(['newer 0', 'newer 1']);

      const again = chunksOpened({ ...left, run: 2 });
      await project([...opening, ...merging, again, chunksMerged(both, chunksOf('zombie'))], sizes);
      expect(await payloads()).toEqual([]);
      expect(await db.query('select * from chunks.merge_piece')).toEqual([]);
    },
  );

  it('says so when a contribution is not whole, instead of giving a part of it', async () => {
    await project([chunksOpened({ pass: 2 }), written({ pass: 2 }, [encodedChunk('a', 'new')])]);
    for (const ref of [reference({ pass: 1 }, 'a', 1), reference({ pass: 2 }, 'a', 2), reference({ lo: 5 }, 'a', 1)]) {
      const error = await read([ref]).catch((e: unknown) => e);
      expect(isHeadwaterError(error, 'CHUNKS_NOT_READY')).toBe(true);
    }
    expect(await read([reference({ pass: 2 }, 'a', 1)])).toEqual(['new']);
  });

  it('is dumped by what its payloads say, whatever run, pass and encoding they have', async () => {
    const file: ChunkFile = {
      subject: 'a name "a.bin" yEnc (/2)',
      partAt: 21,
      partWidth: 1,
      poster: 'p@example.com',
      postedAt: T0,
      parts: 2,
      fileIndex: null,
      fileHash: '00000000000000aa',
      groups: [Group('alt.binaries.test')],
      segments: [{ part: 1, bytes: 7, messageId: MessageId('one@example') }],
    };
    const chunkOf = (files: readonly ChunkFile[]) => encodedChunk('a', '', { payload: encodeChunk(files) });
    await projectAll(db, catalog, []);
    const dumpOf = async (o: PassOptions, files: readonly ChunkFile[]) => {
      await project([chunksOpened(o), written(o, [chunkOf(files)])]);
      return catalogDump(db);
    };
    const dump = await dumpOf({}, [file]);
    expect(dump).toContain('one@example');
    expect(await dumpOf({ run: 2, pass: 3 }, [file])).toBe(dump);
    expect(await dumpOf({}, [{ ...file, segments: [] }])).not.toBe(dump);
  });

  it('gives releases and their files alike, however their history was cut into ranges', async () => {
    const articles = [1, 2, 3, 4].map((n) => ({ part: n, bytes: 7, messageId: MessageId(`${n}@example`) }));
    const file = (from: number, to: number): ChunkFile => ({
      subject: '"a.bin" yEnc (/4)',
      partAt: 14,
      partWidth: 1,
      poster: 'p@example.com',
      postedAt: (T0 + from) as EpochMs,
      parts: 4,
      fileIndex: null,
      fileHash: '00000000000000aa',
      groups: [Group('alt.binaries.test')],
      segments: articles.slice(from, to),
    });
    /** The four articles in ranges of so many each, then settled. */
    const dumpOf = async (size: number) => {
      const cuts = Array.from({ length: 4 / size }, (_, i) => ({ lo: 1 + i * size, hi: (i + 1) * size }));
      const body = ({ lo, hi }: (typeof cuts)[number]) => {
        const times = { firstAt: (T0 + lo) as EpochMs, lastAt: (T0 + hi) as EpochMs };
        return contribution('a', { ...times, firstNumber: ArticleNumber(lo), segments: size, poster: 'p@example.com' });
      };
      const names = cuts.map((o) => ({ ...passFields(o), posting: 0 }));
      const figures = settlement('a', names, { firstAt: (T0 + 1) as EpochMs });
      await projectAll(
        db,
        catalog,
        stored([...cuts.flatMap((o) => [opened(o), seen(o, [body(o)])]), settled([figures])]),
      );
      const chunk = ({ lo, hi }: (typeof cuts)[number]) =>
        encodedChunk('a', '', { payload: encodeChunk([file(lo - 1, hi)]) });
      await project(cuts.flatMap((o) => [chunksOpened(o), written(o, [chunk(o)])]));
      return releaseDump(db);
    };
    const dump = await dumpOf(4);
    expect(dump).toContain('"complete":true');
    expect(await dumpOf(2)).toBe(dump);
    expect(await dumpOf(1)).toBe(dump);
  });
});
