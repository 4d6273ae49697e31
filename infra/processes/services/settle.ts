import type { SettlePorts } from '../../../processors/settle/ports.ts';
import { runSettle } from '../../../processors/settle/settleProcessor.ts';
import { settleCatalog } from '../../../projections/catalog/rows.ts';
import { chunksOfContributions } from '../../../projections/chunks/rows.ts';
import { resolvedNumbers } from '../../../projections/ranges/resolved.ts';
import type { ServiceDefinition } from '../service.ts';

/** Says of releases that nothing more is to come of them, with their final figures. */
export const settleService: ServiceDefinition = {
  kind: 'settle',
  databaseConnections: 2,
  reads: ['ranges', 'control', 'catalog', 'chunks'],
  async run(context, ready, signal) {
    const { db, config } = context;
    const numbers = resolvedNumbers(db, config.indexing.lateSeconds * 1000);
    const chunks: SettlePorts['chunks'] = {
      of: (key, { name, group, firstAt, lastAt, chunks: count }) =>
        chunksOfContributions(db, [{ ...name, key, group, firstAt, lastAt, chunks: count }]),
    };
    ready();
    await runSettle({ ...context, catalog: settleCatalog(db), numbers, chunks }, signal);
  },
};
