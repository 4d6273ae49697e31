import type { GroupEntry, GroupList, GroupSpan } from '../../streams/events/control.ts';
import type { GroupMark } from '../../streams/events/ranges.ts';
import { ArticleNumber, type Backbone, type Group } from '../../streams/ids.ts';

/** Where a group begins on a backbone, worked out from its marks and its backfill wish. */
export interface Join {
  readonly mark: GroupMark;
  readonly from: number;
}

/** The span of the group list that is in force for an entry on a backbone: that of its newest epoch. */
export const spanOn = (entry: GroupEntry, backbone: Backbone): GroupSpan | null =>
  entry.spans.findLast((span) => span.backbone === backbone) ?? null;

export const entriesToJoin = (list: GroupList, backbone: Backbone): readonly GroupEntry[] =>
  list.entries.filter((entry) => !entry.removed && spanOn(entry, backbone) === null);

/** Removed groups whose span on the backbone is still open. */
export const entriesToClose = (list: GroupList, backbone: Backbone): readonly GroupEntry[] =>
  list.entries.filter((entry) => entry.removed && spanOn(entry, backbone)?.to === null);

/**
 * The first number that the group is wanted from. `dated` is the first number not older than the wish, where the wish is a
 * date. Never beyond the first live number, never below the low mark.
 */
export function firstWanted(entry: GroupEntry, mark: GroupMark, dated: number | null): number {
  const live = mark.high + 1;
  const bounded = (number: number) => Math.min(live, Math.max(number, mark.low));
  switch (entry.backfill.kind) {
    case 'none':
      return live;
    case 'all':
      return bounded(mark.low);
    case 'number':
      return bounded(entry.backfill.from);
    case 'days':
    case 'since':
      return bounded(dated ?? mark.low);
  }
}

/** The time from which a group is wanted, in ms since 1970, when the wish is one of time. */
export function wantedSince(entry: GroupEntry, now: number): number | null {
  switch (entry.backfill.kind) {
    case 'days':
      return now - entry.backfill.days * 86_400_000;
    case 'since':
      return entry.backfill.since;
    default:
      return null;
  }
}

/** The next version of the list: groups that join a backbone get their span there. Null when nothing changes. */
export function withJoins(list: GroupList, backbone: Backbone, joins: ReadonlyMap<Group, Join>): GroupList | null {
  let changed = false;
  const entries = list.entries.map((entry) => {
    const join = joins.get(entry.group);
    if (join === undefined || entry.removed || spanOn(entry, backbone) !== null) return entry;
    changed = true;
    const { epoch, high } = join.mark;
    const numbers = { from: ArticleNumber(join.from), liveFrom: ArticleNumber(high + 1), to: null };
    return { ...entry, spans: [...entry.spans, { backbone, epoch, ...numbers }] };
  });
  return changed ? { origin: 'coordinator', listVersion: list.listVersion + 1, entries } : null;
}

/**
 * The next version of the list: spans of removed groups end at the given number, the highest that was planned or read.
 * Null when nothing changes.
 */
export function withClosed(list: GroupList, backbone: Backbone, ends: ReadonlyMap<Group, number>): GroupList | null {
  let changed = false;
  const entries = list.entries.map((entry) => {
    const to = ends.get(entry.group);
    const open = spanOn(entry, backbone);
    if (to === undefined || !entry.removed || open === null || open.to !== null) return entry;
    changed = true;
    const spans = entry.spans.map((span) => (span === open ? { ...span, to: ArticleNumber(to) } : span));
    return { ...entry, spans };
  });
  return changed ? { origin: 'coordinator', listVersion: list.listVersion + 1, entries } : null;
}
