import { runFragments } from '../../../processors/fragments/fragmentsProcessor.ts';
import { openUnits } from '../../../projections/fragments/rows.ts';
import { resolvedNumbers } from '../../../projections/ranges/resolved.ts';
import type { ServiceDefinition } from '../service.ts';

/** Merges the pieces of files that edges of ranges cut. */
export const fragmentsService: ServiceDefinition = {
  kind: 'fragments',
  databaseConnections: 2,
  reads: ['fragments', 'ranges', 'control'],
  async run(context, ready, signal) {
    const ports = {
      ...context,
      units: openUnits(context.db),
      resolved: resolvedNumbers(context.db, context.config.indexing.lateSeconds * 1000),
    };
    ready();
    await runFragments(ports, signal);
  },
};
