import { byBackbone } from '../failover/byBackbone.ts';
import { type CoolingSettings, Providers, pausesFrom } from '../failover/providers.ts';
import { runRounds, runTogether } from '../run.ts';
import type { CoordinatorContext, CoordinatorPorts } from './context.ts';
import { LedgerBarrier } from './ledgerBarrier.ts';
import { BackbonePlanner } from './planner.ts';
import { purgeFinished } from './retention.ts';
import { retireOver } from './retire.ts';
import { type CoordinatorSettings, DEFAULT_COORDINATOR_SETTINGS } from './settings.ts';
import { BackboneWatch } from './watch.ts';

/**
 * The coordinator: watches the marks of every backbone's groups, plans ranges, retires those that nothing comes of any more,
 * and purges the batches of finished ones.
 * Runs until the signal aborts; rejects only on a defect. Outages are conditions, and the work goes on after them.
 */
export async function runCoordinator(
  ports: CoordinatorPorts,
  signal: AbortSignal,
  settings: CoordinatorSettings = DEFAULT_COORDINATOR_SETTINGS,
): Promise<void> {
  const context: CoordinatorContext = { ...ports, barrier: new LedgerBarrier() };
  // A poll is its own trial of a provider that was down: it is left alone for longer than a few polls only when it
  // rejects the login.
  const { pollMs, deniedMs } = settings;
  const cooling: CoolingSettings = { firstMs: pollMs, maxMs: 2 * pollMs, denied: pausesFrom(deniedMs) };
  const watches = [...byBackbone(ports.pools)].map(([backbone, pools]) => {
    return new BackboneWatch(backbone, new Providers(pools, ports, cooling), context, settings);
  });
  const planners = watches.map((watch) => new BackbonePlanner(watch, context, settings.plan));
  await runTogether(
    [
      ...watches.map((watch) => (all: AbortSignal) => {
        return runRounds(`marks/${watch.backbone}`, settings.pollMs, (s) => watch.poll(s), context, all);
      }),
      ...watches.map((watch) => (all: AbortSignal) => {
        return runRounds(`eras/${watch.backbone}`, settings.tickMs, (s) => watch.findEras(s), context, all);
      }),
      (all) => runRounds('planning', settings.tickMs, inTurn(planners), context, all),
      ...watches.map((watch) => (all: AbortSignal) => {
        return runRounds(
          `retiring/${watch.backbone}`,
          settings.purgeMs,
          (s) => retireOver(watch, context, s),
          context,
          all,
        );
      }),
      (all) => runRounds('purging', settings.purgeMs, (s) => purgeFinished(context, s), context, all),
    ],
    signal,
  );
}

/** Every planner once, another one first each time: the room is one for all, and the first may take it. */
function inTurn(planners: readonly BackbonePlanner[]): (signal: AbortSignal) => Promise<void> {
  let first = 0;
  return async (signal) => {
    for (let i = 0; i < planners.length; i++) await planners[(first + i) % planners.length]?.tick(signal);
    first++;
  };
}
