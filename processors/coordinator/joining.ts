import type { GroupEntry, GroupList, GroupSpan } from '../../streams/events/control.ts';
import type { GroupMark } from '../../streams/events/ranges.ts';
import type { Backbone } from '../../streams/ids.ts';

/** The newest span of an entry on a backbone, of its newest epoch. Once it is ended nothing new is planned in it. */
export const spanOn = (entry: GroupEntry, backbone: Backbone): GroupSpan | null =>
  entry.spans.findLast((span) => span.backbone === backbone) ?? null;

/** The span in which is planned; null before the group is read there, and once it is removed. */
export function openSpanOn(entry: GroupEntry, backbone: Backbone): GroupSpan | null {
  const span = spanOn(entry, backbone);
  return span?.to === null ? span : null;
}

/** Groups that are to begin a span: new ones, and those that were removed and added again. */
export const entriesToJoin = (list: GroupList, backbone: Backbone): readonly GroupEntry[] =>
  list.entries.filter((entry) => !entry.removed && openSpanOn(entry, backbone) === null);

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
