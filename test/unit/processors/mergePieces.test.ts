import fc from 'fast-check';
import { beforeAll, describe, expect, it } from 'vitest';
import { closingRule } from '../../../processors/fragments/closing.ts';
import { mergePieces } from '../../../processors/fragments/mergePieces.ts';
import type { SourcePiece } from '../../../processors/fragments/ports.ts';
import { decodeChunk } from '../../../streams/codec/chunk.ts';
import { initCompression } from '../../../streams/codec/compression.ts';
import { ArticleNumber, Epoch, Group, RangeId } from '../../../streams/ids.ts';
import { mergeIdOf } from '../../../streams/merges.ts';
import type { Piece } from '../../../streams/records.ts';
import { unionOf } from '../../../streams/union.ts';
import { entryOf, type FileArticle, pieceOfArticles } from '../../kit/filePieces.ts';
import { fileHashOf } from '../../kit/fragmentHistories.ts';
import { passFields, T0 } from '../../kit/releaseEvents.ts';

beforeAll(initCompression);

const { backbone, group, epoch } = passFields();
const PLACE = { backbone, group, epoch };
const HASH = fileHashOf('file');
const HOUR = 3_600_000;

const sourced = (pieces: readonly Piece[]): readonly SourcePiece[] =>
  pieces.map((piece, i) => {
    const rangeId = RangeId.of(Epoch(0), ArticleNumber(i * 1000), ArticleNumber(i * 1000 + 999));
    return { source: { rangeId, run: 1, pass: 1, posting: piece.posting }, piece };
  });
const merge = (pieces: readonly Piece[]) => mergePieces(PLACE, HASH, sourced(pieces));
const article = (o: Partial<FileArticle> = {}): FileArticle => {
  return { number: 1, part: 1, total: 3, bytes: 700, second: 0, poster: 'a@b', ...o };
};

describe('what closes a unit', () => {
  const unit = { complete: false, firstNumber: 200_000, lastNumber: 200_100, lastAt: T0 };
  const around = [150_000, 250_100] as const;
  const nothing = { resolved: [], high: null, highReadAt: null };

  it.each([
    ['all of it is there', { ...unit, complete: true }, nothing, 'complete'],
    ['all numbers around it are resolved', unit, { ...nothing, resolved: [around] }, 'resolved'],
    ['one of them is not', unit, { ...nothing, resolved: [[150_001, 250_100]] }, null],
    [
      'all up to the high mark are, read 6 h later',
      unit,
      { resolved: [[0, 200_200]], high: 200_200, highReadAt: T0 + 6 * HOUR },
      'late',
    ],
    [
      'the mark was read too early',
      unit,
      { resolved: [[0, 200_200]], high: 200_200, highReadAt: T0 + 6 * HOUR - 1 },
      null,
    ],
    ['one below the mark is open', unit, { resolved: [[0, 200_199]], high: 200_200, highReadAt: T0 + 9 * HOUR }, null],
    ['nothing is known', unit, nothing, null],
  ] as const)('when %s', (_, one, resolution, rule) => {
    expect(closingRule(one, resolution)).toBe(rule);
  });
});

describe('merging pieces', () => {
  const left = pieceOfArticles('file', [
    article({ number: 10 }),
    article({ number: 11, part: 2, bytes: 300, second: 5 }),
  ]);
  const right = pieceOfArticles('file', [article({ number: 1005, part: 3, second: 9 })]);

  it('gives the contribution that one range with all of it would have given', () => {
    const { contribution, chunks, mergeId, sources } = merge([right, left]);
    expect(contribution).toEqual({
      ...{ key: left.key, posting: 0, name: 'file', obfuscated: false, filesTotal: null, poster: 'a@b' },
      ...{ mainGroup: group, groups: [group], firstNumber: 10, lastNumber: 1005, firstAt: T0, lastAt: T0 + 9000 },
      ...{ files: 1, filesComplete: 1, segments: 3, segmentsTotal: 3, bytes: 1700, chunks: 1, fileHashes: [HASH] },
      ...{ par2Files: 0, par2Segments: 0, par2SegmentsTotal: 0, par2Bytes: 0, hasNfo: false },
    });
    expect(chunks).toMatchObject([{ key: left.key, posting: 0, k: 0, firstAt: T0, lastAt: T0 + 9000, segments: 3 }]);
    expect(decodeChunk(chunks[0]!.payload)[0]!.segments.map((s) => s.part)).toEqual([1, 2, 3]);
    expect(mergeId).toBe(mergeIdOf(PLACE, HASH, sources));
    expect(sources.map((s) => s.rangeId)).toEqual(['0-0-999', '0-1000-1999']);
  });

  it('takes flags and groups of all pieces, par2 figures apart', () => {
    const flags = { par2: true, nfo: true, obfuscated: true, groups: [group, Group('z.b')] };
    const { contribution } = merge([
      left,
      { ...right, ...flags, groups: [group, Group('a.b')] },
      { ...right, ...flags, posting: 1 },
    ]);
    expect(contribution).toMatchObject({
      ...{ par2Files: 1, par2Segments: 3, par2SegmentsTotal: 3, par2Bytes: 1700, hasNfo: true, obfuscated: false },
      groups: [group, 'a.b', 'z.b'],
    });
    expect(merge([{ ...right, obfuscated: true }]).contribution.obfuscated).toBe(true);
  });

  it('names it after the earliest article, of equal times by the bytes of name, then poster', () => {
    const named = (name: string, poster: string, second: number) => ({
      ...pieceOfArticles('file', [article({ second })]),
      ...{ name, poster },
    });
    const nameOf = (pieces: readonly Piece[]) => {
      const { name, poster } = merge(pieces).contribution;
      return `${name} ${poster}`;
    };
    expect(nameOf([named('b', 'x', 1), named('a', 'x', 2)])).toBe('b x');
    expect(nameOf([named('b', 'x', 1), named('a', 'y', 1)])).toBe('a y');
    expect(nameOf([named('a', 'y', 1), named('a', 'x', 1)])).toBe('a x');
    // A surrogate pair is smaller as UTF-16 and larger as UTF-8.
    expect(nameOf([named('\u{1f600}', 'x', 1), named('\uff5e', 'x', 1)])).toBe('\uff5e x');
  });

  it('cuts segment lists into chunks of at most 512', () => {
    const many = (from: number, to: number) =>
      pieceOfArticles(
        'file',
        Array.from({ length: to - from }, (_, i) => article({ number: from + i, part: from + i, total: 1200 })),
      );
    const { chunks, contribution } = merge([many(1, 700), many(700, 1201)]);
    expect(chunks.map((c) => [c.k, c.segments])).toEqual([
      [0, 512],
      [1, 512],
      [2, 176],
    ]);
    expect(contribution).toMatchObject({ chunks: 3, segments: 1200, filesComplete: 1 });
    const parts = chunks.flatMap((c) => decodeChunk(c.payload).flatMap((f) => f.segments.map((s) => s.part)));
    expect(parts).toEqual(Array.from({ length: 1200 }, (_, i) => i + 1));
  });

  it('refuses to merge nothing', () => {
    expect(() => merge([])).toThrow(RangeError);
  });

  it('depends neither on how the file was cut nor on the order of the pieces', () => {
    const articles = fc.array(
      fc.record({
        number: fc.nat({ max: 5000 }),
        part: fc.integer({ min: 1, max: 6 }),
        total: fc.constantFrom(0, 5, 5, 6),
        bytes: fc.constantFrom(100, 700, 700, 701),
        second: fc.nat({ max: 5 }),
        poster: fc.constantFrom('a@b', 'c@d'),
      }),
      { minLength: 1, maxLength: 14 },
    );
    fc.assert(
      fc.property(articles, fc.array(fc.nat({ max: 3 }), { minLength: 14, maxLength: 14 }), (list, cut) => {
        const held = [0, 1, 2, 3].map((n) => list.filter((_, i) => cut[i] === n)).filter((part) => part.length > 0);
        const pieces = held.map((part) => pieceOfArticles('file', part));
        const [whole, apart, back] = [[pieceOfArticles('file', list)], pieces, [...pieces].reverse()].map(merge);
        expect(apart!.contribution).toEqual(whole!.contribution);
        expect(back!.contribution).toEqual(whole!.contribution);
        const lists = (m: ReturnType<typeof merge>) => unionOf(m.chunks.flatMap((c) => decodeChunk(c.payload)));
        expect(lists(apart!)).toEqual(unionOf(list.map((a) => entryOf('file', a))));
        expect(back!.chunks.map((c) => c.payload)).toEqual(apart!.chunks.map((c) => c.payload));
        // Counted without the union: a part once, the larger body of it.
        const bodies = new Map<number, number>();
        for (const { part, bytes } of list) bodies.set(part, Math.max(bytes, bodies.get(part) ?? 0));
        const bytes = [...bodies.values()].reduce((a, b) => a + b, 0);
        expect(apart!.contribution).toMatchObject({ segments: bodies.size, bytes });
      }),
    );
  });
});
