import { obfuscatedName, padded, posterName, releaseName } from './madeUpNames.ts';
import { type IdContext, messageIdOf, type Tool } from './messageIds.ts';
import { ALPHABET, type Random } from './random.ts';
import { type SubjectStyle, subjectOf } from './subjectStyles.ts';

/** `readable`, `obfuscated` (random names, stable within a file), `random` (another subject for every article). */
export type PostKind = 'readable' | 'obfuscated' | 'random';

export interface PostFile {
  /** The name that its subjects show. */
  readonly name: string;
  readonly size: number;
  readonly parts: number;
  /** 20 characters that PowerPost-like tools put into each id of the file. */
  readonly token: string;
}

/** A post before its first article is written. */
export interface Post {
  readonly kind: PostKind;
  readonly tool: Tool;
  readonly name: string;
  /** Null: another one for every article. */
  readonly poster: string | null;
  /** Decoded bytes an article. */
  readonly partSize: number;
  readonly files: readonly PostFile[];
  readonly style: SubjectStyle;
  readonly padPart: boolean;
  readonly request: string;
  readonly zone: 'GMT' | '+0000';
}

export const partsOf = (size: number, partSize: number): number => Math.max(1, Math.ceil(size / partSize));

export const countParts = (files: readonly PostFile[]): number => files.reduce((sum, file) => sum + file.parts, 0);

interface NamedSize {
  readonly suffix: string;
  readonly size: number;
}

/** `.vol000+01.par2`, `.vol001+02.par2`, ...: each twice the blocks of the one before. */
export const recoveryVolumes = (count: number, blockSize: number): NamedSize[] =>
  Array.from({ length: count }, (_, i) => ({
    suffix: `vol${padded(2 ** i - 1, 3)}+${padded(2 ** i, 2)}.par2`,
    size: 2 ** i * blockSize * 1.02,
  }));

/** File suffixes of a volume set in one of the usual forms. `i` from 1. */
function volumeSuffix(form: number, i: number, count: number): string {
  if (form < 0.55) return `part${padded(i, count > 99 ? 3 : 2)}.rar`;
  if (form < 0.75) return i === 1 ? 'rar' : `r${padded(i - 2, 2)}`;
  if (form < 0.9) return `7z.${padded(i, 3)}`;
  return i === 1 ? 'mkv' : `extra${i}.mkv`;
}

/** The files of one post: perhaps nfo and sfv, 1 to 36 volumes, a par2 set. Sizes in bytes. */
function fileSet(random: Random, partSize: number, volumeScale: number): NamedSize[] {
  const count = Math.max(1, Math.floor(Math.exp(random.next() * 3.6)));
  const size = random.pick([15e6, 50e6, 100e6, 200e6, 400e6]) * volumeScale;
  const form = random.next();
  const volumes = Array.from({ length: count }, (_, i) => ({
    suffix: volumeSuffix(form, i + 1, count),
    size: i + 1 === count ? size * (0.1 + 0.9 * random.next()) : size,
  }));
  return [
    ...(random.chance(0.5) ? [{ suffix: 'nfo', size: random.int(2e3, 9e3) }] : []),
    ...(random.chance(0.4) ? [{ suffix: 'sfv', size: random.int(300, 3000) }] : []),
    ...volumes,
    { suffix: 'par2', size: random.int(2e4, 2e5) },
    ...recoveryVolumes(random.int(3, 7), partSize * Math.min(1, volumeScale)),
  ];
}

function styleOf(kind: PostKind, random: Random): SubjectStyle {
  const draw = random.next();
  if (kind === 'obfuscated') return draw < 0.8 ? 'counted' : 'bare';
  if (draw < 0.15) return 'request';
  return draw < 0.3 ? 'sized' : 'counted';
}

/** Plans a post. `chooseTool` is told how many articles it has. `volumeScale` multiplies the size of its volumes. */
export function planPost(
  kind: PostKind,
  random: Random,
  volumeScale: number,
  chooseTool: (parts: number) => Tool,
): Post {
  const name = releaseName(random);
  const partSize = random.pick([500, 700, 716.8, 750]) * 1024;
  const hidden = obfuscatedName(random);
  // Half of the obfuscated posts hide the base and keep the suffixes, the others hide each name as a whole.
  const keepsSuffix = random.chance(0.5);
  const shownName = (suffix: string): string => {
    if (kind !== 'obfuscated') return `${name}.${suffix}`;
    return keepsSuffix ? `${hidden}.${suffix}` : obfuscatedName(random);
  };
  const files = fileSet(random, partSize, volumeScale).map(({ suffix, size }) => ({
    name: shownName(suffix),
    size: Math.round(size),
    parts: partsOf(Math.round(size), partSize),
    token: random.text(20, ALPHABET.powerpost),
  }));
  return {
    kind,
    tool: chooseTool(countParts(files)),
    name,
    poster: kind === 'random' ? null : posterName(random),
    partSize,
    files,
    style: styleOf(kind, random),
    padPart: random.chance(0.5),
    request: `[${random.int(10_000, 999_999)}]-[FULL]-[#a.b.${random.pick(['example', 'kits', 'attic'])}]`,
    zone: random.chance(0.5) ? 'GMT' : '+0000',
  };
}

/** Overview fields of one article, without number, date and Xref. */
export interface ArticleFields {
  readonly subject: string;
  readonly messageId: string;
  readonly bytes: number;
  readonly lines: number;
}

/** Bytes and lines of an article with `raw` payload bytes after yEnc: 2 line-end bytes in 128, 4 of 256 values escaped. */
export function encodedSize(raw: number, random: Random): { readonly bytes: number; readonly lines: number } {
  const spread = random.gauss() * Math.sqrt(raw * 0.0154);
  return {
    bytes: Math.max(300, Math.round(raw * (1 + 2 / 128 + 4 / 256) + 380 + spread)),
    lines: Math.ceil(raw / 128) + 11,
  };
}

/** The subject of one article of a post that is not `random`. */
function namedSubject(post: Post, file: PostFile, fileNumber: number, part: number): string {
  // Written out: copying with spread syntax took a third of the generator's time.
  return subjectOf({
    style: post.style,
    release: post.name,
    fileName: file.name,
    fileSize: file.size,
    file: fileNumber,
    files: post.files.length,
    part,
    parts: file.parts,
    padPart: post.padPart,
    request: post.request,
  });
}

const freshSubject = (random: Random): string =>
  `${random.text(random.int(24, 48), ALPHABET.base62)}${random.chance(0.3) ? ' yEnc (1/1)' : ''}`;

/** Writes part `part` of file `fileIndex` (from 0) of a post. A `random` post gets a fresh subject. */
export function articleFields(
  post: Post,
  fileIndex: number,
  part: number,
  nowMs: number,
  random: Random,
): ArticleFields {
  const file = post.files[fileIndex]!;
  const { parts, token: fileToken } = file;
  const context: IdContext = { part, parts, file: fileIndex + 1, files: post.files.length, fileToken, nowMs };
  const subject = post.kind === 'random' ? freshSubject(random) : namedSubject(post, file, fileIndex + 1, part);
  const raw = part === parts ? file.size - (parts - 1) * post.partSize : post.partSize;
  const { bytes, lines } = encodedSize(raw, random);
  return { subject, messageId: messageIdOf(post.tool, context, random), bytes, lines };
}
