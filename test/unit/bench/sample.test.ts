import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { makeSample, sampleIndex, sampleText } from '../../bench/makeSample.ts';
import { ID_PATTERNS, TOOLS } from '../../bench/messageIds.ts';

const FOLDER = join(import.meta.dirname, '../../../infra/sample');
const MADE = makeSample();

interface IndexEntry {
  readonly group: string;
  readonly file: string;
  readonly lines: number;
  readonly first: number;
  readonly last: number;
}

const index = JSON.parse(readFileSync(join(FOLDER, 'index.json'), 'utf8')) as IndexEntry[];
const textOf = (file: string): string => gunzipSync(readFileSync(join(FOLDER, file))).toString('latin1');
/** Group -> the stored lines, split into fields. */
const listings = new Map(
  index.map(({ group, file }) => [
    group,
    textOf(file)
      .trimEnd()
      .split('\r\n')
      .map((line) => line.split('\t')),
  ]),
);

/** File name -> how often each of its parts occurs in a listing. */
function partsByFile(group: string): Map<string, Map<number, number>> {
  const files = new Map<string, Map<number, number>>();
  for (const [, subject = ''] of listings.get(group) ?? []) {
    const [, name, part] = /"([^"]+)" yEnc \((\d+)\/\d+\)/.exec(subject) ?? [];
    if (name === undefined) continue;
    const parts = files.get(name) ?? new Map<number, number>();
    parts.set(Number(part), (parts.get(Number(part)) ?? 0) + 1);
    files.set(name, parts);
  }
  return files;
}

const counts = new Map([...listings.keys()].map((group) => [group, partsByFile(group)]));
type Truth = (typeof MADE.truth)[number];

/** All parts of all its files are listed in each of its groups. */
const isListedWhole = ({ groups, files }: Truth): boolean =>
  groups.every((group) =>
    files.every(({ name, parts }) => {
      const there = counts.get(group)?.get(name);
      return Array.from({ length: parts }, (_, i) => i + 1).every((part) => there?.has(part));
    }),
  );

describe('the bundled sample', () => {
  it('is what its script makes, byte for byte', () => {
    expect(index).toEqual(sampleIndex(MADE.groups));
    for (const group of MADE.groups) {
      expect(textOf(`${group.group}.tsv.gz`) === sampleText(group), group.group).toBe(true);
    }
  });

  it('holds nothing but its index, a description and one file a group, in less than 600 kB', () => {
    const files = readdirSync(FOLDER).sort();
    expect(files).toEqual(['README.md', 'index.json', ...index.map(({ file }) => file)].sort());
    const bytes = files.reduce((sum, file) => sum + statSync(join(FOLDER, file)).size, 0);
    expect(bytes).toBeLessThan(600_000);
  });

  it('holds at least 30 readable releases of different names that are complete in each of their groups', () => {
    const whole = MADE.truth.filter((release) => release.kind === 'readable' && isListedWhole(release));
    expect(new Set(whole.map((release) => release.name)).size).toBeGreaterThanOrEqual(30);
    expect(whole.every(({ files }) => files.every((file) => file.written === file.parts))).toBe(true);
    expect(MADE.truth.length).toBeGreaterThanOrEqual(40);
  });

  it('also holds incomplete, obfuscated, random and reposted ones, and talk', () => {
    const readable = MADE.truth.filter(({ kind }) => kind === 'readable');
    expect(readable.filter((release) => !isListedWhole(release))).toHaveLength(4);
    expect(readable.length - new Set(readable.map(({ name }) => name)).size).toBe(1);
    expect(MADE.truth.filter(({ kind }) => kind === 'obfuscated')).toHaveLength(3);
    expect(MADE.truth.filter(({ kind }) => kind === 'random')).toHaveLength(2);
    const talk = [...listings.values()].flat().filter(([, , , , id]) => id?.endsWith('@news.example>'));
    expect(talk).toHaveLength(40);
    for (const suffix of ['.7z.001', '.vol000+01.par2', '.nfo', '.sfv', '.r00', '.part01.rar', '.iso', '.pdf']) {
      expect(
        readable.some(({ files }) => files.some(({ name }) => name.endsWith(suffix))),
        suffix,
      ).toBe(true);
    }
  });

  it('numbers each article in each of its groups, as its Xref says everywhere', () => {
    const byId = new Map<string, Set<string>>();
    for (const [group, lines] of listings) {
      let last = 0;
      for (const [number, , , , id = '', , , , xref = ''] of lines) {
        expect(Number(number)).toBeGreaterThan(last);
        last = Number(number);
        expect(xref.split(' ')).toContain(`${group}:${number}`);
        byId.set(id, (byId.get(id) ?? new Set()).add(`${group}:${number}`).add(xref));
      }
    }
    const inconsistent = [...byId.values()].filter((seen) => {
      const [xref = '', ...others] = [...seen].filter((entry) => entry.startsWith('Xref: '));
      const places = xref.split(' ').slice(2);
      return others.length > 0 || places.some((place) => !seen.has(place)) || seen.size !== places.length + 1;
    });
    expect(inconsistent).toEqual([]);
    const crossed = MADE.truth.filter(({ groups }) => groups.length > 1);
    expect(crossed.length).toBeGreaterThan(8);
  });

  it('spreads over some weeks of 2026 and over all shapes of message-ids', () => {
    const fields = [...listings.values()].flat();
    const times = fields.map(([, , , date]) => Date.parse(date ?? ''));
    const [first, last] = [Math.min(...times), Math.max(...times)];
    expect(new Date(first).getUTCFullYear()).toBe(2026);
    expect(new Date(last).getUTCFullYear()).toBe(2026);
    expect((last - first) / 86_400_000).toBeGreaterThan(21);
    for (const tool of TOOLS) {
      expect(
        fields.some(([, , , , id]) => ID_PATTERNS[tool].test(id?.slice(1, -1) ?? '')),
        tool,
      ).toBe(true);
    }
  });
});
