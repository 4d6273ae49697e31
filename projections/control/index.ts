import type { StoredEvent } from '../../streams/envelope.ts';
import type { SqlValue } from '../ports.ts';
import { type Projection, type StagedRows, sqlFile, stagingTable } from '../projection.ts';

/** The staged rows of a batch of CONTROL. */
export function projectControl(events: readonly StoredEvent[]): StagedRows {
  const lists: SqlValue[][] = [];
  const garbage: SqlValue[][] = [];
  for (const { event } of events) {
    if (event.type === 'control.groups') {
      lists.push([lists.length, event.data.listVersion, JSON.stringify(event.data), event.at]);
    } else if (event.type === 'control.garbage') {
      garbage.push([garbage.length, event.data.garbageVersion, JSON.stringify(event.data), event.at]);
    }
  }
  return { stage_control_list: lists, stage_control_garbage: garbage };
}

export const control: Projection<void> = {
  name: 'control',
  version: 2,
  family: 'CONTROL',
  subjects: ['control.groups.>', 'control.garbage.>'],
  schemaSql: sqlFile(import.meta.url, 'schema.sql'),
  mergeSql: sqlFile(import.meta.url, 'merge.sql'),
  project: projectControl,
  staging: [
    stagingTable('stage_control_list', 'n int4, list_version int4, list jsonb, at int8'),
    stagingTable('stage_control_garbage', 'n int4, garbage_version int4, garbage jsonb, at int8'),
  ],
};
