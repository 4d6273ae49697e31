/** The closed union of everything that is said. A new event is added here; nothing registers itself. */
import { chunksMerged, chunksOpened, chunksWritten } from './chunks.ts';
import { controlGarbage, controlGroups } from './control.ts';
import type { EventDefinition, EventOf } from './define.ts';
import { incidentClosed, incidentOpened, opsService } from './ops.ts';
import { overviewBatch } from './overview.ts';
import { probeCandidates } from './probes.ts';
import {
  rangeFailed,
  rangeFetched,
  rangeMarks,
  rangeParsed,
  rangePlanned,
  rangeRetired,
  rangeRetried,
  rangeWanted,
} from './ranges.ts';
import { releaseFragments, releaseMerged, releaseOpened, releaseSeen, releaseSettled } from './releases.ts';

export const EVENTS = {
  'control.groups': controlGroups,
  'control.garbage': controlGarbage,
  'range.planned': rangePlanned,
  'range.fetched': rangeFetched,
  'range.parsed': rangeParsed,
  'range.failed': rangeFailed,
  'range.retired': rangeRetired,
  'range.retried': rangeRetried,
  'range.wanted': rangeWanted,
  'range.marks': rangeMarks,
  'overview.batch': overviewBatch,
  'release.opened': releaseOpened,
  'release.seen': releaseSeen,
  'release.fragments': releaseFragments,
  'release.merged': releaseMerged,
  'release.settled': releaseSettled,
  'probe.candidates': probeCandidates,
  'chunks.opened': chunksOpened,
  'chunks.written': chunksWritten,
  'chunks.merged': chunksMerged,
  'ops.service': opsService,
  'ops.incident.opened': incidentOpened,
  'ops.incident.closed': incidentClosed,
} as const;

export type EventType = keyof typeof EVENTS;
export type DataOf<T extends EventType> = (typeof EVENTS)[T] extends EventDefinition<T, infer Data> ? Data : never;
/** One event of the type(s) T; without T any event of Headwater, discriminated by `type`. */
export type HeadwaterEvent<T extends EventType = EventType> = { [K in T]: EventOf<K, DataOf<K>> }[T];

export const isEventType = (type: string): type is EventType => Object.hasOwn(EVENTS, type);
/** The definition of a type, its data type forgotten: for code that treats all events alike. */
export const definitionOf = (type: EventType): EventDefinition<EventType, unknown> =>
  EVENTS[type] as unknown as EventDefinition<EventType, unknown>;

export type { EventDefinition, EventOf } from './define.ts';
export { makeEvent, PAYLOAD_BYTES_MAX } from './define.ts';
