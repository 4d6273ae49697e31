import { readSubject } from '../../processors/headers/subject.ts';
import type { ChunkPayloads, DueContribution, DueRelease, Figures } from '../../processors/settle/ports.ts';
import { encodeChunk } from '../../streams/codec/chunk.ts';
import { ArticleNumber, Backbone, Epoch, EpochMs, Group, MessageId, RangeId, ReleaseId } from '../../streams/ids.ts';
import { type ContributionName, nameOfContribution } from '../../streams/merges.ts';
import type { ChunkFile } from '../../streams/records.ts';
import { unionOf } from '../../streams/union.ts';
import { keyOf, T0 } from './releaseEvents.ts';

/** `hash` is what the file's hash is made from. `part/bytes` of each segment; the id tells file, part and `seed` (another one: another article for the same part). */
export interface FileOptions {
  readonly hash: string;
  readonly name?: string;
  readonly total?: number;
  readonly parts: readonly (readonly [part: number, bytes: number])[];
  readonly seed?: string;
}

/** A file as a chunk holds it, of a subject like `"a.rar" yEnc (n/total)`; total 0: without a counter. */
export function chunkFile({ hash, name = `${hash}.rar`, total = 0, parts, seed = '' }: FileOptions): ChunkFile {
  const before = `"${name}" yEnc (`;
  return {
    subject: total > 0 ? `${before}/${total})` : `"${name}" yEnc`,
    partAt: total > 0 ? before.length : -1,
    partWidth: total > 0 ? 1 : 0,
    poster: 'poster@example.com',
    postedAt: T0,
    parts: total,
    fileIndex: null,
    fileHash: keyOf(hash).slice(0, 16),
    groups: [Group('alt.binaries.test')],
    segments: parts.map(([part, bytes]) => ({ part, bytes, messageId: MessageId(`${seed}${hash}.${part}@x`) })),
  };
}

/** What the headers core counts for these files. */
export function countedFigures(files: readonly ChunkFile[]): Figures {
  const all = unionOf(files);
  const par2 = all.filter((f) => {
    const part = f.partAt < 0 ? '' : '1';
    const subject = `${f.subject.slice(0, f.partAt)}${part}${f.subject.slice(f.partAt)}`;
    return readSubject(Buffer.from(f.partAt < 0 ? f.subject : subject)).role === 'par2';
  });
  const sum = (list: typeof all, of: (f: (typeof all)[number]) => number) => list.reduce((n, f) => n + of(f), 0);
  return {
    files: all.length,
    filesComplete: sum(all, (f) => Number(f.complete)),
    segments: sum(all, (f) => f.segments.length),
    segmentsTotal: sum(all, (f) => f.expected),
    bytes: sum(all, (f) => f.bytes),
    par2Files: par2.length,
    par2Segments: sum(par2, (f) => f.segments.length),
    par2SegmentsTotal: sum(par2, (f) => f.expected),
    par2Bytes: sum(par2, (f) => f.bytes),
  };
}

export interface DueOptions {
  readonly backbone?: string;
  readonly group?: string;
  readonly epoch?: number;
  /** The range is of 1000 numbers, from `range` * 1000 + 1. */
  readonly range?: number;
  readonly firstNumber?: number;
  readonly lastNumber?: number;
  readonly firstAt?: number;
  readonly lastAt?: number;
  readonly name?: ContributionName;
  readonly figures?: Partial<Figures>;
}

/** A contribution of these files, and their chunks. */
export interface HeldContribution {
  readonly contribution: DueContribution;
  readonly files: readonly ChunkFile[];
}

export function holds(files: readonly ChunkFile[], o: DueOptions = {}): HeldContribution {
  const [backbone, group, epoch] = [
    Backbone(o.backbone ?? 'bb'),
    Group(o.group ?? 'alt.binaries.test'),
    Epoch(o.epoch ?? 0),
  ];
  const lo = (o.range ?? 0) * 1000 + 1;
  const rangeId = RangeId.of(epoch, ArticleNumber(lo), ArticleNumber(lo + 999));
  const contribution: DueContribution = {
    name: o.name ?? { backbone, group, rangeId, run: 1, pass: 1, posting: 0 },
    ...{ backbone, group, epoch },
    firstNumber: ArticleNumber(o.firstNumber ?? lo),
    lastNumber: ArticleNumber(o.lastNumber ?? lo + 999),
    firstAt: EpochMs(o.firstAt ?? T0),
    lastAt: EpochMs(o.lastAt ?? o.firstAt ?? T0),
    ...countedFigures(files),
    ...o.figures,
    fileHashes: [...new Set(files.map((f) => f.fileHash))].sort(),
    chunks: files.length,
  };
  return { contribution, files };
}

export const dueRelease = (name: string, held: readonly HeldContribution[], settleDueAt: number = T0): DueRelease => ({
  releaseId: ReleaseId(keyOf(name)),
  key: keyOf(name),
  settleDueAt: EpochMs(settleDueAt),
  contributions: held.map(({ contribution }) => contribution),
});

/** The chunk store of these contributions: one chunk a file entry. */
export class MemoryChunks implements ChunkPayloads {
  readonly #files = new Map<string, readonly ChunkFile[]>();
  /** Payloads given out so far. */
  reads = 0;
  /** Thrown instead of the chunks of a contribution, by its name. */
  readonly broken = new Map<string, Error>();

  add(held: readonly HeldContribution[]): this {
    for (const { contribution, files } of held) this.#files.set(nameOfContribution(contribution.name), files);
    return this;
  }

  async *of(_key: unknown, { name }: DueContribution): AsyncGenerator<Uint8Array> {
    const error = this.broken.get(nameOfContribution(name));
    if (error) throw error;
    for (const file of this.#files.get(nameOfContribution(name)) ?? []) {
      this.reads++;
      yield encodeChunk([file]);
    }
  }
}
