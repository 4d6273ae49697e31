import { runTogether } from '../../../processors/run.ts';
import { PROJECTIONS } from '../../../projections/all.ts';
import { runProjection } from '../../../projections/run.ts';
import type { ServiceDefinition } from '../service.ts';

/** Events to rows, by every projection; each stands on its own: one that stops does not hold up the others. */
export const projectService: ServiceDefinition = {
  kind: 'project',
  // One transaction a projection, and as many for what they look up beside it.
  databaseConnections: 2 * PROJECTIONS.length,
  reads: [],
  async run(context, ready, signal) {
    const deps = { ...context, events: context.eventLog };
    ready();
    await runTogether(
      PROJECTIONS.map((projection) => (all: AbortSignal) => runProjection(projection, deps, { signal: all })),
      signal,
    );
  },
};
