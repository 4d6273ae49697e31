import { createCipheriv, createHash } from 'node:crypto';
import { crc32 } from 'node:zlib';
import { PostingConnection, type PostingTarget } from './postingConnection.ts';
import { dotStuff, yencBody } from './yenc.ts';

/** A file to post: its bytes, or a size for seeded random bytes. */
export type FileToPost =
  | { readonly name: string; readonly size: number }
  | { readonly name: string; readonly data: Buffer };

/** What a subject is made of. */
export interface SubjectParts {
  readonly release: string;
  /** The name that subject and yEnc header show. */
  readonly shown: string;
  readonly file: number;
  readonly files: number;
  readonly part: number;
  readonly parts: number;
  /** Size of the file in bytes. */
  readonly size: number;
}

export interface PostOptions {
  readonly target: PostingTarget;
  /** Name of the release. */
  readonly name: string;
  readonly files: readonly FileToPost[];
  /** Every article goes to all of them. */
  readonly groups: readonly string[];
  /** Decoded bytes an article (default 200,000). */
  readonly articleSize?: number;
  readonly connections?: number;
  readonly poster?: string;
  /** True: subject and yEnc header show random hex names. */
  readonly obfuscated?: boolean;
  /** Default `[i/N] - "name" yEnc (n/m)`. */
  readonly subject?: (parts: SubjectParts) => string;
  /** Parts that are not posted: true for (file from 1, part from 1). */
  readonly drop?: (file: number, part: number) => boolean;
  /** Date header, in ms since 1970; without it the server stamps the article. */
  readonly postedAt?: number;
  /** Decides content, shown names and message-ids (default 1). */
  readonly seed?: number;
}

export interface PostedSegment {
  readonly part: number;
  /** Bytes of header and body as they were sent. */
  readonly bytes: number;
  /** Without angle brackets. */
  readonly messageId: string;
}

export interface PostedFile {
  readonly name: string;
  readonly shown: string;
  readonly size: number;
  readonly sha256: string;
  /** Subject of part 1. */
  readonly subject: string;
  /** Parts that the file has; `segments` lacks the dropped ones. */
  readonly parts: number;
  readonly segments: readonly PostedSegment[];
}

/** The truth about what was posted. */
export interface Posted {
  readonly name: string;
  readonly groups: readonly string[];
  readonly poster: string;
  readonly files: readonly PostedFile[];
  /** Articles that were posted. */
  readonly articles: number;
}

const digest = (text: string): Buffer => createHash('sha256').update(text).digest();
const hexOf = (text: string, length: number): string => digest(text).toString('hex').slice(0, length);

/** `size` bytes that depend on `seed` alone and that no compression shortens. */
export function seededBytes(seed: string, size: number): Buffer {
  return createCipheriv('aes-256-ctr', digest(seed), Buffer.alloc(16)).update(Buffer.alloc(size));
}

const pad = (n: number, of: number): string => String(n).padStart(Math.max(2, String(of).length), '0');

/** `[03/17] - "name" yEnc (1/5)` */
export const readableSubject = (s: SubjectParts): string =>
  `[${pad(s.file, s.files)}/${pad(s.files, s.files)}] - "${s.shown}" yEnc (${s.part}/${s.parts})`;

interface PlannedArticle {
  readonly subject: string;
  readonly messageId: string;
  readonly part: number;
  readonly offset: number;
}

interface PlannedFile {
  readonly name: string;
  readonly shown: string;
  readonly data: Buffer;
  readonly crc: number;
  readonly parts: number;
  readonly articles: readonly PlannedArticle[];
}

function planFile(options: PostOptions, index: number): PlannedFile {
  const file = options.files[index]!;
  const key = `${options.seed ?? 1}/${options.name}/${file.name}`;
  const data = 'data' in file ? file.data : seededBytes(key, file.size);
  const articleSize = options.articleSize ?? 200_000;
  const parts = Math.max(1, Math.ceil(data.length / articleSize));
  const shown = options.obfuscated ? hexOf(`shown/${key}`, 32) : file.name;
  const subject = options.subject ?? readableSubject;
  const about = { release: options.name, shown, file: index + 1, files: options.files.length, size: data.length };
  const articles = Array.from({ length: parts }, (_, i) => ({
    subject: subject({ ...about, part: i + 1, parts }),
    messageId: `${hexOf(`id/${key}/${index}/${i}`, 24)}.${index + 1}.${i + 1}@kit.test`,
    part: i + 1,
    offset: i * articleSize,
  }));
  return { name: file.name, shown, data, crc: crc32(data), parts, articles };
}

/** `Thu, 01 Jan 2026 00:00:00 +0000` */
const dateHeader = (ms: number): string => new Date(ms).toUTCString().replace('GMT', '+0000');

const headOf = (options: PostOptions, poster: string, article: PlannedArticle): string =>
  `From: ${poster}\r\nNewsgroups: ${options.groups.join(',')}\r\nSubject: ${article.subject}\r\n` +
  `Message-ID: <${article.messageId}>\r\n` +
  `${options.postedAt === undefined ? '' : `Date: ${dateHeader(options.postedAt)}\r\n`}`;

interface Job {
  readonly file: PlannedFile;
  readonly article: PlannedArticle;
  readonly sent: PostedSegment[];
}

async function postJob(connection: PostingConnection, options: PostOptions, poster: string, job: Job): Promise<void> {
  const { file, article } = job;
  const data = file.data.subarray(article.offset, article.offset + (options.articleSize ?? 200_000));
  const body = yencBody({
    name: file.shown,
    fileSize: file.data.length,
    part: article.part,
    parts: file.parts,
    offset: article.offset,
    data,
    fileCrc: file.crc,
  });
  const head = headOf(options, poster, article);
  await connection.post(head, dotStuff(body));
  job.sent.push({ part: article.part, bytes: head.length + 2 + body.length, messageId: article.messageId });
}

async function postAll(options: PostOptions, poster: string, jobs: Job[]): Promise<void> {
  const worker = async () => {
    const connection = await PostingConnection.open(options.target);
    try {
      for (let job = jobs.shift(); job; job = jobs.shift()) await postJob(connection, options, poster, job);
    } finally {
      connection.close();
    }
  };
  await Promise.all(Array.from({ length: options.connections ?? 2 }, worker));
}

/**
 * Posts a set of files as yEnc articles by POST and returns what was posted. The same options (seed included) give the
 * same subjects, message-ids and bytes; posting a set twice to one server needs another seed. Rejects at the first
 * article that the server refuses.
 */
export async function post(options: PostOptions): Promise<Posted> {
  const poster = options.poster ?? 'kit poster <poster@kit.invalid>';
  const planned = options.files.map((_, index) => ({ file: planFile(options, index), sent: [] as PostedSegment[] }));
  const jobs = planned.flatMap(({ file, sent }, index) =>
    file.articles
      .filter((article) => !options.drop?.(index + 1, article.part))
      .map((article) => ({ file, article, sent })),
  );
  const articles = jobs.length;
  await postAll(options, poster, jobs);
  const files = planned.map(({ file, sent }) => ({
    name: file.name,
    shown: file.shown,
    size: file.data.length,
    sha256: createHash('sha256').update(file.data).digest('hex'),
    subject: file.articles[0]?.subject ?? '',
    parts: file.parts,
    segments: sent.sort((a, b) => a.part - b.part),
  }));
  return { name: options.name, groups: options.groups, poster, files, articles };
}
