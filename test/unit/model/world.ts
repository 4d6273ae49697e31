/**
 * Made-up worlds for the model test: posts that are interleaved, reposted, cross-posted, gappy, slow or obfuscated, as the
 * articles of one or two backbones. A function of its seed.
 *
 * One limit is known and left out: one single article that repeats a part of an obfuscated file which is complete in another range.
 * Alone in its range it is a random post and leaves no trace; in one range with the file it would be a duplicate, whose time
 * counts and whose body may win.
 */

import { EDGE_NUMBERS } from '../../../streams/rules.ts';
import { ALPHABET, Random } from '../../bench/random.ts';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const T0 = Date.UTC(2026, 0, 5);

/** Listed groups in the order of their ranks. */
export const GROUPS = ['alt.binaries.main', 'alt.binaries.other'] as const;

/** One article, wherever it is. */
export interface Article {
  readonly messageId: string;
  readonly subject: string;
  readonly poster: string;
  readonly at: number;
  readonly bytes: number;
  readonly groups: readonly string[];
  /** The file, as headers tell files and postings apart: its numbers are not spread wider than the edge window. */
  readonly file: string;
}

export interface NumberedArticle {
  readonly number: number;
  readonly article: Article;
}

/** A group on a backbone: its articles by number, ascending. */
export interface Numbered {
  readonly backbone: string;
  readonly group: string;
  readonly articles: readonly NumberedArticle[];
  /** Articles that only an early reading finds: they are cancelled since. */
  readonly cancelled: readonly NumberedArticle[];
  /** Where in each other group of Xref the article stands, by message-id. */
  readonly xref: ReadonlyMap<string, string>;
  readonly low: number;
  readonly high: number;
}

export interface World {
  readonly seed: number;
  readonly places: readonly Numbered[];
  /** Time after the last article. */
  readonly end: number;
}

type Kind = 'readable' | 'obfuscated' | 'generic' | 'random';

interface Post {
  readonly kind: Kind;
  readonly base: string;
  readonly poster: string;
  readonly files: number;
  readonly parts: readonly number[];
  readonly numbered: boolean;
  readonly groups: readonly string[];
  readonly start: number;
  /** Most time between two of its articles. */
  readonly step: number;
}

const KINDS: readonly Kind[] = ['readable', 'readable', 'readable', 'obfuscated', 'obfuscated', 'generic', 'random'];

function drawPost(random: Random, i: number): Post {
  const kind = random.pick(KINDS);
  const files = random.int(1, 4);
  const token = random.text(20, ALPHABET.base62);
  const base = { readable: `Some.Disc.${i}.Linux-HW`, obfuscated: token, generic: 'sample', random: '' }[kind];
  const slow = random.chance(0.2);
  return {
    kind,
    base,
    poster: random.pick(['Ann <ann@example.org>', 'Bob <bob@example.org>']),
    files,
    parts: Array.from({ length: files }, () => random.int(1, random.chance(0.3) ? 12 : 5)),
    numbered: random.chance(0.6),
    groups: random.chance(0.3) ? GROUPS : [random.pick(GROUPS)],
    start: T0 + random.int(0, 8 * 24) * HOUR,
    step: slow ? 20 * HOUR : random.pick([1000, 60_000, HOUR]),
  };
}

/** Some of a set's files are par2 or an nfo; the rest are volumes. */
function fileName(post: Post, file: number): string {
  if (post.kind === 'generic') return `sample.part${file + 1}.rar`;
  if (file === 2) return `${post.base}.vol00+01.par2`;
  if (file === 3) return `${post.base}.nfo`;
  return `${post.base}.part${file + 1}.rar`;
}

function subjectOf(post: Post, file: number, part: number, total: number, random: Random): string {
  if (post.kind === 'random') return `${random.text(24, ALPHABET.base62)} yEnc (${part}/${total})`;
  const index = post.numbered ? `[${file + 1}/${post.files}] - ` : '';
  return `${index}"${fileName(post, file)}" yEnc (${part}/${total})`;
}

/** One going-through of a post: a repost is another one with the same subjects. */
function* articlesOf(post: Post, start: number, name: string, posting: string, random: Random): Generator<Article> {
  let at = start;
  let serial = 0;
  for (const [file, parts] of post.parts.entries()) {
    for (let part = 1; part <= parts; part++) {
      at += random.int(0, post.step);
      if (random.chance(0.12)) continue;
      const copies = post.kind !== 'obfuscated' && random.chance(0.06) ? 2 : 1;
      for (let copy = 0; copy < copies; copy++) {
        const total = random.chance(0.04) ? parts + random.int(1, 2) : parts;
        yield {
          messageId: `${name}.${serial++}.${random.text(8, ALPHABET.lower)}@example.org`,
          subject: subjectOf(post, file, part, total, random),
          poster: post.poster,
          at: at - (at % 1000),
          bytes: 700_000 + random.int(0, 3) * 10_000,
          groups: post.groups,
          file: `${posting}/${file}`,
        };
      }
    }
  }
}

function drawArticles(random: Random): Article[] {
  const articles: Article[] = [];
  const posts = random.int(2, 6);
  for (let i = 0; i < posts; i++) {
    const post = drawPost(random, i);
    let { start } = post;
    // Files of a generic name are everybody's, whenever they are posted.
    let posting = post.kind === 'generic' ? post.base : `p${i}t0`;
    const times = random.chance(0.35) ? 2 : 1;
    for (let time = 0; time < times; time++) {
      const made = [...articlesOf(post, start, `p${i}t${time}`, posting, random)];
      articles.push(...made);
      // Mostly far enough to be a posting of its own, sometimes near enough to be duplicates of the first.
      // See the limit at the top: an obfuscated post is never posted twice within one posting.
      const far = post.kind === 'obfuscated' || random.chance(0.75);
      start = Math.max(start, ...made.map((a) => a.at)) + (far ? 4 * DAY : 12 * HOUR);
      if (far && post.kind !== 'generic') posting = `p${i}t${time + 1}`;
    }
  }
  return articles;
}

/** Most places between two articles of one file, in the order of arrival. */
function widest(articles: readonly Article[]): number {
  const first = new Map<string, number>();
  let most = 1;
  for (const [i, { file }] of articles.entries()) {
    const at = first.get(file);
    if (at === undefined) first.set(file, i);
    else most = Math.max(most, i - at);
  }
  return most;
}

/** Numbers the arrivals of a group. No file is spread wider than the edge window, as real files are not. */
function number(random: Random, articles: readonly Article[]): NumberedArticle[] {
  const room = Math.max(1, Math.floor(EDGE_NUMBERS / (widest(articles) + 1)));
  const stride = random.chance(0.5) ? 1 : random.int(1, room);
  let last = random.int(1, 3_000_000_000);
  return articles.map((article) => {
    last += random.int(1, stride);
    return { number: last, article };
  });
}

/** The order in which a backbone saw them: by time, neighbours exchanged here and there. */
function arrival(random: Random, articles: readonly Article[]): Article[] {
  return [...articles]
    .map((article) => ({ article, when: article.at + random.int(0, 90_000) }))
    .sort((a, b) => a.when - b.when)
    .map(({ article }) => article);
}

function placesOn(random: Random, backbone: string, articles: readonly Article[]): Numbered[] {
  const arrived = arrival(random, articles);
  const numbers = new Map<string, string[]>();
  const groups = GROUPS.map((group) => {
    const own = number(
      random,
      arrived.filter((a) => a.groups.includes(group)),
    );
    for (const { number: n, article } of own) {
      numbers.set(article.messageId, [...(numbers.get(article.messageId) ?? []), `${group}:${n}`]);
    }
    return { group, own };
  });
  const xref = new Map([...numbers].map(([id, all]) => [id, `Xref: host ${all.join(' ')}`]));
  return groups
    .filter(({ own }) => own.length > 0)
    .map(({ group, own }) => {
      const low = Math.max(1, own[0]!.number - random.int(0, 5));
      const goneFiles = new Set(own.map(({ article }) => article.file).filter(() => random.chance(0.15)));
      const gone = new Set(own.filter(({ article }) => goneFiles.has(article.file) || random.chance(0.05)));
      const articles = own.filter((a) => !gone.has(a));
      return { backbone, group, articles, cancelled: [...gone], xref, low, high: own.at(-1)!.number };
    });
}

export function makeWorld(seed: number): World {
  const random = new Random(seed);
  const articles = drawArticles(random);
  const places = placesOn(random, 'one', articles);
  if (random.chance(0.3)) {
    // The other backbone lacks some of them.
    places.push(
      ...placesOn(
        random,
        'two',
        articles.filter(() => !random.chance(0.1)),
      ),
    );
  }
  const end = articles.reduce((latest, { at }) => Math.max(latest, at), T0);
  return { seed, places, end };
}
