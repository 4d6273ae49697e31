import type { EpochMs } from '../../streams/ids.ts';
import { setHashOf } from '../../streams/merges.ts';
import type { ChunkFile, Settlement } from '../../streams/records.ts';
import { type UnionFile, unionOf } from '../../streams/union.ts';
import { readSubject } from '../headers/subject.ts';
import { NO_FIGURES, sumOf, without } from './figures.ts';
import type { DueContribution, DueRelease, Figures } from './ports.ts';

/** The hashes of the files that two or more contributions hold: only there a sum would count something twice. */
export function sharedHashes(contributions: readonly Pick<DueContribution, 'fileHashes'>[]): ReadonlySet<string> {
  const seen = new Set<string>();
  const shared = new Set<string>();
  for (const { fileHashes } of contributions) {
    for (const hash of new Set(fileHashes)) {
      if (seen.has(hash)) shared.add(hash);
      seen.add(hash);
    }
  }
  return shared;
}

/** The subject of the first article that is there, as the headers core read it. */
function subjectOf({ subject, partAt, partWidth, segments }: ChunkFile): string {
  if (partAt < 0) return subject;
  const part = String(segments[0]?.part ?? 1).padStart(partWidth, '0');
  return `${subject.slice(0, partAt)}${part}${subject.slice(partAt)}`;
}

/** Chunks do not say what a file is; its subject does, by the rules that the headers core counted its contribution with. */
const isPar2 = (file: ChunkFile): boolean => readSubject(Buffer.from(subjectOf(file), 'utf8')).role === 'par2';

function figuresOf(file: UnionFile): Figures {
  const { expected: segmentsTotal, bytes, complete } = file;
  const segments = file.segments.length;
  const all = { ...NO_FIGURES, files: 1, filesComplete: Number(complete), segments, segmentsTotal, bytes };
  if (!isPar2(file)) return all;
  return { ...all, par2Files: 1, par2Segments: segments, par2SegmentsTotal: segmentsTotal, par2Bytes: bytes };
}

const figuresOfFiles = (files: Iterable<ChunkFile>): Figures => sumOf(unionOf(files).map(figuresOf));

/** Some of the shared files of a release: what each contribution counted for them, and what they are together. */
export interface Share {
  /** By contribution, in the order of the release's. */
  readonly own: readonly Figures[];
  readonly union: Figures;
}

/** `held`: by contribution what it holds of some shared files, with all that any of them holds of these files. */
export const shareOf = (held: readonly (readonly ChunkFile[])[]): Share => ({
  own: held.map(figuresOfFiles),
  union: figuresOfFiles(held.flat()),
});

/**
 * The figures of the union by (file, part): sums, in which the shares stand once instead of once a contribution. Exact when
 * the shares hold every shared file, each in one of them; without a shared file the plain sums.
 */
export function unionFigures(contributions: readonly DueContribution[], shares: readonly Share[]): Figures {
  const unshared = contributions.map((c, i) => without(c, sumOf(shares.map(({ own }) => own[i] ?? NO_FIGURES))));
  return sumOf([...unshared, ...shares.map(({ union }) => union)]);
}

const extreme = (times: readonly EpochMs[], of: (a: EpochMs, b: EpochMs) => number): EpochMs =>
  times.reduce((a, b) => of(a, b) as EpochMs);

export const firstAtOf = ({ contributions }: DueRelease): EpochMs =>
  extreme(
    contributions.map((c) => c.firstAt),
    Math.min,
  );

export const lastAtOf = ({ contributions }: DueRelease): EpochMs =>
  extreme(
    contributions.map((c) => c.lastAt),
    Math.max,
  );

/** What is said of a release of which nothing more is to come; it holds for just this set of contributions. */
export function settlementOf(release: DueRelease, figures: Figures): Settlement {
  const { releaseId, key, contributions } = release;
  const setHash = setHashOf(contributions.map((c) => c.name));
  return { releaseId, key, setHash, firstAt: firstAtOf(release), lastAt: lastAtOf(release), ...figures };
}
