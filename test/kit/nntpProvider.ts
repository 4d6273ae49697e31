import { systemClock } from '../../infra/base/clock.ts';
import { silentLog } from '../../infra/base/log.ts';
import { noMetrics } from '../../infra/base/metrics.ts';
import {
  createNntpPool,
  type NntpConnection,
  type NntpPool,
  type NntpProviderSettings,
} from '../../infra/nntp/index.ts';
import { Backbone, ProviderName } from '../../streams/ids.ts';

export type ProviderChanges = Partial<NntpProviderSettings>;

/** Settings of a provider at `server`, with short time-outs, so that a test that waits for one is quick. */
export const providerAt = (
  server: { readonly host: string; readonly port: number },
  changes: ProviderChanges = {},
): NntpProviderSettings => ({
  name: ProviderName('test'),
  backbone: Backbone('test'),
  host: server.host,
  port: server.port,
  tls: false,
  connections: 4,
  ...changes,
});

export const poolAt = (
  server: { readonly host: string; readonly port: number },
  changes: ProviderChanges = {},
): NntpPool => createNntpPool(providerAt(server, changes), { clock: systemClock, log: silentLog, metrics: noMetrics });

/** Runs `fn` with one connection to `server` and closes it. */
export async function withConnectionTo<T>(
  server: { readonly host: string; readonly port: number },
  fn: (connection: NntpConnection) => Promise<T>,
  changes: ProviderChanges = {},
): Promise<T> {
  const pool = poolAt(server, changes);
  try {
    return await pool.withConnection(fn);
  } finally {
    await pool.close();
  }
}
