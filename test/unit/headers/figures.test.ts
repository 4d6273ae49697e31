import { describe, expect, it } from 'vitest';
import type { ChunkFile } from '../../../streams/records.ts';
import { unionOf } from '../../../streams/union.ts';
import { HOUR, type Made, MIDDLE, parseLines, START } from '../../kit/rangeLines.ts';

const entriesOf = (lines: readonly Made[]): readonly ChunkFile[] =>
  parseLines(lines).releases.flatMap(({ chunks }) => chunks.flatMap((c) => c.files));
const contributionOf = (lines: readonly Made[]) => parseLines(lines).releases[0]!.contribution;

const part = (n: number, total: number | string, more: Partial<Made> = {}): Made => ({
  number: MIDDLE + n,
  subject: `"Some.Title.rar" yEnc (${n}/${total})`,
  ...more,
});
const bothWays = <T>(lines: readonly Made[], of: (lines: readonly Made[]) => T): readonly T[] => [
  of(lines),
  of([...lines].reverse()),
];

describe('name and poster of a contribution', () => {
  const named = (n: number, name: string, from: string, at: number): Made => ({
    number: MIDDLE + n,
    subject: `[${n}/3] "${name}.part${n}.rar" yEnc (1/1)`,
    from,
    at,
  });

  it('are those of its earliest article, in whatever order they come', () => {
    const lines = [
      named(1, 'Some.Title', 'late <l@x.y>', 2 * HOUR),
      named(2, 'some title', 'early <e@x.y>', HOUR),
      named(3, 'SOME_TITLE', 'last <z@x.y>', 3 * HOUR),
    ];
    for (const c of bothWays(lines, contributionOf)) {
      expect([c.files, c.name, c.poster]).toEqual([3, 'some title', 'early <e@x.y>']);
    }
  });

  it('are at equal times the smaller name, then the smaller poster, as UTF-8 bytes', () => {
    const names = [named(1, 'some title', 'a <a@x.y>', 0), named(2, 'Some.Title', 'b <b@x.y>', 0)];
    for (const c of bothWays(names, contributionOf)) expect([c.name, c.poster]).toEqual(['Some.Title', 'b <b@x.y>']);
    // U+FF5E is below U+1F600 as bytes, above it as UTF-16 units.
    const posters = [named(1, 'Some.Title', '\u{1f600} <a@x.y>', 0), named(2, 'Some.Title', '\uff5e <b@x.y>', 0)];
    for (const c of bothWays(posters, contributionOf)) expect(c.poster).toBe('\uff5e <b@x.y>');
  });

  it('may be those of an article that was kept out as a duplicate', () => {
    const lines = [
      part(1, 2, { at: HOUR, bytes: 9 }),
      part(2, 2, { at: 2 * HOUR }),
      part(1, 2, { number: MIDDLE + 5, bytes: 3, from: 'first <f@x.y>' }),
    ];
    for (const c of bothWays(lines, contributionOf)) {
      expect([c.poster, c.firstAt, c.segments]).toEqual(['first <f@x.y>', START, 2]);
    }
  });
});

describe('a file', () => {
  it('was posted at the time of its earliest article by the poster of that one, duplicates among them', () => {
    const lines = [
      part(1, 2, { at: 5 * HOUR, bytes: 9 }),
      part(2, 2, { at: 3 * HOUR, from: 'second <s@x.y>' }),
      part(2, 2, { number: MIDDLE + 5, at: HOUR, bytes: 1, from: 'third <t@x.y>' }),
    ];
    for (const [file, ...others] of bothWays(lines, entriesOf)) {
      expect(others).toEqual([]);
      expect([file!.postedAt, file!.poster, file!.segments.length]).toEqual([START + HOUR, 'third <t@x.y>', 2]);
    }
  });

  it('of two articles for a part keeps the larger body, of equal ones the lower message-id', () => {
    const lines = [
      part(1, 1, { id: 'b@x', bytes: 10 }),
      part(1, 1, { number: MIDDLE + 2, id: 'c@x', bytes: 11 }),
      part(1, 1, { number: MIDDLE + 3, id: 'a@x', bytes: 11 }),
    ];
    for (const { releases, counts } of bothWays(lines, parseLines)) {
      expect(releases[0]!.chunks[0]!.files[0]!.segments).toEqual([{ part: 1, bytes: 11, messageId: 'a@x' }]);
      expect(counts).toEqual({ lines: 3, kept: 1, skipped: { duplicate_part: 2 } });
    }
  });

  it('whose articles disagree on the total is an entry a spelling, each with its own segments', () => {
    const lines = [part(1, 24), part(2, 3, { at: HOUR }), part(3, 3, { at: 2 * HOUR })];
    for (const files of bothWays(lines, entriesOf)) {
      expect(files.map((f) => [f.parts, f.subject, f.postedAt, f.segments.map((s) => s.part)])).toEqual([
        [24, '"Some.Title.rar" yEnc (/24)', START, [1]],
        [3, '"Some.Title.rar" yEnc (/3)', START + HOUR, [2, 3]],
      ]);
      expect(new Set(files.map((f) => f.fileHash)).size).toBe(1);
    }
    expect(contributionOf(lines)).toMatchObject({ files: 1, filesComplete: 1, segments: 3, segmentsTotal: 3 });
  });

  it('has the total that most of its parts state, of two as frequent the larger, any before none', () => {
    const totals = (lines: readonly Made[]) => {
      const { segmentsTotal, filesComplete } = contributionOf(lines);
      const [union] = unionOf(entriesOf(lines));
      expect([union!.expected, Number(union!.complete)]).toEqual([segmentsTotal, filesComplete]);
      return [segmentsTotal, filesComplete];
    };
    expect(totals([part(1, 3), part(2, 3), part(3, 2)])).toEqual([3, 1]);
    expect(totals([part(1, 2), part(2, 3)])).toEqual([3, 0]);
    const bare = part(1, 0);
    expect(totals([bare, part(2, 2)])).toEqual([2, 1]);
    expect(totals([bare])).toEqual([1, 1]);
  });

  it('asks only the articles that won about the total', () => {
    const odd = [1, 2].map((n) => part(n, 9, { number: MIDDLE + 10 + n, bytes: 1 }));
    const lines = [part(1, 2), part(2, 2), ...odd];
    expect(contributionOf(lines)).toMatchObject({ files: 1, filesComplete: 1, segmentsTotal: 2 });
    // The spelling that lost stays, for its time may be the file's.
    for (const files of bothWays(lines, entriesOf)) {
      expect(files.map((f) => [f.parts, f.segments.length])).toEqual([
        [9, 0],
        [2, 2],
      ]);
    }
  });

  it('keeps parts beyond its total, and files beyond the total of their set', () => {
    expect(contributionOf([part(1, 2), part(2, 2), part(3, 2)])).toMatchObject({
      segments: 3,
      segmentsTotal: 2,
      filesComplete: 1,
    });
    const set = [1, 2, 3].map((i) => ({ number: MIDDLE + i, subject: `[${i}/2] "Some.Title.r0${i}" yEnc (1/1)` }));
    expect(contributionOf(set)).toMatchObject({ filesTotal: 2, files: 3, filesComplete: 3, segments: 3 });
    expect(entriesOf(set).map((f) => f.fileIndex)).toEqual([1, 2, 3]);
  });

  it('pads its part numbers as its own articles do, not as those of another poster or posting', () => {
    const line = (n: number, from: string, number: string): Made => ({
      number: MIDDLE + n,
      from,
      subject: `"sample.avi" yEnc (${number}/12)`,
    });
    const lines = [line(1, 'a', '01'), line(2, 'a', '10'), line(3, 'b', '10'), line(4, 'b', '1')];
    const widths = entriesOf(lines).map((f) => [f.poster, f.partWidth]);
    expect(widths.sort()).toEqual([
      ['a', 2],
      ['b', 1],
    ]);
  });

  it('is read alike from every part, also where a counter of files has the same total', () => {
    const lines = [1, 2, 3].map((n) => ({
      number: MIDDLE + n,
      subject: `[2/3] - "7e808f5e537ffc3d7e80" yEnc (${n}/3)`,
    }));
    for (const c of bothWays(lines, contributionOf))
      expect(c).toMatchObject({ files: 1, filesComplete: 1, segments: 3 });
    const copied = [1, 2, 3].map((n) => ({ number: MIDDLE + n, subject: `"Some.Title.rar" (${n}/3) (${n}/3)` }));
    for (const c of bothWays(copied, contributionOf)) expect(c).toMatchObject({ files: 1, filesComplete: 1 });
  });

  it('cuts texts and lists that no codec takes', () => {
    const groups = Array.from({ length: 60 }, (_, i) => `alt.${'x'.repeat(180)}.g${i}:1`);
    const lines = Array.from({ length: 10 }, (_, i) =>
      part(i + 1, 10, { from: 'é'.repeat(20_000), xref: groups.map((g) => g.replace('alt', `alt${i}`)).join(' ') }),
    );
    const [file] = entriesOf(lines);
    expect(file!.poster).toHaveLength(16_000);
    expect(file!.groups).toHaveLength(256);
    expect(contributionOf([part(1, 1, { bytes: 2 ** 53 - 1 })]).bytes).toBe(0);
  });
});
