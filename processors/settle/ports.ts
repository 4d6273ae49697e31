import type { Clock } from '../../infra/base/clock.ts';
import type { Log } from '../../infra/base/log.ts';
import type { Metrics } from '../../infra/base/metrics.ts';
import type {
  ArticleNumber,
  Backbone,
  Epoch,
  EpochMs,
  Group,
  Position,
  ReleaseId,
  ReleaseKey,
} from '../../streams/ids.ts';
import type { ContributionName } from '../../streams/merges.ts';
import type { Contribution } from '../../streams/records.ts';
import type { Conditions, EventReader, EventSink } from '../ports.ts';
import type { ResolvedNumbers } from '../resolution.ts';

/** The figures that a contribution, a file and a settlement have alike. */
export type Figures = Pick<
  Contribution,
  | 'files'
  | 'filesComplete'
  | 'segments'
  | 'segmentsTotal'
  | 'bytes'
  | 'par2Files'
  | 'par2Segments'
  | 'par2SegmentsTotal'
  | 'par2Bytes'
>;

/** A live contribution of a release, of a range or of a merge, as the catalog has it. */
export interface DueContribution extends Figures {
  /** As `setHashOf` names it; chunks are found by it. */
  readonly name: ContributionName;
  readonly backbone: Backbone;
  readonly group: Group;
  readonly epoch: Epoch;
  readonly firstNumber: ArticleNumber;
  readonly lastNumber: ArticleNumber;
  readonly firstAt: EpochMs;
  readonly lastAt: EpochMs;
  /** 16 hex digits each, of every file of it once. */
  readonly fileHashes: readonly string[];
  readonly chunks: number;
}

/** A release that is not settled and got nothing for a day. */
export interface DueRelease {
  readonly releaseId: ReleaseId;
  readonly key: ReleaseKey;
  readonly settleDueAt: EpochMs;
  /** At least one. */
  readonly contributions: readonly DueContribution[];
}

/** A place in the order of due releases: behind this one. */
export type DueCursor = Pick<DueRelease, 'settleDueAt' | 'releaseId'>;

/** The catalog as settle reads it. It lags: what is due was settled already when the settlement lies behind `position`. */
export interface SettleCatalog {
  /** The RELEASES position up to which everything below is true. */
  position(): Promise<Position>;
  /**
   * Releases that are not settled and due at `now`, behind `after`, ordered by (settleDueAt, releaseId). At most `limit`; fewer,
   * but at least one, where their contributions would be too many to hold. Empty: there are no more.
   */
  due(now: EpochMs, after: DueCursor | null, limit: number): Promise<readonly DueRelease[]>;
}

/** The chunk store as settle reads it. */
export interface ChunkPayloads {
  /**
   * The payloads of a contribution's chunks in order of k, a few at a time. Throws CHUNKS_NOT_READY when they are not all
   * there: a list with a hole would pass for the whole.
   */
  of(key: ReleaseKey, contribution: DueContribution): AsyncIterable<Uint8Array>;
}

export interface SettlePorts {
  readonly catalog: SettleCatalog;
  readonly chunks: ChunkPayloads;
  readonly numbers: ResolvedNumbers;
  readonly sink: EventSink;
  readonly reader: EventReader;
  readonly conditions: Conditions;
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: Metrics;
}
