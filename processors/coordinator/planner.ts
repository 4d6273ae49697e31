import { HeadwaterError } from '../../infra/base/errors/index.ts';
import type { GroupList } from '../../streams/events/control.ts';
import { type Epoch, EpochMs, type Group } from '../../streams/ids.ts';
import type { Interval } from '../../streams/records.ts';
import { newestGarbage } from '../garbage/garbageTableLog.ts';
import type { LedgerRun } from '../ports.ts';
import { isTooLarge } from './again.ts';
import type { CoordinatorContext } from './context.ts';
import { newestList } from './groupListLog.ts';
import { openSpanOn } from './joining.ts';
import { heldHigh } from './marks.ts';
import { type GroupView, type Plan, type PlanInput, planRanges } from './plan.ts';
import { PlanLog } from './planLog.ts';
import { mostRoom, type Room, rangeSize, roomLeft } from './reservation.ts';
import { appendRetired } from './retire.ts';
import type { PlanSettings } from './settings.ts';
import { standingsOf } from './standing.ts';
import type { BackboneWatch } from './watch.ts';

interface Known {
  readonly epoch: Epoch;
  readonly planned: readonly Interval[];
  /** The RANGES sequence up to which `planned` is complete. */
  readonly asOf: number;
  readonly readAt: number;
}

interface Versions {
  readonly listVersion: number;
  readonly garbageVersion: number;
}

/** Without room nothing that is asked again could be planned: it need not be looked for. */
const isOpen = (room: Room): boolean => room.ranges > 0 && room.numbers > 0;

/** Plans of other services (an import) are seen this late at most; those of another coordinator by the fence. */
const KNOWN_FOR_MS = 60_000;

/** Plans the ranges of one backbone and appends them. */
export class BackbonePlanner {
  readonly #watch: BackboneWatch;
  readonly #context: CoordinatorContext;
  readonly #settings: PlanSettings;
  readonly #log: PlanLog;
  readonly #known = new Map<Group, Known>();
  readonly #livePlannedAt = new Map<Group, number>();
  readonly #scanPlannedAt = new Map<Group, number>();
  /** For which list, and how many groups of it, there was no retired run to plan again, and when. */
  #noneReturned = { key: '', at: 0 };

  constructor(watch: BackboneWatch, context: CoordinatorContext, settings: PlanSettings) {
    this.#watch = watch;
    this.#context = context;
    this.#settings = settings;
    this.#log = new PlanLog(context);
  }

  /** One look at what is to be planned. Does nothing while the ledger lags behind what this process appended. */
  async tick(signal: AbortSignal): Promise<void> {
    const { ledger, reader, barrier } = this.#context;
    const asOf = await barrier.reached(ledger, reader);
    const { list } = await newestList(reader);
    if (asOf === null || list === null) return;
    const input = await this.#input(list, asOf);
    const { plans, retire } = planRanges(input);
    if (isOpen(input.room)) this.#tellTooLarge(input.retries.find((run) => isTooLarge(run, input.most)));
    const garbageVersion = (await newestGarbage(reader)).table?.garbageVersion ?? 0;
    const versions = { listVersion: list.listVersion, garbageVersion };
    for (const plan of plans) {
      if (!(await this.#append(plan, versions, asOf, signal))) return;
    }
    await appendRetired(retire, this.#context, signal);
  }

  async #input(list: GroupList, asOf: number): Promise<PlanInput> {
    const { ledger, reader, clock } = this.#context;
    const { backbone } = this.#watch;
    const settings = this.#settings;
    const overview = await reader.state('OVERVIEW');
    const room = roomLeft(overview, await ledger.outstanding(), settings);
    this.#gauge(room);
    const now = clock.now();
    const open = isOpen(room);
    const due = { parsedUpTo: EpochMs(now - settings.reaskAfterMs), runs: settings.reasksPerTick };
    const views = await this.#views(list, asOf);
    const retries = open ? await ledger.toRetry(backbone, settings.retriesPerTick) : [];
    return {
      views,
      retries: open ? [...retries, ...(await this.#returned(views, list.listVersion))] : [],
      short: open ? await ledger.short(backbone, { ...due, intervals: settings.reaskRanges + 1 }) : [],
      standings: standingsOf(list, backbone, (group) => this.#watch.state(group)),
      room,
      most: mostRoom(overview, settings),
      rangeSize: rangeSize(overview, settings),
      settings,
      now,
    };
  }

  /**
   * Runs that were retired when their group was removed, of groups that are back: those within what is wanted now. Few lists
   * bring a group back, so once there is nothing it is asked again only for another list, or after a while.
   */
  async #returned(views: readonly GroupView[], listVersion: number): Promise<readonly LedgerRun[]> {
    const now = this.#context.clock.now();
    const { ledger } = this.#context;
    const none = this.#noneReturned;
    const key = `${listVersion} ${views.length}`;
    if (none.key === key && now - none.at < KNOWN_FOR_MS) return [];
    const open = views.map(({ group, epoch, from, low }) => ({ group, epoch, from: Math.max(from, low) }));
    const runs = await ledger.returned(this.#watch.backbone, open, this.#settings.retriesPerTick);
    if (runs.length === 0) this.#noneReturned = { key, at: now };
    return runs;
  }

  async #views(list: GroupList, asOf: number): Promise<readonly GroupView[]> {
    const views: GroupView[] = [];
    const wishes = await this.#context.ledger.wanted(this.#watch.backbone);
    for (const entry of list.entries) {
      const { group } = entry;
      const span = openSpanOn(entry, this.#watch.backbone);
      const state = this.#watch.state(group);
      // After a reset the list gets its new span only once the marks of the new epoch are appended; so does a group that returns.
      if (entry.removed || span === null || !state?.fresh || state.mark.epoch !== span.epoch) continue;
      views.push({
        group,
        epoch: span.epoch,
        from: span.from,
        liveFrom: span.liveFrom,
        to: span.to,
        low: state.mark.low,
        high: state.mark.high,
        heldHigh: heldHigh(state, this.#context.clock.now(), this.#settings.holdBackMs),
        planned: (await this.#plannedOf(group, span.epoch, asOf)).planned,
        livePlannedAt: this.#livePlannedAt.get(group) ?? null,
        eras: span.eras ?? (span.from < span.liveFrom ? null : []),
        wanted: wishes.find((w) => w.group === group && w.epoch === span.epoch)?.numbers ?? [],
        scanPlannedAt: this.#scanPlannedAt.get(group) ?? null,
      });
    }
    return views;
  }

  /** A thousand groups must not be a thousand queries a second: what is known holds until this process plans the group. */
  async #plannedOf(group: Group, epoch: Epoch, asOf: number): Promise<Known> {
    const now = this.#context.clock.now();
    const known = this.#known.get(group);
    if (known?.epoch === epoch && now - known.readAt < KNOWN_FOR_MS) return known;
    const planned = await this.#context.ledger.planned(this.#watch.backbone, group, epoch);
    const fresh = { epoch, planned, asOf, readAt: now };
    this.#known.set(group, fresh);
    return fresh;
  }

  /** False when the rest of the plans must wait: somebody else planned meanwhile, and they rest on what is no longer true. */
  async #append(plan: Plan, versions: Versions, asOf: number, signal: AbortSignal): Promise<boolean> {
    const { clock, metrics } = this.#context;
    const { backbone } = this.#watch;
    const { lane, ranges, reasks } = plan;
    const data = { lane, backbone, ranges: [...ranges], ...(reasks ? { reasks } : {}), ...versions };
    const groups = ranges.map(({ group }) => group);
    const known = Math.min(asOf, ...groups.map((group) => this.#known.get(group)?.asOf ?? asOf));
    const result = await this.#log.append(data, known, signal);
    if (result.kind === 'outrun') this.#outrun(result.last);
    if (result.kind !== 'planned') return false;
    for (const group of groups) {
      this.#known.delete(group);
      if (lane === 'live') this.#livePlannedAt.set(group, clock.now());
      if (lane === 'scan') this.#scanPlannedAt.set(group, clock.now());
    }
    metrics.count('coordinator_ranges_planned_total', { lane, backbone }, ranges.length);
    return true;
  }

  /** Nothing that is known of any group can be relied on: the other one may have planned them all. */
  #outrun(last: number): void {
    this.#context.barrier.raise(last);
    this.#known.clear();
    this.#context.log.warn('another coordinator planned at the same time', { backbone: this.#watch.backbone, last });
  }

  /** Shown while the wish is there: only a larger OVERVIEW helps. */
  #tellTooLarge(run: LedgerRun | undefined): void {
    const { conditions } = this.#context;
    const about = `retry/${this.#watch.backbone}`;
    if (!run) {
      conditions.clear(about);
      return;
    }
    const { rangeId: range, group, run: n, lo, hi } = run;
    const fields = { range, group, run: n, numbers: hi - lo + 1 };
    conditions.report(about, new HeadwaterError('RANGE_TOO_LARGE', fields));
  }

  #gauge(room: Room): void {
    const { metrics } = this.#context;
    metrics.gauge('coordinator_room_ranges', room.ranges);
    metrics.gauge('coordinator_room_numbers', Number.isFinite(room.numbers) ? room.numbers : -1);
  }
}
