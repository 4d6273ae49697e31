import { fileURLToPath } from 'node:url';
import { runner } from 'node-pg-migrate';
import type { Log } from '../base/log.ts';
import { serverOf, toPostgresError } from '../postgres/index.ts';

/**
 * Brings the tables that are not projections up to date, all in one transaction. Two services that start together do
 * not clash: the second waits for the first and finds nothing left to do. Throws POSTGRES_* errors.
 */
export async function migrate(databaseUrl: string, log: Log): Promise<void> {
  try {
    const done = await runner({
      databaseUrl,
      dir: fileURLToPath(new URL('sql', import.meta.url)),
      migrationsTable: 'migration',
      schema: 'public',
      direction: 'up',
      advisoryLockMode: 'wait',
      logger: {
        debug: () => {},
        info: () => {},
        warn: (message) => log.warn(String(message)),
        // It is thrown as well; whoever catches it reports it once.
        error: () => {},
      },
    });
    for (const migration of done) log.info('database migrated', { migration: migration.name });
  } catch (error) {
    throw toPostgresError(error, serverOf(databaseUrl));
  }
}
