import { describe, expect, it } from 'vitest';
import { archiveVolume } from '../../../processors/headers/archive.ts';
import { roleOf } from '../../../processors/headers/volumes.ts';
import { HOUR, type Made, MIDDLE, parseLines, rangeOf, START } from '../../kit/rangeLines.ts';

const file = (name: string, parts: readonly number[], total: number, first: number, more: Partial<Made> = {}): Made[] =>
  parts.map((part, i) => ({
    number: MIDDLE + first + i,
    subject: `"${name}" yEnc (${part}/${total})`,
    id: `${name}.${part}@x`,
    ...more,
  }));
const candidatesOf = (lines: readonly Made[]) => parseLines(lines).candidates;
const idsOf = (lines: readonly Made[]) => candidatesOf(lines).map((c) => [c.kind, c.rank, c.messageId]);
const HIDDEN = '9ciQK4R3mMmKGyhEXWTqlk';
const TOP = Number.MAX_SAFE_INTEGER;

describe('the volume of an archive', () => {
  it('is read off every usual form', () => {
    const volumes: Readonly<Record<string, number | null>> = {
      'a.part01.rar': 1,
      'a.part0117.RAR': 117,
      'a.rar': 1,
      'a.r00': 2,
      'a.r99': 101,
      'a.s00': 102,
      'a.7z': 1,
      'a.7z.001': 1,
      'a.7z.012': 12,
      'a.zip.002': 2,
      'a.001': 1,
      'a.mkv.001': null,
      'a.part01.rev': null,
      'a.mkv': null,
      'a.par2': null,
      'a.nfo': null,
    };
    for (const [name, volume] of Object.entries(volumes)) {
      expect([name, archiveVolume(name, roleOf(name))?.volume ?? null]).toEqual([name, volume]);
    }
    expect(archiveVolume('a.7z.002', 'volume')).toEqual({ volume: 2, is7z: true });
    expect(archiveVolume('a.zip.002', 'volume')).toEqual({ volume: 2, is7z: false });
    expect(archiveVolume(null, 'other')).toBeNull();
  });
});

describe('probe candidates', () => {
  it('are the first article of the first volume and of the smallest par2', () => {
    const lines = [
      ...file('Some.Title.vol1+2.par2', [1, 2], 2, 1),
      ...file('Some.Title.par2', [1], 1, 3, { bytes: 700 }),
      ...file('Some.Title.part2.rar', [1, 2], 2, 4),
      ...file('Some.Title.part1.rar', [2, 1], 2, 6, { at: HOUR, bytes: 500 }),
      ...file('Some.Title.nfo', [1], 1, 8),
    ];
    const [archive, par2, ...others] = candidatesOf(lines);
    const { contribution } = parseLines(lines).releases[0]!;
    expect(archive).toMatchObject({
      key: contribution.key,
      kind: 'archive',
      rank: 1,
      messageId: 'Some.Title.part1.rar.1@x',
      part: 1,
      bytes: 500,
      random: false,
      firstAt: START,
      lastAt: START + HOUR,
    });
    expect(contribution.fileHashes).toContain(archive!.fileHash);
    expect(par2).toMatchObject({ kind: 'par2', rank: 700, messageId: 'Some.Title.par2.1@x' });
    expect(others).toEqual([]);
  });

  it('are the lowest part that is there, and of equal volumes the one with the lower part', () => {
    expect(idsOf(file('Some.Title.r05', [7, 4], 9, 1))).toEqual([['archive', 7, 'Some.Title.r05.4@x']]);
    const two = [...file('Some.Title.Two.rar', [2], 3, 1), ...file('Some_Title_Two.zip', [1], 3, 2)];
    expect(idsOf(two)).toEqual([['archive', 1, 'Some_Title_Two.zip.1@x']]);
  });

  it('are of a 7z set also the last article of the last volume', () => {
    const lines = [
      ...file('Some.Title.7z.001', [1, 2], 2, 1),
      ...file('Some.Title.7z.003', [1, 2], 2, 3),
      ...file('Some.Title.7z.002', [1, 2], 2, 5),
    ];
    expect(idsOf(lines)).toEqual([
      ['archive', 1, 'Some.Title.7z.001.1@x'],
      ['sevenzip_end', TOP - 3e7 - 2, 'Some.Title.7z.003.2@x'],
    ]);
    const [, later] = candidatesOf(file('Some.Title.7z', [1, 2, 3], 3, 1));
    const [, earlier] = candidatesOf(file('Some.Title.7z', [1, 2], 3, 1));
    expect(later!.rank).toBeLessThan(earlier!.rank);
  });

  it('are of an obfuscated file that has the payload to itself its first article, in order of time', () => {
    const alone = file(`${HIDDEN}.mkv`, [1, 2], 2, 1, { at: HOUR });
    const par2 = file(`${HIDDEN}.par2`, [1], 1, 3);
    expect(idsOf([...alone, ...par2])).toEqual([
      ['par2', 1000, `${HIDDEN}.par2.1@x`],
      ['random', START + HOUR, `${HIDDEN}.mkv.1@x`],
    ]);
    expect(candidatesOf(alone)[0]).toMatchObject({ kind: 'random', random: true });
    expect(idsOf([...alone, ...file(`${HIDDEN}.avi`, [1, 2], 2, 4)])).toEqual([]);
    expect(idsOf(file('Some.Title.mkv', [1, 2], 2, 1))).toEqual([]);
    // An archive is looked into as an archive.
    expect(idsOf(file(`${HIDDEN}.rar`, [1, 2], 2, 1)).map(([kind]) => kind)).toEqual(['archive']);
  });

  it('come from pieces too, never from lone parts, and have a rank that can be written', () => {
    const near = { range: rangeOf(MIDDLE, MIDDLE + 100) };
    const { pieces, candidates } = parseLines(file('Some.Title.part3.rar', [5], 9, 1), near);
    expect([pieces.length, candidates.map((c) => [c.kind, c.rank, c.part])]).toEqual([1, [['archive', 3, 5]]]);
    expect(parseLines(file(`${HIDDEN}.rar`, [5], 9, 1), near).candidates).toEqual([]);
    const old = file(`${HIDDEN}.mkv`, [1, 2], 2, 1, { at: 'Thu, 01 Jan 1960 00:00:00 GMT' });
    expect(candidatesOf(old).map((c) => c.rank)).toEqual([0]);
  });

  it('are at most four a posting, one a kind', () => {
    const all = [
      ...file(`${HIDDEN}.7z.001`, [1, 2], 2, 1),
      ...file(`${HIDDEN}.7z.002`, [1, 2], 2, 3),
      ...file(`${HIDDEN}.par2`, [1], 1, 5),
      ...file(`${HIDDEN}.vol1+2.par2`, [1], 1, 6),
    ];
    expect(idsOf(all).map(([kind]) => kind)).toEqual(['archive', 'par2', 'sevenzip_end']);
  });
});
