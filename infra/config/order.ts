import type { BackfillOrder, Config } from './schema.ts';

/** The configuration with the order of backfill that a command line names; as it was when it names none. */
export const withOrder = (config: Config, order: BackfillOrder | undefined): Config =>
  order ? { ...config, indexing: { ...config.indexing, order } } : config;
