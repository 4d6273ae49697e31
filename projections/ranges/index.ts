import type { StoredEvent } from '../../streams/envelope.ts';
import type { Sql, SqlRow } from '../ports.ts';
import { unpackPosition } from '../position.ts';
import { type Projection, sqlFile, stagingTable } from '../projection.ts';
import { projectRanges, rangeKeyText, type StoredRanges, touchedRanges } from './project.ts';
import type { RangeFailure, RangeKey, RangeRecord } from './step.ts';

const RANGE_COLUMNS = `
  backbone text, group_name text, epoch int4, lo int8, hi int8, run int4, pass int4, lane text, state text,
  failure_stage text, failure_class text, failure_code text, failure_message text, list_version int4,
  garbage_version int4, batches int4, lines int8, raw_bytes int8, first_at int8, last_at int8, missing text, kept int8,
  skipped jsonb, releases int8, files int8, segments int8, releases_position int8, chunks_position int8,
  planned_at int8, fetched_at int8, parsed_at int8, ended_at int8,
  reask bool, retry bool`;

const LOAD = `
  select n.backbone, n.group_name as "group", n.epoch, r.lo, r.hi, r.run, r.pass, r.lane, r.state, r.failure_stage,
         r.failure_class, r.failure_code, r.failure_message, r.list_version as "listVersion",
         r.garbage_version as "garbageVersion", r.batches, r.lines, r.raw_bytes as "rawBytes", r.first_at as "firstAt",
         r.last_at as "lastAt", r.kept, r.skipped, r.releases, r.files, r.segments, r.releases_position,
         r.chunks_position, r.planned_at as "plannedAt", r.fetched_at as "fetchedAt", r.parsed_at as "parsedAt",
         r.ended_at as "endedAt", r.reask, r.retry
    from unnest($1::text[], $2::text[], $3::int4[], $4::int8[], $5::int8[]) as k (backbone, group_name, epoch, lo, hi)
    join numbering n on (n.backbone, n.group_name, n.epoch) = (k.backbone, k.group_name, k.epoch)
    join range r on (r.numbering_id, r.lo, r.hi) = (n.id, k.lo, k.hi)`;

const positionOrNull = (packed: unknown) => (typeof packed === 'number' ? unpackPosition(packed) : null);

function recordOf(row: SqlRow): RangeRecord {
  const { failure_stage, failure_class, failure_code, failure_message, ...rest } = row;
  const failure = { stage: failure_stage, class: failure_class, code: failure_code, message: failure_message };
  return {
    ...(rest as unknown as RangeRecord),
    failure: failure_stage === null ? null : (failure as RangeFailure),
    releasesPosition: positionOrNull(row.releases_position),
    chunksPosition: positionOrNull(row.chunks_position),
    missing: null,
  };
}

async function loadRanges(tx: Sql, events: readonly StoredEvent[]): Promise<StoredRanges> {
  const keys = touchedRanges(events);
  const column = <K extends keyof RangeKey>(name: K) => keys.map((key) => key[name]);
  const place = [column('backbone'), column('group'), column('epoch'), column('lo'), column('hi')];
  const rows = await tx.query<SqlRow & RangeKey>(LOAD, place);
  return new Map(rows.map((row) => [rangeKeyText(row), recordOf(row)]));
}

export const ranges: Projection<StoredRanges> = {
  name: 'ranges',
  version: 3,
  family: 'RANGES',
  subjects: [],
  schemaSql: sqlFile(import.meta.url, 'schema.sql'),
  mergeSql: sqlFile(import.meta.url, 'merge.sql'),
  load: loadRanges,
  project: projectRanges,
  staging: [
    stagingTable('stage_ranges_range', RANGE_COLUMNS),
    stagingTable('stage_ranges_mark', 'backbone text, group_name text, epoch int4, low int8, high int8, at int8'),
    stagingTable('stage_ranges_wanted', 'backbone text, group_name text, epoch int4, lo int8, hi int8'),
    stagingTable('stage_ranges_poll', 'backbone text, read_at int8'),
  ],
};
