/** What others read of the range ledger. */
import { type Backbone, type Epoch, type EpochMs, type Group, RangeId } from '../../streams/ids.ts';
import type { Interval } from '../../streams/records.ts';
import type { Sql, SqlRow, SqlValue } from '../ports.ts';
import { BOUNDS, type BoundsRow, intervals } from './bounds.ts';
import { RANGE_STATES, type RangeFailure, type RangeState } from './step.ts';

export { rangeLedger } from './ledger.ts';
export { RANGE_STATES } from './step.ts';

/** A range as a list shows it; counts are those of its highest run. */
export interface RangeRow {
  readonly backbone: Backbone;
  readonly group: Group;
  readonly rangeId: RangeId;
  readonly run: number;
  readonly pass: number;
  readonly lane: string;
  readonly state: RangeState;
  readonly failure: RangeFailure | null;
  readonly lines: number;
  readonly kept: number;
  /** Lines that were not kept, by reason. */
  readonly skipped: Readonly<Record<string, number>>;
  readonly rawBytes: number;
  readonly releases: number;
  readonly firstAt: EpochMs | null;
  readonly lastAt: EpochMs | null;
  /** Numbers for which the server had no line. */
  readonly missing: readonly Interval[];
  /** The calendar year of its articles: as the group list dated it, else by its own first article; null when unknown. */
  readonly era: number | null;
  readonly plannedAt: EpochMs | null;
  readonly fetchedAt: EpochMs | null;
  readonly parsedAt: EpochMs | null;
}

export interface RangeFilter {
  readonly group?: string | undefined;
  readonly state?: RangeState | undefined;
  /** A calendar year. */
  readonly era?: number | undefined;
  readonly limit: number;
  readonly offset: number;
}

interface ListedRow extends SqlRow, BoundsRow {
  readonly epoch: Epoch;
  readonly lo: number;
  readonly hi: number;
  readonly stage: string | null;
}

/**
 * The era of range `r` of numbering `n`. The list's dates are medians, and one wrong clock among the articles of a range
 * misdates its first: so the list is asked first. What live added after the list was dated tells its own year.
 */
const ERA = `
  coalesce(
    (select (e->>'year')::int
       from control.group_entry g, jsonb_array_elements(g.entry->'spans') s,
            jsonb_array_elements(coalesce(s->'eras', '[]')) e
      where g.group_name = n.group_name and s->>'backbone' = n.backbone and (s->>'epoch')::int = n.epoch
        and r.lo < (s->>'liveFrom')::int8 and (e->>'from')::int8 <= r.lo
      order by (e->>'from')::int8 desc limit 1),
    extract(year from to_timestamp(r.first_at / 1000.0) at time zone 'UTC')::int)`;

/** Ranges by group and number. */
export async function listRanges(sql: Sql, filter: RangeFilter): Promise<readonly RangeRow[]> {
  const { group = null, state = null, era = null, limit, offset } = filter;
  const values: readonly SqlValue[] = [group, state, limit, offset, era];
  const rows = await sql.query<ListedRow>(
    `select n.backbone, n.group_name as "group", n.epoch, r.lo, r.hi, r.run, r.pass, r.lane, r.state,
            r.failure_stage as stage, r.failure_class as class, r.failure_code as code, r.failure_message as message,
            r.lines, r.kept, r.skipped, r.raw_bytes as "rawBytes", r.releases, r.first_at as "firstAt", r.last_at as "lastAt",
            r.planned_at as "plannedAt", r.fetched_at as "fetchedAt", r.parsed_at as "parsedAt", ${ERA} as era,
            ${BOUNDS('r.missing')}
       from ranges.range r join ranges.numbering n on n.id = r.numbering_id
      where ($1::text is null or n.group_name = $1) and ($2::text is null or r.state = $2)
        and ($5::int is null or ${ERA} = $5)
      order by n.group_name, n.backbone, n.epoch, r.lo, r.hi limit $3 offset $4`,
    values,
  );
  return rows.map(({ lows, highs, epoch, lo, hi, stage, class: failureClass, code, message, ...rest }) => {
    const failure = stage === null ? null : { stage, class: failureClass, code, message };
    const rangeId = RangeId.of(epoch, lo as never, hi as never);
    return { ...rest, rangeId, failure, missing: intervals({ lows, highs }) } as unknown as RangeRow;
  });
}

/** How many ranges are in each state. */
export async function rangeCounts(sql: Sql): Promise<Readonly<Record<RangeState, number>>> {
  const rows = await sql.query<{ state: RangeState; n: number }>(
    'select state, count(*) as n from ranges.range group by state',
  );
  const none = Object.fromEntries(RANGE_STATES.map((state) => [state, 0])) as Record<RangeState, number>;
  for (const { state, n } of rows) none[state] = n;
  return none;
}

export interface GroupCoverage {
  readonly backbone: Backbone;
  readonly group: Group;
  readonly epoch: Epoch;
  readonly low: number | null;
  readonly high: number | null;
  readonly ranges: number;
  /** Article numbers covered by ranges: all of them, and those that are parsed. */
  readonly planned: number;
  readonly parsed: number;
  readonly failed: number;
}

/** Numbers covered by the ranges `r` in some states: a range that asks again for missing numbers of another counts none twice. */
const covered = (states: string): string =>
  `coalesce((select sum(upper(i) - lower(i))
               from unnest(range_agg(int8range(r.lo, r.hi, '[]')) filter (where r.state in (${states}))) i), 0)::int8`;

/** What is covered of each group, by backbone and epoch. */
export const coverage = (sql: Sql): Promise<readonly GroupCoverage[]> =>
  sql.query<SqlRow & GroupCoverage>(
    `select n.backbone, n.group_name as "group", n.epoch, n.low, n.high, count(r.lo) as ranges,
            coalesce((select sum(upper(p) - lower(p)) from unnest(n.planned) p), 0)::int8 as planned,
            ${covered("'parsed', 'short'")} as parsed, ${covered("'failed'")} as failed
       from ranges.numbering n left join ranges.range r on r.numbering_id = n.id
      group by n.id order by n.group_name, n.backbone, n.epoch`,
  );
