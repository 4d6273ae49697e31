import type { Clock } from '../../infra/base/clock.ts';
import type { Log } from '../../infra/base/log.ts';
import type { Metrics } from '../../infra/base/metrics.ts';
import type { ArticlesPool, Conditions, EventReader, EventSink, OverviewStore, RangeLedger } from '../ports.ts';
import type { LedgerBarrier } from './ledgerBarrier.ts';

/** What the coordinator needs from outside. */
export interface CoordinatorPorts {
  readonly sink: EventSink;
  readonly reader: EventReader;
  readonly ledger: RangeLedger;
  readonly overview: OverviewStore;
  /** The pools of every backbone that is to be watched. */
  readonly pools: readonly ArticlesPool[];
  readonly conditions: Conditions;
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: Metrics;
}

export interface CoordinatorContext extends CoordinatorPorts {
  readonly barrier: LedgerBarrier;
}
