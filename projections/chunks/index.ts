import { SOURCE_COLUMNS } from '../batchSources.ts';
import { type Projection, sqlFile, stagingTable } from '../projection.ts';
import { projectChunks } from './project.ts';

export const chunks: Projection<void> = {
  name: 'chunks',
  version: 1,
  family: 'CHUNKS',
  subjects: ['chunks.opened.>', 'chunks.written.>'],
  schemaSql: sqlFile(import.meta.url, 'schema.sql'),
  mergeSql: sqlFile(import.meta.url, 'merge.sql'),
  project: projectChunks,
  staging: [
    stagingTable('stage_chunks_source', SOURCE_COLUMNS),
    stagingTable(
      'stage_chunks_chunk',
      `source_n int4, run int4, pass int4, key uuid, posting int4, k int4, first_at int8, last_at int8, segments int4,
       payload bytea`,
    ),
    // Scratch space of merge.sql.
    stagingTable('stage_chunks_resolved', 'n int4, source_id int4, old_run int4, raised bool, run int4, pass int4'),
  ],
};
