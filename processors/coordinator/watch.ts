import type { GroupEntry, GroupList } from '../../streams/events/control.ts';
import { makeEvent } from '../../streams/events/index.ts';
import { type GroupMark, rangeMarks } from '../../streams/events/ranges.ts';
import { type Backbone, EpochMs, type Group } from '../../streams/ids.ts';
import { appendFirst } from '../appendFirst.ts';
import { failureKind } from '../failover/failureKind.ts';
import type { Providers } from '../failover/providers.ts';
import type { Articles } from '../ports.ts';
import { firstNumberSince } from './bisect.ts';
import type { CoordinatorContext } from './context.ts';
import { dateProbe } from './dateProbe.ts';
import { appendList, newestList } from './groupListLog.ts';
import {
  entriesToClose,
  entriesToJoin,
  firstWanted,
  type Join,
  wantedSince,
  withClosed,
  withJoins,
} from './joining.ts';
import { changedMarks, type GroupState, type Reading, remembered, withReading } from './marks.ts';
import type { CoordinatorSettings } from './settings.ts';

const dateOnly = (wish: { readonly kind: string }): boolean => wish.kind === 'days' || wish.kind === 'since';

/** Watches the groups of one backbone: reads their marks, appends what changed, and gives joining groups their span. */
export class BackboneWatch {
  readonly backbone: Backbone;
  readonly #providers: Providers;
  readonly #context: CoordinatorContext;
  readonly #settings: CoordinatorSettings;
  readonly #states = new Map<Group, GroupState>();
  readonly #appended = new Map<Group, GroupMark>();
  /** Bisected numbers of groups that are about to join: a lost race for the list must not ask the provider again. */
  readonly #dated = new Map<Group, { readonly wish: string; readonly number: number }>();
  #loaded = false;
  /** Groups that the backbone was found to lack. */
  readonly #gone = new Set<Group>();

  constructor(backbone: Backbone, providers: Providers, context: CoordinatorContext, settings: CoordinatorSettings) {
    this.backbone = backbone;
    this.#providers = providers;
    this.#context = context;
    this.#settings = settings;
  }

  /** The state of a group, undefined before its marks are known. */
  state(group: Group): GroupState | undefined {
    return this.#states.get(group);
  }

  /** One poll. Providers that cannot be used are reported by `Providers`; the marks then stay as they are. */
  async poll(signal: AbortSignal): Promise<void> {
    await this.#load();
    const { list } = await newestList(this.#context.reader);
    if (list === null) return;
    const { clock } = this.#context;
    const started = clock.now();
    const entries = this.#watched(list);
    if (entries.length === 0) return;
    await this.#providers.use(async (articles) => {
      await this.#readMarks(articles, entries, signal);
      await this.#date(articles, list, signal);
    }, signal);
    await this.#append(started, signal);
    await this.#extendList(signal);
  }

  /** What the ledger remembers lets the hold-back begin where an earlier process left it. */
  async #load(): Promise<void> {
    if (this.#loaded) return;
    for (const marks of await this.#context.ledger.marks(this.backbone)) {
      const state = remembered(marks);
      this.#states.set(marks.group, state);
      this.#appended.set(marks.group, state.mark);
    }
    this.#loaded = true;
  }

  #watched(list: GroupList): readonly GroupEntry[] {
    const toClose = new Set(entriesToClose(list, this.backbone));
    return list.entries.filter((entry) => !entry.removed || toClose.has(entry));
  }

  async #readMarks(articles: Articles, entries: readonly GroupEntry[], signal: AbortSignal): Promise<void> {
    this.#forgetRemoved(entries);
    for (const { group } of entries) {
      signal.throwIfAborted();
      const reading = await this.#readGroup(articles, group);
      if (reading === null) continue;
      this.#states.set(group, withReading(this.#states.get(group), reading, this.#settings.plan.holdBackMs));
    }
  }

  /** A group that left the list is nobody's trouble any more. */
  #forgetRemoved(entries: readonly GroupEntry[]): void {
    const watched = new Set(entries.map(({ group }) => group));
    for (const group of this.#gone) {
      if (watched.has(group)) continue;
      this.#gone.delete(group);
      this.#context.conditions.clear(`group/${this.backbone}/${group}`);
    }
  }

  /** A group that the backbone lacks is reported; the others go on. */
  async #readGroup(articles: Articles, group: Group): Promise<Reading | null> {
    const { conditions, clock } = this.#context;
    const about = `group/${this.backbone}/${group}`;
    try {
      const marks = await articles.group(group);
      conditions.clear(about);
      // The time after the answer: a reading must never look older than it is, or the hold-back would be shortened.
      return { ...marks, at: clock.now() };
    } catch (error) {
      if (failureKind(error, true) !== 'group gone') throw error;
      conditions.report(about, error as Error);
      this.#gone.add(group);
      return null;
    }
  }

  /** Works out the dated wishes of groups that are about to join, each once. */
  async #date(articles: Articles, list: GroupList, signal: AbortSignal): Promise<void> {
    for (const entry of entriesToJoin(list, this.backbone)) {
      const state = this.#states.get(entry.group);
      const since = wantedSince(entry, this.#context.clock.now());
      const wish = JSON.stringify(entry.backfill);
      if (since === null || !state?.fresh || this.#dated.get(entry.group)?.wish === wish) continue;
      const { low, high } = state.mark;
      if (high < low) continue;
      await articles.group(entry.group);
      const number = await firstNumberSince(since, low, high, dateProbe(articles, signal));
      this.#dated.set(entry.group, { wish, number });
    }
  }

  async #append(at: number, signal: AbortSignal): Promise<void> {
    const marks = changedMarks(
      [...this.#states.values()].filter(({ fresh }) => fresh),
      this.#appended,
    );
    if (marks.length === 0) return;
    const event = makeEvent(rangeMarks, EpochMs(at), { backbone: this.backbone, marks });
    const position = await appendFirst(this.#context.sink, event, { signal });
    if (position === null) return;
    this.#context.barrier.raise(position.sequence);
    for (const mark of marks) this.#appended.set(mark.group, mark);
  }

  /** Joins and closings become new versions of the list; a lost race is tried again with the list that won. */
  async #extendList(signal: AbortSignal): Promise<void> {
    const { reader, sink, clock } = this.#context;
    const newest = await newestList(reader);
    if (newest.list === null) return;
    const next =
      withJoins(newest.list, this.backbone, this.#joins(newest.list)) ??
      withClosed(newest.list, this.backbone, await this.#ends(newest.list));
    if (next === null) return;
    if (await appendList(sink, newest, next, clock.now(), signal)) {
      for (const { group } of next.entries) this.#dated.delete(group);
    }
  }

  #joins(list: GroupList): ReadonlyMap<Group, Join> {
    const joins = new Map<Group, Join>();
    for (const entry of entriesToJoin(list, this.backbone)) {
      const state = this.#states.get(entry.group);
      if (!state?.fresh) continue;
      const dated = this.#dated.get(entry.group);
      const empty = state.mark.high < state.mark.low;
      if (dateOnly(entry.backfill) && !empty && dated === undefined) continue;
      joins.set(entry.group, { mark: state.mark, from: firstWanted(entry, state.mark, dated?.number ?? null) });
    }
    return joins;
  }

  /** Where the spans of removed groups end: nothing is planned for them any more, so the marks read now bound what was. */
  async #ends(list: GroupList): Promise<ReadonlyMap<Group, number>> {
    const ends = new Map<Group, number>();
    for (const { group } of entriesToClose(list, this.backbone)) {
      const state = this.#states.get(group);
      if (!state?.fresh) continue;
      const planned = await this.#context.ledger.planned(this.backbone, group, state.mark.epoch);
      ends.set(group, Math.max(state.mark.high, planned.at(-1)?.[1] ?? 0));
    }
    return ends;
  }
}
