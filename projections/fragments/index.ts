import { type Projection, sqlFile, stagingTable } from '../projection.ts';
import { loadFragments } from './load.ts';
import type { LoadedNumbering } from './numbering.ts';
import { projectFragments } from './project.ts';

export const fragments: Projection<readonly LoadedNumbering[]> = {
  name: 'fragments',
  version: 1,
  family: 'RELEASES',
  subjects: ['release.opened.>', 'release.fragments.>', 'release.merged.>'],
  schemaSql: sqlFile(import.meta.url, 'schema.sql'),
  mergeSql: sqlFile(import.meta.url, 'merge.sql'),
  load: loadFragments,
  project: projectFragments,
  staging: [
    stagingTable('stage_fragments_place', 'n int4, backbone text, group_name text, epoch int4'),
    stagingTable('stage_fragments_source', 'n int4, lo int8, hi int8, run int4, pass int4, replaces bool'),
    stagingTable('stage_fragments_gone', 'n int4, file_hash bytea, lo int8, hi int8, posting int4'),
    stagingTable(
      'stage_fragments_piece',
      `n int4, file_hash bytea, lo int8, hi int8, posting int4, run int4, pass int4, lone bool, first_number int8,
       last_number int8, last_at int8, posting_first_at int8, posting_last_at int8, parts int8[], totals int8[],
       payload bytea`,
    ),
    stagingTable(
      'stage_fragments_blob',
      `n int4, lo int8, hi int8, k int4, i int4, first_number int8, last_number int8, hashes bytea, payload bytea`,
    ),
    stagingTable('stage_fragments_unmerged', 'merge_id uuid'),
    stagingTable('stage_fragments_merge', 'n int4, file_hash bytea, merge_id uuid, revision int8'),
    stagingTable(
      'stage_fragments_merge_source',
      'n int4, merge_id uuid, lo int8, hi int8, run int4, pass int4, posting int4',
    ),
    stagingTable('stage_fragments_file', 'n int4, file_hash bytea'),
    stagingTable(
      'stage_fragments_unit',
      `n int4, file_hash bytea, merge_id uuid, first_number int8, last_number int8, posting_first_at int8,
       posting_last_at int8, last_at int8, pieces int4, mergeable bool, complete bool, open bool`,
    ),
    // Scratch space of merge.sql.
    stagingTable('stage_fragments_numbering', 'n int4, id int4'),
  ],
};
