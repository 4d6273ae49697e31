import type { GroupList, GroupSpan } from '../../streams/events/control.ts';
import type { GroupMark } from '../../streams/events/ranges.ts';
import type { Backbone, Group } from '../../streams/ids.ts';
import type { Interval } from '../../streams/records.ts';
import { failureKind } from '../failover/failureKind.ts';
import type { Providers } from '../failover/providers.ts';
import { firstDated, firstNumberSince, type Probe } from './bisect.ts';
import type { CoordinatorContext } from './context.ts';
import { dateProbe } from './dateProbe.ts';
import { findEras } from './eras.ts';
import { appendList, newestList } from './groupListLog.ts';
import { entriesToJoin, firstWanted, openSpanOn, wantedSince } from './joining.ts';
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

/** Finding dates may take minutes for many groups. After this long the rest waits for the next round. */
const DATING_MS = 30_000;
/** A group whose years could not be found this often is planned without: backfill must not wait for ever. */
const TRIES = 3;
/** A group whose dates could not be read is left alone for this long, twice as long each further time. */
const FIRST_PAUSE_MS = 15_000;
const LAST_PAUSE_MS = 3_600_000;

interface Failures {
  readonly count: number;
  readonly notBefore: number;
}

/** `later`: no provider can be used now. */
type Found<T> = { readonly kind: 'found'; readonly value: T } | { readonly kind: 'failed' | 'later' };

/** Keeps the spans of one backbone on the group list: where groups begin, end, go on after a reset, and their eras. */
export class GroupSpans {
  readonly #backbone: Backbone;
  readonly #context: CoordinatorContext;
  /** Bisected numbers of groups that are about to join: a lost race for the list must not ask the provider again. */
  readonly #dated = new Map<Group, { readonly wish: string; readonly number: number }>();
  /** Eras that were found and are not on the list yet. */
  readonly #eras = new Map<NumberingName, Eras>();
  /** Of wishes by group, of eras by numbering. */
  readonly #failures = new Map<Group | NumberingName, Failures>();

  constructor(backbone: Backbone, context: CoordinatorContext) {
    this.#backbone = backbone;
    this.#context = context;
  }

  /**
   * Works out the dated wishes of groups that are about to join, each once, a group a connection. A group whose dates cannot
   * be read waits, and holds up no other.
   */
  async date(providers: Providers, list: GroupList, states: GroupStates, signal: AbortSignal): Promise<void> {
    const { clock } = this.#context;
    const end = clock.now() + DATING_MS;
    for (const entry of entriesToJoin(list, this.#backbone)) {
      const state = states.get(entry.group);
      const since = wantedSince(entry, clock.now());
      const wish = JSON.stringify(entry.backfill);
      if (since === null || !state?.fresh || this.#dated.get(entry.group)?.wish === wish) continue;
      const { low, high } = state.mark;
      if (high < low || this.#pauses(entry.group)) continue;
      if (clock.now() > end) return;
      const found = await this.#ask(entry.group, entry.group, providers, signal, async (probe) => {
        const first = await firstDated(low, high, probe);
        // Most wishes are for all that there is: one question instead of thirty.
        return first !== null && first.date >= since ? low : await firstNumberSince(since, low, high, probe);
      });
      if (found.kind === 'later') return;
      if (found.kind === 'found') this.#dated.set(entry.group, { wish, number: found.value });
    }
  }

  /**
   * Finds the eras of spans that have none, a group a connection, so that marks are read between two groups. Called again
   * and again: does nothing when all are known.
   */
  async findEras(providers: Providers, states: GroupStates, signal: AbortSignal): Promise<void> {
    const { clock, reader } = this.#context;
    const { list } = await newestList(reader);
    const end = clock.now() + DATING_MS;
    for (const { group, span } of list === null ? [] : this.#undated(list, states)) {
      if (clock.now() > end) break;
      const name = numberingName(group, span.epoch);
      if (this.#pauses(name)) continue;
      const numbers: Interval = [Math.max(span.from, states.get(group)!.mark.low), span.liveFrom - 1];
      const found = await this.#ask(name, group, providers, signal, (probe) => findEras(numbers, clock.now(), probe));
      if (found.kind === 'later') break;
      if (found.kind === 'found') this.#eras.set(name, found.value);
      else if (this.#failures.get(name)!.count >= TRIES) this.#eras.set(name, []);
    }
    if (this.#eras.size > 0) await this.extend(states, signal);
  }

  #undated(list: GroupList, states: GroupStates): readonly { group: Group; span: GroupSpan }[] {
    return list.entries.flatMap((entry) => {
      const { group } = entry;
      const span = openSpanOn(entry, this.#backbone);
      const state = states.get(group);
      if (entry.removed || span === null || !state?.fresh || state.mark.epoch !== span.epoch) return [];
      return needsEras(span) && !this.#eras.has(numberingName(group, span.epoch)) ? [{ group, span }] : [];
    });
  }

  #pauses(about: Group | NumberingName): boolean {
    return (this.#failures.get(about)?.notBefore ?? 0) > this.#context.clock.now();
  }

  /** Asks for dates of a group. A question that breaks is counted `about` what it was for, which then pauses. */
  async #ask<T>(
    about: Group | NumberingName,
    group: Group,
    providers: Providers,
    signal: AbortSignal,
    question: (probe: Probe) => Promise<T>,
  ): Promise<Found<T>> {
    try {
      const used = await providers.use(async (articles) => {
        await articles.group(group);
        return await question(dateProbe(articles, signal));
      }, signal);
      if (used.kind !== 'used') return { kind: 'later' };
      this.#failures.delete(about);
      return { kind: 'found', value: used.value };
    } catch (error) {
      if (signal.aborted || failureKind(error, true) === 'other') throw error;
      const { clock, log } = this.#context;
      const count = (this.#failures.get(about)?.count ?? 0) + 1;
      const pause = Math.min(LAST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** (count - 1));
      this.#failures.set(about, { count, notBefore: clock.now() + pause });
      log.warn('the dates of a group could not be read', { group, failures: count, error: String(error) });
      return { kind: 'failed' };
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

  /** What the list holds, or has no use for, need not be remembered; what was found since it was read is on the next one. */
  #forget(list: GroupList, appended: boolean): void {
    if (!appended) return;
    const joining = new Set(entriesToJoin(list, this.#backbone).map(({ group }) => group));
    const undated = new Set<NumberingName>();
    for (const entry of list.entries) {
      const span = entry.removed ? null : openSpanOn(entry, this.#backbone);
      if (span && needsEras(span)) undated.add(numberingName(entry.group, span.epoch));
    }
    for (const group of this.#dated.keys()) if (!joining.has(group)) this.#dated.delete(group);
    for (const name of this.#eras.keys()) if (!undated.has(name)) this.#eras.delete(name);
    for (const about of this.#failures.keys()) {
      if (!joining.has(about as Group) && !undated.has(about as NumberingName)) this.#failures.delete(about);
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
