import { makeEvent } from '../../streams/events/index.ts';
import { rangeRetired } from '../../streams/events/ranges.ts';
import { EpochMs } from '../../streams/ids.ts';
import { appendFirst } from '../appendFirst.ts';
import type { RangeRun } from '../ports.ts';
import type { CoordinatorContext } from './context.ts';
import { newestList } from './groupListLog.ts';
import { type Retirement, retirements, standingsOf } from './standing.ts';
import type { BackboneWatch } from './watch.ts';

/** Runs that are retired in one go: a group that is removed may have hundreds outstanding. */
const AT_ONCE = 500;

export async function appendRetired(
  all: readonly Retirement[],
  { sink, clock, barrier, log, metrics }: CoordinatorContext,
  signal: AbortSignal,
): Promise<void> {
  for (const { run, reason } of all.slice(0, AT_ONCE)) {
    const { lane, backbone, group, epoch, rangeId, lo, hi } = run;
    const range = { lane, backbone, group, epoch, rangeId, lo, hi, run: run.run };
    const event = makeEvent(rangeRetired, EpochMs(clock.now()), { ...range, reason });
    const position = await appendFirst(sink, event, { signal });
    if (position === null) continue;
    barrier.raise(position.sequence);
    metrics.count('coordinator_ranges_retired_total', { backbone, reason });
    log.info('nothing more is to come for a range', { range: rangeId, group, run: run.run, reason });
  }
}

const nameOf = ({ backbone, group, rangeId, run }: RangeRun): string => `${backbone}/${group}/${rangeId}/${run}`;

/** Retires the ranges of a backbone that wait to be fetched in vain. Decides nothing while the ledger lags behind. */
export async function retireOver(
  watch: BackboneWatch,
  context: CoordinatorContext,
  signal: AbortSignal,
): Promise<void> {
  const { ledger, reader, barrier, overview } = context;
  if ((await barrier.reached(ledger, reader)) === null) return;
  const { list } = await newestList(reader);
  if (list === null) return;
  const standings = standingsOf(list, watch.backbone, (group) => watch.state(group));
  const unfetched = await ledger.unfetched(watch.backbone);
  const over = retirements(unfetched, standings, () => false);
  if (over.length === 0) return;
  const begun = new Set((await overview.held()).map(nameOf));
  await appendRetired(
    retirements(unfetched, standings, (run) => begun.has(nameOf(run))),
    context,
    signal,
  );
}
