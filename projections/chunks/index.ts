import { loadMerges, MERGE_COLUMNS, PIECE_COLUMNS, REPLACED_COLUMNS, type StoredMerges } from '../batchMerges.ts';
import { SOURCE_COLUMNS } from '../batchSources.ts';
import { type Projection, sqlFile, stagingTable } from '../projection.ts';
import { projectChunks } from './project.ts';

export const chunks: Projection<StoredMerges> = {
  name: 'chunks',
  version: 2,
  family: 'CHUNKS',
  subjects: ['chunks.opened.>', 'chunks.written.>', 'chunks.merged.>'],
  schemaSql: sqlFile(import.meta.url, 'schema.sql'),
  mergeSql: sqlFile(import.meta.url, 'merge.sql'),
  load: loadMerges,
  project: projectChunks,
  staging: [
    stagingTable('stage_chunks_source', SOURCE_COLUMNS),
    stagingTable(
      'stage_chunks_chunk',
      `source_n int4, run int4, pass int4, key uuid, posting int4, k int4, first_at int8, last_at int8, segments int4,
       payload bytea`,
    ),
    stagingTable('stage_chunks_merge', MERGE_COLUMNS),
    stagingTable('stage_chunks_piece', PIECE_COLUMNS),
    stagingTable('stage_chunks_replaced', REPLACED_COLUMNS),
    // Scratch space of merge.sql.
    stagingTable('stage_chunks_gone', 'source_id int4'),
    stagingTable('stage_chunks_resolved', 'n int4, source_id int4, old_run int4, raised bool, run int4, pass int4'),
  ],
};
