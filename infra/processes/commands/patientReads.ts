import type { Sql } from '../../../projections/ports.ts';
import { isHeadwaterError } from '../../base/errors/index.ts';
import { type WaitSettings, waitForDatabase } from '../../postgres/index.ts';

/**
 * Queries that wait for a database that went away under them, report it as `postgres` meanwhile, and are then asked
 * again: only for those that read. Every other error is thrown, and `script` and `copy` are left as they are.
 */
export const patientReads = (db: Sql, waiting: WaitSettings): Sql => ({
  script: (text) => db.script(text),
  copy: (table, columns, rows) => db.copy(table, columns, rows),
  async query(text, values) {
    for (;;) {
      try {
        return await db.query(text, values);
      } catch (error) {
        if (!isHeadwaterError(error, 'POSTGRES_UNAVAILABLE')) throw error;
        waiting.conditions?.report('postgres', error);
        await waitForDatabase(db, waiting);
      }
    }
  },
});
