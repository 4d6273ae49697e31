/** The range ledger as processors read it: what is planned, what waits, what is to be asked for again. */
import {
  type ArticleNumber,
  type Backbone,
  type Epoch,
  type EpochMs,
  type Group,
  type Lane,
  type Position,
  RangeId,
} from '../../streams/ids.ts';
import type { Interval } from '../../streams/records.ts';
import type { Sql, SqlRow } from '../ports.ts';
import { positionOf } from '../position.ts';
import { BOUNDS, type BoundsRow, intervals } from './bounds.ts';
import type { RangeState } from './step.ts';

export interface RangeRunRef {
  readonly backbone: Backbone;
  readonly group: Group;
  readonly rangeId: RangeId;
  readonly run: number;
}

/** A run of a range with where it lies. */
export interface LedgerRun extends RangeRunRef {
  readonly epoch: Epoch;
  readonly lo: ArticleNumber;
  readonly hi: ArticleNumber;
  readonly lane: Lane;
}

export interface LedgerMarks {
  readonly group: Group;
  readonly epoch: Epoch;
  readonly low: ArticleNumber;
  readonly high: ArticleNumber;
  /** The backbone's last poll: marks that did not change were read then, too. */
  readonly readAt: EpochMs;
}

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

async function lastHigh(sql: Sql, backbone: Backbone, group: Group, epoch: Epoch): Promise<ArticleNumber | null> {
  const rows = await sql.query<{ high: ArticleNumber | null }>(
    'select high from ranges.numbering where (backbone, group_name, epoch) = ($1, $2, $3)',
    [backbone, group, epoch],
  );
  return rows[0]?.high ?? null;
}

const RUNS = `
  select n.backbone, n.group_name as "group", n.epoch, n.epoch || '-' || r.lo || '-' || r.hi as "rangeId", r.run, r.lane,
         r.lo, r.hi`;

const unfetched = (sql: Sql, backbone: Backbone): Promise<readonly LedgerRun[]> =>
  sql.query<SqlRow & LedgerRun>(
    `${RUNS} from ranges.range r join ranges.numbering n on n.id = r.numbering_id
      where r.state = 'planned' and r.lane <> 'import' and n.backbone = $1
      order by n.group_name, n.epoch, r.lo, r.hi`,
    [backbone],
  );

const toRetry = (sql: Sql, backbone: Backbone, limit: number): Promise<readonly LedgerRun[]> =>
  sql.query<SqlRow & LedgerRun>(
    `${RUNS} from ranges.range r join ranges.numbering n on n.id = r.numbering_id
      where r.state = 'failed' and r.retry and r.lane <> 'import' and n.backbone = $1
      order by r.ended_at, n.group_name, n.epoch, r.lo, r.hi limit $2`,
    [backbone, limit],
  );

/** Where groups are read that are on the list: retired runs that end below `from` are over for good. */
interface OpenNumbers {
  readonly group: Group;
  readonly epoch: Epoch;
  readonly from: number;
}

const returned = (sql: Sql, backbone: Backbone, open: readonly OpenNumbers[], limit: number) =>
  sql.query<SqlRow & LedgerRun>(
    `${RUNS} from unnest($2::text[], $3::int4[], $4::int8[]) as open (group_name, epoch, low)
       join ranges.numbering n on (n.backbone, n.group_name, n.epoch) = ($1, open.group_name, open.epoch)
       join ranges.range r on r.numbering_id = n.id
      where r.state = 'retired' and r.retry and r.lane <> 'import' and r.hi >= open.low
      order by r.ended_at, n.group_name, n.epoch, r.lo, r.hi limit $5`,
    [backbone, open.map(({ group }) => group), open.map(({ epoch }) => epoch), open.map(({ from }) => from), limit],
  );

interface ShortRow extends SqlRow, LedgerRun, BoundsRow {
  readonly runs: readonly number[];
}

async function short(
  sql: Sql,
  backbone: Backbone,
  most: { readonly parsedUpTo: EpochMs; readonly runs: number; readonly intervals: number },
) {
  // The missing numbers of a range may be many: no more of them are looked at than the asker can use.
  const rows = await sql.query<ShortRow>(
    `${RUNS}, m.lows, m.highs, m.runs
       from ranges.range r join ranges.numbering n on n.id = r.numbering_id,
            lateral (select array_agg(lower(i) order by i) as lows, array_agg(upper(i) - 1 order by i) as highs,
                            array_agg(coalesce(x.run, 0) order by i) as runs
                       from (select i from unnest(r.missing) i limit $4) few
                       left join ranges.range x on (x.numbering_id, x.lo, x.hi) = (r.numbering_id, lower(i), upper(i) - 1)) m
      where r.state = 'short' and n.backbone = $1 and r.parsed_at <= $2
      order by r.parsed_at, n.group_name, n.epoch, r.lo, r.hi limit $3`,
    [backbone, most.parsedUpTo, most.runs, most.intervals],
  );
  return rows.map(({ lows, highs, runs, ...run }) => {
    const missing = lows.map((lo, i) => ({ lo: lo as ArticleNumber, hi: highs[i] as ArticleNumber, run: runs[i]! }));
    return { ...(run as LedgerRun), missing };
  });
}

async function wanted(sql: Sql, backbone: Backbone) {
  const rows = await sql.query<BoundsRow & { readonly group: Group; readonly epoch: Epoch }>(
    `select n.group_name as "group", n.epoch, ${BOUNDS('n.wanted')} from ranges.numbering n
      where n.backbone = $1 and n.wanted <> '{}' order by n.group_name, n.epoch`,
    [backbone],
  );
  return rows.map((row) => ({ group: row.group, epoch: row.epoch, numbers: intervals(row) }));
}

/** Implements `RangeLedger` of processors/ports.ts. */
export const rangeLedger = (sql: Sql) => ({
  position: (): Promise<Position> => positionOf(sql, 'ranges'),
  planned: (backbone: Backbone, group: Group, epoch: Epoch) => planned(sql, backbone, group, epoch),
  outstanding: () => outstanding(sql),
  marks: (backbone: Backbone) => marks(sql, backbone),
  lastHigh: (backbone: Backbone, group: Group, epoch: Epoch) => lastHigh(sql, backbone, group, epoch),
  unfetched: (backbone: Backbone) => unfetched(sql, backbone),
  short: (backbone: Backbone, most: Parameters<typeof short>[2]) => short(sql, backbone, most),
  toRetry: (backbone: Backbone, limit: number) => toRetry(sql, backbone, limit),
  returned: (backbone: Backbone, open: readonly OpenNumbers[], limit: number) => returned(sql, backbone, open, limit),
  wanted: (backbone: Backbone) => wanted(sql, backbone),
  stateOf: (ref: RangeRunRef) => stateOf(sql, ref),
});
