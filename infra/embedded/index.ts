export type { EmbeddedServer, ServerExit } from './childProcess.ts';
export { type Leftover, stopLeftovers } from './leftovers.ts';
export { type EmbeddedNats, type EmbeddedNatsOptions, startEmbeddedNats } from './natsServer.ts';
export { type StoreWatchContext, untilStoreNeedsStart } from './natsStore.ts';
export { type EmbeddedPostgres, type EmbeddedPostgresOptions, startEmbeddedPostgres } from './postgresServer.ts';
