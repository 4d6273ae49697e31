import { Pool, type PoolClient } from 'pg';
import type { Database, Sql, SqlRow, SqlValue } from '../../projections/ports.ts';
import type { Log } from '../base/log.ts';
import { copyInto } from './copy.ts';
import { isConnectionLost, refuseOldServer, toPostgresError } from './errors.ts';
import { serverOf } from './server.ts';
import { clientTypes } from './types.ts';

export interface DatabaseSettings {
  readonly url: string;
  /** Connections open at once; further callers wait. */
  readonly connectionsMax: number;
  readonly log: Log;
  /** Shown in pg_stat_activity. */
  readonly applicationName: string;
  /** Default 120 s: a batch of a projection is far below. */
  readonly statementTimeoutMs?: number;
  readonly connectTimeoutMs?: number;
  /**
   * How long a statement may go without an answer, also from a server or network that froze under it; it then ends with
   * POSTGRES_UNAVAILABLE. Without it such a statement waits until the connection breaks. Not for users of `copy`.
   */
  readonly answerTimeoutMs?: number;
  /**
   * Never read a table from end to end where an index leads through it: for a filter that it believes to be rare the planner
   * would rather read and sort all releases than walk them from the newest.
   */
  readonly indexesOnly?: boolean;
}

export type ClosableDatabase = Database & { close(): Promise<void> };

const ANSWER_LATE_MS = 1000;

function poolOf(settings: DatabaseSettings): Pool {
  return new Pool({
    connectionString: settings.url,
    max: settings.connectionsMax,
    application_name: settings.applicationName,
    connectionTimeoutMillis: settings.connectTimeoutMs ?? 10_000,
    idleTimeoutMillis: 30_000,
    statement_timeout: settings.statementTimeoutMs ?? settings.answerTimeoutMs ?? 120_000,
    // Later than the server's own limit: its answer says more.
    ...(settings.answerTimeoutMs ? { query_timeout: settings.answerTimeoutMs + ANSWER_LATE_MS } : {}),
    lock_timeout: 60_000,
    // A process that was stopped in the middle of a transaction must not hold its locks for ever.
    idle_in_transaction_session_timeout: 60_000,
    keepAlive: true,
    // Every statement of ours is short: compiling one costs more than it runs.
    options: settings.indexesOnly ? '-c jit=off -c enable_seqscan=off' : '-c jit=off',
    types: clientTypes,
  });
}

/** `Sql` on one client. */
class ClientSql implements Sql {
  readonly #client: PoolClient;
  constructor(client: PoolClient) {
    this.#client = client;
  }
  async query<Row extends SqlRow = SqlRow>(text: string, values: readonly SqlValue[] = []): Promise<readonly Row[]> {
    const result = await this.#client.query(text, values as unknown[]);
    return result.rows as Row[];
  }
  async script(text: string): Promise<void> {
    await this.#client.query(text);
  }
  copy(table: string, columns: readonly string[], rows: Iterable<readonly SqlValue[]>): Promise<number> {
    return copyInto(this.#client, table, columns, rows);
  }
}

class PooledDatabase implements ClosableDatabase {
  readonly #pool: Pool;
  readonly #server: string;
  #checked = false;

  constructor(settings: DatabaseSettings) {
    this.#pool = poolOf(settings);
    this.#server = serverOf(settings.url);
    const lost = (error: Error) => settings.log.warn('a database connection was lost', { reason: error.message });
    // Without a listener the error of an idle connection (the server stopped) would end the process.
    this.#pool.on('error', lost);
    this.#pool.on('connect', (client) => client.on('error', lost));
  }

  async query<Row extends SqlRow = SqlRow>(text: string, values: readonly SqlValue[] = []): Promise<readonly Row[]> {
    return this.#with((sql) => sql.query<Row>(text, values));
  }
  async script(text: string): Promise<void> {
    await this.#with((sql) => sql.script(text));
  }
  async copy(table: string, columns: readonly string[], rows: Iterable<readonly SqlValue[]>): Promise<number> {
    return this.#with((sql) => sql.copy(table, columns, rows));
  }
  async transaction<T>(use: (tx: Sql) => Promise<T>): Promise<T> {
    return this.#with(async (sql) => {
      await sql.query('begin');
      try {
        const result = await use(sql);
        await sql.query('commit');
        return result;
      } catch (error) {
        // On a dead connection this fails too: the first error is the one that tells why.
        await sql.query('rollback').catch(() => {});
        throw error;
      }
    });
  }
  async close(): Promise<void> {
    await this.#pool.end();
  }

  async #with<T>(use: (sql: Sql) => Promise<T>): Promise<T> {
    let client: PoolClient;
    try {
      client = await this.#pool.connect();
    } catch (error) {
      throw toPostgresError(error, this.#server);
    }
    let broken = false;
    try {
      const sql = new ClientSql(client);
      await this.#checkVersion(sql);
      return await use(sql);
    } catch (error) {
      const mapped = toPostgresError(error, this.#server);
      broken = isConnectionLost(mapped);
      throw mapped;
    } finally {
      client.release(broken);
    }
  }

  async #checkVersion(sql: Sql): Promise<void> {
    if (this.#checked) return;
    const rows = await sql.query<{ version: string; name: string }>(
      `select current_setting('server_version_num') as version, current_setting('server_version') as name`,
    );
    refuseOldServer(Number(rows[0]?.version), rows[0]?.name ?? 'unknown', this.#server);
    this.#checked = true;
  }
}

/**
 * A pool of connections to one database. Opens nothing by itself: the first query does. Every error of the server that
 * is not about the statement comes out as a POSTGRES_* error; a lost connection is never used again.
 */
export const createDatabase = (settings: DatabaseSettings): ClosableDatabase => new PooledDatabase(settings);

export {
  type AccountSlotSettings,
  createSharedAccounts,
  type ProviderAccount,
  type SharedAccounts,
} from './accountSlots.ts';
export { toPostgresError } from './errors.ts';
export { serverOf } from './server.ts';
export { type WaitSettings, waitForDatabase } from './waiting.ts';
