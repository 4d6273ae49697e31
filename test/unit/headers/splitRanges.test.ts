import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readSubject } from '../../../processors/headers/subject.ts';
import { compareTexts } from '../../../streams/compareTexts.ts';
import type { ChunkFile, Segment } from '../../../streams/records.ts';
import { unionOf } from '../../../streams/union.ts';
import { generateOverview } from '../../bench/overviewGenerator.ts';
import { Random } from '../../bench/random.ts';
import { propertyRuns } from '../../kit/propertyRuns.ts';
import { OWN, parse, rangeOf, recordsOf } from '../../kit/rangeLines.ts';

type Records = ReturnType<typeof recordsOf>;

/** What a catalog would know of one release, whoever told it. */
interface Told {
  readonly key: string;
  readonly firstAt: number;
  readonly name: string;
  readonly poster: string;
  readonly obfuscated: boolean;
  readonly filesTotal: number | null;
  readonly hashes: readonly string[];
}

interface Outcome {
  readonly lines: number;
  readonly files: ReturnType<typeof unionOf>;
  /** By hash, the segments that a plain union keeps and the totals that they state. */
  readonly segments: readonly (readonly [hash: string, segments: readonly Segment[]])[];
  readonly releases: readonly Told[];
}

/** Renumbers generated lines from 1, damaging some as real posters and servers do. */
function listing(lines: number, seed: number, options: Parameters<typeof generateOverview>[0] = {}): string[] {
  const random = new Random(seed);
  const list: string[] = [];
  const add = (fields: readonly string[]) => list.push([list.length + 1, ...fields.slice(1)].join('\t'));
  for (const line of generateOverview({
    lines,
    seed,
    group: OWN,
    first: 1,
    crossFirst: 1,
    concurrency: 12,
    volumeScale: 0.02,
    missing: 0.01,
    ...options,
  })) {
    const fields = line.split('\t');
    const [, subject, from, date, id] = fields as [string, string, string, string, string];
    if (random.chance(0.02)) fields[1] = subject.replace(/\/(\d+)\)/, (_, n: string) => `/${Number(n) + 1})`);
    if (random.chance(0.02)) fields[2] = `other ${from}`;
    add(fields);
    // A second article of an obfuscated file that is alone in its range is a random post: see the README of the folder.
    if (!random.chance(0.05) || readSubject(Buffer.from(subject)).obfuscated) continue;
    const again = [...fields];
    if (random.chance(0.5)) again[4] = id.replace('<', '<0');
    if (random.chance(0.5)) again[6] = String(Number(fields[6]) + random.int(-2, 2));
    if (random.chance(0.5)) again[3] = date.replace(/:\d\d /, ':00 ');
    add(again);
  }
  return list;
}

function parseRanges(lines: readonly string[], cuts: readonly number[]): Records[] {
  const borders = [...new Set([0, ...cuts.map((c) => Math.min(c, lines.length)), lines.length])].sort((a, b) => a - b);
  return borders.slice(1).map((end, i) => {
    const start = borders[i]!;
    const text = `${lines.slice(start, end).join('\r\n')}\r\n`;
    // Few chunks: turning one into objects reads the ids of the whole range.
    return recordsOf(parse([text], { range: rangeOf(start + 1, end), chunkSegments: 100_000 }));
  });
}

const better = (a: Segment, b: Segment): Segment => {
  if (a.bytes !== b.bytes) return a.bytes > b.bytes ? a : b;
  return compareTexts(a.messageId, b.messageId) <= 0 ? a : b;
};

/** For each part of a file the segment that wins, told by nothing but the rule. */
function plainUnion(files: readonly ChunkFile[]): [string, Segment[]][] {
  const parts = new Map<string, Map<number, Segment>>();
  for (const { fileHash, segments } of files) {
    const file = parts.get(fileHash) ?? new Map<number, Segment>();
    parts.set(fileHash, file);
    for (const segment of segments) {
      const other = file.get(segment.part);
      file.set(segment.part, other ? better(segment, other) : segment);
    }
  }
  const sorted = [...parts].map(([hash, file]): [string, Segment[]] => [
    hash,
    [...file.values()].sort((a, b) => a.part - b.part),
  ]);
  return sorted.sort(([a], [b]) => compareTexts(a, b));
}

/** Lone parts become a file when two of them, or one and a piece, are of one hash. */
function joinPieces(ranges: readonly Records[]) {
  const pieces = ranges.flatMap((r) => [...r.pieces, ...r.lone]);
  const parts = new Map<string, Set<number>>();
  const whole = new Set(pieces.filter((p) => !p.lone).map((p) => p.fileHash));
  for (const { fileHash, files } of pieces) {
    const numbers = parts.get(fileHash) ?? new Set();
    parts.set(fileHash, numbers);
    for (const { segments } of files) for (const { part } of segments) numbers.add(part);
  }
  return pieces.filter(({ fileHash }) => whole.has(fileHash) || parts.get(fileHash)!.size > 1);
}

const earlier = (a: Told, b: Told): number =>
  a.firstAt - b.firstAt || compareTexts(a.name, b.name) || compareTexts(a.poster, b.poster);

function toldOf(list: readonly Told[]): Told[] {
  const releases = new Map<string, Told>();
  for (const told of list) {
    const other = releases.get(told.key);
    const first = other === undefined || earlier(told, other) < 0 ? told : other;
    const obfuscated = told.obfuscated && (other?.obfuscated ?? true);
    const hashes = [...new Set([...told.hashes, ...(other?.hashes ?? [])])].sort();
    releases.set(told.key, { ...first, obfuscated, hashes });
  }
  return [...releases.values()].sort((a, b) => compareTexts(a.key, b.key));
}

function outcomeOf(ranges: readonly Records[]): Outcome {
  const joined = joinPieces(ranges);
  const contributed = ranges.flatMap((r) => r.releases);
  const files = [
    ...contributed.flatMap(({ chunks }) => chunks.flatMap((c) => c.files)),
    ...joined.flatMap((p) => p.files),
  ];
  const told = [
    ...contributed.map(({ contribution: c }) => ({ ...c, hashes: c.fileHashes })),
    ...joined.map((p) => ({ ...p, hashes: [p.fileHash] })),
  ].map(({ key, firstAt, name, poster, obfuscated, filesTotal, hashes }) => {
    return { key, firstAt, name, poster, obfuscated, filesTotal, hashes };
  });
  return {
    lines: ranges.reduce((sum, r) => sum + r.counts.lines, 0),
    files: unionOf(files),
    segments: plainUnion(files),
    releases: toldOf(told),
  };
}

describe('a history cut into ranges', { timeout: 600_000 }, () => {
  it('has the files, segments, totals, names and posters of the history in one range, wherever it is cut', () => {
    const LINES = 800;
    const seed = fc.noShrink(fc.integer({ min: 1, max: 1e6 }));
    const cuts = fc.array(fc.nat({ max: LINES }), { minLength: 1, maxLength: 8 });
    fc.assert(
      fc.property(seed, cuts, (world, places) => {
        const lines = listing(LINES, world);
        expectEqual(lines, outcomeOf(parseRanges(lines, [])), places);
      }),
      { numRuns: propertyRuns(15) },
    );
  });

  it('also where ranges are so long that most of their files lie near no edge', () => {
    const lines = listing(130_000, 11, { volumeScale: 1, missing: 0.0005 });
    const whole = parseRanges(lines, [])[0]!;
    const incomplete = whole.releases.filter(({ contribution: c }) => c.filesComplete < c.files);
    expect(incomplete.length).toBeGreaterThan(0);
    expect(whole.pieces.length).toBeGreaterThan(0);
    expectEqual(lines, outcomeOf([whole]), [55_000, 60_000, 129_000]);
  });
});

function expectEqual(lines: readonly string[], whole: Outcome, places: readonly number[]): void {
  expect(whole.files.length).toBeGreaterThan(0);
  const cut = outcomeOf(parseRanges(lines, places));
  // Comparing texts is quick; the objects are for whoever has to read the difference.
  if (JSON.stringify(cut) !== JSON.stringify(whole)) expect(cut).toEqual(whole);
}
