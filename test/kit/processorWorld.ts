import { silentLog } from '../../infra/base/log.ts';
import { noMetrics } from '../../infra/base/metrics.ts';
import type { Conditions } from '../../processors/ports.ts';
import type { Backfill, GroupList } from '../../streams/events/control.ts';
import { controlGroups } from '../../streams/events/control.ts';
import { makeEvent } from '../../streams/events/index.ts';
import { EpochMs, Group } from '../../streams/ids.ts';
import { ManualClock } from './manualClock.ts';
import { MemoryEvents } from './memoryEvents.ts';
import { MemoryGarbageTables } from './memoryGarbage.ts';
import { MemoryGroupLists, MemoryPasses, MemoryRangeLedger } from './memoryLedgers.ts';

/** Conditions that are open now, and every report in order. */
export class OpenConditions implements Conditions {
  readonly open = new Map<string, Error>();
  readonly reports: string[] = [];
  report(about: string, error: Error): void {
    this.open.set(about, error);
    this.reports.push(about);
  }
  clear(about: string): void {
    this.open.delete(about);
  }
}

/** Every port of a processor in memory, on a clock that tests move. */
export const processorWorld = () => {
  const clock = new ManualClock();
  const conditions = new OpenConditions();
  const events = new MemoryEvents({ clock, conditions });
  const ledger = new MemoryRangeLedger(events);
  return {
    clock,
    conditions,
    events,
    ledger,
    log: silentLog,
    metrics: noMetrics,
    sink: events,
    source: events,
    reader: events,
    overview: events,
    groupLists: new MemoryGroupLists(events),
    garbageTables: new MemoryGarbageTables(events),
    passes: new MemoryPasses(events),
  };
};
export type ProcessorWorld = ReturnType<typeof processorWorld>;

export const listEntry = (group: string, rank: number, backfill: Backfill): GroupList['entries'][number] => {
  return { group: Group(group), rank, backfill, spans: [], removed: false };
};

/** What `groups add` appends. */
export async function putList(world: ProcessorWorld, entries: GroupList['entries']): Promise<void> {
  const listVersion = ((await world.groupLists.current())?.listVersion ?? 0) + 1;
  const event = makeEvent(controlGroups, EpochMs(world.clock.now()), {
    origin: 'operator' as const,
    listVersion,
    entries,
  });
  await world.events.append(event);
}

/** Runs `loop` until `stop` is called, which resolves when it has ended and throws what it threw. */
export const running = (loop: (signal: AbortSignal) => Promise<void>) => {
  const controller = new AbortController();
  let failure: { readonly error: unknown } | null = null;
  const ended = loop(controller.signal).catch((error: unknown) => {
    failure = { error };
  });
  return {
    failure: () => (failure as { error: unknown } | null)?.error,
    stop: async () => {
      controller.abort(new Error('test over'));
      await ended;
      if (failure) throw (failure as { error: unknown }).error;
    },
  };
};
