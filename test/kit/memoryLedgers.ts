/**
 * The projections that processors read, worked out from an in-memory log whenever they are asked. `lagging` holds the
 * ledger where it is, as a projection that does not get on. The life of a range is that of the projection itself.
 */

import { mergeIntervals, subtractIntervals } from '../../processors/intervals.ts';
import type { GroupLists, LedgerRun, PassLedger, RangeLedger, RangeRun, RangeState } from '../../processors/ports.ts';
import { rangeKeyText, rangeSteps } from '../../projections/ranges/project.ts';
import type { RangeKey, RangeRecord } from '../../projections/ranges/step.ts';
import type { HeadwaterEvent } from '../../streams/events/index.ts';
import { ArticleNumber, type Backbone, type Epoch, type EpochMs, type Group, RangeId } from '../../streams/ids.ts';
import type { Interval } from '../../streams/records.ts';
import type { MemoryEvents } from './memoryEvents.ts';
import { decoded } from './memoryStream.ts';

const nameOf = (run: RangeRun): string => `${run.backbone}/${run.group}/${run.rangeId}/${run.run}`;

interface Row {
  readonly key: RangeKey;
  readonly record: RangeRecord;
}

const runOfRow = ({ key, record }: Row): LedgerRun => {
  const ends = { lo: ArticleNumber(key.lo), hi: ArticleNumber(key.hi) };
  const { backbone, group, epoch } = key;
  const rangeId = RangeId.of(epoch, ends.lo, ends.hi);
  return { backbone, group, epoch, rangeId, run: record.run, lane: record.lane, ...ends };
};

/** Of equal times by place, as the projection orders them. */
const byPlace = (a: Row, b: Row): number =>
  a.key.group < b.key.group ? -1 : a.key.group > b.key.group ? 1 : a.key.epoch - b.key.epoch || a.key.lo - b.key.lo;

export class MemoryRangeLedger implements RangeLedger {
  readonly #events: MemoryEvents;
  /** The RANGES sequence that the ledger does not get beyond; null: it follows at once. */
  lagging: number | null = null;

  constructor(events: MemoryEvents) {
    this.#events = events;
  }

  /** Stops the ledger where the stream is now. */
  freeze(): void {
    this.lagging = this.#events.stream('RANGES').last;
  }

  async position() {
    const last = this.#events.stream('RANGES').last;
    return { number: 1, sequence: Math.min(last, this.lagging ?? last) };
  }

  /** What was read of the stream so far; nothing in a stream changes, so only what is new is looked at. */
  readonly #read: HeadwaterEvent[] = [];
  #folded: { readonly end: number; readonly rows: ReadonlyMap<string, Row> } = { end: 0, rows: new Map() };

  #seen(): readonly HeadwaterEvent[] {
    const { messages, last } = this.#events.stream('RANGES');
    for (const message of messages.slice(this.#read.length)) this.#read.push(decoded(message).event);
    return this.#read.slice(0, Math.min(last, this.lagging ?? last));
  }

  #rows(): ReadonlyMap<string, Row> {
    const seen = this.#seen();
    if (this.#folded.end === seen.length) return this.#folded.rows;
    const rows = new Map<string, Row>();
    for (const event of seen) {
      for (const [{ backbone, group, epoch, lo, hi }, next] of rangeSteps(event)) {
        const key = { backbone, group, epoch, lo, hi };
        const record = next(rows.get(rangeKeyText(key))?.record ?? null);
        if (record) rows.set(rangeKeyText(key), { key, record });
      }
    }
    this.#folded = { end: seen.length, rows };
    return rows;
  }

  #of(backbone: Backbone, keep: (record: RangeRecord) => boolean): readonly Row[] {
    return [...this.#rows().values()].filter(({ key, record }) => key.backbone === backbone && keep(record));
  }

  async planned(backbone: Backbone, group: Group, epoch: Epoch) {
    const own = this.#of(backbone, () => true).filter(({ key }) => key.group === group && key.epoch === epoch);
    return mergeIntervals(own.map(({ key }): Interval => [key.lo, key.hi]));
  }

  async outstanding() {
    const open = [...this.#rows().values()].filter(
      ({ record: { state } }) => state === 'planned' || state === 'fetched',
    );
    const unfetched = open.filter(({ record }) => record.state === 'planned');
    return { ranges: open.length, numbers: unfetched.reduce((n, { key: { lo, hi } }) => n + hi - lo + 1, 0) };
  }

  async marks(backbone: Backbone) {
    const marks = new Map<string, Awaited<ReturnType<RangeLedger['marks']>>[number]>();
    let readAt: EpochMs | null = null;
    for (const event of this.#seen()) {
      if (event.type !== 'range.marks' || event.data.backbone !== backbone) continue;
      if (readAt === null || event.at > readAt) readAt = event.at;
      for (const mark of event.data.marks) {
        if ((marks.get(mark.group)?.epoch ?? 0) <= mark.epoch) marks.set(mark.group, { ...mark, readAt });
      }
    }
    return [...marks.values()].map((mark) => ({ ...mark, readAt: readAt ?? mark.readAt }));
  }

  async lastHigh(backbone: Backbone, group: Group, epoch: Epoch) {
    let high: ArticleNumber | null = null;
    for (const event of this.#seen()) {
      if (event.type !== 'range.marks' || event.data.backbone !== backbone) continue;
      for (const mark of event.data.marks) if (mark.group === group && mark.epoch === epoch) high = mark.high;
    }
    return high;
  }

  async unfetched(backbone: Backbone) {
    const rows = this.#of(backbone, ({ state, lane }) => state === 'planned' && lane !== 'import');
    return [...rows].sort(byPlace).map(runOfRow);
  }

  async short(backbone: Backbone, most: Parameters<RangeLedger['short']>[1]) {
    const all = this.#rows();
    const rows = this.#of(backbone, ({ state, parsedAt }) => state === 'short' && parsedAt! <= most.parsedUpTo);
    const due = [...rows].sort((a, b) => a.record.parsedAt! - b.record.parsedAt! || byPlace(a, b)).slice(0, most.runs);
    return due.map((row) => ({
      ...runOfRow(row),
      missing: row.record.missing!.slice(0, most.intervals).map(([lo, hi]) => {
        const run = all.get(rangeKeyText({ ...row.key, lo, hi }))?.record.run ?? 0;
        return { lo: ArticleNumber(lo), hi: ArticleNumber(hi), run };
      }),
    }));
  }

  async toRetry(backbone: Backbone, limit: number) {
    const rows = this.#of(backbone, ({ state, retry, lane }) => state === 'failed' && retry && lane !== 'import');
    return [...rows]
      .sort((a, b) => a.record.endedAt! - b.record.endedAt! || byPlace(a, b))
      .slice(0, limit)
      .map(runOfRow);
  }

  async returned(backbone: Backbone, open: Parameters<RangeLedger['returned']>[1], limit: number) {
    const rows = this.#of(backbone, ({ state, retry, lane }) => state === 'retired' && retry && lane !== 'import');
    return rows
      .filter(({ key }) => open.some((o) => o.group === key.group && o.epoch === key.epoch && key.hi >= o.from))
      .sort((a, b) => a.record.endedAt! - b.record.endedAt! || byPlace(a, b))
      .slice(0, limit)
      .map(runOfRow);
  }

  async wanted(backbone: Backbone) {
    const wishes = new Map<string, { readonly group: Group; readonly epoch: Epoch; readonly windows: Interval[] }>();
    for (const event of this.#seen()) {
      if (event.type !== 'range.wanted' || event.data.backbone !== backbone) continue;
      for (const { group, epoch, lo, hi } of event.data.windows) {
        const name = `${group}/${epoch}`;
        if (!wishes.has(name)) wishes.set(name, { group, epoch, windows: [] });
        wishes.get(name)!.windows.push([lo, hi]);
      }
    }
    const open = [];
    for (const [, { group, epoch, windows }] of [...wishes].sort(([a], [b]) => (a < b ? -1 : 1))) {
      const planned = await this.planned(backbone, group, epoch);
      const numbers = mergeIntervals(windows).flatMap((window) => subtractIntervals(window, planned));
      if (numbers.length > 0) open.push({ group, epoch, numbers });
    }
    return open;
  }

  async stateOf(run: RangeRun): Promise<RangeState | null> {
    const key = { ...run, ...RangeId.parse(run.rangeId) };
    const record = this.#rows().get(rangeKeyText(key))?.record;
    if (!record || record.run < run.run) return null;
    return record.run > run.run ? 'retired' : record.state;
  }
}

export class MemoryGroupLists implements GroupLists {
  readonly #events: MemoryEvents;
  constructor(events: MemoryEvents) {
    this.#events = events;
  }
  async current() {
    return this.#events.events('CONTROL', 'control.groups').at(-1)?.data ?? null;
  }
  async version(listVersion: number) {
    const all = this.#events.events('CONTROL', 'control.groups');
    return all.find(({ data }) => data.listVersion === listVersion)?.data ?? null;
  }
}

export class MemoryPasses implements PassLedger {
  readonly #events: MemoryEvents;
  constructor(events: MemoryEvents) {
    this.#events = events;
  }
  async highestPass(run: RangeRun) {
    const opened = this.#events.events('RELEASES', 'release.opened').filter(({ data }) => nameOf(data) === nameOf(run));
    return Math.max(0, ...opened.map(({ data }) => data.pass));
  }
}
