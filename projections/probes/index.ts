import { SOURCE_COLUMNS } from '../batchSources.ts';
import { type Projection, sqlFile, stagingTable } from '../projection.ts';
import { projectProbes } from './project.ts';

export const probes: Projection<void> = {
  name: 'probes',
  version: 1,
  family: 'RELEASES',
  subjects: ['release.opened.>', 'release.settled', 'probe.candidates.>'],
  schemaSql: sqlFile(import.meta.url, 'schema.sql'),
  mergeSql: sqlFile(import.meta.url, 'merge.sql'),
  project: projectProbes,
  staging: [
    stagingTable('stage_probes_source', SOURCE_COLUMNS),
    stagingTable(
      'stage_probes_candidate',
      `n int4, position int8, at int8, source_n int4, run int4, pass int4, key uuid, kind text, preference int2, rank int8,
       message_id text, file_hash bytea, part int8, bytes int8, random bool, first_at int8, last_at int8`,
    ),
    stagingTable('stage_probes_settled', 'position int8, n int4, key uuid, first_at int8, last_at int8'),
    // Scratch space of merge.sql.
    stagingTable('stage_probes_resolved', 'n int4, source_id int4, old_run int4, raised bool, run int4, pass int4'),
    stagingTable('stage_probes_affected', 'key uuid'),
    stagingTable('stage_probes_key', 'key uuid'),
    stagingTable(
      'stage_probes_member',
      `key uuid, component int8, position int8, at int8, rank int8, part int8, bytes int8, first_at int8, last_at int8,
       preference int2, random bool, kind text, message_id text, file_hash bytea`,
    ),
    stagingTable('stage_probes_release', 'key uuid, component int8, first_at int8, last_at int8, settled bool'),
    stagingTable('stage_probes_row', 'key uuid, kind text, message_id text, attempts int4'),
    stagingTable('stage_probes_gone', 'key uuid, kind text, message_id text, attempts int4'),
    stagingTable(
      'stage_probes_chosen',
      `key uuid, kind text, message_id text, file_hash bytea, part int8, bytes int8, random bool, first_at int8,
       last_at int8, at int8, priority int2`,
    ),
  ],
};
