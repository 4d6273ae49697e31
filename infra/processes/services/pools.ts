import type { ArticlesPool } from '../../../processors/ports.ts';
import { providersOf } from '../../config/index.ts';
import { articlesPool, createNntpPool, type NntpPool } from '../../nntp/index.ts';
import type { ServiceContext } from '../service.ts';

export interface Pools {
  readonly articles: readonly ArticlesPool[];
  close(): Promise<void>;
}

/**
 * What each process may have open of an account, so that of two or more neither waits for the other: the coordinator one (it
 * looks at marks), the fetch process the rest. That all processes together keep the account's limit, commands included, is
 * what the account's slots are for. One connection is used by both in turn: the coordinator lets go of it after every look,
 * the fetch process after a range when it is waited for.
 */
export const connectionsFor = (process: 'coordinator' | 'fetch', limit: number): number =>
  process === 'coordinator' ? 1 : Math.max(1, limit - 1);

/** One pool a provider; nothing is opened before it is used. */
export function openPools(context: ServiceContext, process: 'coordinator' | 'fetch'): Pools {
  const pools: NntpPool[] = [];
  const articles = providersOf(context.config).map((p) => {
    const settings = {
      name: p.name,
      backbone: p.backbone,
      host: p.host,
      port: p.port,
      tls: p.tls,
      insecure: p.insecure,
      connections: connectionsFor(process, p.connections),
      pipelineDepth: p.pipeline,
      compression: p.compression,
      ...(p.ca === undefined ? {} : { ca: p.ca }),
      ...(p.user === undefined ? {} : { account: { user: p.user, pass: p.pass ?? '' } }),
      ...(process === 'coordinator' && p.connections === 1 ? { timeouts: { idleMs: 1 } } : {}),
    };
    const { host, port, user = null, connections } = p;
    const accountSlots = context.accounts.slotsOf({ host, port, user, connections });
    const pool = createNntpPool(settings, { ...context, accountSlots });
    pools.push(pool);
    return articlesPool(pool, settings);
  });
  return {
    articles,
    async close() {
      await Promise.all(pools.map((pool) => pool.close()));
    },
  };
}
