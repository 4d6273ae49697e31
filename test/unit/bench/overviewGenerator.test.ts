import { describe, expect, it } from 'vitest';
import { readSubject } from '../../../processors/headers/subject.ts';
import { parseArguments, usage } from '../../bench/generateOverview.ts';
import { DEFAULT_MIX, ID_PATTERNS, TOOLS, type Tool } from '../../bench/messageIds.ts';
import {
  generateOverview,
  OVERVIEW_DEFAULTS,
  type OverviewOptions,
  type PostTruth,
} from '../../bench/overviewGenerator.ts';

const generate = (options: Partial<OverviewOptions>): string[] => [...generateOverview(options)];

/** Small posts, so that a short listing holds many. */
const SMALL: Partial<OverviewOptions> = { lines: 60_000, seed: 5, volumeScale: 0.05 };
const lines = generate(SMALL);
const fields = lines.map((line) => line.split('\t'));

const toolOf = (messageId: string): Tool | undefined =>
  TOOLS.find((tool) => ID_PATTERNS[tool].test(messageId.slice(1, -1)));

const share = (count: number, of: number): number => count / of;

describe('the overview generator', () => {
  it('gives the same lines for the same seed and others for another', () => {
    const again = generate({ ...SMALL, lines: 5000 });
    expect(again).toEqual(lines.slice(0, 5000));
    expect(generate({ ...SMALL, lines: 5000, seed: 6 })).not.toEqual(again);
  });

  it('holds as many lines that nothing groups as it is asked for', () => {
    const ungrouped = (all: readonly string[]) => {
      const readings = all.map((line) => readSubject(Buffer.from(line.split('\t')[1] ?? '', 'latin1')));
      const alone = readings.filter(
        (r) => (r.kind === 'text' || r.kind === 'per_article_random') && (r.parts ?? 1) === 1,
      );
      return share(alone.length, all.length);
    };
    // Every line draws its kind: at these counts three standard deviations are below a hundredth.
    const more = generate({ ...SMALL, lines: 20_000, readable: 0.6, random: 0.15 });
    expect(Math.abs(ungrouped(lines) - 0.15)).toBeLessThan(0.01);
    expect(Math.abs(ungrouped(more) - 0.2)).toBeLessThan(0.01);
  });

  it('writes nine fields with a bracketed message-id, sizes, a date and an Xref that names the line', () => {
    const isSound = ([number, subject, from, date, id, , bytes, lineCount, xref, ...more]: string[]): boolean =>
      more.length === 0 &&
      subject !== '' &&
      from !== '' &&
      !Number.isNaN(Date.parse(date ?? '')) &&
      /^<[^<>\s]+@[^<>\s]+>$/.test(id ?? '') &&
      Number(bytes) > 0 &&
      Number(lineCount) > 0 &&
      (xref ?? '').startsWith(`Xref: news.example.net alt.binaries.example:${number}`);
    expect(fields.filter((line) => !isSound(line))).toEqual([]);
  });

  it('counts article numbers up one by one from the first, and the numbers of other groups up as well', () => {
    expect(fields.every(([number], i) => Number(number) === 9_100_000_001 + i)).toBe(true);
    const last = new Map<string, number>();
    const falls: string[] = [];
    for (const xref of fields.map((f) => f[8] ?? '')) {
      for (const [, group, number] of xref.matchAll(/ (\S+):(\d+)/g)) {
        if (Number(number) <= (last.get(group!) ?? -1)) falls.push(xref);
        last.set(group!, Number(number));
      }
    }
    expect(falls).toEqual([]);
    expect(last.size).toBeGreaterThan(10);
  });

  it('gives no message-id twice', () => {
    expect(new Set(fields.map((f) => f[4])).size).toBe(lines.length);
  });

  it('keeps the shares of posting tools by segments', () => {
    const counts = new Map<Tool, number>();
    let all = 0;
    for (const [, , , , id] of fields) {
      const tool = toolOf(id ?? '');
      if (tool === undefined) continue;
      counts.set(tool, (counts.get(tool) ?? 0) + 1);
      all++;
    }
    // What has no tool's shape is talk and spam.
    expect(share(all, lines.length)).toBeCloseTo(0.95, 1);
    for (const tool of TOOLS) {
      expect(Math.abs(share(counts.get(tool) ?? 0, all) - DEFAULT_MIX[tool]), tool).toBeLessThan(0.03);
    }
  });

  it('keeps the share of lines that can be grouped and of cross-posts', () => {
    const counted = fields.filter(([, subject]) => /\(\d+\/\d+\)/.test(subject ?? '') && /"/.test(subject ?? ''));
    expect(Math.abs(share(counted.length, lines.length) - 0.85)).toBeLessThan(0.01);
    const crossed = fields.filter((f) => (f[8] ?? '').split(' ').length > 3);
    expect(Math.abs(share(crossed.length, lines.length) - 0.3)).toBeLessThan(0.1);
  });

  it('tells the truth: every readable line belongs to one file of one post, and all are told', () => {
    const posts: PostTruth[] = [];
    const told = generate({ ...SMALL, lines: 30_000, onPost: (post) => posts.push(post) });
    const seen = new Map<string, Set<number>>();
    for (const line of told) {
      const [, name, part] = /"([^"]+)" yEnc \((\d+)\//.exec(line) ?? [];
      if (name === undefined) continue;
      const key = `${name}\t${line.split('\t')[2]}`;
      seen.set(key, (seen.get(key) ?? new Set()).add(Number(part)));
    }
    const named = posts.filter((post) => post.kind !== 'random');
    expect(named.length).toBeGreaterThan(100);
    expect(named.filter((post) => post.files.every((f) => f.written === f.parts)).length).toBeGreaterThan(20);
    let files = 0;
    for (const post of named) {
      for (const file of post.files.filter((f) => f.written > 0)) {
        files++;
        expect(seen.get(`${file.name}\t${post.poster}`)?.size, file.name).toBe(file.written);
      }
    }
    expect(files).toBe(seen.size);
  });

  it('says all that its command line takes, with the defaults', () => {
    const lines = [...usage().matchAll(/^ {2}(--[a-zA-Z]+=[^<\n]+)$/gm)].map(([, argument]) => argument!);
    const { onPost: _, crossFirst: __, ...defaults } = OVERVIEW_DEFAULTS;
    expect(parseArguments(lines).options).toEqual(defaults);
    expect(usage()).toMatch(/--gzip.*--truth=<file>.*--crossFirst=<number>/s);
  });

  it('reads its command line and refuses what it does not know', () => {
    expect(parseArguments(['--lines=10', '--group=a.b', '--crossGroups=', '--mix=nyuu:1', '--gzip'])).toEqual({
      options: {
        lines: 10,
        group: 'a.b',
        crossGroups: [],
        mix: { powerpost: 0, camelsystem: 0, nyuu: 1, ngpost: 0, jbinup: 0, postie: 0 },
      },
      gzip: true,
      truth: null,
    });
    for (const bad of ['--line=3', 'lines=3', '--lines=x', '--mix=nyu:1', '--onPost=1']) {
      expect(() => parseArguments([bad]), bad).toThrow(RangeError);
    }
  });
});
