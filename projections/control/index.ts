import type { StoredEvent } from '../../streams/envelope.ts';
import type { SqlValue } from '../ports.ts';
import { type Projection, type StagedRows, sqlFile, stagingTable } from '../projection.ts';

/** The staged rows of a batch of CONTROL. */
export function projectControl(events: readonly StoredEvent[]): StagedRows {
  const lists: SqlValue[][] = [];
  for (const { event } of events) {
    if (event.type !== 'control.groups') continue;
    lists.push([lists.length, event.data.listVersion, JSON.stringify(event.data), event.at]);
  }
  return { stage_control_list: lists };
}

export const control: Projection<void> = {
  name: 'control',
  version: 1,
  family: 'CONTROL',
  subjects: ['control.groups.>'],
  schemaSql: sqlFile(import.meta.url, 'schema.sql'),
  mergeSql: sqlFile(import.meta.url, 'merge.sql'),
  project: projectControl,
  staging: [stagingTable('stage_control_list', 'n int4, list_version int4, list jsonb, at int8')],
};
