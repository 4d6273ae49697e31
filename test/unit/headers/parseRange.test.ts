import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { STANDARD_FORMAT } from '../../../processors/headers/lines.ts';
import { createRangeParser, type ParsedRange } from '../../../processors/headers/parseRange.ts';
import type { GroupRanks } from '../../../processors/headers/xref.ts';
import { filesOf } from '../../../streams/codec/segmentColumns.ts';
import { ArticleNumber, Backbone, Epoch, Group, RangeId } from '../../../streams/ids.ts';
import type { ChunkFile, RangeRef } from '../../../streams/records.ts';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const START = Date.UTC(2024, 0, 10);
const OWN = Group('alt.binaries.own');

const rangeOf = (lo = 1, hi = 1_000_000): RangeRef => ({
  backbone: Backbone('bb'),
  group: OWN,
  epoch: Epoch(0),
  rangeId: RangeId.of(Epoch(0), ArticleNumber(lo), ArticleNumber(hi)),
  lo: ArticleNumber(lo),
  hi: ArticleNumber(hi),
  run: 1,
  lane: 'backfill',
});

interface Made {
  readonly number: number;
  readonly subject: string;
  readonly from?: string;
  /** Ms after START, or a date as text. */
  readonly at?: number | string;
  readonly id?: string;
  readonly bytes?: number;
  readonly xref?: string;
}

const lineOf = (m: Made): string => {
  const date = typeof m.at === 'string' ? m.at : new Date(START + (m.at ?? 0)).toUTCString();
  const xref = m.xref === undefined ? '' : `Xref: host ${m.xref}`;
  const id = `<${m.id ?? `id${m.number}@host`}>`;
  return `${m.number}\t${m.subject}\t${m.from ?? 'poster <p@x.y>'}\t${date}\t${id}\t\t${m.bytes ?? 1000}\t8\t${xref}\r\n`;
};

interface Options {
  readonly seed?: number;
  readonly ranks?: GroupRanks;
  readonly range?: RangeRef;
  readonly chunkSegments?: number;
}

function parse(batches: readonly (string | Uint8Array)[], o: Options = {}): ParsedRange {
  const parser = createRangeParser({
    range: o.range ?? rangeOf(),
    groupRanks: o.ranks ?? new Map(),
    format: STANDARD_FORMAT,
    seed: o.seed ?? 1,
    ...(o.chunkSegments === undefined ? {} : { chunkSegments: o.chunkSegments }),
  });
  for (const batch of batches) parser.addBatch(typeof batch === 'string' ? Buffer.from(batch) : batch);
  return parser.finish();
}

/** Everything a range says, as plain values. */
const recordsOf = (parsed: ParsedRange) => ({
  counts: parsed.counts,
  random: parsed.random,
  dateSpan: parsed.dateSpan,
  releases: [...parsed.releases()].map(({ contribution, chunks }) => ({
    contribution,
    chunks: chunks.map(({ content, ...head }) => ({ ...head, files: filesOf(content) })),
  })),
});
const parseLines = (lines: readonly Made[], o: Options = {}) => recordsOf(parse([lines.map(lineOf).join('')], o));
const filesIn = (release: { chunks: readonly { files: readonly ChunkFile[] }[] }) =>
  release.chunks.flatMap((c) => c.files);

const partsOf = (name: string, total: number, first: number, more: Partial<Made> = {}): Made[] =>
  Array.from({ length: total }, (_, i) => ({
    number: first + i,
    subject: `Some Title [1/2] - "${name}" yEnc (${i + 1}/${total})`,
    ...more,
  }));
const subjectFor = (f: ChunkFile, part: number) =>
  f.partAt < 0
    ? f.subject
    : f.subject.slice(0, f.partAt) + String(part).padStart(f.partWidth, '0') + f.subject.slice(f.partAt);

describe('a range', () => {
  it('makes one contribution of the files of a set, with sums, par2 apart, and the nfo seen', () => {
    const base = 'Harbor.Lights.S01E05.720p-ABC';
    const file = (name: string, i: number, first: number, total: number) =>
      Array.from({ length: total }, (_, k) => ({
        number: first + k,
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
      firstNumber: 10,
      lastNumber: 14,
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
    const lines = subjects.map((subject, i) => lineOf({ number: i + 1, subject }));
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
      { number: 1, subject: subject(1), bytes: 10, id: 'small@x', at: 0 },
      { number: 2, subject: subject(1), bytes: 20, id: 'large@x', at: HOUR },
      { number: 3, subject: subject(2), bytes: 10, id: 'b@x', at: HOUR },
      { number: 4, subject: subject(2), bytes: 10, id: 'a@x', at: 2 * HOUR },
      { number: 5, subject: subject(2), bytes: 10, id: 'c@x', at: 5 * HOUR },
    ]);
    expect(filesIn(releases[0]!)[0]!.segments).toEqual([
      { part: 1, bytes: 20, messageId: 'large@x' },
      { part: 2, bytes: 10, messageId: 'a@x' },
    ]);
    expect(releases[0]!.contribution).toMatchObject({
      firstAt: START,
      lastAt: START + 5 * HOUR,
      firstNumber: 1,
      lastNumber: 5,
      segments: 2,
      bytes: 30,
      filesComplete: 1,
    });
    expect(counts).toEqual({ lines: 5, kept: 2, skipped: { duplicate_part: 3 } });
  });

  it('splits the postings of a key at a gap of 3 days and not before, each complete for itself', () => {
    const first = partsOf('some.title.rar', 2, 1);
    const again = (after: number) => partsOf('some.title.rar', 2, 11, { at: after });
    expect(parseLines([...first, ...again(3 * DAY - 1000)]).releases).toHaveLength(1);
    const { releases, counts } = parseLines([...first, ...again(3 * DAY)]);
    expect(releases.map((r) => r.contribution)).toMatchObject([
      { posting: 0, firstNumber: 1, lastNumber: 2, filesComplete: 1, segments: 2, firstAt: START },
      { posting: 1, firstNumber: 11, lastNumber: 12, filesComplete: 1, segments: 2, firstAt: START + 3 * DAY },
    ]);
    expect(releases[0]!.contribution.key).toBe(releases[1]!.contribution.key);
    expect(releases[0]!.contribution.fileHashes).toEqual(releases[1]!.contribution.fileHashes);
    expect(counts.kept).toBe(4);
  });

  it('gives an article without a readable date that of the line before it, at the start that of the one after', () => {
    const [a, b, c] = partsOf('some.title.rar', 3, 1);
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
      parseLines([{ number: 1, subject, from }]).releases.map((r) => r.contribution.key)[0];
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
        ['a', 'b'].map((from, i) => ({ number: i + 1, from, subject: `"${name}" yEnc (${i + 1}/2)` })),
      ).releases.map((r) => r.contribution.files);
    expect(both('sample.avi')).toEqual([1, 1]);
    expect(both('Some.Title.2011.avi')).toEqual([1]);
  });

  it('counts random posts, text and lone parts of obfuscated names without a row', () => {
    const { releases, counts, random } = parseLines([
      { number: 1, subject: 'q07sm3WntuDK4fAokUvxymKQ8qAN93MmoBZ9pax', bytes: 5 },
      { number: 2, subject: 'SYIYmVbip01p4wnQrfwh8ywdX5Kyh0XSOXkw4IiwF yEnc (1/1)', bytes: 5, at: HOUR },
      { number: 3, subject: '"7e808f5e537ffc3d7e808f5e537ffc3d.bin" yEnc (1/1)', bytes: 5 },
      { number: 4, subject: 'Re: what a nice day' },
      { number: 5, subject: 'How to read .pdf files?' },
      { number: 6, subject: '"5KzdcWdGVGUG83Q9jv8KXht4O2k57x.mkv" yEnc (4/400)', bytes: 7, at: 2 * HOUR },
      { number: 7, subject: '"9ciQK4R3mMmKGyhEXWTqlk.mkv" yEnc (1/3)' },
      { number: 8, subject: '"9ciQK4R3mMmKGyhEXWTqlk.mkv" yEnc (2/3)' },
    ]);
    expect(releases.map((r) => r.contribution)).toMatchObject([
      { name: '9ciQK4R3mMmKGyhEXWTqlk', obfuscated: true, segments: 2, segmentsTotal: 3, filesComplete: 0 },
    ]);
    expect(counts).toEqual({ lines: 8, kept: 2, skipped: { random: 4, text: 2 } });
    expect(random).toEqual({ lines: 4, bytes: 22, firstAt: START, lastAt: START + 2 * HOUR });
  });

  it('counts lines outside its numbers, for they are another range’s', () => {
    const range = rangeOf(2, 3);
    const { counts } = parseLines(partsOf('some.title.rar', 4, 1), { range });
    expect(counts).toEqual({ lines: 4, kept: 2, skipped: { outside_range: 2 } });
  });

  it('takes the total that most parts state when they disagree, as one file', () => {
    const line = (n: number, total: number): Made => ({ number: n, subject: `"Some.Title.rar" yEnc (${n}/${total})` });
    const { releases } = parseLines([line(1, 24), line(2, 1297), line(3, 1297)]);
    expect(releases[0]!.contribution).toMatchObject({ files: 1, segments: 3, segmentsTotal: 1297 });
    expect(filesIn(releases[0]!)[0]).toMatchObject({ parts: 1297 });
  });

  it('reads encoded words before it looks for the counter', () => {
    const subject = (n: number) => `=?UTF-8?Q?=5B01/12=5D_=22Caf=C3=A9.Nord.part01.rar=22_yEnc_=28${n}/2=29?=`;
    const { releases } = parseLines([1, 2].map((n) => ({ number: n, subject: subject(n) })));
    expect(releases[0]!.contribution).toMatchObject({ name: 'Café.Nord', filesTotal: 12, filesComplete: 1 });
    expect(subjectFor(filesIn(releases[0]!)[0]!, 2)).toBe('[01/12] "Café.Nord.part01.rar" yEnc (2/2)');
  });

  it('slices the segments of a contribution over chunks and loses none', () => {
    const lines = [...partsOf('some.title.part1.rar', 7, 1), ...partsOf('some.title.part2.rar', 6, 11)];
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

/** Lines in the shapes that the rules care about, and broken ones among them. */
const anyLine = fc.record({
  number: fc.integer({ min: 1, max: 300 }),
  subject: fc.oneof(
    fc
      .tuple(
        fc.constantFrom('Some.Title.part1.rar', 'Some.Title.nfo', 'sample.avi', 'Kf9UyY9ZpxkXPkRa.mkv'),
        fc.integer({ min: 0, max: 5 }),
        fc.integer({ min: 0, max: 5 }),
      )
      .map(([name, n, total]) => `[1/4] "${name}" yEnc (${n}/${total})`),
    fc.constantFrom('Re: hello there', 'q07sm3WntuDK4fAokUvxymKQ8qAN93', '=?utf-8?q?=22a.rar=22_yEnc_=281/2=29?=', ''),
    fc.string({ maxLength: 40 }).map((s) => s.replace(/[\t\r\n]/g, ' ')),
  ),
  from: fc.constantFrom('a', 'b <b@c>'),
  at: fc.oneof(
    fc.constantFrom('', 'nonsense'),
    fc.integer({ min: 0, max: 9 }).map((d) => d * DAY),
  ),
  bytes: fc.integer({ min: 0, max: 9 }),
  id: fc.stringMatching(/^[a-z]{0,3}@?[a-z]{0,2}$/),
  xref: fc.constantFrom(`${OWN}:5`, `alt.other:9 ${OWN}:5`, '', 'alt.unlisted:3'),
});
const anyRanks: GroupRanks = new Map([[Group('alt.other'), { rank: 1, spans: [[1, 10]] }]]);
const lineBatches = fc.array(anyLine.map(lineOf), { maxLength: 60 });

/** The batch format of the contract: lines ended by LF; what follows the last LF is a line when it is not empty. */
const linesIn = (bytes: Uint8Array): number => {
  let lines = 0;
  for (const b of bytes) if (b === 10) lines++;
  return bytes.length > 0 && bytes.at(-1) !== 10 ? lines + 1 : lines;
};
const total = (counts: ParsedRange['counts']) =>
  counts.kept + Object.values(counts.skipped).reduce((sum, n) => sum + n, 0);

describe('any input', () => {
  it('never throws and counts every line exactly once', () => {
    const texty = fc
      .array(
        fc.oneof(fc.constantFrom('\t', '\r', '\n', '\r\n', '<a@b>', '"', '(1/2)', '12\t', '\0', '=?'), fc.string()),
      )
      .map((s) => Buffer.from(s.join('')));
    fc.assert(
      fc.property(
        fc.array(
          fc.oneof(
            fc.uint8Array({ maxLength: 300 }),
            texty,
            lineBatches.map((l) => Buffer.from(l.join(''))),
          ),
          { maxLength: 4 },
        ),
        (batches) => {
          const parsed = parse(batches);
          expect(parsed.counts.lines).toBe(batches.reduce((sum, b) => sum + linesIn(b), 0));
          expect(total(parsed.counts)).toBe(parsed.counts.lines);
          const records = recordsOf(parsed);
          const segments = records.releases.reduce((sum, r) => sum + r.contribution.segments, 0);
          expect(segments).toBe(parsed.counts.kept);
          for (const { contribution, chunks } of records.releases) {
            expect(chunks.map((c) => c.k)).toEqual([...Array(contribution.chunks).keys()]);
            expect(chunks.reduce((sum, c) => sum + c.segments, 0)).toBe(contribution.segments);
          }
        },
      ),
      { numRuns: 300 },
    );
  });

  it('gives the same records for any cut into batches', () => {
    fc.assert(
      fc.property(lineBatches, fc.array(fc.nat({ max: 60 })), (lines, cuts) => {
        const borders = [0, ...new Set(cuts.map((c) => Math.min(c, lines.length))), lines.length].sort((a, b) => a - b);
        const batches = borders.slice(1).map((end, i) => lines.slice(borders[i]!, end).join(''));
        expect(recordsOf(parse(batches, { ranks: anyRanks }))).toEqual(
          recordsOf(parse([lines.join('')], { ranks: anyRanks })),
        );
      }),
      { numRuns: 200 },
    );
  });

  it('gives the same records for any seed, and for CRLF and LF', () => {
    fc.assert(
      fc.property(lineBatches, fc.integer(), (lines, seed) => {
        const text = lines.join('');
        const expected = recordsOf(parse([text], { seed: 1 }));
        expect(recordsOf(parse([text], { seed }))).toEqual(expected);
        expect(recordsOf(parse([text.replaceAll('\r\n', '\n')], { seed }))).toEqual(expected);
      }),
      { numRuns: 200 },
    );
  });

  it('makes the records again when they are asked for again', () => {
    const parsed = parse([partsOf('some.title.rar', 5, 1).map(lineOf).join('')]);
    expect(recordsOf(parsed)).toEqual(recordsOf(parsed));
  });
});
