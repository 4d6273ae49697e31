import type { Backbone, FetchLane } from '../../streams/ids.ts';
import { FETCH_LANES } from '../../streams/ids.ts';
import { fetchConsumer } from '../../streams/topology.ts';
import { byBackbone } from '../failover/byBackbone.ts';
import { Providers } from '../failover/providers.ts';
import type { ArticlesPool, Delivery } from '../ports.ts';
import { done, type Outcome, type Processor, type RunContext, retry, runProcessor, runTogether } from '../run.ts';
import { type FetchContext, type FetchPorts, fetchRange, LOST_MS } from './fetchRange.ts';
import { JobRetries } from './jobRetries.ts';
import { LaneSlots } from './laneSlots.ts';
import { jobOf } from './rangeEvents.ts';
import { DEFAULT_FETCH_SETTINGS, type FetchSettings } from './settings.ts';

/** The fetch service of this process: every lane of every backbone that it has providers for. Ends with the signal. */
export async function runFetch(
  pools: readonly ArticlesPool[],
  ports: FetchPorts & RunContext,
  signal: AbortSignal,
  settings: FetchSettings = DEFAULT_FETCH_SETTINGS,
): Promise<void> {
  const processors = [...byBackbone(pools)].flatMap(([backbone, own]) => {
    const providers = new Providers(own, ports, settings.cooling);
    return fetchProcessors(backbone, { ...ports, providers, retries: new JobRetries(), settings });
  });
  await runTogether(
    processors.map((processor) => (all) => runProcessor(processor, ports, all)),
    signal,
  );
}

/** One processor a lane; together they use no more connections than there are. */
function fetchProcessors(backbone: Backbone, context: FetchContext): readonly Processor<'range.planned'>[] {
  const { settings, providers } = context;
  const slots = new LaneSlots(settings.connections ?? providers.limit, settings.liveShare);
  return FETCH_LANES.map((lane: FetchLane) => ({
    consumer: fetchConsumer(lane, backbone),
    accepts: 'range.planned',
    maxInFlight: slots.limit(lane),
    admit: (signal) => slots.acquire(lane, signal),
    handle: (delivery, signal) => fetchPlan(delivery, context, signal),
  }));
}

/** The ranges of a plan, one after the other. One that has to wait holds up none of the others. */
async function fetchPlan(
  delivery: Delivery<'range.planned'>,
  context: FetchContext,
  signal: AbortSignal,
): Promise<Outcome> {
  const { data, at } = delivery.event;
  let later: Outcome = done;
  for (const range of data.ranges) {
    signal.throwIfAborted();
    const result = await fetchRange(jobOf(data, range, at), context, signal);
    if (result.kind === 'lost') return retry(LOST_MS, 'another worker has the lease');
    if (result.kind === 'later') later = retry(result.delayMs, result.reason);
  }
  return later;
}
