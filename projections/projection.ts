import { readFileSync } from 'node:fs';
import type { StoredEvent } from '../streams/envelope.ts';
import type { StreamFamily } from '../streams/topology.ts';
import type { Sql, SqlValue } from './ports.ts';

/** A temporary table that a batch is copied into, for merge.sql to read; emptied at every commit. */
export interface StagingTable {
  readonly name: string;
  /** Name and SQL type of each column, in the order of the staged rows. */
  readonly columns: readonly (readonly [name: string, type: string])[];
}

/** A staging table from its columns as SQL would name them: `n int4, key uuid`. */
export const stagingTable = (name: string, columns: string): StagingTable => ({
  name,
  columns: columns.split(',').map((column) => {
    const [field, type] = column.trim().split(/\s+/);
    if (!field || !type) throw new TypeError(`staging table ${name}: no column is "${column}"`);
    return [field, type] as const;
  }),
});

/** Rows by staging table; a table that is not named stays empty (merge.sql may use it as scratch space). */
export type StagedRows = Readonly<Record<string, readonly (readonly SqlValue[])[]>>;

/**
 * How the events of one stream become rows. The rows lie in a Postgres schema of their own; SQL names tables without a
 * schema, because the same projection is also built beside itself under another schema name.
 */
export interface Projection<State = unknown> {
  readonly name: string;
  /** Counts up when schema.sql or a rule changes: stored rows of another version are rebuilt, never migrated. */
  readonly version: number;
  readonly family: StreamFamily;
  /** NATS filters; none: the whole stream. */
  readonly subjects: readonly string[];
  readonly schemaSql: string;
  readonly mergeSql: string;
  readonly staging: readonly StagingTable[];
  /** What `project` has to know of the rows as they are: for state machines, whose next state depends on the last. */
  load?(tx: Sql, events: readonly StoredEvent[]): Promise<State>;
  /** Pure. The rows that end up stored must not depend on how the events are cut into batches. */
  project(events: readonly StoredEvent[], state: State): StagedRows;
  /** Runs after merge.sql in the same transaction: for what SQL cannot compute. */
  finish?(tx: Sql): Promise<void>;
}

/** The text of a file beside the module that asks: `sqlFile(import.meta.url, 'schema.sql')`. */
export const sqlFile = (moduleUrl: string, name: string): string => readFileSync(new URL(name, moduleUrl), 'utf8');

/** Quotes an identifier of ours for SQL. */
export const identifier = (name: string): string => `"${name.replaceAll('"', '""')}"`;
