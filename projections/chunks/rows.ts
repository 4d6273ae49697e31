/** What others read of the chunk store. */
import { HeadwaterError } from '../../infra/base/errors/index.ts';
import { type EpochMs, type Group, RangeId, type ReleaseKey } from '../../streams/ids.ts';
import type { ContributionName } from '../../streams/merges.ts';
import type { Sql, SqlRow, SqlValue } from '../ports.ts';

/** Names one contribution; what `contributionsOf` of the catalog gives. */
export type ChunkedContribution = ContributionName & {
  readonly key: ReleaseKey;
  readonly group: Group;
  readonly firstAt: EpochMs;
  readonly lastAt: EpochMs;
  /** How many chunks there must be. */
  readonly chunks: number;
};

/** Read at a time: with chunks of some 8 KB that is half a megabyte. */
const CHUNKS_AT_A_TIME = 64;
/** A chunk's time lies within its contribution's; what the months are looked up by may still be generous. */
const MARGIN_MS = 3 * 86_400_000;

interface ChunkRow extends SqlRow {
  readonly k: number;
  readonly payload: Buffer;
}

/** Its source is found by what the values behind $5 say. */
const pageOf = (source: string) => `
  select c.k, c.payload from chunks.chunk c
   where c.key = $1 and c.k > $2 and c.first_at between $3 and $4 and c.posting = $5 and c.source_id = (${source})
   order by c.k limit ${CHUNKS_AT_A_TIME}`;

const RANGE_PAGE = pageOf(`
  select s.id from chunks.source s
    join chunks.backbone_name b on b.id = s.backbone_id
    join chunks.group_name g on g.id = s.group_id
   where b.name = $6 and g.name = $7 and s.epoch = $8 and s.lo = $9 and s.hi = $10 and s.run = $11 and s.pass = $12`);
const MERGE_PAGE = pageOf('select s.id from chunks.source s where s.merge_id = $6');

/** The query for a page of a contribution's chunks, and its values from $5 on. */
function pageQuery(c: ChunkedContribution): readonly [text: string, values: readonly SqlValue[]] {
  if ('mergeId' in c) return [MERGE_PAGE, [0, c.mergeId]];
  const { epoch, lo, hi } = RangeId.parse(c.rangeId);
  return [RANGE_PAGE, [c.posting, c.backbone, c.group, epoch, lo, hi, c.run, c.pass]];
}

async function* chunksOf(sql: Sql, c: ChunkedContribution): AsyncGenerator<Buffer> {
  const [text, place] = pageQuery(c);
  const span = [c.firstAt - MARGIN_MS, c.lastAt + MARGIN_MS];
  let found = 0;
  for (let last = -1; ; ) {
    const rows = await sql.query<ChunkRow>(text, [c.key, last, ...span, ...place]);
    for (const row of rows) yield row.payload;
    found += rows.length;
    last = rows.at(-1)?.k ?? last;
    if (rows.length < CHUNKS_AT_A_TIME) break;
  }
  if (found === c.chunks) return;
  const range = `${c.group} ${'mergeId' in c ? `merge ${c.mergeId}` : c.rangeId}`;
  throw new HeadwaterError('CHUNKS_NOT_READY', { range, found, expected: c.chunks });
}

/**
 * The payloads of these contributions' chunks, in their order and by slice number; at most 64 are held at a time. Throws
 * CHUNKS_NOT_READY when a contribution's chunks are not all there (its range is being parsed again): a list with a hole
 * would pass for the whole.
 */
export async function* chunksOfContributions(
  sql: Sql,
  contributions: readonly ChunkedContribution[],
): AsyncGenerator<Buffer> {
  for (const contribution of contributions) yield* chunksOf(sql, contribution);
}
