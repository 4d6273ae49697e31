import { createHash } from 'node:crypto';
import type { StoredEvent } from '../../streams/envelope.ts';
import type { EventType, HeadwaterEvent } from '../../streams/events/index.ts';
import { EVENTS, makeEvent } from '../../streams/events/index.ts';
import { ArticleNumber, Backbone, Epoch, EpochMs, Group, RangeId, ReleaseKey } from '../../streams/ids.ts';
import type { Contribution, EncodedChunk } from '../../streams/records.ts';
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

/** The events as a stream of them would give them: at 1, 2, 3 … */
export const stored = (events: readonly HeadwaterEvent[], from = 1): readonly StoredEvent[] =>
  events.map((event, i) => ({
    event,
    position: { number: 1, sequence: from + i },
    subject: formatSubject(EVENTS[event.type as EventType].subject(event.data as never)),
  }));
