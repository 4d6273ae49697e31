import { contributionsOf } from '../../projections/catalog/rows.ts';
import { chunksOfContributions } from '../../projections/chunks/rows.ts';
import type { Sql, SqlRow } from '../../projections/ports.ts';
import { decodeChunk } from '../../streams/codec/chunk.ts';
import type { ReleaseId } from '../../streams/ids.ts';
import type { ChunkFile } from '../../streams/records.ts';
import { type UnionFile, unionOf } from '../../streams/union.ts';

export interface DumpOptions {
  /** With the ids of releases and where each birth leads: for builds of one and the same stream. Default false. */
  readonly ids?: boolean;
  /** False leaves the segment lists out. Default true. */
  readonly chunks?: boolean;
}

const bare = (row: SqlRow, leaveOut: readonly string[]): SqlRow =>
  Object.fromEntries(Object.entries(row).filter(([name]) => !leaveOut.includes(name)));

const sorted = (lines: readonly string[]): readonly string[] => [...lines].sort();
const json = (value: unknown): string =>
  JSON.stringify(value, (_, v) => (v?.type === 'Buffer' ? Buffer.from(v.data).toString('hex') : v));

/** Ids of releases, and what belongs to a run, a pass or a moment of processing, is not what a catalog says. */
const RELEASE_HIDDEN = ['release_id', 'group_id', 'groups', 'tokens', 'chunks_position', 'settle_due_at'];
const CONTRIBUTION_HIDDEN = ['source_id', 'group_id', 'groups', 'chunks_position', 'at'];

async function releases(sql: Sql, ids: boolean): Promise<readonly string[]> {
  const rows = await sql.query(
    `select r.*, r.tokens::text as words, g.name as main_group,
            array(select o.name from catalog.group_name o where o.id = any (r.groups) order by 1) as other_groups
       from catalog.release r join catalog.group_name g on g.id = r.group_id`,
  );
  return sorted(rows.map((row) => json(bare(row, ids ? RELEASE_HIDDEN.slice(1) : RELEASE_HIDDEN))));
}

async function contributions(sql: Sql): Promise<readonly string[]> {
  const rows = await sql.query(
    `select c.*, b.name as backbone, sg.name as source_group, s.epoch, g.name as main_group,
            array(select o.name from catalog.group_name o where o.id = any (c.groups) order by 1) as other_groups
       from catalog.contribution c
       join catalog.source s on s.id = c.source_id
       join catalog.backbone_name b on b.id = s.backbone_id
       join catalog.group_name sg on sg.id = s.group_id
       join catalog.group_name g on g.id = c.group_id`,
  );
  return sorted(rows.map((row) => json(bare(row, CONTRIBUTION_HIDDEN))));
}

async function births(sql: Sql): Promise<readonly string[]> {
  return sorted((await sql.query('select id, key, first_at, last_at, redirect_to from catalog.birth')).map(json));
}

async function chunks(sql: Sql): Promise<readonly string[]> {
  const lines: string[] = [];
  const tables = await sql.query<{ name: string }>(
    `select inhrelid::regclass::text as name from pg_inherits where inhparent = 'chunks.chunk'::regclass`,
  );
  // Month by month, so that a large store is not held twice.
  for (const { name } of tables) {
    const rows = await sql.query<SqlRow & { payload: Buffer }>(
      `select c.key, c.posting, c.k, c.first_at, c.last_at, c.segments, c.payload, b.name as backbone,
              g.name as source_group, s.epoch
         from ${name} c
         join chunks.source s on s.id = c.source_id
         join chunks.backbone_name b on b.id = s.backbone_id
         join chunks.group_name g on g.id = s.group_id`,
    );
    for (const { payload, ...row } of rows) lines.push(json({ ...row, files: decodeChunk(payload) }));
  }
  return sorted(lines);
}

/**
 * What catalog and chunk store say, one line a row, sorted: two are equal when these lines are. Left out are ids, sources
 * (range, run, pass) and stream positions; payloads are decoded, since equal lists may be encoded differently.
 */
export async function catalogDump(sql: Sql, options: DumpOptions = {}): Promise<string> {
  const ids = options.ids ?? false;
  const parts: [string, readonly string[]][] = [
    ['releases', await releases(sql, ids)],
    ['contributions', await contributions(sql)],
  ];
  if (ids) parts.push(['births', await births(sql)]);
  if (options.chunks ?? true) parts.push(['chunks', await chunks(sql)]);
  return parts.map(([title, lines]) => [`# ${title}: ${lines.length}`, ...lines].join('\n')).join('\n');
}

/** The files of a release as an NZB would have them, whatever contributions and chunks they come from. */
async function filesOf(sql: Sql, id: ReleaseId): Promise<readonly UnionFile[]> {
  const files: ChunkFile[] = [];
  for await (const payload of chunksOfContributions(sql, await contributionsOf(sql, id))) {
    files.push(...decodeChunk(payload));
  }
  return unionOf(files);
}

/**
 * What the releases say and which files they have, one line a release, sorted: for builds from one history that was cut into
 * ranges in different ways. Contributions and chunks follow the cut and are left out, ids follow the first one of them.
 * Equal only for releases that are settled: sums over ranges follow the cut as well.
 */
export async function releaseDump(sql: Sql): Promise<string> {
  const rows = await sql.query<SqlRow & { release_id: string }>(
    `select r.*, r.tokens::text as words, g.name as main_group,
            array(select o.name from catalog.group_name o where o.id = any (r.groups) order by 1) as other_groups
       from catalog.release r join catalog.group_name g on g.id = r.group_id order by r.key, r.first_at`,
  );
  const lines: string[] = [];
  for (const row of rows) {
    const files = await filesOf(sql, row.release_id.replaceAll('-', '') as ReleaseId);
    lines.push(json({ ...bare(row, RELEASE_HIDDEN), files }));
  }
  return [`# releases: ${lines.length}`, ...sorted(lines)].join('\n');
}
