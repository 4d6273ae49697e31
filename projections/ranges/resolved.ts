/** Which article numbers are resolved, from the ledger and the group list. */
import type { Backbone, Epoch, Group, Position } from '../../streams/ids.ts';
import type { Interval } from '../../streams/records.ts';
import { LATE_AFTER_MS } from '../../streams/rules.ts';
import type { Sql, SqlRow } from '../ports.ts';
import { packPosition } from '../position.ts';

/** The article numbers of one counting about which nothing more is to come; as `Resolution` of processors/resolution.ts. */
export interface ResolvedRows {
  /** Merged and ascending; the last one may end at Number.MAX_SAFE_INTEGER. */
  readonly resolved: readonly Interval[];
  /** The last marks' high and when they were read; null where nobody reads them. */
  readonly high: number | null;
  readonly highReadAt: number | null;
  readonly lateAfterMs: number;
}

const NONE = { resolved: [], high: null, highReadAt: null } as const;

/** Every article number that can be. */
const ALL = 'int8multirange(int8range(0, 9007199254740992))';

/**
 * Resolved is what lies in ranges that ended (and that no other range still holds), below the low mark, outside the spans of
 * the group list; and all that no range covers, where no range will be planned any more: in an epoch that is over, in a group
 * that left the list, and in a numbering whose marks nobody reads (an import says all that it has; what a later one adds to a file
 * makes a new merge of it).
 */
const RESOLVED = `
  with n as (
    select n.id, n.planned, n.low, n.high, p.read_at,
           not exists (select from ranges.numbering later
                        where later.backbone = n.backbone and later.group_name = n.group_name
                          and later.epoch > n.epoch) as newest
      from ranges.numbering n left join ranges.poll p on p.backbone = n.backbone
     where (n.backbone, n.group_name, n.epoch) = ($1, $2, $3)),
  ranges as (
    select int8range(r.lo, r.hi, '[]') as numbers,
           r.state in ('failed', 'retired')
             or (r.state in ('parsed', 'short') and coalesce(r.releases_position <= $4, false)) as ended
      from n join ranges.range r on r.numbering_id = n.id),
  sums as (
    select coalesce(range_agg(numbers) filter (where ended), '{}') as ended,
           coalesce(range_agg(numbers) filter (where not ended), '{}') as held
      from ranges),
  list as (
    select range_agg(int8range((s ->> 'from')::int8,
                               greatest((s ->> 'from')::int8, coalesce((s ->> 'to')::int8 + 1, 9007199254740992)))) as spans,
           bool_and((e.entry ->> 'removed')::boolean and s ->> 'to' is not null) as closed
      from control.group_entry e cross join jsonb_array_elements(e.entry -> 'spans') s
     where e.group_name = $2 and s ->> 'backbone' = $1 and (s ->> 'epoch')::int8 = $3),
  resolved as (
    select (sums.ended - sums.held)
           + case when n.low > 0 then int8multirange(int8range(0, n.low)) else '{}' end
           + case when list.spans is not null then ${ALL} - list.spans else '{}' end
           + case when not n.newest or list.closed or n.low is null then ${ALL} - n.planned else '{}' end
             as numbers,
           case when n.newest then n.high end as high, case when n.newest then n.read_at end as read_at
      from n, sums, list)
  select array(select lower(r) from unnest(numbers) r) as lows, array(select upper(r) - 1 from unnest(numbers) r) as highs,
         high, case when high is not null then read_at end as "highReadAt"
    from resolved`;

interface Row extends SqlRow {
  readonly lows: readonly number[];
  readonly highs: readonly number[];
  readonly high: number | null;
  readonly highReadAt: number | null;
}

async function of(
  sql: Sql,
  backbone: Backbone,
  group: Group,
  epoch: Epoch,
  projected: Position,
): Promise<Omit<ResolvedRows, 'lateAfterMs'>> {
  const [row] = await sql.query<Row>(RESOLVED, [backbone, group, epoch, packPosition(projected)]);
  if (!row) return NONE;
  const { lows, highs, high, highReadAt } = row;
  return { resolved: lows.map((lo, i): Interval => [lo, highs[i]!]), high, highReadAt };
}

/**
 * Implements `ResolvedNumbers` of processors/resolution.ts on the schemas `ranges` and `control`. `lateAfterMs`: how long after
 * an article the high mark has to be read.
 */
export const resolvedNumbers = (sql: Sql, lateAfterMs = LATE_AFTER_MS) => ({
  /** `projected`: a range that was parsed beyond this RELEASES position is not resolved yet. Nothing is where the ledger knows no range and no mark. */
  async of(backbone: Backbone, group: Group, epoch: Epoch, projected: Position): Promise<ResolvedRows> {
    return { ...(await of(sql, backbone, group, epoch, projected)), lateAfterMs };
  },
});
