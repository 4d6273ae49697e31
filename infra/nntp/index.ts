import { type NntpPool, Pool } from './pool.ts';
import type { NntpDependencies } from './session.ts';
import type { NntpProviderSettings } from './settings.ts';

/** The connections to one provider; nothing is opened before the first use. */
export function createNntpPool(settings: NntpProviderSettings, dependencies: NntpDependencies): NntpPool {
  if (settings.insecure && settings.tls) {
    dependencies.log.warn('certificates of the provider are not checked (insecure)', { provider: settings.name });
  }
  return new Pool(settings, dependencies);
}

export type { AccountSlot, AccountSlots } from './accountSlots.ts';
export type { ActiveGroup } from './activeList.ts';
export { articlesPool } from './articles.ts';
export type {
  ActiveListOptions,
  ActiveListResult,
  Article,
  ArticleRef,
  ArticleStatus,
  NntpConnection,
  OverOptions,
  OverResult,
} from './connection.ts';
export type { GroupMarks } from './groupMarks.ts';
export type { Capabilities } from './login.ts';
export { type OverviewColumns, type OverviewFormat, STANDARD_FORMAT } from './overviewFormat.ts';
export type { NntpPool } from './pool.ts';
export type { LineSink } from './replyReader.ts';
export type { NntpDependencies } from './session.ts';
export {
  type Compression,
  DEFAULT_LIMITS,
  DEFAULT_TIMEOUTS,
  type NntpLimits,
  type NntpProviderSettings,
  type NntpTimeouts,
} from './settings.ts';
