import { pausesFrom } from '../../../processors/failover/providers.ts';
import { runFetch } from '../../../processors/fetch/fetchService.ts';
import { DEFAULT_FETCH_SETTINGS } from '../../../processors/fetch/settings.ts';
import { rangeLedger } from '../../../projections/ranges/rows.ts';
import type { ServiceDefinition } from '../service.ts';
import { idleUntilStopped } from './idle.ts';
import { openPools } from './pools.ts';

/** Ranges to batches: reads the overview of planned ranges from the providers. */
export const fetchService: ServiceDefinition = {
  kind: 'fetch',
  databaseConnections: 4,
  reads: ['ranges'],
  async run(context, ready, signal) {
    const { indexing } = context.config;
    const pools = openPools(context, 'fetch');
    try {
      ready();
      if (pools.articles.length === 0) return await idleUntilStopped(signal);
      const settings = {
        ...DEFAULT_FETCH_SETTINGS,
        liveShare: indexing.liveConnectionShare,
        retryMs: indexing.jobRetrySeconds * 1000,
        cooling: { ...DEFAULT_FETCH_SETTINGS.cooling, denied: pausesFrom(indexing.deniedRetrySeconds * 1000) },
      };
      await runFetch(pools.articles, { ...context, ledger: rangeLedger(context.db) }, signal, settings);
    } finally {
      await pools.close();
    }
  },
};
