/** What others read of the catalog. Names of groups are resolved; ids of this database's own never leave. */
import {
  type Backbone,
  type Epoch,
  type EpochMs,
  type Group,
  RangeId,
  type ReleaseId,
  type ReleaseKey,
} from '../../streams/ids.ts';
import type { ContributionName } from '../../streams/merges.ts';
import type { Sql } from '../ports.ts';
import { NAME_COLUMNS, NAME_JOINS, type NamedRow, nameOf } from './contributionName.ts';
import { chunksUpTo, hex, RELEASE_COLUMNS, type ReleaseRow, releaseRow } from './releaseRow.ts';

interface ContributionPlace {
  readonly key: ReleaseKey;
  readonly backbone: Backbone;
  readonly group: Group;
  readonly epoch: Epoch;
  readonly firstAt: EpochMs;
  readonly lastAt: EpochMs;
  /** How many chunks hold its segments. */
  readonly chunks: number;
}

/** Names one contribution of a range or of a merge, and its chunks: what `chunksOfContributions` takes. */
export type ContributionRef = ContributionPlace & ContributionName;

/** The release with this id, or that another id of it leads to; null when there is none, or its chunks are not there yet. */
export async function releaseById(sql: Sql, id: ReleaseId): Promise<ReleaseRow | null> {
  const rows = await sql.query(
    `select ${RELEASE_COLUMNS} from catalog.release r
      where r.release_id = coalesce((select b.redirect_to from catalog.birth b where b.id = $1::uuid), $1::uuid)
        and r.chunks_position <= $2`,
    [id, await chunksUpTo(sql)],
  );
  return rows[0] ? releaseRow(rows[0]) : null;
}

/** The live contributions of a release (by any id of it), in a stable order: by time, then by where they come from. */
export async function contributionsOf(sql: Sql, id: ReleaseId): Promise<readonly ContributionRef[]> {
  const rows = await sql.query<NamedRow>(
    `select c.key, ${NAME_COLUMNS}, c.first_at as "firstAt", c.last_at as "lastAt", c.chunks
       from catalog.release r
       join catalog.contribution c on c.key = r.key and c.first_at >= r.first_at and c.last_at <= r.last_at
       ${NAME_JOINS}
      where r.release_id = coalesce((select x.redirect_to from catalog.birth x where x.id = $1::uuid), $1::uuid)
      order by c.first_at, b.name collate "C", g.name collate "C", s.epoch, s.lo, s.hi, c.posting, s.merge_id`,
    [id],
  );
  return rows.map((row) => {
    const { backbone, group, epoch, firstAt, lastAt, chunks } = row as unknown as ContributionPlace;
    const key = hex(row.key) as ReleaseKey;
    return { key, backbone, group, epoch, firstAt, lastAt, chunks, ...nameOf(row) };
  });
}

/** Implements `PassLedger` of processors/ports.ts. */
export const passLedger = (sql: Sql) => ({
  /** The highest pass that the catalog knows of this run; 0 when it knows none, or only another run. */
  async highestPass(run: { backbone: Backbone; group: Group; rangeId: RangeId; run: number }): Promise<number> {
    const { epoch, lo, hi } = RangeId.parse(run.rangeId);
    const rows = await sql.query<{ pass: number }>(
      `select s.pass from catalog.source s
         join catalog.backbone_name b on b.id = s.backbone_id
         join catalog.group_name g on g.id = s.group_id
        where b.name = $1 and g.name = $2 and s.epoch = $3 and s.lo = $4 and s.hi = $5 and s.run = $6`,
      [run.backbone, run.group, epoch, lo, hi, run.run],
    );
    return rows[0]?.pass ?? 0;
  },
});

const EXACT_UP_TO = 100_000;

/**
 * How many releases there are, and how many of them are listed (their chunks are projected): counted while they are few;
 * beyond 100,000 both are the server's estimate of all.
 */
export async function catalogCounts(sql: Sql): Promise<{ readonly releases: number; readonly listed: number }> {
  const [estimate] = await sql.query<{ n: number }>(
    `select reltuples::int8 as n from pg_class where oid = 'catalog.release'::regclass`,
  );
  if (estimate && estimate.n > EXACT_UP_TO) return { releases: estimate.n, listed: estimate.n };
  const [counted] = await sql.query<{ releases: number; listed: number }>(
    `select count(*) as releases, count(*) filter (where chunks_position <= $1) as listed from catalog.release`,
    [await chunksUpTo(sql)],
  );
  return counted ?? { releases: 0, listed: 0 };
}

export { CATEGORIES, categoriesOf, leavesUnder } from './categoryTree.ts';
export type { ReleaseRow } from './releaseRow.ts';
export { type ReleasePage, type ReleaseQuery, searchReleases } from './search.ts';
export { settleCatalog } from './settleRows.ts';
export { parseQuery, type SearchWords } from './tokens.ts';
