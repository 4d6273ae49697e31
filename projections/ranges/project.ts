import type { StoredEvent } from '../../streams/envelope.ts';
import type { HeadwaterEvent } from '../../streams/events/index.ts';
import type { GroupMark, RangeMarks } from '../../streams/events/ranges.ts';
import type { Backbone } from '../../streams/ids.ts';
import type { Interval } from '../../streams/records.ts';
import type { SqlValue } from '../ports.ts';
import { packPosition } from '../position.ts';
import type { StagedRows } from '../projection.ts';
import { failed, fetched, parsed, planned, plannedKeys, type RangeKey, type RangeRecord, retired } from './step.ts';

/** The records that a batch starts from, by `rangeKeyText`. */
export type StoredRanges = ReadonlyMap<string, RangeRecord>;

export const rangeKeyText = (k: RangeKey): string => `${k.backbone}/${k.group}/${k.epoch}/${k.lo}/${k.hi}`;

type RangeEvent = HeadwaterEvent<'range.planned' | 'range.fetched' | 'range.parsed' | 'range.failed' | 'range.retired'>;
const isRangeEvent = (event: HeadwaterEvent): event is RangeEvent =>
  event.type.startsWith('range.') && event.type !== 'range.marks';

/** Every range that the events speak of. */
export function touchedRanges(events: readonly StoredEvent[]): readonly RangeKey[] {
  const touched = new Map<string, RangeKey>();
  for (const { event } of events) {
    if (!isRangeEvent(event)) continue;
    const keys = event.type === 'range.planned' ? plannedKeys(event.data) : [event.data];
    for (const key of keys) touched.set(rangeKeyText(key), key);
  }
  return [...touched.values()];
}

/** The multirange literal of closed intervals. */
export const multirange = (intervals: readonly Interval[]): string =>
  `{${intervals.map(([lo, hi]) => `[${lo},${hi}]`).join(',')}}`;

const pack = (position: RangeRecord['chunksPosition']) => (position ? packPosition(position) : null);

const rowOf = (k: RangeKey, r: RangeRecord): readonly SqlValue[] => [
  ...[k.backbone, k.group, k.epoch, k.lo, k.hi, r.run, r.pass, r.lane, r.state],
  ...[r.failure?.stage ?? null, r.failure?.class ?? null, r.failure?.code ?? null, r.failure?.message ?? null],
  ...[r.listVersion, r.garbageVersion, r.batches, r.lines, r.rawBytes, r.firstAt, r.lastAt],
  ...[r.missing ? multirange(r.missing) : null, r.kept, JSON.stringify(r.skipped), r.releases, r.files, r.segments],
  ...[pack(r.releasesPosition), pack(r.chunksPosition), r.plannedAt, r.fetchedAt, r.parsedAt, r.endedAt],
];

function step(event: Exclude<RangeEvent, { type: 'range.planned' }>, before: RangeRecord | null) {
  switch (event.type) {
    case 'range.fetched':
      return fetched(before, event.data, event.at);
    case 'range.parsed':
      return parsed(before, event.data, event.at);
    case 'range.failed':
      return failed(before, event.data, event.at);
    case 'range.retired':
      return retired(before, event.data, event.at);
  }
}

/** The last marks of every group that a batch speaks of, and the last poll of every backbone. */
class Marks {
  readonly #marks = new Map<string, { backbone: Backbone; mark: GroupMark; at: number }>();
  readonly #polls = new Map<Backbone, number>();

  take({ backbone, marks }: RangeMarks, at: number): void {
    this.#polls.set(backbone, Math.max(at, this.#polls.get(backbone) ?? at));
    for (const mark of marks) this.#marks.set(`${backbone}/${mark.group}/${mark.epoch}`, { backbone, mark, at });
  }
  rows(): StagedRows {
    return {
      stage_ranges_poll: [...this.#polls],
      stage_ranges_mark: [...this.#marks.values()].map(({ backbone, mark, at }) => [
        ...[backbone, mark.group, mark.epoch, mark.low, mark.high, at],
      ]),
    };
  }
}

/** The staged rows of a batch of RANGES: every touched range as it is after the batch. Pure. */
export function projectRanges(events: readonly StoredEvent[], stored: StoredRanges): StagedRows {
  const records = new Map<string, RangeRecord>(stored);
  const marks = new Marks();
  const put = (key: RangeKey, next: (before: RangeRecord | null) => RangeRecord | null) => {
    const text = rangeKeyText(key);
    const after = next(records.get(text) ?? null);
    if (after) records.set(text, after);
  };
  for (const { event } of events) {
    if (event.type === 'range.marks') marks.take(event.data, event.at);
    else if (event.type === 'range.planned') {
      for (const key of plannedKeys(event.data)) put(key, (r) => planned(r, { ...event.data, ...key }, event.at));
    } else if (isRangeEvent(event)) put(event.data, (r) => step(event, r));
  }
  const changed = touchedRanges(events).flatMap((key) => {
    const record = records.get(rangeKeyText(key));
    return record && record !== stored.get(rangeKeyText(key)) ? [rowOf(key, record)] : [];
  });
  return { stage_ranges_range: changed, ...marks.rows() };
}
