import { describe, expect, it } from 'vitest';
import type { GroupRanks } from '../../../processors/headers/xref.ts';
import { Group } from '../../../streams/ids.ts';
import type { ChunkFile } from '../../../streams/records.ts';
import {
  DAY,
  HOUR,
  lineOf,
  type Made,
  MIDDLE,
  OWN,
  parse,
  parseLines,
  partsOf,
  rangeOf,
  recordsOf,
  START,
} from '../../kit/rangeLines.ts';

const filesIn = (release: { chunks: readonly { files: readonly ChunkFile[] }[] }) =>
  release.chunks.flatMap((c) => c.files);

const subjectFor = (f: ChunkFile, part: number) =>
  f.partAt < 0
    ? f.subject
    : f.subject.slice(0, f.partAt) + String(part).padStart(f.partWidth, '0') + f.subject.slice(f.partAt);

describe('a range', () => {
  it('makes one contribution of the files of a set, with sums, par2 apart, and the nfo seen', () => {
    const base = 'Harbor.Lights.S01E05.720p-ABC';
    const file = (name: string, i: number, first: number, total: number) =>
      Array.from({ length: total }, (_, k) => ({
        number: MIDDLE + first + k,
        subject: `[${i}/3] - "${base}.${name}" yEnc (${k + 1}/${total})`,
        bytes: 100 * i,
        at: k * HOUR,
      }));
    const { releases, counts } = parseLines([
      ...file('nfo', 1, 10, 1),
      ...file('part01.rar', 2, 11, 3),
      ...file('vol00+01.par2', 3, 14, 2).slice(0, 1),
    ]);
    expect(releases).toHaveLength(1);
    expect(releases[0]!.contribution).toMatchObject({
      posting: 0,
      name: base,
      obfuscated: false,
      filesTotal: 3,
      poster: 'poster <p@x.y>',
      mainGroup: OWN,
      groups: [OWN],
      firstNumber: MIDDLE + 10,
      lastNumber: MIDDLE + 14,
      firstAt: START,
      lastAt: START + 2 * HOUR,
      files: 3,
      filesComplete: 2,
      segments: 5,
      segmentsTotal: 6,
      bytes: 100 + 600 + 300,
      par2Files: 1,
      par2Segments: 1,
      par2SegmentsTotal: 2,
      par2Bytes: 300,
      hasNfo: true,
      chunks: 1,
    });
    expect(counts).toEqual({ lines: 5, kept: 5, skipped: {} });
    expect(filesIn(releases[0]!).map((f) => f.fileIndex)).toEqual([1, 2, 3]);
    const hashes = filesIn(releases[0]!).map((f) => f.fileHash);
    expect(releases[0]!.contribution.fileHashes).toEqual([...hashes].sort());
    expect(new Set(hashes).size).toBe(3);
    for (const hash of hashes) expect(hash).toMatch(/^[0-9a-f]{16}$/);
  });

  it('writes the subject of every part as it was, leading zeros, accents and windows-1252 included', () => {
    const subjects = [
      ...[1, 9, 10, 100].map((n) => `"zéro.rar" yEnc (${String(n).padStart(3, '0')}/200)`),
      ...[1, 9, 10, 100].map((n) => `"plain.rar" yEnc (${n} of 100) 4711`),
    ];
    const lines = subjects.map((subject, i) => lineOf({ number: MIDDLE + i + 1, subject }));
    for (const [encoding, bytes] of [
      ['utf8', Buffer.from(lines.join(''))],
      ['latin1', Buffer.from(lines.join(''), 'latin1')],
    ] as const) {
      const files = recordsOf(parse([bytes])).releases.flatMap(filesIn);
      const written = files.flatMap((f) => f.segments.map((s) => subjectFor(f, s.part)));
      expect([encoding, written.sort()]).toEqual([encoding, [...subjects].sort()]);
    }
  });

  it('keeps the larger body of two articles for a part, of equal ones the lower id, and counts the time of both', () => {
    const subject = (n: number) => `"Some.Title.rar" yEnc (${n}/2)`;
    const { releases, counts } = parseLines([
      { number: MIDDLE + 1, subject: subject(1), bytes: 10, id: 'small@x', at: 0 },
      { number: MIDDLE + 2, subject: subject(1), bytes: 20, id: 'large@x', at: HOUR },
      { number: MIDDLE + 3, subject: subject(2), bytes: 10, id: 'b@x', at: HOUR },
      { number: MIDDLE + 4, subject: subject(2), bytes: 10, id: 'a@x', at: 2 * HOUR },
      { number: MIDDLE + 5, subject: subject(2), bytes: 10, id: 'c@x', at: 5 * HOUR },
    ]);
    expect(filesIn(releases[0]!)[0]!.segments).toEqual([
      { part: 1, bytes: 20, messageId: 'large@x' },
      { part: 2, bytes: 10, messageId: 'a@x' },
    ]);
    expect(releases[0]!.contribution).toMatchObject({
      firstAt: START,
      lastAt: START + 5 * HOUR,
      firstNumber: MIDDLE + 1,
      lastNumber: MIDDLE + 5,
      segments: 2,
      bytes: 30,
      filesComplete: 1,
    });
    expect(counts).toEqual({ lines: 5, kept: 2, skipped: { duplicate_part: 3 } });
  });

  it('splits the postings of a key at a gap of 3 days and not before, each complete for itself', () => {
    const first = partsOf('some.title.rar', 2, MIDDLE + 1);
    const again = (after: number) => partsOf('some.title.rar', 2, MIDDLE + 11, { at: after });
    expect(parseLines([...first, ...again(3 * DAY - 1000)]).releases).toHaveLength(1);
    const { releases, counts } = parseLines([...first, ...again(3 * DAY)]);
    expect(releases.map((r) => r.contribution)).toMatchObject([
      { posting: 0, firstNumber: MIDDLE + 1, lastNumber: MIDDLE + 2, filesComplete: 1, segments: 2, firstAt: START },
      {
        posting: 1,
        firstNumber: MIDDLE + 11,
        lastNumber: MIDDLE + 12,
        filesComplete: 1,
        segments: 2,
        firstAt: START + 3 * DAY,
      },
    ]);
    expect(releases[0]!.contribution.key).toBe(releases[1]!.contribution.key);
    expect(releases[0]!.contribution.fileHashes).toEqual(releases[1]!.contribution.fileHashes);
    expect(counts.kept).toBe(4);
  });

  it('gives an article without a readable date that of the line before it, at the start that of the one after', () => {
    const [a, b, c] = partsOf('some.title.rar', 3, MIDDLE + 1);
    const { releases, dateSpan } = parseLines([
      { ...a!, at: 'never' },
      { ...b!, at: DAY },
      { ...c!, at: '' },
    ]);
    expect(releases).toHaveLength(1);
    expect(releases[0]!.contribution).toMatchObject({ firstAt: START + DAY, lastAt: START + DAY });
    expect(dateSpan).toEqual({ firstAt: START + DAY, lastAt: START + DAY });
  });

  it('keeps sets of different stated totals apart, and posters only where the base is nobody’s own', () => {
    const keys = (subject: string, from: string) =>
      parseLines([{ number: MIDDLE + 1, subject, from }]).releases.map((r) => r.contribution.key)[0];
    expect(keys('[1/2] "Some.Title.rar" yEnc (1/1)', 'a')).toBe(keys('[2/2] "some title.par2" yEnc (1/1)', 'b'));
    expect(keys('[1/2] "Some.Title.rar" yEnc (1/1)', 'a')).not.toBe(keys('[1/3] "Some.Title.rar" yEnc (1/1)', 'a'));
    expect(keys('[1/2] "sample.rar" yEnc (1/1)', 'a')).not.toBe(keys('[1/2] "sample.rar" yEnc (1/1)', 'b'));
    expect(keys('[1/2] "Kf9UyY9ZpxkXPkRa.rar" yEnc (1/1)', 'a')).not.toBe(
      keys('[1/2] "Kf9UyY9ZpxkXPkRa.rar" yEnc (1/1)', 'b'),
    );
  });

  it('keeps files of one name apart by poster where the name is generic, and together where it is not', () => {
    const both = (name: string) =>
      parseLines(
        ['a', 'b'].map((from, i) => ({ number: MIDDLE + i + 1, from, subject: `"${name}" yEnc (${i + 1}/2)` })),
      ).releases.map((r) => r.contribution.files);
    expect(both('sample.avi')).toEqual([1, 1]);
    expect(both('Some.Title.2011.avi')).toEqual([1]);
  });

  it('counts random posts, text and lone parts of obfuscated names without a row', () => {
    const { releases, counts, random } = parseLines([
      { number: MIDDLE + 1, subject: 'q07sm3WntuDK4fAokUvxymKQ8qAN93MmoBZ9pax', bytes: 5 },
      { number: MIDDLE + 2, subject: 'SYIYmVbip01p4wnQrfwh8ywdX5Kyh0XSOXkw4IiwF yEnc (1/1)', bytes: 5, at: HOUR },
      { number: MIDDLE + 3, subject: '"7e808f5e537ffc3d7e808f5e537ffc3d.bin" yEnc (1/1)', bytes: 5 },
      { number: MIDDLE + 4, subject: 'Re: what a nice day' },
      { number: MIDDLE + 5, subject: 'How to read .pdf files?' },
      { number: MIDDLE + 6, subject: '"5KzdcWdGVGUG83Q9jv8KXht4O2k57x.mkv" yEnc (4/400)', bytes: 7, at: 2 * HOUR },
      { number: MIDDLE + 7, subject: '"9ciQK4R3mMmKGyhEXWTqlk.mkv" yEnc (1/3)' },
      { number: MIDDLE + 8, subject: '"9ciQK4R3mMmKGyhEXWTqlk.mkv" yEnc (2/3)' },
    ]);
    expect(releases.map((r) => r.contribution)).toMatchObject([
      { name: '9ciQK4R3mMmKGyhEXWTqlk', obfuscated: true, segments: 2, segmentsTotal: 3, filesComplete: 0 },
    ]);
    expect(counts).toEqual({ lines: 8, kept: 2, skipped: { random: 4, text: 2 } });
    expect(random).toEqual({ lines: 4, bytes: 22, firstAt: START, lastAt: START + 2 * HOUR });
  });

  it('counts lines outside its numbers, for they are another range’s', () => {
    const range = rangeOf(MIDDLE + 2, MIDDLE + 3);
    const { counts } = parseLines(partsOf('some.title.rar', 4, MIDDLE + 1), { range });
    expect(counts).toEqual({ lines: 4, kept: 2, skipped: { outside_range: 2 } });
  });

  it('takes the total that most parts state when they disagree, as one file', () => {
    const line = (n: number, total: number): Made => ({
      number: MIDDLE + n,
      subject: `"Some.Title.rar" yEnc (${n}/${total})`,
    });
    const { releases } = parseLines([line(1, 24), line(2, 1297), line(3, 1297)]);
    expect(releases[0]!.contribution).toMatchObject({ files: 1, segments: 3, segmentsTotal: 1297 });
    expect(filesIn(releases[0]!)[0]).toMatchObject({ parts: 1297 });
  });

  it('reads encoded words before it looks for the counter', () => {
    const subject = (n: number) => `=?UTF-8?Q?=5B01/12=5D_=22Caf=C3=A9.Nord.part01.rar=22_yEnc_=28${n}/2=29?=`;
    const { releases } = parseLines([1, 2].map((n) => ({ number: MIDDLE + n, subject: subject(n) })));
    expect(releases[0]!.contribution).toMatchObject({ name: 'Café.Nord', filesTotal: 12, filesComplete: 1 });
    expect(subjectFor(filesIn(releases[0]!)[0]!, 2)).toBe('[01/12] "Café.Nord.part01.rar" yEnc (2/2)');
  });

  it('slices the segments of a contribution over chunks and loses none', () => {
    const lines = [
      ...partsOf('some.title.part1.rar', 7, MIDDLE + 1),
      ...partsOf('some.title.part2.rar', 6, MIDDLE + 11),
    ];
    const [release] = parseLines(lines, { chunkSegments: 5 }).releases;
    expect(release!.chunks.map((c) => [c.k, c.segments])).toEqual([
      [0, 5],
      [1, 5],
      [2, 3],
    ]);
    expect(release!.contribution.chunks).toBe(3);
    const ids = filesIn(release!).flatMap((f) => f.segments.map((s) => s.messageId));
    expect(ids).toEqual(lines.map((l) => `id${l.number}@host`));
  });
});

describe('cross-posts', () => {
  const first = Group('alt.binaries.first');
  const later = Group('alt.binaries.later');
  const ranks: GroupRanks = new Map([
    [first, { rank: 1, spans: [[500, 1000]] }],
    [OWN, { rank: 2, spans: [[1, 1000]] }],
    [later, { rank: 3, spans: [[1, Number.MAX_SAFE_INTEGER]] }],
  ]);
  const one = (xref: string, number = 7) =>
    parseLines([{ number, subject: '"Some.Title.rar" yEnc (1/1)', xref }], { ranks });

  it('belong to the lowest-ranked group whose span holds their number there', () => {
    expect(one(`${OWN}:7 ${first}:600`).counts.skipped).toEqual({ crosspost: 1 });
    expect(one(`${OWN}:7 ${first}:499`).counts.kept).toBe(1);
    expect(one(`${OWN}:7 ${later}:8`).counts.kept).toBe(1);
    expect(one(`${later}:8`, 2000).counts.skipped).toEqual({ crosspost: 1 });
    expect(one('alt.unlisted:8', 2000).counts.kept).toBe(1);
  });

  it('remember every group of Xref, the main one first', () => {
    const { releases } = one(`alt.z:4 ${later}:8 ${OWN}:7 alt.b:9 broken alt..c:1 x:y`);
    expect(releases[0]!.contribution.groups).toEqual(
      [OWN, later, 'alt.b', 'alt.z'].sort((a, b) => (a === OWN ? -1 : b === OWN ? 1 : a < b ? -1 : 1)),
    );
    expect(filesIn(releases[0]!)[0]!.groups[0]).toBe(OWN);
  });
});
