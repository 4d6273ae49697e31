import type { EpochMs, Group, ReleaseId, ReleaseKey } from '../../streams/ids.ts';
import type { Sql, SqlRow } from '../ports.ts';
import { packPosition, positionOf } from '../position.ts';

/** A release as it is listed. Sums are over parts kept once; the par2 figures are the share of the others that is par2. */
export interface ReleaseRow {
  readonly releaseId: ReleaseId;
  readonly key: ReleaseKey;
  readonly name: string;
  readonly poster: string;
  /** The main group first, the others by name. */
  readonly groups: readonly Group[];
  /** The leaf of the category tree; `categoriesOf` has all ids that it is served under. */
  readonly category: number;
  /** Time of the first article: when it was posted. */
  readonly firstAt: EpochMs;
  readonly lastAt: EpochMs;
  readonly bytes: number;
  readonly files: number;
  readonly filesComplete: number;
  /** `[i/N]`: N when a subject states it. */
  readonly filesTotal: number | null;
  readonly segments: number;
  /** Segments that the part counters promise. */
  readonly segmentsTotal: number;
  readonly par2Files: number;
  readonly par2Segments: number;
  readonly par2SegmentsTotal: number;
  readonly par2Bytes: number;
  readonly hasNfo: boolean;
  readonly obfuscated: boolean;
  /** The figures are sums over ranges, not yet the settled union. */
  readonly provisional: boolean;
}

export const hex = (uuid: unknown): string => String(uuid).replaceAll('-', '');

/** The columns of a ReleaseRow, for a query in which `r` is the release. */
export const RELEASE_COLUMNS = `
  r.release_id, r.key, r.name, r.poster, r.first_at, r.last_at, r.bytes, r.files, r.files_complete, r.files_total,
  r.segments, r.segments_total, r.par2_files, r.par2_segments, r.par2_segments_total, r.par2_bytes, r.category,
  r.has_nfo, r.obfuscated, r.provisional, (select g.name from catalog.group_name g where g.id = r.group_id) as main_group,
  array(select g.name from catalog.group_name g where g.id = any (r.groups) order by g.name collate "C") as other_groups`;

export const releaseRow = (row: SqlRow): ReleaseRow =>
  ({
    releaseId: hex(row.release_id),
    key: hex(row.key),
    name: row.name,
    poster: row.poster,
    groups: [row.main_group, ...(row.other_groups as string[])],
    category: row.category,
    firstAt: row.first_at,
    lastAt: row.last_at,
    bytes: row.bytes,
    files: row.files,
    filesComplete: row.files_complete,
    filesTotal: row.files_total,
    segments: row.segments,
    segmentsTotal: row.segments_total,
    par2Files: row.par2_files,
    par2Segments: row.par2_segments,
    par2SegmentsTotal: row.par2_segments_total,
    par2Bytes: row.par2_bytes,
    hasNfo: row.has_nfo,
    obfuscated: row.obfuscated,
    provisional: row.provisional,
  }) as unknown as ReleaseRow;

/** A release is listed once its chunks are projected: everything up to this packed position is. */
export const chunksUpTo = async (sql: Sql): Promise<number> => packPosition(await positionOf(sql, 'chunks'));
