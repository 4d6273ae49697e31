import type { StoredEvent } from '../../streams/envelope.ts';
import type { HeadwaterEvent } from '../../streams/events/index.ts';
import type { GroupMark, RangeMarks, RangeWanted } from '../../streams/events/ranges.ts';
import { type Backbone, type Group, RangeId } from '../../streams/ids.ts';
import type { Interval } from '../../streams/records.ts';
import type { SqlValue } from '../ports.ts';
import { packPosition } from '../position.ts';
import type { StagedRows } from '../projection.ts';
import {
  failed,
  fetched,
  parsed,
  planned,
  plannedKeys,
  type RangeKey,
  type RangeRecord,
  reasked,
  retired,
  retried,
} from './step.ts';

/** The records that a batch starts from, by `rangeKeyText`. */
export type StoredRanges = ReadonlyMap<string, RangeRecord>;

export const rangeKeyText = (k: RangeKey): string => `${k.backbone}/${k.group}/${k.epoch}/${k.lo}/${k.hi}`;

interface RunRef {
  readonly group: Group;
  readonly rangeId: RangeId;
  readonly run: number;
}

/** Where the range lies that a run is named by. */
export const keyOfRun = (backbone: Backbone, { group, rangeId }: RunRef): RangeKey => {
  return { backbone, group, ...RangeId.parse(rangeId) };
};

/** What becomes of one range by an event; an event may concern many. */
export type RangeStep = readonly [key: RangeKey, next: (before: RangeRecord | null) => RangeRecord | null];

/** The steps of an event, in order; none for those that speak of no range. */
export function rangeSteps(event: HeadwaterEvent): readonly RangeStep[] {
  switch (event.type) {
    case 'range.planned': {
      const { reasks, ...plan } = event.data;
      const steps = plannedKeys(event.data).map((key): RangeStep => {
        return [key, (r) => planned(r, { ...plan, ...key, reask: reasks !== undefined }, event.at)];
      });
      return reasks ? [...steps, [keyOfRun(plan.backbone, reasks), (r) => reasked(r, reasks.run)]] : steps;
    }
    case 'range.fetched':
      return [[event.data, (r) => fetched(r, event.data, event.at)]];
    case 'range.parsed':
      return [[event.data, (r) => parsed(r, event.data, event.at)]];
    case 'range.failed':
      return [[event.data, (r) => failed(r, event.data, event.at)]];
    case 'range.retired':
      return [[event.data, (r) => retired(r, event.data, event.at)]];
    case 'range.retried':
      return event.data.runs.map((run) => [keyOfRun(event.data.backbone, run), (r) => retried(r, run.run)]);
    default:
      return [];
  }
}

/** Every range that the events speak of. */
export function touchedRanges(events: readonly StoredEvent[]): readonly RangeKey[] {
  const touched = new Map<string, RangeKey>();
  for (const { event } of events) for (const [key] of rangeSteps(event)) touched.set(rangeKeyText(key), key);
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
  ...[
    pack(r.releasesPosition),
    pack(r.chunksPosition),
    r.plannedAt,
    r.fetchedAt,
    r.parsedAt,
    r.endedAt,
    r.reask,
    r.retry,
  ],
];

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

const wantedRows = ({ backbone, windows }: RangeWanted): readonly (readonly SqlValue[])[] =>
  windows.map(({ group, epoch, lo, hi }) => [backbone, group, epoch, lo, Math.max(lo, hi)]);

/** The staged rows of a batch of RANGES: every touched range as it is after the batch. Pure. */
export function projectRanges(events: readonly StoredEvent[], stored: StoredRanges): StagedRows {
  const records = new Map<string, RangeRecord>(stored);
  const marks = new Marks();
  const wanted: (readonly SqlValue[])[] = [];
  for (const { event } of events) {
    if (event.type === 'range.marks') marks.take(event.data, event.at);
    else if (event.type === 'range.wanted') wanted.push(...wantedRows(event.data));
    for (const [key, next] of rangeSteps(event)) {
      const text = rangeKeyText(key);
      const after = next(records.get(text) ?? null);
      if (after) records.set(text, after);
    }
  }
  const changed = touchedRanges(events).flatMap((key) => {
    const record = records.get(rangeKeyText(key));
    return record && record !== stored.get(rangeKeyText(key)) ? [rowOf(key, record)] : [];
  });
  return { stage_ranges_range: changed, stage_ranges_wanted: wanted, ...marks.rows() };
}
