import type { EpochMs, Group, MessageId } from '../../streams/ids.ts';
import type { ChunkFile, Segment } from '../../streams/records.ts';

/** A seeded generator of numbers from 0 to 1 (mulberry32): the same seed gives the same chunks. */
export const seededRandom = (seed: number): (() => number) => {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
};

type Random = () => number;
const UPPER = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ';
const LOWER = 'abcdefghijklmnopqrstuvwxyz';
const B62 = `${UPPER}${LOWER}0123456789`;
const HEX = '0123456789abcdef';

const pick = (random: Random, chars: string): string => chars[Math.floor(random() * chars.length)]!;
const word = (random: Random, length: number, chars: string): string => {
  let out = '';
  for (let i = 0; i < length; i++) out += pick(random, chars);
  return out;
};
const nyuuWord = (random: Random): string => {
  let out = '';
  for (let i = 0; i < 24; i++) out += pick(random, i % 2 === 0 ? UPPER : LOWER);
  return out;
};
const gauss = (random: Random): number => Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());

/** What an id is made from. */
interface Article {
  readonly part: number;
  readonly parts: number;
  readonly fileIndex: number;
  readonly files: number;
  /** Random per file. */
  readonly token: string;
  /** Time of posting in ms, in order of the parts, before any jitter. */
  readonly ms: number;
}

export interface ChunkTool {
  readonly name: string;
  /** Share of segments in the default mix. */
  readonly share: number;
  /** Bytes a segment that no codec can save: the id's random characters and 1.10 bytes of size spread. */
  readonly floor: number;
  readonly id: (random: Random, article: Article) => string;
}

const SIZE_FLOOR = 1.1;
const bits = (length: number, base: number): number => (length * Math.log2(base)) / 8;

/** The id shapes of the posting tools and their shares in the default mix. */
export const CHUNK_TOOLS: readonly ChunkTool[] = [
  {
    name: 'powerpost',
    share: 0.2,
    floor: SIZE_FLOOR,
    id: (_, a) => `part${a.part}of${a.parts}.${a.token}@powerpost2000AA.local`,
  },
  {
    name: 'camelsystem',
    share: 0.08,
    floor: SIZE_FLOOR,
    id: (_, a) => `part${a.part}of${a.parts}.${a.token}@camelsystem-powerpost.local`,
  },
  {
    name: 'Nyuu',
    share: 0.34,
    floor: SIZE_FLOOR + bits(24, 26) + bits(10, 2),
    id: (random, a) => `${nyuuWord(random)}-${Math.floor(a.ms + (random() - 0.5) * 1024)}@nyuu`,
  },
  {
    name: 'ngPost',
    share: 0.2,
    floor: SIZE_FLOOR + 122 / 8,
    id: (random) =>
      `${word(random, 12, HEX)}4${word(random, 3, HEX)}${pick(random, '89ab')}${word(random, 15, HEX)}@ngPost`,
  },
  {
    name: 'JBinUp',
    share: 0.06,
    floor: SIZE_FLOOR + bits(20, 62),
    id: (random, a) => `${word(random, 20, B62)}_${a.fileIndex}o${a.files}@JBinUp.local`,
  },
  {
    name: 'postie',
    share: 0.12,
    floor: SIZE_FLOOR + bits(43, 62),
    id: (random) => `${word(random, 32, B62)}@${word(random, 8, B62)}.${word(random, 3, B62)}`,
  },
];

const WORDS =
  'Autumn Harbor Silent Copper River Northern Lights Paper Castle Broken Compass Midnight Orchard Winter'.split(' ');
const GROUPS = ['boneless', 'teevee', 'hdtv', 'moovee', 'multimedia', 'misc', 'town', 'frogs'].map(
  (g) => `alt.binaries.${g}`,
);

const releaseName = (random: Random): string => {
  const title = Array.from({ length: 3 }, () => WORDS[Math.floor(random() * WORDS.length)]!).join('.');
  const episode = `S0${1 + Math.floor(random() * 9)}E1${Math.floor(random() * 10)}`;
  return `${title}.${episode}.1080p.WEB-DL.DD5.1.H.264-${word(random, 5, UPPER)}`;
};

const ARTICLE = 716800;
/** yEnc: 2 line ends in 128 and 4 of 256 values escaped; the spread is that of random data. */
const encodedSize = (random: Random, raw: number): number =>
  Math.round(raw * (1 + 2 / 128 + 4 / 256) + 380 + gauss(random) * Math.sqrt(raw * 0.0154));

interface Post {
  readonly name: string;
  readonly poster: string;
  readonly groups: readonly Group[];
  readonly files: number;
  readonly parts: number;
  readonly at: number;
}

const newPost = (random: Random): Post => ({
  name: releaseName(random),
  poster: `${WORDS[Math.floor(random() * WORDS.length)]} <${word(random, 8, LOWER)}@${word(random, 6, LOWER)}.com>`,
  groups: [GROUPS[Math.floor(random() * GROUPS.length)]! as Group],
  files: 20 + Math.floor(random() * 30),
  parts: 80 + Math.floor(random() * 200),
  at: 1_500_000_000 + Math.floor(random() * 2e8),
});

const newFile = (random: Random, tool: ChunkTool, post: Post, index: number, room: number): ChunkFile => {
  const token = word(random, 20, `${B62}&$`);
  const segments: Segment[] = [];
  for (let part = 1; part <= Math.min(post.parts, room); part++) {
    const article = {
      part,
      parts: post.parts,
      fileIndex: index,
      files: post.files,
      token,
      ms: post.at * 1000 + part * 15,
    };
    const bytes = encodedSize(random, part === post.parts ? 1 + Math.floor(random() * ARTICLE) : ARTICLE);
    segments.push({ part, bytes, messageId: tool.id(random, article) as MessageId });
  }
  const head = `[${String(index).padStart(2, '0')}/${post.files}] - "${post.name}.part${String(index).padStart(2, '0')}.rar" yEnc (`;
  return {
    subject: `${head}/${post.parts})`,
    partAt: head.length,
    partWidth: index % 2 === 0 ? 0 : String(post.parts).length,
    poster: post.poster,
    postedAt: (post.at * 1000) as EpochMs,
    parts: post.parts,
    fileIndex: index,
    fileHash: word(random, 16, HEX),
    groups: post.groups,
    segments,
  };
};

/** `count` chunks of exactly `perChunk` segments, a post of its own each: files of 80 to 280 parts, the last one cut off. */
export const sampleChunks = (tool: ChunkTool, count: number, perChunk: number, seed: number): ChunkFile[][] => {
  const random = seededRandom(seed);
  return Array.from({ length: count }, () => {
    const post = newPost(random);
    const files: ChunkFile[] = [];
    for (let left = perChunk, index = 1 + Math.floor(random() * 9); left > 0; index++) {
      const file = newFile(random, tool, post, index, left);
      files.push(file);
      left -= file.segments.length;
    }
    return files;
  });
};
