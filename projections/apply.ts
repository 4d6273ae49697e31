import type { LogBatch, Sql } from './ports.ts';
import { type Claim, movePosition, useSchema } from './position.ts';
import { identifier, type Projection, type StagedRows, type StagingTable } from './projection.ts';

/** Above this many staged rows the planner is told what they look like; below, its guess does. */
const ANALYZE_FROM = 200;

async function stage(tx: Sql, table: StagingTable, rows: StagedRows[string] | undefined): Promise<void> {
  const columns = table.columns.map(([name, type]) => `${identifier(name)} ${type}`).join(', ');
  // Kept for the connection's life and emptied at commit: making it anew each time would bloat the system catalog.
  await tx.script(`create temp table if not exists ${identifier(table.name)} (${columns}) on commit delete rows`);
  if (!rows || rows.length === 0) return;
  const names = table.columns.map(([name]) => name);
  await tx.copy(`pg_temp.${identifier(table.name)}`, names, rows);
  if (rows.length >= ANALYZE_FROM) await tx.script(`analyze ${identifier(table.name)}`);
}

/**
 * Applies one batch inside the transaction `tx`: position, staged rows, merge. Either all of it is committed or nothing.
 * Throws PROJECTION_FENCED when the claim is lost.
 */
export async function applyBatch(tx: Sql, projection: Projection, claim: Claim, batch: LogBatch): Promise<void> {
  // A lost commit takes position and rows back together, and the stream still has the events: no need to wait for disk.
  await tx.script('set local synchronous_commit = off; set local client_min_messages = warning');
  await useSchema(tx, claim.schema);
  await movePosition(tx, claim, batch.upTo);
  if (batch.events.length === 0) return;
  const state = await projection.load?.(tx, batch.events);
  const rows = projection.project(batch.events, state);
  for (const table of projection.staging) await stage(tx, table, rows[table.name]);
  await tx.script(projection.mergeSql);
  await projection.finish?.(tx);
}
