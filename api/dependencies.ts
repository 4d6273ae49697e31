import type { Clock } from '../infra/base/clock.ts';
import type { Log } from '../infra/base/log.ts';
import type { Metrics } from '../infra/base/metrics.ts';
import type { Sql } from '../projections/ports.ts';

/** One thing the service needs: null when it is there, else a sentence on what is wrong with it. */
export type Readiness = Readonly<Record<string, string | null>>;

/** Everything that the app is built from; it opens nothing itself. */
export interface ApiDependencies {
  readonly sql: Sql;
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: Metrics;
  readonly metricsText: () => Promise<string>;
  readonly readiness: () => Promise<Readiness>;
  readonly settings: {
    readonly title: string;
    readonly version: string;
    /** How clients reach the API, when it is not as the request says. */
    readonly publicUrl?: string | undefined;
  };
}
