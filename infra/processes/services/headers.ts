import { randomBytes } from 'node:crypto';
import { headersProcessor } from '../../../processors/headers/headersProcessor.ts';
import { defaultWorkers, WorkerPool } from '../../../processors/headers/workerPool.ts';
import { runProcessor } from '../../../processors/run.ts';
import { passLedger } from '../../../projections/catalog/rows.ts';
import { garbageVersion, groupLists } from '../../../projections/control/rows.ts';
import { rangeLedger } from '../../../projections/ranges/rows.ts';
import type { ServiceDefinition } from '../service.ts';

/** Batches to releases and chunks: the hot path, on worker threads. */
export const headersService: ServiceDefinition = {
  kind: 'headers',
  databaseConnections: 4,
  reads: ['ranges', 'control', 'catalog'],
  async run(context, ready, signal) {
    const { db, config } = context;
    const workers = new WorkerPool(config.indexing.headersWorkers || defaultWorkers());
    try {
      const processor = headersProcessor({
        ...context,
        ledger: rangeLedger(db),
        groupLists: groupLists(db),
        garbageTables: { version: async (version) => (await garbageVersion(db, version))?.signatures ?? null },
        passes: passLedger(db),
        workers,
        seed: () => randomBytes(4).readUInt32LE(),
      });
      ready();
      await runProcessor(processor, context, signal);
    } finally {
      await workers.close();
    }
  },
};
