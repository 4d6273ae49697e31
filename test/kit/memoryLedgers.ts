/**
 * The projections that processors read, worked out from an in-memory log whenever they are asked. `lagging` holds the
 * ledger where it is, as a projection that does not get on.
 */

import { mergeIntervals } from '../../processors/intervals.ts';
import type { GroupLists, PassLedger, RangeLedger, RangeRun, RangeState } from '../../processors/ports.ts';
import type { HeadwaterEvent } from '../../streams/events/index.ts';
import type { Interval } from '../../streams/records.ts';
import type { MemoryEvents } from './memoryEvents.ts';
import { decoded } from './memoryStream.ts';

const nameOf = (run: RangeRun): string => `${run.backbone}/${run.group}/${run.rangeId}/${run.run}`;

interface Row {
  readonly lane: string;
  readonly interval: Interval;
  readonly group: string;
  readonly backbone: string;
  readonly epoch: number;
  state: RangeState;
}

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

  #seen(): readonly HeadwaterEvent[] {
    const end = this.lagging ?? Number.POSITIVE_INFINITY;
    const { messages } = this.#events.stream('RANGES');
    return messages.filter((m) => m.sequence <= end).map((m) => decoded(m).event);
  }

  #rows(): Map<string, Row> {
    const rows = new Map<string, Row>();
    const set = (run: RangeRun, state: RangeState) => {
      const row = rows.get(nameOf(run));
      if (row && row.state !== 'parsed' && row.state !== 'failed' && row.state !== 'retired') row.state = state;
    };
    for (const event of this.#seen()) {
      if (event.type === 'range.planned') {
        const { lane, backbone } = event.data;
        for (const range of event.data.ranges) {
          const name = nameOf({ backbone, ...range });
          const interval: Interval = [range.lo, range.hi];
          if (!rows.has(name)) rows.set(name, { ...range, lane, backbone, interval, state: 'planned' });
        }
      } else if (event.type === 'range.fetched') set(event.data, 'fetched');
      else if (event.type === 'range.parsed') set(event.data, 'parsed');
      else if (event.type === 'range.failed') set(event.data, 'failed');
      else if (event.type === 'range.retired') set(event.data, 'retired');
    }
    return rows;
  }

  async planned(backbone: string, group: string, epoch: number) {
    const rows = [...this.#rows().values()];
    const own = rows.filter((r) => r.backbone === backbone && r.group === group && r.epoch === epoch);
    return mergeIntervals(own.map((r) => r.interval));
  }

  async outstanding() {
    const open = [...this.#rows().values()].filter((r) => r.state === 'planned' || r.state === 'fetched');
    const unfetched = open.filter((r) => r.state === 'planned');
    return { ranges: open.length, numbers: unfetched.reduce((n, { interval: [lo, hi] }) => n + hi - lo + 1, 0) };
  }

  async marks(backbone: string) {
    const marks = new Map<string, Awaited<ReturnType<RangeLedger['marks']>>[number]>();
    for (const event of this.#seen()) {
      if (event.type !== 'range.marks' || event.data.backbone !== backbone) continue;
      for (const mark of event.data.marks) marks.set(mark.group, { ...mark, readAt: event.at });
    }
    return [...marks.values()];
  }

  async stateOf(run: RangeRun): Promise<RangeState | null> {
    return this.#rows().get(nameOf(run))?.state ?? null;
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
