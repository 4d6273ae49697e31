/**
 * Branded identifiers. A plain string or number becomes one of these once, at the edge, by the function of the same name;
 * everything behind the edge can rely on it. Imports nothing of ours, throws RangeError on what is no such identifier.
 */
declare const brand: unique symbol;
export type Brand<T, Name extends string> = T & { readonly [brand]: Name };

/** A newsgroup name: dot-separated tokens, no blank, no `*` or `>` token (they are NATS wildcards), at most 200 bytes. */
export type Group = Brand<string, 'Group'>;
/** The providers that share article numbers: `[a-z0-9-]`, 1 to 40 characters. */
export type Backbone = Brand<string, 'Backbone'>;
/** Label of a provider in the configuration: `[A-Za-z0-9_-]`, 1 to 40 characters. */
export type ProviderName = Brand<string, 'ProviderName'>;
/** An article number: a whole number from 0 to 2^53 - 1 (real groups are far beyond 2^31). */
export type ArticleNumber = Brand<number, 'ArticleNumber'>;
/** Counts up when a group's article numbers were reset; from 0. */
export type Epoch = Brand<number, 'Epoch'>;
/** `<epoch>-<lo>-<hi>`: names a range within one (backbone, group). */
export type RangeId = Brand<string, 'RangeId'>;
/** A message-id without its angle brackets, as the bytes of the wire read as latin1. */
export type MessageId = Brand<string, 'MessageId'>;
/** 32 hex digits: 128 bits of sha256 over what identifies a release (base, stated file total, poster where needed). */
export type ReleaseKey = Brand<string, 'ReleaseKey'>;
/** 32 hex digits: a birth's hash. The public id (guid) of a release is that of its oldest birth. */
export type ReleaseId = Brand<string, 'ReleaseId'>;
/** 32 hex digits: names the pieces that a merge of a file consists of. */
export type MergeId = Brand<string, 'MergeId'>;
/** The deterministic identity of an event, `<type>/<what it is about>`; it is the `Nats-Msg-Id`. */
export type EventId = Brand<string, 'EventId'>;
/** Milliseconds since 1970 UTC. */
export type EpochMs = Brand<number, 'EpochMs'>;

/** A place in a numbered stream: stream number (1 for streams that never roll), then the sequence within it. */
export interface Position {
  readonly number: number;
  readonly sequence: number;
}

export type Lane = 'live' | 'scan' | 'backfill' | 'import';
export const LANES: readonly Lane[] = ['live', 'scan', 'backfill', 'import'];
/** The lanes that the coordinator plans and a fetch process takes, in this order. */
export const FETCH_LANES = ['live', 'scan', 'backfill'] as const satisfies readonly Lane[];
export type FetchLane = (typeof FETCH_LANES)[number];

const refuse = (what: string, value: unknown): never => {
  throw new RangeError(`not a ${what}: ${JSON.stringify(value)?.slice(0, 80)}`);
};

// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are just what a group name must not hold.
const GROUP = /^(?!.*(?:^|\.)[*>](?:\.|$))[^\s.\u0000-\u001f\u007f]+(?:\.[^\s.\u0000-\u001f\u007f]+)*$/u;
export const isGroup = (value: string): value is Group => Buffer.byteLength(value) <= 200 && GROUP.test(value);
export const Group = (value: string): Group => (isGroup(value) ? value : refuse('group', value));

export const isBackbone = (value: string): value is Backbone => /^[a-z0-9-]{1,40}$/.test(value);
export const Backbone = (value: string): Backbone => (isBackbone(value) ? value : refuse('backbone', value));

export const ProviderName = (value: string): ProviderName =>
  /^[A-Za-z0-9_-]{1,40}$/.test(value) ? (value as ProviderName) : refuse('provider name', value);

export const isArticleNumber = (value: number): value is ArticleNumber => Number.isSafeInteger(value) && value >= 0;
export const ArticleNumber = (value: number): ArticleNumber =>
  isArticleNumber(value) ? value : refuse('article number', value);

export const Epoch = (value: number): Epoch =>
  Number.isSafeInteger(value) && value >= 0 ? (value as Epoch) : refuse('epoch', value);

export const EpochMs = (value: number): EpochMs =>
  Number.isFinite(value) ? (Math.round(value) as EpochMs) : refuse('time in ms', value);

export const RangeId = {
  of: (epoch: Epoch, lo: ArticleNumber, hi: ArticleNumber): RangeId => `${epoch}-${lo}-${hi}` as RangeId,
  /** The parts of a range id; throws RangeError when it is none. */
  parse(value: string): { epoch: Epoch; lo: ArticleNumber; hi: ArticleNumber } {
    const m = /^(\d{1,9})-(\d{1,16})-(\d{1,16})$/.exec(value);
    if (!m) return refuse('range id', value);
    const parts = { epoch: Epoch(Number(m[1])), lo: ArticleNumber(Number(m[2])), hi: ArticleNumber(Number(m[3])) };
    // A leading zero would give one range two names.
    if (parts.lo > parts.hi || RangeId.of(parts.epoch, parts.lo, parts.hi) !== value) return refuse('range id', value);
    return parts;
  },
};

export const MessageId = (value: string): MessageId =>
  value.length > 0 && value.length <= 1000 && !/[<>\s]/.test(value)
    ? (value as MessageId)
    : refuse('message-id', value);

const HEX32 = /^[0-9a-f]{32}$/;
export const ReleaseKey = (value: string): ReleaseKey =>
  HEX32.test(value) ? (value as ReleaseKey) : refuse('release key', value);
export const isReleaseId = (value: string): value is ReleaseId => HEX32.test(value);
export const ReleaseId = (value: string): ReleaseId => (isReleaseId(value) ? value : refuse('release id', value));

export const MergeId = (value: string): MergeId => (HEX32.test(value) ? (value as MergeId) : refuse('merge id', value));

export const EventId = (value: string): EventId =>
  value.length > 0 && value.length <= 600 ? (value as EventId) : refuse('event id', value);
