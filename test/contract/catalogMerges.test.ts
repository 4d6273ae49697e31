import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ClosableDatabase } from '../../infra/postgres/index.ts';
import type { SettleCatalog } from '../../processors/settle/ports.ts';
import { birthOf } from '../../projections/catalog/birth.ts';
import { catalog } from '../../projections/catalog/index.ts';
import { contributionsOf, settleCatalog } from '../../projections/catalog/rows.ts';
import type { HeadwaterEvent } from '../../streams/events/index.ts';
import type { ArticleNumber, EpochMs } from '../../streams/ids.ts';
import { openDatabase, projectAll } from '../kit/projections.ts';
import {
  type ContributionOptions,
  contribution,
  DAY,
  HOUR,
  keyOf,
  merged,
  mergeIdOfPieces,
  opened,
  passFields,
  seen,
  settled,
  settlement,
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
const shown = () => db.query<{ segments: number }>('select segments from catalog.release order by first_at, name');
const segments = async () => (await shown()).map((r) => r.segments);
const idOf = (firstNumber: number) => {
  const { backbone, group, epoch } = passFields();
  return birthOf(backbone, group, epoch, firstNumber as ArticleNumber, keyOf('name'));
};
const at = (days: number): EpochMs => (T0 + days * DAY) as EpochMs;
const part = (days: number, segmentCount: number, o: ContributionOptions = {}) =>
  contribution('name', { firstAt: at(days), lastAt: at(days), segments: segmentCount, ...o });
const number = (n: number) => ({ firstNumber: n as ArticleNumber, lastNumber: n as ArticleNumber });

describe('a merge', () => {
  const [left, right] = [{}, { lo: 1001, hi: 2000 }];
  const file = (count: number, o: ContributionOptions = {}) => part(0, count, { ...number(990), ...o });
  const both = { pieces: [left, right], revision: 5 };
  const opening = [opened(left), opened(right)];

  it.each([[[1]], [[99]], [[2, 1]]])(
    'is a contribution as others are, while its pieces live (batches of %j)',
    async (sizes) => {
      const seenLeft = seen(left, [part(0, 3)]);
      const merging = merged(both, file(7));
      await project([...opening, seenLeft, merging, merging], sizes);
      expect(await segments()).toEqual([10]);
      expect(await db.query('select count(*) as n from catalog.birth')).toEqual([{ n: 2 }]);
      // Opened again, and said again by one who does not know it.
      await project([...opening, seenLeft, merging, opened({ ...right, pass: 2 }), merging], sizes);
      expect(await segments()).toEqual([3]);
      expect(await db.query('select * from catalog.merge_piece')).toEqual([]);
    },
  );

  it.each([[[1]], [[99]], [[3]]])(
    'replaces older ones of its file that share a piece, and no younger ones (batches of %j)',
    async (sizes) => {
      const alone = merged({ pieces: [right], revision: 4 }, file(1));
      const other = merged({ pieces: [right], revision: 3, fileHash: 'ffffffffffffffff' }, file(20, number(1800)));
      const apart = merged({ pieces: [{ ...left, posting: 1 }], revision: 3 }, file(40, number(100)));
      await project([...opening, alone, other, apart, merged(both, file(7)), alone], sizes);
      expect(await segments()).toEqual([67]);
      await project([...opening, merged(both, file(7)), alone, merged({ ...both, revision: 9 }, file(8))], sizes);
      expect(await segments()).toEqual([7]);
      await project([...opening, merged(both, file(7)), merged({ pieces: [right], revision: 6 }, file(1))], sizes);
      expect(await segments()).toEqual([1]);
    },
  );

  it.each([[[1]], [[99]], [[3, 99]]])(
    'is told by the pairs that were opened, whatever zombies say (batches of %j)',
    async (sizes) => {
      const again = { ...left, run: 2 };
      const zombie = seen(left, [part(0, 50)], 1);
      const [of, ofZombie] = [{ pieces: [again, right] }, { pieces: [left], revision: 9 }];
      await project([...opening, opened(again), zombie, merged(of, file(7)), merged(ofZombie, file(1))], sizes);
      expect(await segments()).toEqual([7]);
    },
  );

  it('of pieces that nobody opened yet, or of none, is no merge', async () => {
    await project([opened(left), merged(both, file(7)), merged({ pieces: [{ ...left, pass: 2 }] }, file(7))]);
    expect(await shown()).toEqual([]);
    expect(await db.query('select * from catalog.birth')).toEqual([]);
  });

  it('is named by its id among the contributions of its release', async () => {
    await project([...opening, seen(left, [part(0, 3)]), merged(both, file(7, { chunks: 2 }))]);
    const names = await contributionsOf(db, idOf(1));
    expect(names.map((c) => ('mergeId' in c ? c.mergeId : c.rangeId)).sort()).toEqual(
      ['0-1-1000', mergeIdOfPieces(both)].sort(),
    );
    expect(names.find((c) => 'mergeId' in c)).toEqual({
      ...{ key: keyOf('name'), backbone: 'bb', group: 'alt.binaries.test', epoch: 0, firstAt: at(0), lastAt: at(0) },
      ...{ chunks: 2, mergeId: mergeIdOfPieces(both) },
    });
  });
});

describe('a settlement', () => {
  const pass = passFields();
  const first = { ...pass, posting: 0 };
  const told = [opened(), seen({}, [part(0, 5)], 0, T0 + HOUR)];
  const state = () =>
    db.query('select segments, files, bytes, provisional, settle_due_at as due from catalog.release order by first_at');
  const settledState = { segments: 33, files: 3, bytes: 3_000_000, provisional: false, due: null };
  const summed = { segments: 5, files: 2, bytes: 7_000_000, provisional: true, due: T0 + HOUR + DAY };

  it.each([[[1]], [[99]]])(
    'is shown while it holds for just the contributions there are (batches of %j)',
    async (sizes) => {
      await project([...told, settled([settlement('name', [first])])], sizes);
      expect(await state()).toEqual([settledState]);
      const late = [
        opened({ lo: 1001, hi: 2000 }),
        seen({ lo: 1001, hi: 2000 }, [part(0, 1, number(1001))], 0, T0 + DAY),
      ];
      await project([...told, settled([settlement('name', [first])]), ...late], sizes);
      expect(await state()).toEqual([{ ...summed, segments: 6, files: 4, bytes: 14_000_000, due: T0 + 2 * DAY }]);
      // What came late goes again: the settlement holds again.
      await project(
        [...told, settled([settlement('name', [first])]), ...late, opened({ lo: 1001, hi: 2000, run: 2 })],
        sizes,
      );
      expect(await state()).toEqual([settledState]);
    },
  );

  it('of another set, or of another key, is not shown', async () => {
    const others = [settlement('name', [{ ...first, pass: 2 }]), settlement('other', [first])];
    await project([...told, settled(others)]);
    expect(await state()).toEqual([summed]);
  });

  it.each([[[1]], [[99]]])('replaces one of its key less than 3 days away (batches of %j)', async (sizes) => {
    const near = settlement('name', [{ ...first, pass: 9 }], { firstAt: at(2.9) });
    await project([...told, settled([settlement('name', [first])]), settled([near])], sizes);
    expect(await state()).toEqual([summed]);
    const far = settlement('name', [{ ...first, pass: 9 }], { firstAt: at(3) });
    await project([...told, settled([settlement('name', [first])]), settled([far])], sizes);
    expect(await state()).toEqual([settledState]);
  });

  it('names contributions of merges and of groups in any script as `setHashOf` does', async () => {
    const place = { group: 'alt.binaries.ünï', backbone: 'b-1', epoch: 3 };
    const merge = { pieces: [place], revision: 5 };
    const bodies = [part(0, 5, { posting: 1 }), part(0, 6, { posting: 10, ...number(7) })];
    const set = [
      { ...passFields(place), posting: 10 },
      { mergeId: mergeIdOfPieces(merge) },
      { ...passFields(place), posting: 1 },
    ];
    await project([opened(place), seen(place, bodies), merged(merge, part(0, 1)), settled([settlement('name', set)])]);
    expect(await state()).toEqual([settledState]);
  });
});

describe('what settling reads', () => {
  const DUE = (T0 + HOUR + DAY) as EpochMs;
  const dueKeys = (rows: readonly { readonly key: string }[]) => rows.map((r) => r.key);

  it('are releases that are due, by time and id, a page at a time', async () => {
    const names = ['a', 'b', 'c', 'd', 'e'];
    const bodies = names.map((name, i) => contribution(name, number(i + 1)));
    const early = [opened({ lo: 2001, hi: 3000 }), seen({ lo: 2001, hi: 3000 }, [contribution('early')], 0, T0)];
    const done = settled([settlement('c', [{ ...passFields(), posting: 0 }])]);
    await project([opened(), seen({}, bodies, 0, T0 + HOUR), ...early, done]);
    const { due, position }: SettleCatalog = settleCatalog(db);
    expect(await position()).toEqual({ number: 1, sequence: 5 });
    expect(await due((T0 - 1) as EpochMs, null, 10)).toEqual([]);
    expect(dueKeys(await due((DUE - 1) as EpochMs, null, 10))).toEqual([keyOf('early')]);
    const all = await due(DUE, null, 10);
    expect(dueKeys(all).toSorted()).toEqual(['a', 'b', 'd', 'e', 'early'].map(keyOf).toSorted());
    expect(all.map((r) => [r.settleDueAt, r.releaseId])).toEqual(
      all.map((r) => [r.settleDueAt, r.releaseId]).toSorted((a, b) => (String(a) < String(b) ? -1 : 1)),
    );
    const paged: string[] = [];
    for (let after: (typeof all)[number] | null = null; ; ) {
      const page: typeof all = await due(DUE, after, 2);
      paged.push(...page.map((r) => r.releaseId));
      after = page.at(-1) ?? null;
      if (!after) break;
    }
    expect(paged).toEqual(all.map((r) => r.releaseId));
  });

  it('comes with all live contributions, of ranges and of merges, as they were told', async () => {
    const merge = { pieces: [{}], revision: 5 };
    const own = part(0, 5, { hasNfo: true, fileHashes: ['0000000000000001', 'fffffffffffffff0'] });
    const ofMerge = part(1, 6, number(9));
    await project([opened(), seen({}, [own]), merged(merge, ofMerge)]);
    const [release] = await settleCatalog(db).due((T0 + DAY) as EpochMs, null, 10);
    const { backbone, group, epoch } = passFields();
    const figuresOf = (c: typeof own, files: number) => {
      const { filesComplete, segments, segmentsTotal, bytes, par2Files, par2Segments, par2SegmentsTotal, par2Bytes } =
        c;
      return {
        files,
        filesComplete,
        segments,
        segmentsTotal,
        bytes,
        par2Files,
        par2Segments,
        par2SegmentsTotal,
        par2Bytes,
      };
    };
    const said = (c: typeof own, files: number) => {
      const { firstNumber, lastNumber, firstAt, lastAt, chunks } = c;
      return { backbone, group, epoch, firstNumber, lastNumber, firstAt, lastAt, chunks, ...figuresOf(c, files) };
    };
    const { rangeId, run, pass } = passFields();
    const nameOfRange = { backbone, group, rangeId, run, pass, posting: 0 };
    expect(release).toEqual({
      releaseId: idOf(1),
      key: keyOf('name'),
      settleDueAt: T0 + DAY,
      contributions: [
        { ...said(own, 2), name: nameOfRange, fileHashes: own.fileHashes },
        { ...said(ofMerge, 1), name: { mergeId: mergeIdOfPieces(merge) }, fileHashes: ['00000000000000aa'] },
      ],
    });
  });
});
