import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { decodeChunk, encodeChunk } from '../../../streams/codec/chunk.ts';
import { compareTexts } from '../../../streams/compareTexts.ts';
import type { EpochMs, Group, MessageId } from '../../../streams/ids.ts';
import type { ChunkFile, Segment } from '../../../streams/records.ts';
import { joinEntries, unionOf } from '../../../streams/union.ts';
import { propertyRuns } from '../../kit/propertyRuns.ts';

const segment = (part: number, bytes = 100, id = `p${part}@x`): Segment => ({
  part,
  bytes,
  messageId: id as MessageId,
});
const entry = (changes: Partial<ChunkFile> = {}): ChunkFile => ({
  subject: '"a.bin" (/3)',
  partAt: 9,
  partWidth: 1,
  poster: 'me@x',
  postedAt: 1000 as EpochMs,
  parts: 3,
  fileIndex: null,
  fileHash: '00000000000000aa',
  groups: ['alt.a' as Group],
  segments: [segment(1), segment(2), segment(3)],
  ...changes,
});
const one = (...entries: readonly ChunkFile[]) => unionOf(entries)[0]!;

/** Few values of everything, so that they collide: one file with totals, subjects, posters and articles that disagree. */
const anyEntry: fc.Arbitrary<ChunkFile> = fc
  .record({
    hash: fc.constantFrom('00000000000000aa', 'ffffffffffffffff'),
    title: fc.constantFrom('"a.bin" ', '"A.bin" ', '"\u{1f600}.bin" ', '"\uff5a.bin" '),
    parts: fc.constantFrom(0, 2, 3),
    partWidth: fc.integer({ min: 1, max: 2 }),
    poster: fc.constantFrom('me', '\u{1f600}', '\uff5a'),
    at: fc.integer({ min: 0, max: 3 }),
    groups: fc.uniqueArray(fc.constantFrom('alt.a', 'alt.b', 'alt.c'), { minLength: 1 }),
    segments: fc.uniqueArray(
      fc.record({
        part: fc.integer({ min: 0, max: 4 }),
        bytes: fc.integer({ min: 1, max: 2 }),
        id: fc.constantFrom('a', 'b'),
      }),
      { maxLength: 4, selector: (s) => s.part },
    ),
  })
  .map(({ hash, title, parts, partWidth, poster, at, groups, segments }) => ({
    subject: parts === 0 ? title : `${title}(/${parts})`,
    partAt: parts === 0 ? -1 : title.length + 1,
    partWidth: parts === 0 ? 0 : partWidth,
    poster,
    postedAt: at as EpochMs,
    parts,
    fileIndex: null,
    fileHash: hash,
    groups: groups as unknown as Group[],
    segments: segments.sort((a, b) => a.part - b.part).map((s) => segment(s.part, s.bytes, `${s.id}${s.part}@x`)),
  }));

/** Entries, each with the group that it is joined in first, and the same shuffled. */
const grouped = fc
  .array(fc.tuple(anyEntry, fc.integer({ min: 0, max: 2 })), { minLength: 1, maxLength: 10 })
  .chain((list) => fc.tuple(fc.constant(list), fc.shuffledSubarray(list, { minLength: list.length })));

const inGroups = (list: readonly (readonly [ChunkFile, number])[]): readonly ChunkFile[] =>
  [0, 1, 2].flatMap((n) => joinEntries(list.filter(([, group]) => group === n).map(([e]) => e)));

describe('joining files', () => {
  it('gives the same in any order and grouping, also through stored chunks', () => {
    fc.assert(
      fc.property(grouped, ([list, shuffled]) => {
        const all = list.map(([e]) => e);
        const union = unionOf(all);
        expect(unionOf(shuffled.map(([e]) => e))).toEqual(union);
        expect(unionOf(inGroups(shuffled))).toEqual(union);
        expect(joinEntries(inGroups(shuffled))).toEqual(joinEntries(all));
        expect(unionOf(decodeChunk(encodeChunk(joinEntries(all))))).toEqual(union);
      }),
      { numRuns: propertyRuns(200) },
    );
  });

  it('changes nothing when it is done again', () => {
    fc.assert(
      fc.property(fc.array(anyEntry, { maxLength: 10 }), (list) => {
        const union = unionOf(list);
        expect(unionOf(union)).toEqual(union);
        expect(unionOf([...list, ...list])).toEqual(union);
        expect(joinEntries(joinEntries(list))).toEqual(joinEntries(list));
      }),
      { numRuns: propertyRuns(300) },
    );
  });

  it('keeps one segment a part, ascending, and each part in one entry', () => {
    fc.assert(
      fc.property(fc.array(anyEntry, { maxLength: 10 }), (list) => {
        const partsOf = (files: readonly ChunkFile[]) =>
          files.flatMap((f) => f.segments.map((s) => `${f.fileHash} ${s.part}`));
        const expected = [...new Set(partsOf(list))].sort();
        expect(partsOf(unionOf(list))).toEqual(expected);
        expect(partsOf(joinEntries(list)).sort()).toEqual(expected);
      }),
      { numRuns: propertyRuns(300) },
    );
  });

  it('takes the larger body of a part, of equal ones the lower message-id', () => {
    const file = one(
      entry({ segments: [segment(1, 10, 'z'), segment(2, 10, 'b')] }),
      entry({ segments: [segment(1, 20, 'zz'), segment(2, 10, 'a')] }),
    );
    expect(file.segments).toEqual([segment(1, 20, 'zz'), segment(2, 10, 'a')]);
    expect(file.bytes).toBe(30);
  });

  it('believes the total that most winning segments state, of two as frequent the larger, and a counter before none', () => {
    const stating = (parts: number, ...segments: Segment[]) => entry({ parts, subject: `s (/${parts})`, segments });
    expect(one(stating(3, segment(1), segment(2)), stating(9, segment(3))).parts).toBe(3);
    expect(one(stating(3, segment(1)), stating(9, segment(3))).parts).toBe(9);
    expect(one(stating(0, segment(1), segment(2)), stating(2, segment(3))).parts).toBe(2);
    // Two segments that lost to a better article state nothing.
    const lost = stating(9, segment(1, 1), segment(2, 1));
    expect(one(lost, stating(3, segment(1), segment(2), segment(3))).parts).toBe(3);
  });

  it('is complete when parts 1 to the total are there, without a total 1 to the highest', () => {
    expect(one(entry())).toMatchObject({ expected: 3, complete: true, parts: 3 });
    expect(one(entry({ segments: [segment(1), segment(3), segment(4)] }))).toMatchObject({
      expected: 3,
      complete: false,
    });
    expect(one(entry({ parts: 0, segments: [segment(1), segment(2)] }))).toMatchObject({ expected: 2, complete: true });
    expect(one(entry({ parts: 0, segments: [segment(2)] }))).toMatchObject({ expected: 2, complete: false });
    expect(one(entry({ parts: 0, segments: [segment(0)] }))).toMatchObject({ expected: 0, complete: false });
  });

  it('is named by the earliest entry that states the total, of equal times by the smaller subject', () => {
    const named = (subject: string, postedAt: number, poster: string, changes: Partial<ChunkFile> = {}) =>
      entry({ subject, poster, postedAt: postedAt as EpochMs, segments: [], ...changes });
    const early = named('odd', 1, 'odd', { parts: 9 });
    const file = one(
      entry(),
      early,
      named('b', 900, 'b'),
      named('a', 900, 'a', { groups: ['alt.z', 'alt.b'] as Group[] }),
    );
    expect(file).toMatchObject({ subject: 'a', poster: 'a', postedAt: 900, groups: ['alt.z', 'alt.a', 'alt.b'] });
    expect(one(named('a', 900, 'y'), named('a', 900, 'x')).poster).toBe('x');
  });

  it('keeps the most digits that a part number of its subject had', () => {
    expect(one(entry(), entry({ partWidth: 3, postedAt: 2000 as EpochMs })).partWidth).toBe(3);
    expect(one(entry(), entry({ partWidth: 3, subject: 'another' })).partWidth).toBe(1);
  });

  it('compares texts by their UTF-8 bytes', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), fc.string({ unit: 'binary' }), (a, b) => {
        expect(Math.sign(compareTexts(a, b))).toBe(Buffer.compare(Buffer.from(a), Buffer.from(b)));
      }),
    );
    expect(compareTexts('\uff5a', '\u{1f600}')).toBeLessThan(0);
  });
});
