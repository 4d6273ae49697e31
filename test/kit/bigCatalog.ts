import { catalog } from '../../projections/catalog/index.ts';
import { chunks } from '../../projections/chunks/index.ts';
import type { Database, Sql } from '../../projections/ports.ts';
import { projectAll } from './projections.ts';

/**
 * A catalog and a chunk store with so many releases that the planner has to choose well. Filled by SQL, not by events, so that a
 * million take minutes and not hours. Release n (from 0) has key and id `bigKey(n)` and one article, n + 1, in a range of
 * 100; it is posted six minutes after the one before it; one in ten has a merge beside the contribution of its range.
 */
export const bigKey = (n: number): string => `md5('release ${n}')::uuid`;
export const BIG_RANGE = 100;
/** 2010-01-01. */
export const BIG_START = 1_262_304_000_000;
/** With a million releases they span 11 years. */
export const BIG_STEP = 360_000;
export const BIG_PLACE = { backbone: 'bb', group: 'alt.binaries.test', epoch: 0 } as const;

const NAMES = `
  insert into SCHEMA.backbone_name (name) values ('bb');
  insert into SCHEMA.group_name (name) values ('alt.binaries.test'), ('alt.binaries.other');`;

/** Ranges first, then merges: the merge of release n is source (count / 100) + 1 + n / 10. */
const SOURCES = `
  insert into SCHEMA.source (group_id, backbone_id, epoch, run, pass, lo, hi)
    select 1, 1, 0, 1, 1, r * 100 + 1, r * 100 + 100 from generate_series(0, COUNT / 100 - 1) r order by r;
  insert into SCHEMA.source (group_id, backbone_id, epoch, run, pass, revision, merge_id, file_hash)
    select 1, 1, 0, 0, 0, 1, md5('merge ' || n)::uuid, decode(substr(md5('file ' || n), 1, 16), 'hex')
      from generate_series(0, COUNT - 1, 10) n order by n;
  insert into SCHEMA.merge_piece (merge_source, source_id, posting, file_hash)
    select COUNT / 100 + 1 + n / 10, n / 100 + 1, 0, decode(substr(md5('file ' || n), 1, 16), 'hex')
      from generate_series(0, COUNT - 1, 10) n;`;

const FIGURES = `1000 + n as bytes, 10 as par2_bytes, 3 as files, 2 as files_complete, 30 as segments,
  33 as segments_total, 1 as par2_files, 3 as par2_segments, 3 as par2_segments_total`;

const CATALOG = `
  create temp table big on commit drop as
    select n, md5('release ' || n)::uuid as key, ${BIG_START} + n::int8 * ${BIG_STEP} as at, ${FIGURES},
           (array[2040, 5040, 3010, 8010])[n % 4 + 1]::int2 as category,
           'Some.Release.' || n || '.S01E0' || n % 7 || '.720p.WEB.x264-GRP' as name
      from generate_series(0, COUNT - 1) n;
  insert into catalog.contribution
    (key, source_id, posting, first_number, last_number, first_at, last_at, bytes, par2_bytes, chunks_position, at, files,
     files_complete, segments, segments_total, par2_files, par2_segments, par2_segments_total, chunks, group_id,
     category, has_nfo, obfuscated, name, poster, file_hashes)
    select key, s, 0, n + 1, n + 1, at, at + 1000, bytes, par2_bytes, 1, at, files, files_complete, segments, segments_total,
           par2_files, par2_segments, par2_segments_total, 1, 1, category, n % 3 = 0, false, name, 'poster',
           decode(substr(md5('file ' || n), 1, 16), 'hex')
      from (select *, n / 100 + 1 as s from big
            union all select *, COUNT / 100 + 1 + n / 10 from big where n % 10 = 0) sourced;
  insert into catalog.birth (first_at, last_at, position, id, key)
    select at, at + 1000, n + 1, key, key from big;
  insert into catalog.settlement
    (key, set_hash, first_at, last_at, bytes, par2_bytes, files, files_complete, segments, segments_total, par2_files,
     par2_segments, par2_segments_total)
    select key, md5('set ' || n)::uuid, at, at + 1000, bytes, par2_bytes, files, files_complete, segments, segments_total,
           par2_files, par2_segments, par2_segments_total from big where n % 2 = 0;
  insert into catalog.release
    (release_id, key, first_at, last_at, bytes, par2_bytes, chunks_position, settle_due_at, files, files_complete, segments,
     segments_total, par2_files, par2_segments, par2_segments_total, group_id, category, has_nfo, obfuscated,
     provisional, name, poster, tokens)
    select key, key, at, at + 1000, bytes, par2_bytes, 1, case when n % 2 = 1 then at + 86400000 end, files,
           files_complete, segments, segments_total, par2_files, par2_segments, par2_segments_total, 1, category,
           n % 3 = 0, false, n % 2 = 1, name, 'poster',
           array_to_tsvector(array['some', 'release', n::text, 's01e0' || n % 7, '720p', 'web', 'x264', 'grp'])
      from big;`;

/** In months as `merge.sql` makes them. */
const CHUNKS = `
  do $$
  declare month timestamp; name text;
  begin
    for month in select generate_series(timestamp '2010-01-01', to_timestamp((${BIG_START} + SPAN) / 1000) at time zone 'UTC', '1 month') loop
      name := 'chunk_' || to_char(month, 'YYYY_MM');
      execute format('create table chunks.%I (like chunks.chunk including defaults including storage)', name);
      execute format('alter table chunks.chunk attach partition chunks.%I for values from (%s) to (%s)', name,
                     extract(epoch from month at time zone 'UTC')::int8 * 1000,
                     extract(epoch from (month + interval '1 month') at time zone 'UTC')::int8 * 1000);
    end loop;
  end $$;
  insert into chunks.chunk (key, source_id, posting, k, first_at, last_at, segments, payload)
    select md5('release ' || n)::uuid, s, 0, 0, ${BIG_START} + n::int8 * ${BIG_STEP}, ${BIG_START} + n::int8 * ${BIG_STEP} + 1000, 30, '\\x00'
      from (select n, n / 100 + 1 as s from generate_series(0, COUNT - 1) n
            union all select n, COUNT / 100 + 1 + n / 10 from generate_series(0, COUNT - 1, 10) n) sourced;`;

/** Fills fresh schemas `catalog` and `chunks` with `count` releases, a multiple of 100, and tells the planner. */
export async function fillBigCatalog(db: Database, count: number): Promise<void> {
  if (count % 100 !== 0) throw new RangeError(`${count} releases do not fill ranges`);
  await projectAll(db, catalog, []);
  await projectAll(db, chunks, []);
  const fill = (tx: Sql, text: string, schema = '') =>
    tx.script(
      text
        .replaceAll('SCHEMA', schema)
        .replaceAll('COUNT', String(count))
        .replaceAll('SPAN', `${count * BIG_STEP}::int8`),
    );
  await db.transaction(async (tx) => {
    for (const schema of ['catalog', 'chunks']) await fill(tx, NAMES + SOURCES, schema);
    await fill(tx, CATALOG);
    await fill(tx, CHUNKS);
  });
  await db.script('vacuum analyze');
}

interface Scans {
  readonly [table: string]: number;
}

const SCANS = `
  select schemaname || '.' || relname as name, seq_scan as n from pg_stat_xact_user_tables
   where schemaname = any ($1) and seq_scan > 0`;

const scansOf = async (tx: Sql, schemas: readonly string[]): Promise<Scans> =>
  Object.fromEntries((await tx.query<{ name: string; n: number }>(SCANS, [schemas])).map(({ name, n }) => [name, n]));

/**
 * The tables of these schemas that `work` read from end to end: as the server counted what it did, so that also the statements of a
 * merge.sql and those inside functions are seen. Nothing of it is kept.
 */
export async function readEndToEnd(
  db: Database,
  schemas: readonly string[],
  work: (tx: Sql) => Promise<unknown>,
): Promise<readonly string[]> {
  const undo = new Error('undone on purpose');
  let tables: readonly string[] = [];
  await db
    .transaction(async (tx) => {
      const before = await scansOf(tx, schemas);
      await work(tx);
      const after = await scansOf(tx, schemas);
      tables = Object.keys(after).filter((name) => after[name]! > (before[name] ?? 0));
      throw undo;
    })
    .catch((error: unknown) => {
      if (error !== undo) throw error;
    });
  return tables.toSorted();
}
