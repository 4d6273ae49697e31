import { runCoordinator } from '../../../processors/coordinator/coordinator.ts';
import { DEFAULT_COORDINATOR_SETTINGS, DEFAULT_PLAN_SETTINGS } from '../../../processors/coordinator/settings.ts';
import { rangeLedger } from '../../../projections/ranges/rows.ts';
import type { ServiceDefinition } from '../service.ts';
import { openPools } from './pools.ts';

/** Plans ranges from the group list and the providers' marks, and purges what is parsed. Works without a provider too: it then only purges. */
export const coordinatorService: ServiceDefinition = {
  kind: 'coordinator',
  databaseConnections: 4,
  reads: ['ranges'],
  async run(context, ready, signal) {
    const { indexing } = context.config;
    const pools = openPools(context, 'coordinator');
    const plan = {
      ...DEFAULT_PLAN_SETTINGS,
      holdBackMs: indexing.holdBackSeconds * 1000,
      order: indexing.order,
      rangeNumbers: indexing.backfillRangeNumbers,
      outstandingFullRanges: indexing.outstandingRangesMax,
    };
    const settings = {
      ...DEFAULT_COORDINATOR_SETTINGS,
      plan,
      pollMs: indexing.pollSeconds * 1000,
      tellEveryMs: Math.min(DEFAULT_COORDINATOR_SETTINGS.tellEveryMs, indexing.lateSeconds * 1000),
      deniedMs: indexing.deniedRetrySeconds * 1000,
    };
    try {
      ready();
      const ports = { ...context, ledger: rangeLedger(context.db), pools: pools.articles };
      await runCoordinator(ports, signal, settings);
    } finally {
      await pools.close();
    }
  },
};
