import type { GroupList } from '../../streams/events/control.ts';
import { makeEvent } from '../../streams/events/index.ts';
import { rangePlanned } from '../../streams/events/ranges.ts';
import { EpochMs, type Group } from '../../streams/ids.ts';
import type { Interval } from '../../streams/records.ts';
import { formatSubject } from '../../streams/subjects.ts';
import { appendFirst } from '../appendFirst.ts';
import type { CoordinatorContext } from './context.ts';
import { newestList } from './groupListLog.ts';
import { spanOn } from './joining.ts';
import { heldHigh } from './marks.ts';
import { type GroupView, type Plan, planRanges } from './plan.ts';
import { type Room, rangeSize, roomLeft } from './reservation.ts';
import type { PlanSettings } from './settings.ts';
import type { BackboneWatch } from './watch.ts';

interface Known {
  readonly planned: readonly Interval[];
  /** The RANGES sequence up to which `planned` is complete. */
  readonly asOf: number;
  readonly readAt: number;
}

/** Plans of other services (an import) are seen this late at most; those of another coordinator by the fence. */
const KNOWN_FOR_MS = 60_000;

/** Plans the ranges of one backbone and appends them, each plan fenced by the last one on its subject. */
export class BackbonePlanner {
  readonly #watch: BackboneWatch;
  readonly #context: CoordinatorContext;
  readonly #settings: PlanSettings;
  readonly #known = new Map<Group, Known>();
  readonly #livePlannedAt = new Map<Group, number>();
  /** The last sequence that this process appended on a subject: nothing of another coordinator lies there. */
  readonly #own = new Map<string, number>();

  constructor(watch: BackboneWatch, context: CoordinatorContext, settings: PlanSettings) {
    this.#watch = watch;
    this.#context = context;
    this.#settings = settings;
  }

  /** One look at what is to be planned. Does nothing while the ledger lags behind what this process appended. */
  async tick(signal: AbortSignal): Promise<void> {
    const { ledger, reader, barrier, clock } = this.#context;
    const asOf = await barrier.reached(ledger, reader);
    const { list } = await newestList(reader);
    if (asOf === null || list === null) return;
    const overview = await reader.state('OVERVIEW');
    const room = roomLeft(overview, await ledger.outstanding(), this.#settings);
    const views = await this.#views(list, asOf);
    const size = rangeSize(overview, this.#settings);
    const plans = planRanges({ views, room, rangeSize: size, settings: this.#settings, now: clock.now() });
    this.#gauge(room);
    for (const plan of plans) {
      if (!(await this.#append(plan, list, signal))) return;
    }
  }

  async #views(list: GroupList, asOf: number): Promise<readonly GroupView[]> {
    const views: GroupView[] = [];
    for (const entry of list.entries) {
      const span = spanOn(entry, this.#watch.backbone);
      const state = this.#watch.state(entry.group);
      // After a reset the list gets its new span only once the marks of the new epoch are appended.
      if (entry.removed || span === null || !state?.fresh || state.mark.epoch !== span.epoch) continue;
      views.push({
        group: entry.group,
        epoch: span.epoch,
        from: span.from,
        liveFrom: span.liveFrom,
        to: span.to,
        low: state.mark.low,
        high: state.mark.high,
        heldHigh: heldHigh(state, this.#context.clock.now(), this.#settings.holdBackMs),
        planned: (await this.#plannedOf(entry.group, span.epoch, asOf)).planned,
        livePlannedAt: this.#livePlannedAt.get(entry.group) ?? null,
      });
    }
    return views;
  }

  /** A thousand groups must not be a thousand queries a second: what is known holds until this process plans the group. */
  async #plannedOf(group: Group, epoch: GroupView['epoch'], asOf: number): Promise<Known> {
    const now = this.#context.clock.now();
    const known = this.#known.get(group);
    if (known !== undefined && now - known.readAt < KNOWN_FOR_MS) return known;
    const planned = await this.#context.ledger.planned(this.#watch.backbone, group, epoch);
    const fresh = { planned, asOf, readAt: now };
    this.#known.set(group, fresh);
    return fresh;
  }

  /** False when somebody else planned on this subject meanwhile: the rest of the plans rests on what is no longer true. */
  async #append({ lane, ranges }: Plan, list: GroupList, signal: AbortSignal): Promise<boolean> {
    const { reader, sink, clock, barrier } = this.#context;
    const backbone = this.#watch.backbone;
    const versions = { listVersion: list.listVersion, garbageVersion: 0 };
    const data = { lane, backbone, ranges: [...ranges], ...versions };
    const subject = rangePlanned.subject(data);
    const last = (await reader.last('RANGES', subject))?.position.sequence ?? 0;
    const groups = ranges.map(({ group }) => group);
    const ours = this.#own.get(formatSubject(subject)) === last;
    if (!ours && groups.some((group) => (this.#known.get(group)?.asOf ?? 0) < last)) return this.#outrun(last);
    const event = makeEvent(rangePlanned, EpochMs(clock.now()), data);
    const position = await appendFirst(sink, event, { lastOnSubject: last, signal });
    if (position === null) return this.#outrun((await reader.state('RANGES')).last.sequence);
    barrier.raise(position.sequence);
    this.#own.set(formatSubject(subject), position.sequence);
    for (const group of groups) {
      this.#known.delete(group);
      if (lane === 'live') this.#livePlannedAt.set(group, clock.now());
    }
    this.#context.metrics.count('coordinator_ranges_planned_total', { lane, backbone }, ranges.length);
    return true;
  }

  /** Nothing that is known of any group can be relied on: the other one may have planned them all. */
  #outrun(last: number): false {
    this.#context.barrier.raise(last);
    this.#known.clear();
    this.#context.log.warn('another coordinator planned at the same time', { backbone: this.#watch.backbone, last });
    return false;
  }

  #gauge(room: Room): void {
    const { metrics } = this.#context;
    metrics.gauge('coordinator_room_ranges', room.ranges);
    metrics.gauge('coordinator_room_numbers', Number.isFinite(room.numbers) ? room.numbers : -1);
  }
}
