import type { RangeState } from '../ports.ts';
import type { CoordinatorContext } from './context.ts';

/** Ranges in these states never need their batches again; a range that the ledger does not know yet is left alone. */
const FINISHED: ReadonlySet<RangeState | null> = new Set<RangeState>(['parsed', 'short', 'failed', 'retired']);

/** Purges the batches of finished runs from OVERVIEW: the only thing that Headwater ever removes from a stream. */
export async function purgeFinished(context: CoordinatorContext, signal: AbortSignal): Promise<void> {
  const { overview, ledger, metrics } = context;
  for (const run of await overview.held()) {
    signal.throwIfAborted();
    if (!FINISHED.has(await ledger.stateOf(run))) continue;
    await overview.purge(run);
    metrics.count('coordinator_runs_purged_total', { backbone: run.backbone });
  }
}
