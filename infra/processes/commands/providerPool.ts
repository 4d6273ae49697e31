import { systemClock } from '../../base/clock.ts';
import { silentLog } from '../../base/log.ts';
import { noMetrics } from '../../base/metrics.ts';
import type { Provider } from '../../config/index.ts';
import { createNntpPool, type NntpConnection } from '../../nntp/index.ts';

/** Runs `use` with one connection to the provider, for a command that asks it something once. */
export async function withProvider<T>(
  provider: Provider,
  signal: AbortSignal,
  use: (connection: NntpConnection) => Promise<T>,
): Promise<T> {
  const { user, pass, ca, ...rest } = provider;
  const settings = {
    ...rest,
    connections: 1,
    ...(ca === undefined ? {} : { ca }),
    ...(user === undefined ? {} : { account: { user, pass: pass ?? '' } }),
  };
  const pool = createNntpPool(settings, { clock: systemClock, log: silentLog, metrics: noMetrics });
  try {
    return await pool.withConnection(use, signal);
  } finally {
    await pool.close();
  }
}
