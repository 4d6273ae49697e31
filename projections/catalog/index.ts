import { loadMerges, MERGE_COLUMNS, PIECE_COLUMNS, REPLACED_COLUMNS, type StoredMerges } from '../batchMerges.ts';
import { SOURCE_COLUMNS } from '../batchSources.ts';
import { type Projection, sqlFile, stagingTable } from '../projection.ts';
import { SETTLEMENT_COLUMNS } from './batchSettlements.ts';
import { finishReleases } from './finish.ts';
import { projectCatalog } from './project.ts';

export const catalog: Projection<StoredMerges> = {
  name: 'catalog',
  version: 3,
  family: 'RELEASES',
  subjects: ['release.opened.>', 'release.seen.>', 'release.merged.>', 'release.settled'],
  schemaSql: sqlFile(import.meta.url, 'schema.sql'),
  mergeSql: sqlFile(import.meta.url, 'merge.sql'),
  load: loadMerges,
  project: projectCatalog,
  finish: finishReleases,
  staging: [
    stagingTable('stage_catalog_source', SOURCE_COLUMNS),
    stagingTable('stage_catalog_group', 'n int4, name text'),
    stagingTable('stage_catalog_list', 'n int4, names text[]'),
    stagingTable('stage_catalog_name', 'name text, tokens text[]'),
    stagingTable(
      'stage_catalog_contribution',
      `n int4, position int8, at int8, source_n int4, run int4, pass int4, key uuid, posting int4, first_number int8,
      last_number int8, first_at int8, last_at int8, bytes int8, par2_bytes int8, chunks_position int8,
      files int4, files_complete int4, files_total int4, segments int4, segments_total int4, par2_files int4,
      par2_segments int4, par2_segments_total int4, chunks int4, group_n int4, list_n int4, category int2,
      has_nfo bool, obfuscated bool, name text, poster text, file_hashes bytea`,
    ),
    stagingTable('stage_catalog_merge', MERGE_COLUMNS),
    stagingTable('stage_catalog_piece', PIECE_COLUMNS),
    stagingTable('stage_catalog_replaced', REPLACED_COLUMNS),
    stagingTable('stage_catalog_settlement', SETTLEMENT_COLUMNS),
    // Scratch space of merge.sql.
    stagingTable('stage_catalog_gone', 'source_id int4'),
    stagingTable('stage_catalog_resolved', `n int4, source_id int4, old_run int4, old_pass int4, run int4, pass int4`),
    stagingTable('stage_catalog_affected', 'key uuid'),
    stagingTable('stage_catalog_key', 'key uuid'),
    stagingTable(
      'stage_catalog_member',
      `key uuid, source_id int4, posting int4, backbone_id int4, epoch int4, birth uuid, at int8, first_at int8, last_at int8,
      bytes int8, par2_bytes int8, chunks_position int8, files int4, files_complete int4, files_total int4,
      segments int4, segments_total int4, par2_files int4, par2_segments int4, par2_segments_total int4, group_id int4,
      group_name text, category int2, has_nfo bool, obfuscated bool, name text, poster text, groups int4[]`,
    ),
    stagingTable('stage_catalog_settled', SETTLEMENT_COLUMNS),
    stagingTable('stage_catalog_named', 'key uuid, source_id int4, posting int4, name text'),
    stagingTable('stage_catalog_place', 'key uuid, source_id int4, posting int4, component int8'),
    stagingTable(
      'stage_catalog_birth',
      'id uuid, key uuid, first_at int8, last_at int8, position int8, redirect_to uuid',
    ),
    stagingTable('stage_catalog_assigned', 'id uuid, key uuid, position int8, component int8'),
    stagingTable('stage_catalog_identity', 'key uuid, component int8, release_id uuid'),
    stagingTable('stage_catalog_redirect', 'id uuid, redirect_to uuid'),
  ],
};
