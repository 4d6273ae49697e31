/** What the fragments processor needs from outside. */
import type { Clock } from '../../infra/base/clock.ts';
import type { Log } from '../../infra/base/log.ts';
import type { Metrics } from '../../infra/base/metrics.ts';
import type { Backbone, Epoch, Group, MergeId, Position } from '../../streams/ids.ts';
import type { MergeSource, Piece } from '../../streams/records.ts';
import type { Conditions, EventReader, EventSink } from '../ports.ts';
import type { ResolvedNumbers } from '../resolution.ts';

/** A mergeable unit of pieces that no live merge stands for. */
export interface OpenUnit {
  /** The id that a merge of just its pieces has. */
  readonly mergeId: MergeId;
  readonly backbone: Backbone;
  readonly group: Group;
  readonly epoch: Epoch;
  readonly fileHash: string;
  readonly firstNumber: number;
  readonly lastNumber: number;
  /** Time of its newest article. */
  readonly lastAt: number;
  /** The parts that its articles promise are all there. */
  readonly complete: boolean;
  /** Of its pieces, about what they take in memory. */
  readonly payloadBytes: number;
}

/** Where a page ended: opaque to all but the rows. */
export interface UnitCursor {
  readonly numbering: number;
  readonly mergeId: MergeId;
}

export interface UnitPage {
  /** The RELEASES position at which these units were just so. */
  readonly revision: Position;
  readonly units: readonly OpenUnit[];
  /** Null when nothing lies behind. */
  readonly next: UnitCursor | null;
}

/** A piece and which one of its range it is. */
export interface SourcePiece {
  readonly source: MergeSource;
  readonly piece: Piece;
}

/** The fragments projection as the processor reads it. It lags: see `barrier` in fragmentsProcessor.ts. */
export interface OpenUnits {
  position(): Promise<Position>;
  /** Open mergeable units, complete ones or the others, by numbering; position and units are of one moment. */
  page(complete: boolean, limit: number, after: UnitCursor | null): Promise<UnitPage>;
  /** The pieces of units as they are now; a unit that is no more is left out. */
  pieces(units: readonly MergeId[]): Promise<ReadonlyMap<MergeId, readonly SourcePiece[]>>;
}

export interface FragmentsPorts {
  readonly sink: EventSink;
  readonly reader: EventReader;
  readonly units: OpenUnits;
  readonly resolved: ResolvedNumbers;
  readonly conditions: Conditions;
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: Metrics;
}
