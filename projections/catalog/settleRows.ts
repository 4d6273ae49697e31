/** The catalog as settling reads it: implements `SettleCatalog` of processors/settle/ports.ts. */
import type {
  ArticleNumber,
  Backbone,
  Epoch,
  EpochMs,
  Group,
  Position,
  ReleaseId,
  ReleaseKey,
} from '../../streams/ids.ts';
import type { ContributionName } from '../../streams/merges.ts';
import type { Contribution } from '../../streams/records.ts';
import type { Sql } from '../ports.ts';
import { positionOf } from '../position.ts';
import { NAME_COLUMNS, NAME_JOINS, type NamedRow, nameOf } from './contributionName.ts';
import { hex } from './releaseRow.ts';

type Figures = Pick<
  Contribution,
  | 'files'
  | 'filesComplete'
  | 'segments'
  | 'segmentsTotal'
  | 'bytes'
  | 'par2Files'
  | 'par2Segments'
  | 'par2SegmentsTotal'
  | 'par2Bytes'
>;

export interface DueContribution extends Figures {
  readonly name: ContributionName;
  readonly backbone: Backbone;
  readonly group: Group;
  readonly epoch: Epoch;
  readonly firstNumber: ArticleNumber;
  readonly lastNumber: ArticleNumber;
  readonly firstAt: EpochMs;
  readonly lastAt: EpochMs;
  /** 16 hex digits each, sorted. */
  readonly fileHashes: readonly string[];
  readonly chunks: number;
}

export interface DueRelease {
  readonly releaseId: ReleaseId;
  readonly key: ReleaseKey;
  readonly settleDueAt: EpochMs;
  readonly contributions: readonly DueContribution[];
}

/** Contributions that one answer holds, beyond those of its first release. */
const CONTRIBUTIONS_MAX = 20_000;

/**
 * One statement, so that releases and contributions are of one moment. The cursor's comparison is one of rows: the index gives the
 * order and nothing before it is read.
 */
const DUE = `
  with found as (
    select r.release_id as id, r.key, r.settle_due_at as due, r.first_at, r.last_at,
           (select count(*) from catalog.contribution c
             where c.key = r.key and c.first_at >= r.first_at and c.last_at <= r.last_at) as members
      from catalog.release r
     where r.settle_due_at <= $1 and (r.settle_due_at, r.release_id) > ($2::int8, $3::uuid)
     order by r.settle_due_at, r.release_id limit $4),
  due as materialized (
    select f.*, row_number() over w as n, sum(f.members) over w as up_to from found f window w as (order by f.due, f.id))
  select r.id, r.key, r.due, ${NAME_COLUMNS}, c.first_number as "firstNumber", c.last_number as "lastNumber",
         c.first_at as "firstAt", c.last_at as "lastAt", c.files, c.files_complete as "filesComplete", c.segments,
         c.segments_total as "segmentsTotal", c.bytes, c.par2_files as "par2Files", c.par2_segments as "par2Segments",
         c.par2_segments_total as "par2SegmentsTotal", c.par2_bytes as "par2Bytes", c.chunks,
         encode(c.file_hashes, 'hex') as hashes
    from due r
    join catalog.contribution c on c.key = r.key and c.first_at >= r.first_at and c.last_at <= r.last_at
    ${NAME_JOINS}
   where r.n = 1 or r.up_to <= ${CONTRIBUTIONS_MAX}
   order by r.n, c.first_at, c.source_id, c.posting`;

interface DueRow extends NamedRow {
  readonly id: string;
  readonly key: string;
  readonly due: EpochMs;
  readonly hashes: string;
}

function dueContribution(row: DueRow): DueContribution {
  const { id, key, due, hashes, lo, hi, run, pass, posting, mergeId, ...shown } = row;
  return {
    ...(shown as unknown as Omit<DueContribution, 'name' | 'fileHashes'>),
    name: nameOf(row),
    fileHashes: hashes.match(/.{16}/g) ?? [],
  };
}

/** Reads `projection_position` and the schema `catalog`. */
export const settleCatalog = (sql: Sql) => ({
  /** The RELEASES position up to which all else is true, when it is read first. */
  position: (): Promise<Position> => positionOf(sql, 'catalog'),

  /**
   * Releases that are due at `now` (ms), behind `after`, ordered by (settleDueAt, releaseId): at most `limit`, fewer but at least
   * one where they have more than 20,000 contributions. Empty: there are no more.
   */
  async due(
    now: EpochMs,
    after: { readonly settleDueAt: EpochMs; readonly releaseId: ReleaseId } | null,
    limit: number,
  ): Promise<readonly DueRelease[]> {
    const from = [after?.settleDueAt ?? Number.MIN_SAFE_INTEGER, after?.releaseId ?? '0'.repeat(32)];
    const releases = new Map<string, DueRelease & { contributions: DueContribution[] }>();
    for (const row of await sql.query<DueRow>(DUE, [now, ...from, limit])) {
      const { id, key, due } = row;
      const known = releases.get(id);
      const names = { releaseId: hex(id) as ReleaseId, key: hex(key) as ReleaseKey, settleDueAt: due };
      if (known) known.contributions.push(dueContribution(row));
      else releases.set(id, { ...names, contributions: [dueContribution(row)] });
    }
    return [...releases.values()];
  },
});
