import { control } from '../../projections/control/index.ts';
import { fragments } from '../../projections/fragments/index.ts';
import type { Database } from '../../projections/ports.ts';
import { probes } from '../../projections/probes/index.ts';
import { ranges } from '../../projections/ranges/index.ts';
import { projectAll } from './projections.ts';

/**
 * A range ledger, fragments, a probe queue and versions of lists as they are after years: so many rows that the planner has to choose
 * well. Filled by SQL, as bigCatalog.ts. There are 100 groups of one backbone; a quarter of all ranges is of the first, since sizes of
 * groups are far from equal. Range r (from 0) of a group covers `BIG_SPAN` numbers, and a file spans each of its edges.
 */
export const BIG_GROUPS = 100;
export const BIG_SPAN = 20_000;
export const bigGroup = (n: number): string => `alt.binaries.g${String(n).padStart(3, '0')}`;
export const bigRange = (r: number): { readonly lo: number; readonly hi: number } => {
  return { lo: r * BIG_SPAN + 1, hi: (r + 1) * BIG_SPAN };
};
/** The hash of the file over the upper edge of range r of group n. */
export const bigFileHash = (n: number, r: number): string => `substr(md5('file ${n + 1} ${r}'), 1, 16)`;
/** The key of release n of the probe queue. */
export const bigProbeKey = (n: number): string => `md5('probe ${n}')::uuid`;
/** Ranges of group n when there are `count` in all. */
export const bigRangesOf = (n: number, count: number): number =>
  Math.floor(n === 0 ? count / 4 : (count * 3) / 4 / (BIG_GROUPS - 1));

const AT = 1_600_000_000_000;

/** The ranges of all groups, in the order of their numbers: groups are indexed side by side. */
const PLACES = `
  create temp table place on commit drop as
    select g as id, r from generate_series(1, ${BIG_GROUPS}) g,
           generate_series(0, case when g = 1 then COUNT / 4 else COUNT * 3 / 4 / ${BIG_GROUPS - 1} end - 1) r
     order by r, g;
  analyze place;`;

const numberings = (schema: string) => `
  insert into ${schema}.numbering (backbone, group_name, epoch)
    select 'bb', 'alt.binaries.g' || lpad((g - 1)::text, 3, '0'), 0 from generate_series(1, ${BIG_GROUPS}) g order by g;`;

/** Nearly all are parsed; of a thousand 10 are short, 5 failed, 20 retired, of each 1 to be planned again; few are outstanding. */
const RANGES = `
  ${numberings('ranges')}
  insert into ranges.range
    (numbering_id, lo, hi, run, pass, lane, state, failure_stage, failure_class, failure_code, failure_message, list_version,
     garbage_version, batches, lines, raw_bytes, first_at, last_at, missing, kept, skipped, releases, files, segments,
     releases_position, chunks_position, planned_at, fetched_at, parsed_at, ended_at, reask, retry)
    select id, r * ${BIG_SPAN}::int8 + 1, (r + 1) * ${BIG_SPAN}::int8, 1, 1, 'backfill', state, f, f, f, f, 1, 0, 1, ${BIG_SPAN}, 5000000, ${AT}, ${AT} + 1,
           case when state = 'short' then int8multirange(int8range(r * ${BIG_SPAN}::int8 + 1, r * ${BIG_SPAN}::int8 + 6)) else '{}' end,
           19000, '{"text": 1000}', 30, 90, 18000, 10, 10, ${AT} + r, ${AT} + r, ${AT} + r, ${AT} + r, false, n % 1000 in (11, 41)
      from (select id, r, n, state, case when state = 'failed' then 'error' end as f
              from (select id, r, n, case when n % 5000 = 0 then 'planned' when n % 5000 = 1 then 'fetched'
                                          when n % 1000 between 11 and 15 then 'failed' when n % 1000 between 21 and 30 then 'short'
                                          when n % 1000 between 41 and 60 then 'retired' else 'parsed' end as state
                      from (select id, r, row_number() over (order by r, id) as n from place) numbered) stated) failing;
  update ranges.numbering n set low = 1, high = (select max(hi) from ranges.range r where r.numbering_id = n.id), marks_at = ${AT},
    planned = (select range_agg(int8range(lo, hi, '[]')) from ranges.range r where r.numbering_id = n.id);
  update ranges.numbering set wanted = int8multirange(int8range(high + 1, high + 1000)) where id <= 10;
  insert into ranges.poll values ('bb', ${AT});`;

/** A file over each edge: nine of ten are merged, every tenth waits for its upper piece. Lone parts at both edges of each range. */
const FRAGMENTS = `
  ${numberings('fragments')}
  insert into fragments.source (numbering_id, lo, hi, run, pass)
    select id, r * ${BIG_SPAN}::int8 + 1, (r + 1) * ${BIG_SPAN}::int8, 1, 1 from place;
  create temp table edge on commit drop as
    select id, r * ${BIG_SPAN}::int8 + 1 as lo, (r + 1) * ${BIG_SPAN}::int8 as hi, r % 10 <> 0 as whole,
           decode(substr(md5('file ' || id || ' ' || r), 1, 16), 'hex') as hash, md5('merge ' || id || ' ' || r)::uuid as merge_id
      from place;
  create temp table half on commit drop as
    select id, hash, merge_id, whole, lo, hi, hi as number from edge
    union all select id, hash, merge_id, whole, hi + 1, hi + ${BIG_SPAN}, hi + 1 from edge where whole;
  insert into fragments.piece
    (numbering_id, file_hash, lo, hi, posting, run, pass, lone, first_number, last_number, last_at, posting_first_at,
     posting_last_at, parts, totals, payload)
    select id, hash, lo, hi, 0, 1, 1, false, number, number, ${AT}, ${AT}, ${AT}, '{1,1}', '{3,1}', '\\x00' from half;
  insert into fragments.lone_blob (numbering_id, lo, hi, k, i, first_number, last_number, hashes, payload)
    select id, lo, hi, 0, i, case i when 0 then lo else hi - 500 end, case i when 0 then lo + 500 else hi end,
           decode(substr(md5('lone ' || id || ' ' || lo || ' ' || i), 1, 16), 'hex'), '\\x00'
      from edge, generate_series(0, 1) i;
  insert into fragments.merge (numbering_id, file_hash, merge_id, revision) select id, hash, merge_id, 1 from edge where whole;
  insert into fragments.merge_source (numbering_id, merge_id, lo, hi, run, pass, posting)
    select id, merge_id, lo, hi, 1, 1, 0 from half where whole;
  insert into fragments.unit
    (numbering_id, file_hash, merge_id, first_number, last_number, posting_first_at, posting_last_at, last_at, pieces,
     payload_bytes, mergeable, complete, open)
    select id, hash, merge_id, hi, case when whole then hi + 1 else hi end, ${AT}, ${AT}, ${AT}, case when whole then 2 else 1 end,
           100, true, false, not whole from edge;`;

/** A candidate a release, every second one settled and in the queue before the others. */
const PROBES = `
  insert into probes.backbone_name (name) values ('bb');
  insert into probes.group_name (name)
    select 'alt.binaries.g' || lpad((g - 1)::text, 3, '0') from generate_series(1, ${BIG_GROUPS}) g order by g;
  insert into probes.source (group_id, backbone_id, epoch, lo, hi, run, pass)
    select id, 1, 0, r * ${BIG_SPAN}::int8 + 1, (r + 1) * ${BIG_SPAN}::int8, 1, 1 from place order by r, id;
  create temp table candidacy on commit drop as
    select n, md5('probe ' || n)::uuid as key, ${AT} + n as at, 1 + n / 2 as source_id, (n % 8)::int2 as preference,
           'probe.' || n || '@x' as message_id, decode(substr(md5('probe file ' || n), 1, 16), 'hex') as hash
      from generate_series(0, COUNT - 1) n;
  insert into probes.candidate
    (key, source_id, kind, message_id, position, at, rank, part, bytes, first_at, last_at, preference, random, file_hash)
    select key, source_id, 'archive', message_id, n + 1, at, 1, 1, 700000, at, at + 1000, preference, false, hash from candidacy;
  insert into probes.settled (key, position, n, first_at, last_at)
    select key, COUNT + 10 + n, 0, at, at + 1000 from candidacy where n % 2 = 0;
  insert into probes.probe
    (key, kind, message_id, file_hash, part, bytes, random, first_at, last_at, next_attempt_at, priority)
    select key, 'archive', message_id, hash, 1, 700000, false, at, at + 1000, at, preference + case when n % 2 = 0 then 0 else 8 end
      from candidacy;`;

/** A version each time that somebody changes a list: thousands, far more than are likely. */
const CONTROL = `
  insert into control.group_list (list_version, list, at)
    select v, jsonb_build_object('origin', 'operator', 'listVersion', v, 'entries', '[]'::jsonb), ${AT} from generate_series(1, 5000) v;
  insert into control.garbage_table (garbage_version, garbage, at)
    select v, jsonb_build_object('garbageVersion', v, 'signatures', '[]'::jsonb), ${AT} from generate_series(1, 5000) v;
  insert into control.group_entry (group_name, rank, removed, entry)
    select 'alt.binaries.g' || lpad((g - 1)::text, 3, '0'), g, false,
           jsonb_build_object('removed', false, 'spans', '[{"backbone": "bb", "epoch": 0, "from": 1, "liveFrom": 1000, "to": null}]'::jsonb)
      from generate_series(1, ${BIG_GROUPS}) g;`;

/** Fills fresh schemas `ranges`, `fragments`, `probes` and `control`: `count` ranges in all, 2 × `count` probes; tells the planner. */
export async function fillBigLedgers(db: Database, count: number): Promise<void> {
  for (const projection of [ranges, fragments, probes, control]) await projectAll(db, projection, []);
  const sized = (text: string, n: number) => text.replaceAll('COUNT', String(n));
  await db.transaction(async (tx) => {
    for (const text of [PLACES, RANGES, FRAGMENTS]) await tx.script(sized(text, count));
    await tx.script(sized(PROBES, 2 * count));
    await tx.script(CONTROL);
  });
  await db.script('vacuum analyze');
}
