import { backbonesOf, type Config } from '../config/index.ts';
import { readStoreLimit, type TopologyOptions } from '../nats/index.ts';
import type { Endpoints } from './endpoints.ts';

/**
 * The server sets a stream's limit aside from what it may hold in all: OVERVIEW, which is emptied as ranges are parsed,
 * must leave the larger part to the streams that are kept for ever.
 */
const OVERVIEW_SHARE_MAX = 0.4;

/** How large OVERVIEW may be on a server that holds `storeLimit` bytes in all (null: not known). */
export const overviewBytes = (configured: number, storeLimit: number | null): number =>
  storeLimit === null ? configured : Math.min(configured, Math.floor(storeLimit * OVERVIEW_SHARE_MAX));

/** What the configuration wants of streams and consumers, fitted to the server in force. */
export async function topologyWishes(
  config: Config,
  endpoints: Endpoints,
  signal: AbortSignal,
): Promise<TopologyOptions> {
  const limit = await readStoreLimit(endpoints.nats.monitorUrl ?? null);
  return {
    replicas: config.nats.replicas,
    overviewMaxBytes: overviewBytes(config.nats.overviewMaxMiB * 1024 * 1024, limit),
    backbones: backbonesOf(config),
    signal,
  };
}
