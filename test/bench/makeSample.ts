/**
 * Makes the bundled sample, `infra/sample/`: overview lines of about 40 made-up releases in three groups.
 *
 *   npx tsx test/bench/makeSample.ts
 *
 * The lines depend on nothing but this code, so that a test can make them again and compare.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { obfuscatedName, padded, talk } from './madeUpNames.ts';
import { articleFields, type Post, type PostKind, partsOf, recoveryVolumes } from './madeUpPosts.ts';
import { ALPHABET, Random } from './random.ts';
import { IMAGE, ISO, MISC, SAMPLE_RELEASES, type SampleRelease } from './sampleReleases.ts';

const SEED = 2026;
const HOST = 'news.example.net';
/** First article number in each group; real groups are far beyond 32 bits. */
const FIRST: Readonly<Record<string, number>> = { [ISO]: 5_312_400_001, [IMAGE]: 812_330_501, [MISC]: 9_204_118_733 };
const STARTS_AT = Date.UTC(2026, 0, 12, 18);
const BATCH_EVERY_MS = 4 * 86_400_000 + 3_700_000;
const RELEASES_A_BATCH = 4;
const PART_SIZE = 716_800;
const VOLUME_SIZE = 15e6;
const ARTICLES_A_SECOND = 6;
const TALK_LINES = 40;

/** What the sample says about one release, for tests. */
export interface SampleTruth {
  readonly name: string;
  readonly kind: PostKind;
  readonly groups: readonly string[];
  readonly files: readonly { readonly name: string; readonly parts: number; readonly written: number }[];
}

/** The listing of one group: lines as `generateOverview` gives them. */
export interface SampleGroup {
  readonly group: string;
  readonly lines: readonly string[];
  readonly first: number;
  readonly last: number;
}

interface Article {
  readonly at: number;
  readonly groups: readonly string[];
  /** Subject to lines, tab separated. */
  readonly fields: string;
}

function payload(release: SampleRelease): { suffix: string; size: number }[] {
  const bytes = release.mb * 1e6;
  if (release.form === 'iso' || release.form === 'pdf' || release.form === 'tar.xz') {
    return [{ suffix: release.form, size: bytes }];
  }
  const count = Math.ceil(bytes / VOLUME_SIZE);
  return Array.from({ length: count }, (_, i) => {
    const old = i === 0 ? 'rar' : `r${padded(i - 1, 2)}`;
    const suffix = { rar: `part${padded(i + 1, 2)}.rar`, oldRar: old, '7z': `7z.${padded(i + 1, 3)}` }[
      release.form as 'rar' | 'oldRar' | '7z'
    ];
    return { suffix, size: i + 1 < count ? VOLUME_SIZE : bytes - VOLUME_SIZE * (count - 1) };
  });
}

const fileSet = (release: SampleRelease, random: Random) => [
  ...(release.nfo ? [{ suffix: 'nfo', size: random.int(1500, 6000) }] : []),
  ...(release.form === 'oldRar' ? [{ suffix: 'sfv', size: random.int(300, 900) }] : []),
  ...payload(release),
  ...(release.par2 > 0 ? [{ suffix: 'par2', size: random.int(20_000, 60_000) }] : []),
  ...recoveryVolumes(release.par2, PART_SIZE),
];

/** `meadow-linux-12.4` is posted by the made-up project of that name. */
function posterOf(release: SampleRelease): string | null {
  if (release.kind === 'random') return null;
  const project = release.name.split('-')[0] ?? 'kit';
  if (release.kind === 'obfuscated') return 'anonymous <anonymous@poster.invalid>';
  return `${project} mirror <mirror@${project}.invalid>`;
}

function postOf(release: SampleRelease, random: Random): Post {
  const hidden = obfuscatedName(random);
  const shown = (suffix: string): string => {
    if (release.kind !== 'obfuscated') return `${release.name}.${suffix}`;
    return release.namesDiffer ? obfuscatedName(random) : `${hidden}.${suffix}`;
  };
  const files = fileSet(release, random).map(({ suffix, size }) => ({
    name: shown(suffix),
    size: Math.round(size),
    parts: partsOf(Math.round(size), PART_SIZE),
    token: random.text(20, ALPHABET.powerpost),
  }));
  return {
    kind: release.kind ?? 'readable',
    tool: release.tool,
    name: release.name,
    poster: posterOf(release),
    partSize: PART_SIZE,
    files,
    style: release.style,
    padPart: random.chance(0.5),
    request: `[${random.int(100_000, 999_999)}]-[FULL]-[#a.b.images]`,
    zone: random.chance(0.5) ? 'GMT' : '+0000',
  };
}

const dateOf = (at: number, zone: string): string => new Date(at).toUTCString().slice(0, -3) + zone;

const anybody = (random: Random): string => {
  const name = random.text(12, ALPHABET.base62);
  return `${name} <${name}@${random.text(8, ALPHABET.lower)}.invalid>`;
};

function isMissing(release: SampleRelease, file: number, part: number): boolean {
  // The third file is a volume in every form that this is used with.
  if (release.missing === 'file') return file === 2;
  return release.missing === 'parts' && part % 12 === 5;
}

/** The articles of one release from `startsAt` on, and how many parts of each file there are. */
function articlesOf(release: SampleRelease, post: Post, startsAt: number, random: Random) {
  const articles: Article[] = [];
  const written = post.files.map(() => 0);
  let sent = 0;
  post.files.forEach((file, fileIndex) => {
    for (let part = 1; part <= file.parts; part++) {
      // Several connections send at once, so that neighbours change places.
      const at = startsAt + (sent++ / ARTICLES_A_SECOND) * 1000 + random.int(0, 1200);
      if (isMissing(release, fileIndex, part)) continue;
      const { subject, messageId, bytes, lines } = articleFields(post, fileIndex, part, at, random);
      const from = post.poster ?? anybody(random);
      const fields = [subject, from, dateOf(at, post.zone), `<${messageId}>`, '', bytes, lines].join('\t');
      articles.push({ at, groups: release.groups, fields });
      written[fileIndex]!++;
    }
  });
  return { articles, written };
}

function talkArticle(groups: readonly string[], endsAt: number, random: Random): Article {
  const at = random.int(STARTS_AT, endsAt);
  const { subject, references } = talk(random);
  const id = `<${random.text(12, ALPHABET.base62)}@news.example>`;
  const sizes = [random.int(900, 6000), random.int(8, 120)];
  const fields = [subject, anybody(random), dateOf(at, 'GMT'), id, references, ...sizes].join('\t');
  return { at, groups: [random.pick(groups)], fields };
}

/** Numbers the articles, in order of time, in each of their groups; now and then a number is left out. */
function listings(articles: readonly Article[], random: Random): SampleGroup[] {
  const next = new Map(Object.entries(FIRST));
  const lines = new Map<string, string[]>(Object.keys(FIRST).map((group) => [group, []]));
  const last = new Map<string, number>();
  for (const article of [...articles].sort((a, b) => a.at - b.at)) {
    const numbers = article.groups.map((group) => ({ group, number: next.get(group)! }));
    const xref = `Xref: ${HOST} ${numbers.map(({ group, number }) => `${group}:${number}`).join(' ')}`;
    for (const { group, number } of numbers) {
      lines.get(group)!.push(`${number}\t${article.fields}\t${xref}`);
      last.set(group, number);
      next.set(group, number + 1 + (random.chance(0.01) ? random.int(1, 3) : 0));
    }
  }
  return [...lines].map(([group, all]) => ({ group, lines: all, first: FIRST[group]!, last: last.get(group)! }));
}

/** The whole sample: a listing a group, and the truth about every release. */
export function makeSample(): { readonly groups: readonly SampleGroup[]; readonly truth: readonly SampleTruth[] } {
  const random = new Random(SEED);
  const articles: Article[] = [];
  const truth: SampleTruth[] = [];
  let endsAt = STARTS_AT;
  SAMPLE_RELEASES.forEach((release, i) => {
    const post = postOf(release, random);
    // A few posts at a time, within the same minute, so that they mix as in a real group.
    endsAt = STARTS_AT + Math.floor(i / RELEASES_A_BATCH) * BATCH_EVERY_MS + random.int(0, 25_000);
    const { articles: own, written } = articlesOf(release, post, endsAt, random);
    articles.push(...own);
    const files = post.files.map((file, k) => ({ name: file.name, parts: file.parts, written: written[k] ?? 0 }));
    truth.push({ name: release.name, kind: post.kind, groups: release.groups, files });
  });
  for (let i = 0; i < TALK_LINES; i++) articles.push(talkArticle(Object.keys(FIRST), endsAt, random));
  return { groups: listings(articles, random), truth };
}

/** The text of a listing: CRLF ended lines. */
export const sampleText = (group: SampleGroup): string => `${group.lines.join('\r\n')}\r\n`;

/** What `infra/sample/index.json` says: one entry a file, in the rank order of the group list. */
export const sampleIndex = (groups: readonly SampleGroup[]) =>
  groups.map(({ group, lines, first, last }) => ({
    group,
    file: `${group}.tsv.gz`,
    lines: lines.length,
    first,
    last,
  }));

function writeSample(folder: string): void {
  const { groups, truth } = makeSample();
  mkdirSync(folder, { recursive: true });
  for (const group of groups) {
    writeFileSync(
      join(folder, `${group.group}.tsv.gz`),
      gzipSync(Buffer.from(sampleText(group), 'latin1'), { level: 9 }),
    );
  }
  writeFileSync(join(folder, 'index.json'), `${JSON.stringify(sampleIndex(groups), null, 2)}\n`);
  const lines = groups.reduce((sum, group) => sum + group.lines.length, 0);
  process.stdout.write(`${truth.length} posts, ${lines} lines in ${groups.length} groups\n`);
}

if (import.meta.filename === process.argv[1]) writeSample('infra/sample');
