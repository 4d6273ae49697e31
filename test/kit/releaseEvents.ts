import { createHash } from 'node:crypto';
import { encodeMergedChunks, encodeMerges } from '../../streams/codec/merges.ts';
import type { StoredEvent } from '../../streams/envelope.ts';
import type { EventType, HeadwaterEvent } from '../../streams/events/index.ts';
import { EVENTS, makeEvent } from '../../streams/events/index.ts';
import {
  ArticleNumber,
  Backbone,
  Epoch,
  EpochMs,
  Group,
  type MergeId,
  RangeId,
  type ReleaseId,
  ReleaseKey,
} from '../../streams/ids.ts';
import {
  type ContributionName,
  mergeIdOf,
  mergesDigest,
  setHashOf,
  settlementDigest,
  sortedSources,
} from '../../streams/merges.ts';
import type { Contribution, EncodedChunk, MergeRef, Settlement } from '../../streams/records.ts';
import { formatSubject } from '../../streams/subjects.ts';

/** Made-up events of RELEASES and CHUNKS, short to write in tests. */
export const T0 = EpochMs(Date.UTC(2024, 0, 10));
export const HOUR = 3_600_000;
export const DAY = 24 * HOUR;

export const keyOf = (name: string): ReleaseKey =>
  ReleaseKey(createHash('sha256').update(name).digest('hex').slice(0, 32));

export interface PassOptions {
  readonly backbone?: string;
  readonly group?: string;
  readonly epoch?: number;
  readonly lo?: number;
  readonly hi?: number;
  readonly run?: number;
  readonly pass?: number;
}

export function passFields(o: PassOptions = {}) {
  const epoch = Epoch(o.epoch ?? 0);
  const [lo, hi] = [ArticleNumber(o.lo ?? 1), ArticleNumber(o.hi ?? 1000)];
  const place = { backbone: Backbone(o.backbone ?? 'bb'), group: Group(o.group ?? 'alt.binaries.test'), epoch };
  return { ...place, rangeId: RangeId.of(epoch, lo, hi), run: o.run ?? 1, pass: o.pass ?? 1 };
}

const bounds = (o: PassOptions) => ({ lo: ArticleNumber(o.lo ?? 1), hi: ArticleNumber(o.hi ?? 1000) });

export type ContributionOptions = Partial<Omit<Contribution, 'groups' | 'mainGroup'>> & {
  readonly groups?: readonly string[];
};

/** A contribution to the release `name`, whose articles start at `firstNumber` and `firstAt`. */
export function contribution(name: string, o: ContributionOptions = {}): Contribution {
  const groups = (o.groups ?? ['alt.binaries.test']).map(Group);
  const firstAt = o.firstAt ?? T0;
  const firstNumber = o.firstNumber ?? ArticleNumber(1);
  return {
    key: keyOf(name.toLowerCase()),
    posting: 0,
    name,
    obfuscated: false,
    filesTotal: null,
    poster: 'poster@example.com',
    firstNumber,
    lastNumber: firstNumber,
    lastAt: firstAt,
    files: 2,
    filesComplete: 1,
    segments: 10,
    segmentsTotal: 12,
    bytes: 7_000_000,
    par2Files: 1,
    par2Segments: 2,
    par2SegmentsTotal: 2,
    par2Bytes: 1_000_000,
    hasNfo: false,
    fileHashes: ['00000000000000aa', 'ffffffffffffffff'],
    chunks: 1,
    chunksPosition: { number: 1, sequence: 1 },
    ...o,
    firstAt,
    mainGroup: groups[0]!,
    groups,
  };
}

export const opened = (o: PassOptions = {}, at: number = T0): HeadwaterEvent =>
  makeEvent(EVENTS['release.opened'], EpochMs(at), { ...passFields(o), ...bounds(o) });

export const seen = (o: PassOptions, body: readonly Contribution[], k = 0, at: number = T0): HeadwaterEvent =>
  makeEvent(EVENTS['release.seen'], EpochMs(at), { origin: 'headers' as const, ...passFields(o), k, body: [...body] });

export const chunksOpened = (o: PassOptions = {}): HeadwaterEvent =>
  makeEvent(EVENTS['chunks.opened'], T0, { ...passFields(o), ...bounds(o) });

export function encodedChunk(name: string, payload: string, o: Partial<EncodedChunk> = {}): EncodedChunk {
  const times = { firstAt: T0, lastAt: T0 };
  const bytes = Buffer.from(payload);
  return { key: keyOf(name.toLowerCase()), posting: 0, k: 0, ...times, segments: 10, payload: bytes, ...o };
}

export const written = (o: PassOptions, body: readonly EncodedChunk[], k = 0): HeadwaterEvent =>
  makeEvent(EVENTS['chunks.written'], T0, { ...passFields(o), k, body: [...body] });

export interface PieceOptions extends PassOptions {
  readonly posting?: number;
}

/** Where merges are decided, and of which pieces: all of them in one group. */
export interface MergeOptions {
  readonly pieces: readonly PieceOptions[];
  readonly revision?: number;
  readonly fileHash?: string;
}

const FILE_HASH = '00000000000000aa';

function mergeRef({ pieces, fileHash = FILE_HASH }: MergeOptions): MergeRef {
  const sources = sortedSources(
    pieces.map((o) => {
      const { rangeId, run, pass } = passFields(o);
      return { rangeId, run, pass, posting: o.posting ?? 0 };
    }),
  );
  return { mergeId: mergeIdOf(passFields(pieces[0]), fileHash, sources), fileHash, sources };
}

const mergeFields = ({ pieces, revision = 1 }: MergeOptions, body: Uint8Array) => {
  const { backbone, group, epoch } = passFields(pieces[0]);
  const position = { number: 1, sequence: revision };
  return { backbone, group, epoch, revision: position, digest: mergesDigest(position, body) };
};

/** What a contribution of this merge is named by. */
export const mergeIdOfPieces = (o: MergeOptions): MergeId => mergeRef(o).mergeId;

/** Pieces brought together as this contribution. */
export function merged(o: MergeOptions, c: Contribution, at: number = T0): HeadwaterEvent {
  const ref = mergeRef(o);
  const own = { ...c, posting: 0, files: 1, fileHashes: [ref.fileHash] };
  const body = [{ ...ref, contribution: own }];
  return makeEvent(EVENTS['release.merged'], EpochMs(at), { ...mergeFields(o, encodeMerges(body)), body });
}

export function chunksMerged(o: MergeOptions, chunks: readonly EncodedChunk[]): HeadwaterEvent {
  const body = [{ ...mergeRef(o), chunks }];
  return makeEvent(EVENTS['chunks.merged'], T0, { ...mergeFields(o, encodeMergedChunks(body)), body });
}

/** A settlement of the release `name` that holds for just these contributions. */
export function settlement(
  name: string,
  contributions: readonly ContributionName[],
  o: Partial<Settlement> = {},
): Settlement {
  const firstAt = o.firstAt ?? T0;
  return {
    releaseId: '0'.repeat(32) as ReleaseId,
    key: keyOf(name.toLowerCase()),
    setHash: setHashOf(contributions),
    lastAt: firstAt,
    files: 3,
    filesComplete: 3,
    segments: 33,
    segmentsTotal: 33,
    bytes: 3_000_000,
    par2Files: 1,
    par2Segments: 3,
    par2SegmentsTotal: 3,
    par2Bytes: 300_000,
    ...o,
    firstAt,
  };
}

export const settled = (releases: readonly Settlement[], at: number = T0): HeadwaterEvent =>
  makeEvent(EVENTS['release.settled'], EpochMs(at), { digest: settlementDigest(releases), releases: [...releases] });

/** The events as a stream of them would give them: at 1, 2, 3 … */
export const stored = (events: readonly HeadwaterEvent[], from = 1): readonly StoredEvent[] =>
  events.map((event, i) => ({
    event,
    position: { number: 1, sequence: from + i },
    subject: formatSubject(EVENTS[event.type as EventType].subject(event.data as never)),
  }));
