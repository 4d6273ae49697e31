import { describe, expect, it } from 'vitest';
import { fragmentSteps } from '../../../processors/headers/rangeSession.ts';
import { decodePieces } from '../../../streams/codec/fragments.ts';
import { EDGE_NUMBERS } from '../../../streams/rules.ts';
import {
  DAY,
  HOUR,
  lineOf,
  type Made,
  MIDDLE,
  parse,
  parseLines,
  partsOf,
  rangeOf,
  recordsOf,
  START,
} from '../../kit/rangeLines.ts';

const LO = 1_000_000;
const HI = 2_000_000;
const range = rangeOf(LO, HI);
const read = (lines: readonly Made[]) => parseLines(lines, { range });
/** Parts `parts` of a file of `total` parts, from `number` on. */
const some = (
  name: string,
  parts: readonly number[],
  total: number,
  number: number,
  more: Partial<Made> = {},
): Made[] => parts.map((part, i) => ({ number: number + i, subject: `"${name}" yEnc (${part}/${total})`, ...more }));
const RANDOM = '9ciQK4R3mMmKGyhEXWTqlk.mkv';

describe('an incomplete file', () => {
  it('is a piece when an edge may have cut it, and in the contribution elsewhere', () => {
    const at = (number: number) => {
      const { releases, pieces, counts } = read(some('Some.Title.rar', [1, 2], 3, number));
      expect(counts).toEqual({ lines: 2, kept: 2, skipped: {} });
      return [releases.length, pieces.length];
    };
    expect(at(LO)).toEqual([0, 1]);
    expect(at(LO + EDGE_NUMBERS)).toEqual([0, 1]);
    expect(at(LO + EDGE_NUMBERS + 1)).toEqual([1, 0]);
    expect(at(HI - EDGE_NUMBERS - 2)).toEqual([1, 0]);
    expect(at(HI - EDGE_NUMBERS - 1)).toEqual([0, 1]);
    expect(at(HI - 1)).toEqual([0, 1]);
  });

  it('leaves its release with the files that are whole', () => {
    const { releases, pieces } = read([
      ...partsOf('some.title.part1.rar', 2, LO),
      ...partsOf('some.title.part2.rar', 3, LO + 2).slice(0, 2),
    ]);
    expect(releases[0]!.contribution).toMatchObject({ files: 1, segments: 2, firstNumber: LO, lastNumber: LO + 1 });
    expect(pieces[0]!.key).toBe(releases[0]!.contribution.key);
    expect(releases[0]!.contribution.fileHashes).not.toContain(pieces[0]!.fileHash);
  });

  it('tells all that the merge of a file needs', () => {
    const lines: Made[] = [
      ...some('Some.Title.vol1+2.par2', [1, 2, 5], 7, LO + 10, { at: HOUR, from: 'b <b@x>' }),
      ...some('Some.Title.vol1+2.par2', [6], 8, LO + 20, { at: 2 * HOUR, bytes: 5 }),
      ...some('Some.Title.vol1+2.par2', [5], 7, LO + 30, { at: 3 * HOUR, bytes: 1, from: 'c <c@x>' }),
      ...partsOf('some.title.part2.rar', 2, LO + 40, { at: 4 * HOUR, subject: '"Some.Title.nfo" yEnc (1/1)' }).slice(
        0,
        1,
      ),
    ];
    const { pieces, releases, counts } = read(lines);
    expect(counts).toEqual({ lines: 6, kept: 5, skipped: { duplicate_part: 1 } });
    expect(pieces).toHaveLength(1);
    expect(pieces[0]).toMatchObject({
      key: releases[0]!.contribution.key,
      posting: 0,
      name: 'Some.Title',
      poster: 'b <b@x>',
      obfuscated: false,
      filesTotal: null,
      par2: true,
      nfo: false,
      lone: false,
      firstNumber: LO + 10,
      lastNumber: LO + 30,
      firstAt: START + HOUR,
      lastAt: START + 3 * HOUR,
      postingFirstAt: START + HOUR,
      postingLastAt: START + 4 * HOUR,
      parts: [
        [1, 2],
        [5, 6],
      ],
      totals: [
        [7, 3],
        [8, 1],
      ],
      segments: 4,
      bytes: 3005,
    });
    expect(pieces[0]!.files.map((f) => [f.parts, f.segments.map((s) => s.part), f.postedAt])).toEqual([
      [8, [6], START + 2 * HOUR],
      [7, [1, 2, 5], START + HOUR],
    ]);
    for (const file of pieces[0]!.files) expect(file.fileHash).toBe(pieces[0]!.fileHash);
  });

  it('is a piece a posting, numbered as the postings of its key are', () => {
    const { pieces, releases } = read([
      ...partsOf('some.title.rar', 2, LO),
      ...partsOf('some.title.rar', 2, LO + 10, { at: 3 * DAY }).slice(1),
    ]);
    expect(releases.map((r) => r.contribution.posting)).toEqual([0]);
    expect(pieces.map((p) => [p.posting, p.parts, p.postingFirstAt])).toEqual([[1, [[2, 2]], START + 3 * DAY]]);
  });

  it('that states no total is whole when none of its parts lacks', () => {
    const zero = (part: number): Made => ({ number: LO + part, subject: `"Some.Title.rar" yEnc (${part}/0)` });
    expect(read([zero(1), zero(2)]).releases[0]!.contribution).toMatchObject({ filesComplete: 1, segmentsTotal: 2 });
    expect(read([zero(1), zero(3)]).pieces[0]).toMatchObject({ totals: [[0, 2]], segments: 2 });
  });

  it('of more articles than an edge looks at stays with its contribution', () => {
    const lines = some(
      'Some.Title.rar',
      Array.from({ length: EDGE_NUMBERS + 1 }, (_, i) => i + 1),
      99_999,
      LO,
    );
    const { pieces, releases } = read(lines);
    expect([pieces.length, releases[0]!.contribution.segments]).toEqual([0, EDGE_NUMBERS + 1]);
  });
});

describe('a lone part', () => {
  it('near an edge travels in the blob of that edge, elsewhere it is counted only', () => {
    const lone = (number: number) => some(RANDOM.replace('9c', `${number % 10}c`), [4], 9, number)[0]!;
    const lines = [lone(LO + 1), lone(LO + 2), lone(LO + 500_003), lone(HI - 4)];
    const parsed = parse([lines.map(lineOf).join('')], { range });
    expect(parsed.counts).toEqual({ lines: 4, kept: 0, skipped: { random: 4 } });
    expect([...parsed.pieces()]).toEqual([]);
    const blobs = parsed.lone();
    expect(blobs.map((b) => [b.firstNumber, b.lastNumber, b.hashes.length])).toEqual([
      [LO + 1, LO + 2, 16],
      [HI - 4, HI - 4, 8],
    ]);
    const pieces = recordsOf(parsed).lone;
    expect(pieces.map((p) => [p.lone, p.obfuscated, p.segments, p.parts, p.totals])).toEqual(
      Array.from({ length: 3 }, () => [true, true, 1, [[4, 4]], [[9, 1]]]),
    );
    expect(pieces.map((p) => p.firstNumber).sort()).toEqual([LO + 1, LO + 2, HI - 4]);
  });

  it('near both edges is in the blob of the lower one', () => {
    const small = rangeOf(LO, LO + 100);
    const parsed = parse(
      [
        some(RANDOM, [4], 9, LO + 99)
          .map(lineOf)
          .join(''),
      ],
      { range: small },
    );
    expect(parsed.lone()).toHaveLength(1);
  });

  it('is a random post with the duplicates of it counted apart, and a file with any other part', () => {
    const again = { number: LO + 5, bytes: 1 };
    const twice = read([...some(RANDOM, [4], 9, LO), ...some(RANDOM, [4], 9, LO, again)]);
    expect(twice.counts).toEqual({ lines: 2, kept: 0, skipped: { duplicate_part: 1, random: 1 } });
    expect(twice.lone).toMatchObject([{ firstNumber: LO, lastNumber: LO + 5, bytes: 1000 }]);
    expect(read(some(RANDOM, [4, 5], 9, LO)).pieces).toMatchObject([{ lone: false, obfuscated: true, segments: 2 }]);
  });
});

describe('messages of fragments', () => {
  const parsed = (count: number) =>
    parse(
      [
        Array.from({ length: count }, (_, i) => some(`Some.Title.${i}.rar`, [1], 2, LO + i))
          .flat()
          .map(lineOf)
          .join(''),
      ],
      { range },
    );
  const lone = parse([some(RANDOM, [4], 9, LO).map(lineOf).join('')], { range }).lone();

  it('carry every piece once, in order, and the blobs with the last of them', () => {
    const pieces = [...parsed(9000).pieces()];
    const messages = fragmentSteps(pieces, lone);
    expect(messages.length).toBeGreaterThan(1);
    expect(messages.flatMap((m) => m.pieces)).toEqual(pieces);
    expect(messages.map((m) => m.lone.length)).toEqual([...messages.slice(1).map(() => 0), 1]);
  });

  it('are none without fragments, one for blobs alone, and one a blob where two would be too large', () => {
    expect(fragmentSteps([], [])).toEqual([]);
    expect(fragmentSteps([], lone)).toEqual([{ pieces: [], lone }]);
    const large = { ...lone[0]!, payload: new Uint8Array(4_000_000) };
    expect(fragmentSteps([...parsed(1).pieces()], [large, large]).map((m) => [m.pieces.length, m.lone.length])).toEqual(
      [
        [1, 0],
        [0, 1],
        [0, 1],
      ],
    );
  });

  it('hold the lone parts of a flood whole', () => {
    const lines = Array.from({ length: 3000 }, (_, i) =>
      some(`${i}QK4R3mMmKGyhEXWTqlk.mkv`, [4], 9, MIDDLE + i),
    ).flat();
    const blobs = parse([lines.map(lineOf).join('')], { range: rangeOf(MIDDLE, MIDDLE + 3000) }).lone();
    expect(blobs.flatMap(({ payload }) => decodePieces(payload))).toHaveLength(3000);
  });
});
