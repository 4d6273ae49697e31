import type { GroupEntry, GroupList, GroupSpan } from '../../streams/events/control.ts';
import type { GroupMark } from '../../streams/events/ranges.ts';
import type { Backbone, Group } from '../../streams/ids.ts';
import { failureKind } from '../failover/failureKind.ts';
import type { Providers } from '../failover/providers.ts';
import type { Articles } from '../ports.ts';
import { firstDated, firstNumberSince } from './bisect.ts';
import type { CoordinatorContext } from './context.ts';
import { dateProbe } from './dateProbe.ts';
import { findEras } from './eras.ts';
import { appendList, newestList } from './groupListLog.ts';
import { entriesToJoin, firstWanted, spanOn, wantedSince } from './joining.ts';
import {
  type Eras,
  isRenumbered,
  type Join,
  type NumberingName,
  needsEras,
  numberingName,
  type SpanChanges,
  spansToClose,
  withSpans,
} from './listSpans.ts';
import type { GroupState } from './marks.ts';

/** The states of a backbone's groups as the last poll left them. */
export type GroupStates = ReadonlyMap<Group, GroupState>;

const dateOnly = (wish: { readonly kind: string }): boolean => wish.kind === 'days' || wish.kind === 'since';

/** Finding dates may take minutes for many groups. After this long the rest waits for the next round, and marks are read. */
const DATING_MS = 30_000;
/** A group whose years could not be found this often is planned without: backfill must not wait for ever. */
const TRIES = 3;

/** Keeps the spans of one backbone on the group list: where groups begin, end, go on after a reset, and their eras. */
export class GroupSpans {
  readonly #backbone: Backbone;
  readonly #context: CoordinatorContext;
  /** Bisected numbers of groups that are about to join: a lost race for the list must not ask the provider again. */
  readonly #dated = new Map<Group, { readonly wish: string; readonly number: number }>();
  /** Eras that were found and are not on the list yet. */
  readonly #eras = new Map<NumberingName, Eras>();
  readonly #failures = new Map<NumberingName, number>();

  constructor(backbone: Backbone, context: CoordinatorContext) {
    this.#backbone = backbone;
    this.#context = context;
  }

  /** Works out the dated wishes of groups that are about to join, each once. */
  async date(articles: Articles, list: GroupList, states: GroupStates, signal: AbortSignal): Promise<void> {
    const end = this.#context.clock.now() + DATING_MS;
    for (const entry of entriesToJoin(list, this.#backbone)) {
      const state = states.get(entry.group);
      const since = wantedSince(entry, this.#context.clock.now());
      const wish = JSON.stringify(entry.backfill);
      if (since === null || !state?.fresh || this.#dated.get(entry.group)?.wish === wish) continue;
      const { low, high } = state.mark;
      if (high < low) continue;
      if (this.#context.clock.now() > end) return;
      await articles.group(entry.group);
      const probe = dateProbe(articles, signal);
      const first = await firstDated(low, high, probe);
      // Most wishes are for all that there is: one question instead of thirty.
      const all = first !== null && first.date >= since;
      this.#dated.set(entry.group, { wish, number: all ? low : await firstNumberSince(since, low, high, probe) });
    }
  }

  /**
   * Finds the eras of spans that have none, a group a connection, so that marks are read between two groups. Called again
   * and again: does nothing when all are known.
   */
  async findEras(providers: Providers, states: GroupStates, signal: AbortSignal): Promise<void> {
    const { list } = await newestList(this.#context.reader);
    const end = this.#context.clock.now() + DATING_MS;
    for (const { entry, span } of list === null ? [] : this.#undated(list, states)) {
      if (this.#context.clock.now() > end) break;
      const mark = states.get(entry.group)!.mark;
      const eras = await this.#erasOf(entry, span, mark, providers, signal);
      if (eras === 'later') break;
      if (eras !== null) this.#eras.set(numberingName(entry.group, span.epoch), eras);
    }
    if (this.#eras.size > 0) await this.extend(states, signal);
  }

  #undated(list: GroupList, states: GroupStates): readonly { entry: GroupEntry; span: GroupSpan }[] {
    return list.entries.flatMap((entry) => {
      const span = spanOn(entry, this.#backbone);
      const state = states.get(entry.group);
      if (entry.removed || span === null || !state?.fresh || state.mark.epoch !== span.epoch) return [];
      return needsEras(span) && !this.#eras.has(numberingName(entry.group, span.epoch)) ? [{ entry, span }] : [];
    });
  }

  /** Null: not this time; `later`: no provider can be used now. A probe that breaks is tried again, but not for ever. */
  async #erasOf(
    { group }: GroupEntry,
    span: GroupSpan,
    mark: GroupMark,
    providers: Providers,
    signal: AbortSignal,
  ): Promise<Eras | 'later' | null> {
    const name = numberingName(group, span.epoch);
    try {
      const used = await providers.use(async (articles) => {
        await articles.group(group);
        const probe = dateProbe(articles, signal);
        return findEras([Math.max(span.from, mark.low), span.liveFrom - 1], this.#context.clock.now(), probe);
      }, signal);
      return used.kind === 'used' ? used.value : 'later';
    } catch (error) {
      if (signal.aborted || failureKind(error, true) === 'other') throw error;
      const failures = (this.#failures.get(name) ?? 0) + 1;
      this.#failures.set(name, failures);
      this.#context.log.warn('the years of a group could not be found', { group, failures, error: String(error) });
      return failures < TRIES ? null : [];
    }
  }

  /** What was found out becomes a new version of the list; a lost race is tried again with the list that won. */
  async extend(states: GroupStates, signal: AbortSignal): Promise<void> {
    const { reader, sink, clock } = this.#context;
    const newest = await newestList(reader);
    if (newest.list === null) return;
    const next = withSpans(newest.list, this.#backbone, await this.#changes(newest.list, states));
    this.#forget(next ?? newest.list, next === null || (await appendList(sink, newest, next, clock.now(), signal)));
  }

  /** What the list holds, or has no use for, need not be remembered. */
  #forget(list: GroupList, appended: boolean): void {
    if (!appended) return;
    this.#eras.clear();
    for (const { group, spans } of list.entries) {
      if (spans.some(({ backbone }) => backbone === this.#backbone)) this.#dated.delete(group);
    }
  }

  async #changes(list: GroupList, states: GroupStates): Promise<SpanChanges> {
    const heads = new Map<Group, GroupMark>();
    const ends = new Map<NumberingName, number>();
    for (const entry of list.entries) {
      const state = states.get(entry.group);
      if (!state?.fresh) continue;
      if (isRenumbered(entry, this.#backbone, state.mark)) heads.set(entry.group, state.mark);
      for (const span of spansToClose(entry, this.#backbone, state.mark.epoch)) {
        ends.set(numberingName(entry.group, span.epoch), await this.#endOf(entry.group, span, state.mark));
      }
    }
    return { joins: this.#joins(list, states), heads, ends, eras: this.#eras };
  }

  #joins(list: GroupList, states: GroupStates): ReadonlyMap<Group, Join> {
    const joins = new Map<Group, Join>();
    for (const entry of entriesToJoin(list, this.#backbone)) {
      const state = states.get(entry.group);
      if (!state?.fresh) continue;
      const dated = this.#dated.get(entry.group);
      const empty = state.mark.high < state.mark.low;
      if (dateOnly(entry.backfill) && !empty && dated === undefined) continue;
      joins.set(entry.group, { mark: state.mark, from: firstWanted(entry, state.mark, dated?.number ?? null) });
    }
    return joins;
  }

  /** Where a span ends: nothing is planned in it any more, so the marks read by now and the ledger bound what was. */
  async #endOf(group: Group, span: GroupSpan, mark: GroupMark): Promise<number> {
    const { ledger } = this.#context;
    const planned = await ledger.planned(this.#backbone, group, span.epoch);
    const last = await ledger.lastHigh(this.#backbone, group, span.epoch);
    return Math.max(mark.epoch === span.epoch ? mark.high : 0, last ?? 0, planned.at(-1)?.[1] ?? 0);
  }
}
