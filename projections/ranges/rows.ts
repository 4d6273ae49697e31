/** What others read of the range ledger. */
import {
  type ArticleNumber,
  type Backbone,
  type Epoch,
  type EpochMs,
  type Group,
  type Position,
  RangeId,
} from '../../streams/ids.ts';
import type { Interval } from '../../streams/records.ts';
import type { Sql, SqlRow, SqlValue } from '../ports.ts';
import { positionOf } from '../position.ts';
import { RANGE_STATES, type RangeFailure, type RangeState } from './step.ts';

export interface RangeRunRef {
  readonly backbone: Backbone;
  readonly group: Group;
  readonly rangeId: RangeId;
  readonly run: number;
}

export interface LedgerMarks {
  readonly group: Group;
  readonly epoch: Epoch;
  readonly low: ArticleNumber;
  readonly high: ArticleNumber;
  /** The backbone's last poll: marks that did not change were read then, too. */
  readonly readAt: EpochMs;
}

/** Intervals of a multirange as two arrays of bounds, both inclusive. */
const BOUNDS = (multirange: string) => `
  array(select lower(r) from unnest(${multirange}) r) as lows,
  array(select upper(r) - 1 from unnest(${multirange}) r) as highs`;

interface BoundsRow extends SqlRow {
  readonly lows: readonly number[];
  readonly highs: readonly number[];
}
const intervals = (row: BoundsRow | undefined): readonly Interval[] =>
  row ? row.lows.map((lo, i): Interval => [lo, row.highs[i]!]) : [];

async function planned(sql: Sql, backbone: Backbone, group: Group, epoch: Epoch): Promise<readonly Interval[]> {
  const rows = await sql.query<BoundsRow>(
    `select ${BOUNDS('n.planned')} from ranges.numbering n where (n.backbone, n.group_name, n.epoch) = ($1, $2, $3)`,
    [backbone, group, epoch],
  );
  return intervals(rows[0]);
}

async function outstanding(sql: Sql): Promise<{ readonly ranges: number; readonly numbers: number }> {
  // What is fetched is outstanding until it is parsed, but brings no more numbers.
  const rows = await sql.query<{ ranges: number; numbers: number }>(
    `select count(*) as ranges, coalesce(sum(hi - lo + 1) filter (where state = 'planned'), 0)::int8 as numbers
       from ranges.range where state in ('planned', 'fetched')`,
  );
  return rows[0]!;
}

async function marks(sql: Sql, backbone: Backbone): Promise<readonly LedgerMarks[]> {
  return sql.query<SqlRow & LedgerMarks>(
    `select distinct on (n.group_name) n.group_name as "group", n.epoch, n.low, n.high, p.read_at as "readAt"
       from ranges.numbering n join ranges.poll p on p.backbone = n.backbone
      where n.backbone = $1 and n.low is not null
      order by n.group_name, n.epoch desc`,
    [backbone],
  );
}

async function stateOf(sql: Sql, ref: RangeRunRef): Promise<RangeState | null> {
  const { epoch, lo, hi } = RangeId.parse(ref.rangeId);
  const rows = await sql.query<{ run: number; state: RangeState }>(
    `select r.run, r.state from ranges.range r join ranges.numbering n on n.id = r.numbering_id
      where (n.backbone, n.group_name, n.epoch, r.lo, r.hi) = ($1, $2, $3, $4, $5)`,
    [ref.backbone, ref.group, epoch, lo, hi],
  );
  const found = rows[0];
  if (!found || found.run < ref.run) return null;
  return found.run > ref.run ? 'retired' : found.state;
}

export { RANGE_STATES } from './step.ts';

/** Implements `RangeLedger` of processors/ports.ts. */
export const rangeLedger = (sql: Sql) => ({
  position: (): Promise<Position> => positionOf(sql, 'ranges'),
  planned: (backbone: Backbone, group: Group, epoch: Epoch) => planned(sql, backbone, group, epoch),
  outstanding: () => outstanding(sql),
  marks: (backbone: Backbone) => marks(sql, backbone),
  stateOf: (ref: RangeRunRef) => stateOf(sql, ref),
});

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
  readonly rawBytes: number;
  readonly releases: number;
  readonly firstAt: EpochMs | null;
  readonly lastAt: EpochMs | null;
  /** Numbers for which the server had no line. */
  readonly missing: readonly Interval[];
  readonly plannedAt: EpochMs | null;
  readonly fetchedAt: EpochMs | null;
  readonly parsedAt: EpochMs | null;
}

export interface RangeFilter {
  readonly group?: string | undefined;
  readonly state?: RangeState | undefined;
  readonly limit: number;
  readonly offset: number;
}

interface ListedRow extends SqlRow, BoundsRow {
  readonly epoch: Epoch;
  readonly lo: number;
  readonly hi: number;
  readonly stage: string | null;
}

/** Ranges by group and number. */
export async function listRanges(sql: Sql, filter: RangeFilter): Promise<readonly RangeRow[]> {
  const values: readonly SqlValue[] = [filter.group ?? null, filter.state ?? null, filter.limit, filter.offset];
  const rows = await sql.query<ListedRow>(
    `select n.backbone, n.group_name as "group", n.epoch, r.lo, r.hi, r.run, r.pass, r.lane, r.state,
            r.failure_stage as stage, r.failure_class as class, r.failure_code as code, r.failure_message as message,
            r.lines, r.kept, r.raw_bytes as "rawBytes", r.releases, r.first_at as "firstAt", r.last_at as "lastAt",
            r.planned_at as "plannedAt", r.fetched_at as "fetchedAt", r.parsed_at as "parsedAt", ${BOUNDS('r.missing')}
       from ranges.range r join ranges.numbering n on n.id = r.numbering_id
      where ($1::text is null or n.group_name = $1) and ($2::text is null or r.state = $2)
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

/** What is covered of each group, by backbone and epoch. */
export const coverage = (sql: Sql): Promise<readonly GroupCoverage[]> =>
  sql.query<SqlRow & GroupCoverage>(
    `select n.backbone, n.group_name as "group", n.epoch, n.low, n.high, count(r.lo) as ranges,
            coalesce((select sum(upper(p) - lower(p)) from unnest(n.planned) p), 0)::int8 as planned,
            coalesce(sum(r.hi - r.lo + 1) filter (where r.state in ('parsed', 'short')), 0)::int8 as parsed,
            coalesce(sum(r.hi - r.lo + 1) filter (where r.state = 'failed'), 0)::int8 as failed
       from ranges.numbering n left join ranges.range r on r.numbering_id = n.id
      group by n.id order by n.group_name, n.backbone, n.epoch`,
  );
