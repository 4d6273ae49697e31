import fc from 'fast-check';
import { beforeAll, describe, expect, it } from 'vitest';
import { largestSum } from '../../../processors/settle/figures.ts';
import type { Figures } from '../../../processors/settle/ports.ts';
import { settlementOf, sharedHashes, unionFigures } from '../../../processors/settle/settlement.ts';
import { readShares } from '../../../processors/settle/sharedFiles.ts';
import { initCompression } from '../../../streams/codec/compression.ts';
import { MergeId } from '../../../streams/ids.ts';
import { setHashOf } from '../../../streams/merges.ts';
import type { ChunkFile } from '../../../streams/records.ts';
import {
  chunkFile,
  countedFigures,
  dueRelease,
  type HeldContribution,
  holds,
  MemoryChunks,
} from '../../kit/dueReleases.ts';
import { propertyRuns } from '../../kit/propertyRuns.ts';
import { DAY, keyOf, T0 } from '../../kit/releaseEvents.ts';

beforeAll(initCompression);

const WIDE = { segmentsHeld: 1000, passesMax: 8 };
const never = new AbortController().signal;

/** The figures of a release of these contributions, and how many chunks were read for them; null: too much is shared. */
async function settled(held: readonly HeldContribution[], limits = WIDE) {
  const chunks = new MemoryChunks().add(held);
  const release = dueRelease('a', held);
  const shares = await readShares(release, chunks, limits, never);
  return { figures: shares && unionFigures(release.contributions, shares), reads: chunks.reads };
}

const all = (count: number, bytes = 10): (readonly [number, number])[] =>
  Array.from({ length: count }, (_, i) => [i + 1, bytes] as const);

describe('the figures of a settled release', () => {
  it('are plain sums where no file is shared, and no chunk is read for them', async () => {
    const held = [
      holds([chunkFile({ hash: 'a', total: 3, parts: all(3) })]),
      holds([chunkFile({ hash: 'b', name: 'b.vol0+1.par2', total: 2, parts: all(1) })], { range: 1 }),
    ];
    const { figures, reads } = await settled(held);
    expect(reads).toBe(0);
    expect(figures).toEqual({
      ...{ files: 2, filesComplete: 1, segments: 4, segmentsTotal: 5, bytes: 40 },
      ...{ par2Files: 1, par2Segments: 1, par2SegmentsTotal: 2, par2Bytes: 10 },
    });
  });

  it('count once what two backbones both hold, and together what each has of a file', async () => {
    const half = (from: number) => all(10).slice(from, from + 7);
    const one = [
      chunkFile({ hash: 'a', total: 10, parts: half(0) }),
      chunkFile({ hash: 'b', total: 2, parts: all(2) }),
    ];
    const two = [
      chunkFile({ hash: 'a', total: 10, parts: half(3) }),
      chunkFile({ hash: 'c', total: 1, parts: all(1) }),
    ];
    const { figures } = await settled([holds(one), holds(two, { backbone: 'other' })]);
    expect(figures).toMatchObject({ files: 3, filesComplete: 3, segments: 13, segmentsTotal: 13, bytes: 130 });
  });

  it('take of a part that two sources have the larger body', async () => {
    const of = (bytes: number, seed: string) => chunkFile({ hash: 'a', total: 1, parts: [[1, bytes]], seed });
    const { figures } = await settled([holds([of(10, 'x')]), holds([of(30, 'y')], { range: 1 })]);
    expect(figures).toMatchObject({ files: 1, segments: 1, bytes: 30 });
  });

  it('go by the total that most segments state where counters disagree', async () => {
    const small = chunkFile({ hash: 'a', total: 4, parts: all(3) });
    const large = chunkFile({ hash: 'a', total: 9, parts: [[4, 10]] });
    const held = [holds([small, large]), holds([chunkFile({ hash: 'a', total: 9, parts: [[5, 10]] })], { range: 1 })];
    expect((await settled(held)).figures).toMatchObject({ segments: 5, segmentsTotal: 4, files: 1, filesComplete: 1 });
    const third = chunkFile({ hash: 'a', total: 9, parts: all(9).slice(5) });
    const more = [...held, holds([third], { range: 2 })];
    expect((await settled(more)).figures).toMatchObject({ segments: 9, segmentsTotal: 9, filesComplete: 1 });
  });

  it('keep par2 apart, which the subject tells', async () => {
    const par2 = (from: number, to: number) =>
      chunkFile({ hash: 'a', name: 'Some.Name.vol003+4.par2', total: 4, parts: all(4).slice(from, to) });
    const { figures } = await settled([holds([par2(0, 3)]), holds([par2(1, 4)], { range: 1 })]);
    expect(figures).toMatchObject({
      ...{ files: 1, filesComplete: 1, segments: 4, segmentsTotal: 4, bytes: 40 },
      ...{ par2Files: 1, par2Segments: 4, par2SegmentsTotal: 4, par2Bytes: 40 },
    });
  });

  it('stay whole numbers whatever totals posters state', async () => {
    const absurd = chunkFile({ hash: 'a', total: 2 ** 52, parts: all(1) });
    const other = (hash: string) => chunkFile({ hash, total: 2 ** 53 - 1, parts: all(1) });
    // The catalog keeps no total above 2^31 - 1.
    const cut = { figures: { segmentsTotal: 2 ** 31 - 1 } };
    const held = [
      holds([absurd], cut),
      holds([absurd], { ...cut, range: 1 }),
      holds([other('b')], { range: 2 }),
      holds([other('c')], { range: 3 }),
    ];
    const { figures } = await settled(held);
    for (const value of Object.values(figures!)) expect(Number.isSafeInteger(value) && value >= 0).toBe(true);
    expect(figures).toMatchObject({ files: 3, segmentsTotal: Number.MAX_SAFE_INTEGER });
  });

  it('are the same in several passes over the chunks, and none where even those hold too much', async () => {
    const files = Array.from({ length: 12 }, (_, i) => chunkFile({ hash: `f${i}`, total: 4, parts: all(4) }));
    const held = [holds(files), holds(files, { backbone: 'other' })];
    const wide = await settled(held);
    const narrow = await settled(held, { segmentsHeld: 20, passesMax: 8 });
    expect(narrow.figures).toEqual(wide.figures);
    expect(narrow.reads).toBeGreaterThan(wide.reads);
    expect((await settled(held, { segmentsHeld: 2, passesMax: 8 })).figures).toBeNull();
  });

  it('are without a union the largest sum within one backbone and epoch', () => {
    const file = (count: number) => [chunkFile({ hash: 'a', total: 9, parts: all(count) })];
    const held = [
      holds(file(3)),
      holds([chunkFile({ hash: 'b', total: 3, parts: all(3) })], { range: 1 }),
      holds(file(5), { backbone: 'other' }),
      holds(file(4), { epoch: 1 }),
    ];
    expect(largestSum(held.map((h) => h.contribution))).toMatchObject({ segments: 6, files: 2, segmentsTotal: 12 });
  });
});

describe('a settlement', () => {
  it('names the set of contributions it holds for, merges among them, and their span', () => {
    const merge = { mergeId: MergeId('ab'.repeat(16)) };
    const held = [holds([], { firstAt: T0, lastAt: T0 + DAY }), holds([], { firstAt: T0 - DAY, name: merge })];
    const figures = countedFigures([]);
    const release = dueRelease('a', held);
    expect(settlementOf(release, figures)).toEqual({
      releaseId: release.releaseId,
      key: keyOf('a'),
      setHash: setHashOf([merge, held[0]!.contribution.name]),
      firstAt: T0 - DAY,
      lastAt: T0 + DAY,
      ...figures,
    });
  });

  it('finds files that two contributions hold, not those that one names twice', () => {
    const of = (...fileHashes: string[]) => ({ fileHashes });
    expect([...sharedHashes([of('a', 'a', 'b'), of('b', 'c'), of('c')])]).toEqual(['b', 'c']);
  });
});

/** Files whose articles disagree on total and size, dealt to contributions article by article. */
const article = fc.record({
  file: fc.integer({ min: 0, max: 4 }),
  part: fc.integer({ min: 0, max: 6 }),
  total: fc.constantFrom(0, 4, 6),
  bytes: fc.integer({ min: 0, max: 3 }),
  seed: fc.constantFrom('', 'z'),
});
type Article = typeof article extends fc.Arbitrary<infer T> ? T : never;

const filesOf = (articles: readonly Article[]): ChunkFile[] =>
  articles.map(({ file, part, total, bytes, seed }) => {
    const name = file < 2 ? `f.vol${file}+1.par2` : `f.part${file}.rar`;
    return chunkFile({
      hash: `f${file}`,
      name,
      total,
      parts: [[part, bytes]],
      seed: `${seed}${total}.${bytes}.`,
    });
  });

describe('settling any release', () => {
  it('gives what one source that held all of its articles would have counted', async () => {
    const worlds = fc.array(fc.array(article, { minLength: 1, maxLength: 8 }), { minLength: 1, maxLength: 4 });
    const limits = fc.constantFrom(WIDE, { segmentsHeld: 8, passesMax: 64 });
    await fc.assert(
      fc.asyncProperty(worlds, limits, async (world, limit) => {
        const held = world.map((articles, range) => holds(filesOf(articles), { range }));
        const { figures } = await settled(held, limit);
        const whole: Figures = countedFigures(world.flatMap(filesOf));
        if (figures !== null) expect(figures).toEqual(whole);
        else expect(limit).not.toBe(WIDE);
      }),
      { numRuns: propertyRuns(100) },
    );
  });
});
