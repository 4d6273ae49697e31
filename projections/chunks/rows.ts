/** What others read of the chunk store. */
import { HeadwaterError } from '../../infra/base/errors/index.ts';
import { type Backbone, type EpochMs, type Group, RangeId, type ReleaseKey } from '../../streams/ids.ts';
import type { Sql, SqlRow } from '../ports.ts';

/** Names one contribution; what `contributionsOf` of the catalog gives. */
export interface ChunkedContribution {
  readonly key: ReleaseKey;
  readonly backbone: Backbone;
  readonly group: Group;
  readonly rangeId: RangeId;
  readonly run: number;
  readonly pass: number;
  readonly posting: number;
  readonly firstAt: EpochMs;
  readonly lastAt: EpochMs;
  /** How many chunks there must be. */
  readonly chunks: number;
}

/** Read at a time: with chunks of some 8 KB that is half a megabyte. */
const CHUNKS_AT_A_TIME = 64;
/** A chunk's time lies within its contribution's; what the months are looked up by may still be generous. */
const MARGIN_MS = 3 * 86_400_000;

interface ChunkRow extends SqlRow {
  readonly k: number;
  readonly payload: Buffer;
}

const PAGE = `
  select c.k, c.payload from chunks.chunk c
    join chunks.source s on s.id = c.source_id
    join chunks.backbone_name b on b.id = s.backbone_id
    join chunks.group_name g on g.id = s.group_id
   where c.key = $1 and b.name = $2 and g.name = $3 and s.epoch = $4 and s.lo = $5 and s.hi = $6
     and s.run = $7 and s.pass = $8 and c.posting = $9 and c.k > $10
     and c.first_at between $11 and $12
   order by c.k limit ${CHUNKS_AT_A_TIME}`;

async function* chunksOf(sql: Sql, c: ChunkedContribution): AsyncGenerator<Buffer> {
  const { epoch, lo, hi } = RangeId.parse(c.rangeId);
  const place = [c.key, c.backbone, c.group, epoch, lo, hi, c.run, c.pass, c.posting];
  const span = [c.firstAt - MARGIN_MS, c.lastAt + MARGIN_MS];
  let found = 0;
  for (let last = -1; ; ) {
    const rows = await sql.query<ChunkRow>(PAGE, [...place, last, ...span]);
    for (const row of rows) yield row.payload;
    found += rows.length;
    last = rows.at(-1)?.k ?? last;
    if (rows.length < CHUNKS_AT_A_TIME) break;
  }
  if (found === c.chunks) return;
  throw new HeadwaterError('CHUNKS_NOT_READY', { range: `${c.group} ${c.rangeId}`, found, expected: c.chunks });
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
