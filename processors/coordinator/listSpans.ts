import { END_UNREAD, type GroupEntry, type GroupList, type GroupSpan } from '../../streams/events/control.ts';
import type { GroupMark } from '../../streams/events/ranges.ts';
import { ArticleNumber, type Backbone, type Epoch, type Group } from '../../streams/ids.ts';
import { openSpanOn, spanOn } from './joining.ts';

/** Where a group begins on a backbone, worked out from its marks and its backfill wish. */
export interface Join {
  readonly mark: GroupMark;
  readonly from: number;
}

/** A numbering of a group on the backbone that is spoken of. */
export type NumberingName = `${Group}/${Epoch}`;
export const numberingName = (group: Group, epoch: Epoch): NumberingName => `${group}/${epoch}`;

export type Eras = NonNullable<GroupSpan['eras']>;

/** What the coordinator found out about the spans of one backbone. */
export interface SpanChanges {
  /** Groups that are read on the backbone for the first time, or again after they were removed. */
  readonly joins: ReadonlyMap<Group, Join>;
  /** The marks of groups whose numbers were reset: they go on at the head. */
  readonly heads: ReadonlyMap<Group, GroupMark>;
  /** Where spans end that are closed: of removed groups, and of epochs that are over. */
  readonly ends: ReadonlyMap<NumberingName, number>;
  readonly eras: ReadonlyMap<NumberingName, Eras>;
}

/** The epoch of the newest span of a group, null when it has none there. */
const newestEpoch = (entry: GroupEntry, backbone: Backbone): Epoch | null => spanOn(entry, backbone)?.epoch ?? null;

/** True when the marks are of a later epoch than the list knows of on the backbone. A group that returns joins instead. */
export function isRenumbered(entry: GroupEntry, backbone: Backbone, mark: GroupMark): boolean {
  const open = openSpanOn(entry, backbone);
  return !entry.removed && open !== null && mark.epoch > open.epoch;
}

/**
 * The spans on the backbone of which the end has to be put on the list, `epoch` being the one that the group's marks are of.
 */
export const spansToClose = (entry: GroupEntry, backbone: Backbone, epoch: Epoch): readonly GroupSpan[] => {
  const newest = newestEpoch(entry, backbone);
  return entry.spans.filter((span) => {
    const over = span.epoch < epoch || span.epoch !== newest;
    const ends = span.to === END_UNREAD || (span.to === null && (entry.removed || over));
    return span.backbone === backbone && ends;
  });
};

/** Whether the span reaches below the head, so that it has a backfill whose years matter, and they are not known yet. */
export const needsEras = (span: GroupSpan): boolean => span.eras === undefined && span.from < span.liveFrom;

function openedSpan(entry: GroupEntry, backbone: Backbone, changes: SpanChanges): GroupSpan | null {
  if (entry.removed) return null;
  const open = openSpanOn(entry, backbone);
  const join = changes.joins.get(entry.group);
  if (join && open === null) {
    const numbers = { from: ArticleNumber(join.from), liveFrom: ArticleNumber(join.mark.high + 1), to: null };
    return { backbone, epoch: join.mark.epoch, ...numbers };
  }
  const head = changes.heads.get(entry.group);
  if (!head || open === null || head.epoch <= open.epoch) return null;
  return { backbone, epoch: head.epoch, from: head.high, liveFrom: ArticleNumber(head.high + 1), to: null };
}

function changedSpan(group: Group, span: GroupSpan, changes: SpanChanges): GroupSpan {
  const name = numberingName(group, span.epoch);
  const to = span.to === null || span.to === END_UNREAD ? changes.ends.get(name) : undefined;
  const eras = span.to === null && needsEras(span) ? changes.eras.get(name) : undefined;
  if (to === undefined && eras === undefined) return span;
  return {
    ...span,
    ...(to === undefined ? {} : { to: ArticleNumber(Math.max(to, span.from - 1)) }),
    ...(eras === undefined ? {} : { eras }),
  };
}

/** The next version of the list with the changes made; null when they change nothing. */
export function withSpans(list: GroupList, backbone: Backbone, changes: SpanChanges): GroupList | null {
  let changed = false;
  const entries = list.entries.map((entry) => {
    const spans = entry.spans.map((s) => (s.backbone === backbone ? changedSpan(entry.group, s, changes) : s));
    const opened = openedSpan(entry, backbone, changes);
    if (opened === null && spans.every((span, i) => span === entry.spans[i])) return entry;
    changed = true;
    return { ...entry, spans: opened ? [...spans, opened] : spans };
  });
  return changed ? { origin: 'coordinator', listVersion: list.listVersion + 1, entries } : null;
}
