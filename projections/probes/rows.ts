/** What others read of the probe queue. */
import type { Sql } from '../ports.ts';

export interface ProbeCounts {
  /** Waiting to be read; "at least" when `exact` is false. */
  readonly due: number;
  /** Those of settled releases among them. */
  readonly dueSettled: number;
  readonly exact: boolean;
}

/** Counted of each priority; more would be a walk through the index. */
const COUNTED_MAX = 100_000;
/** See schema.sql: below the first are settled releases, below the second is everything. */
const UNSETTLED = 8;
const PRIORITIES = 16;

/** How much waits in the queue: exact up to 100,000 of each of the 16 priorities. */
export async function probeCounts(sql: Sql): Promise<ProbeCounts> {
  const rows = await sql.query<{ priority: number; n: number }>(
    `select g.priority, (select count(*) from (
              select from probes.probe p where p.chosen and p.state = 'due' and p.priority = g.priority limit $2) found) as n
       from (select generate_series(0, $1 - 1)::int2 as priority) g`,
    [PRIORITIES, COUNTED_MAX],
  );
  const sum = (list: typeof rows) => list.reduce((total, { n }) => total + n, 0);
  return {
    due: sum(rows),
    dueSettled: sum(rows.filter(({ priority }) => priority < UNSETTLED)),
    exact: rows.every(({ n }) => n < COUNTED_MAX),
  };
}
