import { systemClock } from '../../base/clock.ts';
import { HeadwaterError, isHeadwaterError } from '../../base/errors/index.ts';
import { silentLog } from '../../base/log.ts';
import { noMetrics } from '../../base/metrics.ts';
import type { Provider } from '../../config/index.ts';
import { type AccountSlots, createNntpPool, type NntpConnection } from '../../nntp/index.ts';
import { createSharedAccounts, type SharedAccounts } from '../../postgres/index.ts';
import { knownEndpoints } from '../endpoints.ts';
import type { CommandContext } from './client.ts';

/** A service and its database may be far away; a command that they keep waiting does without counting. */
const REACH_MS = 8000;

/**
 * Runs `use` with the accounts' slots as the services share them. Null where no database is known or none answers: then no
 * service can work either, and the command has the accounts for itself.
 */
export async function withAccounts<T>(
  context: Pick<CommandContext, 'config' | 'env' | 'signal'>,
  use: (accounts: SharedAccounts | null) => Promise<T>,
): Promise<T> {
  const url = databaseOf(context);
  if (url === null) return await use(null);
  const common = { clock: systemClock, log: silentLog, connectTimeoutMs: REACH_MS };
  const accounts = createSharedAccounts({ ...common, url, applicationName: 'headwater command accounts' });
  try {
    const reached = await accounts.reach(context.signal).then(
      () => true,
      (error: unknown) => without(error, false),
    );
    return await use(reached ? accounts : null);
  } finally {
    await accounts.close();
  }
}

/** An operating error of the database or its address: the command tells of it elsewhere, where it matters. */
function without<T>(error: unknown, instead: T): T {
  if (isHeadwaterError(error)) return instead;
  throw error;
}

function databaseOf({ config, env }: Pick<CommandContext, 'config' | 'env'>): string | null {
  try {
    return knownEndpoints(config, env).databaseUrl ?? null;
  } catch (error) {
    return without(error, null);
  }
}

/** How a command asks a provider. */
export interface Asking {
  readonly accounts: SharedAccounts | null;
  /** How long it may wait for a connection that the services leave it. */
  readonly waitMs: number;
  readonly signal: AbortSignal;
}

/**
 * Runs `use` with one connection to the provider, for a command that asks it something once. Throws PROVIDER_IN_USE when the
 * other processes of Headwater leave none for so long.
 */
export async function withProvider<T>(
  provider: Provider,
  { accounts, waitMs, signal }: Asking,
  use: (connection: NntpConnection) => Promise<T>,
): Promise<T> {
  const { user, pass, ca, ...rest } = provider;
  const settings = {
    ...rest,
    connections: 1,
    ...(ca === undefined ? {} : { ca }),
    ...(user === undefined ? {} : { account: { user, pass: pass ?? '' } }),
  };
  const slots = accounts === null ? {} : { accountSlots: patient(accounts, provider, waitMs) };
  const pool = createNntpPool(settings, { clock: systemClock, log: silentLog, metrics: noMetrics, ...slots });
  try {
    return await pool.withConnection(use, signal);
  } finally {
    await pool.close();
  }
}

/** The account's slots, waited for no longer than `waitMs`. */
function patient(accounts: SharedAccounts, provider: Provider, waitMs: number): AccountSlots {
  const { name, host, port, user = null, connections } = provider;
  const slots = accounts.slotsOf({ host, port, user, connections });
  return {
    async take(signal) {
      const late = new AbortController();
      const fields = { name, connections, seconds: Math.round(waitMs / 1000) };
      const timer = setTimeout(() => late.abort(new HeadwaterError('PROVIDER_IN_USE', fields)), waitMs);
      try {
        return await slots.take(AbortSignal.any([signal, late.signal]));
      } finally {
        clearTimeout(timer);
      }
    },
  };
}
