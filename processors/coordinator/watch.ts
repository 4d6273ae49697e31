import { HeadwaterError, isHeadwaterError } from '../../infra/base/errors/index.ts';
import type { GroupEntry, GroupList } from '../../streams/events/control.ts';
import { makeEvent } from '../../streams/events/index.ts';
import { type GroupMark, rangeMarks } from '../../streams/events/ranges.ts';
import { type Backbone, Epoch, EpochMs, type Group } from '../../streams/ids.ts';
import { appendFirst } from '../appendFirst.ts';
import { failureKind } from '../failover/failureKind.ts';
import type { Providers } from '../failover/providers.ts';
import type { Articles } from '../ports.ts';
import type { CoordinatorContext } from './context.ts';
import type { Reading } from './epochs.ts';
import { newestList } from './groupListLog.ts';
import { GroupSpans } from './groupSpans.ts';
import { spanOn } from './joining.ts';
import { spansToClose } from './listSpans.ts';
import { changedMarks, type GroupState, remembered, withReading } from './marks.ts';
import type { CoordinatorSettings } from './settings.ts';

/** How long it is shown that a group was numbered anew. */
const SHOWN_MS = 24 * 3_600_000;

/** Watches the groups of one backbone: reads their marks, appends what changed, and keeps their spans on the list. */
export class BackboneWatch {
  readonly backbone: Backbone;
  readonly #providers: Providers;
  readonly #context: CoordinatorContext;
  readonly #settings: CoordinatorSettings;
  readonly #spans: GroupSpans;
  readonly #states = new Map<Group, GroupState>();
  readonly #appended = new Map<Group, GroupMark>();
  #loaded = false;
  #toldAt = 0;
  /** Groups whose marks could not be read: the backbone lacks them, or answers with something else. */
  readonly #gone = new Set<Group>();
  /** When groups were found to be numbered anew. */
  readonly #renumbered = new Map<Group, number>();

  constructor(backbone: Backbone, providers: Providers, context: CoordinatorContext, settings: CoordinatorSettings) {
    this.backbone = backbone;
    this.#providers = providers;
    this.#context = context;
    this.#settings = settings;
    this.#spans = new GroupSpans(backbone, context);
  }

  /** The state of a group, undefined before its marks are known. */
  state(group: Group): GroupState | undefined {
    return this.#states.get(group);
  }

  /** One poll. Providers that cannot be used are reported by `Providers`; the marks then stay as they are. */
  async poll(signal: AbortSignal): Promise<void> {
    if (!(await this.#load())) return;
    const { list } = await newestList(this.#context.reader);
    if (list === null) return;
    const { clock } = this.#context;
    const started = clock.now();
    const entries = this.#watched(list);
    this.#leaveUnwatched(entries);
    if (entries.length === 0) return;
    const used = await this.#providers.use((articles) => this.#readMarks(articles, entries, signal), signal);
    this.#letGo();
    if (used.kind === 'used') {
      await this.#append(started, signal);
      await this.#spans.date(this.#providers, list, this.#states, signal);
    }
    await this.#spans.extend(this.#states, signal);
  }

  /** One look for spans whose eras are not known yet. */
  findEras(signal: AbortSignal): Promise<void> {
    return this.#spans.findEras(this.#providers, this.#states, signal);
  }

  /**
   * What the ledger remembers lets the hold-back begin where an earlier process left it, and tells a reset that happened
   * meanwhile. False while the ledger does not know yet what that process appended last.
   */
  async #load(): Promise<boolean> {
    if (this.#loaded) return true;
    const { ledger, reader, barrier } = this.#context;
    if ((await barrier.reached(ledger, reader)) === null) return false;
    for (const marks of await ledger.marks(this.backbone)) {
      const state = remembered(marks);
      this.#states.set(marks.group, state);
      this.#appended.set(marks.group, state.mark);
    }
    this.#loaded = true;
    return true;
  }

  /** Those on the list, and removed ones until their spans are closed. */
  #watched(list: GroupList): readonly GroupEntry[] {
    return list.entries.filter((entry) => !entry.removed || spansToClose(entry, this.backbone, Epoch(0)).length > 0);
  }

  /** A group that comes back after it was removed is read first; a doubt that nothing will end holds up no other. */
  #leaveUnwatched(entries: readonly GroupEntry[]): void {
    const watched = new Set(entries.map(({ group }) => group));
    for (const [group, state] of this.#states) {
      if (!watched.has(group)) this.#states.set(group, { ...state, fresh: false, doubted: null });
    }
  }

  async #readMarks(articles: Articles, entries: readonly GroupEntry[], signal: AbortSignal): Promise<void> {
    this.#forgetRemoved(entries);
    for (const entry of entries) {
      signal.throwIfAborted();
      const reading = await this.#readGroup(articles, entry.group);
      const before = this.#states.get(entry.group);
      if (reading === null) {
        if (before) this.#states.set(entry.group, { ...before, doubted: null });
        continue;
      }
      const after = withReading(before, reading, this.#settings.plan.holdBackMs, spanOn(entry, this.backbone)?.epoch);
      this.#states.set(entry.group, after);
      if (before && after.mark.epoch > before.mark.epoch) this.#tellRenumbered(after, before);
    }
  }

  #tellRenumbered({ mark }: GroupState, { seen }: GroupState): void {
    const { conditions, clock } = this.#context;
    const { group, epoch, low, high } = mark;
    const fields = { group, backbone: this.backbone, epoch, low, high, seen };
    conditions.report(`epoch/${this.backbone}/${group}`, new HeadwaterError('GROUP_RENUMBERED', fields));
    this.#renumbered.set(group, clock.now());
  }

  /** A reset needs nobody: it is shown for a day. */
  #letGo(): void {
    const { conditions, clock } = this.#context;
    for (const [group, at] of this.#renumbered) {
      if (clock.now() - at < SHOWN_MS) continue;
      this.#renumbered.delete(group);
      conditions.clear(`epoch/${this.backbone}/${group}`);
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

  /** A group that the backbone lacks, or whose marks it does not tell, is reported; the others go on. */
  async #readGroup(articles: Articles, group: Group): Promise<Reading | null> {
    const { conditions, clock } = this.#context;
    const about = `group/${this.backbone}/${group}`;
    try {
      const marks = await articles.group(group);
      conditions.clear(about);
      // The time after the answer: a reading must never look older than it is, or the hold-back would be shortened.
      return { ...marks, at: clock.now() };
    } catch (error) {
      const untold = isHeadwaterError(error, 'NNTP_UNEXPECTED_REPLY') && error.fields.reply === 211;
      if (failureKind(error, true) !== 'group gone' && !untold) throw error;
      conditions.report(about, error as Error);
      this.#gone.add(group);
      return null;
    }
  }

  async #append(at: number, signal: AbortSignal): Promise<void> {
    const marks = changedMarks(
      [...this.#states.values()].filter(({ fresh }) => fresh),
      this.#appended,
    );
    const doubted = [...this.#states.values()].some((state) => state.doubted !== null);
    if (marks.length === 0 && (doubted || at - this.#toldAt < this.#settings.tellEveryMs)) return;
    const event = makeEvent(rangeMarks, EpochMs(at), { backbone: this.backbone, marks });
    const position = await appendFirst(this.#context.sink, event, { signal });
    if (position === null) return;
    this.#toldAt = at;
    this.#context.barrier.raise(position.sequence);
    for (const mark of marks) this.#appended.set(mark.group, mark);
  }
}
