import { createHash } from 'node:crypto';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { generateOverview } from '../../bench/overviewGenerator.ts';
import { overviewForInn } from '../../kit/overviewForInn.ts';
import { postedNzb } from '../../kit/postedNzb.ts';
import { type Posted, type PostedFile, readableSubject, seededBytes } from '../../kit/poster.ts';
import { sameBytes } from '../../kit/sameBytes.ts';

const fileOf = (name: string, data: Buffer): PostedFile => ({
  name,
  shown: name,
  size: data.length,
  sha256: createHash('sha256').update(data).digest('hex'),
  subject: `[1/1] - "${name}" yEnc (1/1)`,
  parts: 1,
  segments: [{ part: 1, bytes: data.length + 400, messageId: `a&b.${name}@kit.test` }],
});

const postedOf = (files: readonly PostedFile[]): Posted => ({
  name: 'a post',
  groups: ['a.b', 'c.d'],
  poster: 'kit <kit@kit.invalid>',
  files,
  articles: files.length,
});

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'hw-posted-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

describe('comparing a download with what was posted', () => {
  it('finds the bytes under any name and in any folder below, and names what is missing or changed', async () => {
    const data = ['one', 'two', 'three', 'four'].map((seed) => seededBytes(seed, 1000));
    const posted = postedOf(data.map((bytes, i) => fileOf(`${i}.${i === 3 ? 'vol0+1.par2' : 'rar'}`, bytes)));
    mkdirSync(join(folder, 'sub'));
    writeFileSync(join(folder, 'sub', 'renamed'), data[0]!);
    writeFileSync(join(folder, '1.rar'), Buffer.concat([data[1]!.subarray(0, 999), Buffer.from([0])]));
    const skipVolumes = (name: string) => name.includes('.vol');
    expect(await sameBytes(posted, folder, skipVolumes)).toEqual({ same: ['0.rar'], missing: ['1.rar', '2.rar'] });
    expect((await sameBytes(posted, folder)).missing).toContain('3.vol0+1.par2');
  });
});

describe('an NZB written from the truth', () => {
  it('escapes what XML needs, names all groups, and leaves out files without articles', () => {
    const lost = { ...fileOf('lost.rar', Buffer.from('x')), segments: [] };
    const nzb = postedNzb(postedOf([fileOf('a.rar', Buffer.from('abc')), lost]), 1_767_225_600_999);
    expect(nzb).toContain('poster="kit &lt;kit@kit.invalid&gt;" date="1767225600"');
    expect(nzb).toContain('subject="[1/1] - &quot;a.rar&quot; yEnc (1/1)"');
    expect(nzb).toContain('<group>a.b</group><group>c.d</group>');
    expect(nzb).toContain('<segment bytes="403" number="1">a&amp;b.a.rar@kit.test</segment>');
    expect(nzb).not.toContain('lost');
  });
});

describe('what the poster makes', () => {
  it('depends on the seed alone', () => {
    expect(seededBytes('a', 100).equals(seededBytes('a', 100))).toBe(true);
    expect(seededBytes('a', 100).equals(seededBytes('b', 100))).toBe(false);
    expect(seededBytes('a', 200).subarray(0, 100).equals(seededBytes('a', 100))).toBe(true);
  });

  it('names file and part in the subject', () => {
    const about = { release: 'r', shown: 'r.rar', file: 3, files: 117, part: 2, parts: 9, size: 1 };
    expect(readableSubject(about)).toBe('[003/117] - "r.rar" yEnc (2/9)');
  });
});

describe('overview lines for INN', () => {
  it('have a token of their own, no number, and refuse numbers that INN cannot hold', () => {
    const lines = [...generateOverview({ lines: 2500, group: 'a.b', first: 1, crossGroups: [] })];
    const made = [...overviewForInn('a.b', lines)].join('').trimEnd().split('\n');
    expect(made.map((line) => line.replace(/^@[0-9A-F]{36}@ \d+ 0 /, ''))).toEqual(
      lines.map((line) => line.slice(line.indexOf('\t') + 1)),
    );
    expect(new Set(made.map((line) => line.slice(0, 38))).size).toBe(2500);
    expect(() => [...overviewForInn('a.b', ['2147483648\tsubject'])]).toThrow(RangeError);
  });
});
