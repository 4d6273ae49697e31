import { HeadwaterError } from '../../infra/base/errors/index.ts';
import type { GroupEntry, GroupList, GroupSpan } from '../../streams/events/control.ts';
import { ArticleNumber, type Backbone, Epoch, type Group } from '../../streams/ids.ts';
import { appendList, newestList } from '../coordinator/groupListLog.ts';
import { spanOn } from '../coordinator/joining.ts';
import type { EventReader, EventSink } from '../ports.ts';

const TRIES = 20;

/**
 * The list with the group on it and a span of all numbers on the backbone; null when it has that. A group that only files
 * name joins as one that has left: no server is asked for it until an operator adds it.
 */
export function withImported(list: GroupList | null, group: Group, backbone: Backbone): GroupList | null {
  const entries = list?.entries ?? [];
  const listed = entries.find((entry) => entry.group === group);
  if (listed && spanOn(listed, backbone) !== null) return null;
  const span: GroupSpan = { backbone, epoch: Epoch(0), from: ArticleNumber(1), liveFrom: ArticleNumber(1), to: null };
  const rank = 1 + entries.reduce((highest, entry) => Math.max(highest, entry.rank), 0);
  const joined: GroupEntry = listed
    ? { ...listed, spans: [...listed.spans, span] }
    : { group, rank, backfill: { kind: 'none' }, spans: [span], removed: true };
  const others = entries.map((entry) => (entry.group === group ? joined : entry));
  const all = listed ? others : [...others, joined];
  return { origin: 'import', listVersion: (list?.listVersion ?? 0) + 1, entries: all };
}

/** Sees to it that the group is listed; the version of the list that says so. Throws GROUP_LIST_CONTENDED. */
export async function listImported(
  ports: { readonly sink: EventSink; readonly reader: EventReader },
  group: Group,
  backbone: Backbone,
  now: number,
  signal: AbortSignal,
): Promise<{ readonly listVersion: number; readonly epoch: Epoch }> {
  for (let tries = 0; tries < TRIES; tries++) {
    const newest = await newestList(ports.reader);
    const next = withImported(newest.list, group, backbone);
    if (next !== null && !(await appendList(ports.sink, newest, next, now, signal))) continue;
    const list = next ?? newest.list;
    const entry = list?.entries.find((e) => e.group === group);
    const epoch = (entry && spanOn(entry, backbone)?.epoch) ?? Epoch(0);
    return { listVersion: list?.listVersion ?? 0, epoch };
  }
  throw new HeadwaterError('GROUP_LIST_CONTENDED', { tries: TRIES });
}
