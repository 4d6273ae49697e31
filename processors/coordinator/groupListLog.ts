import type { GroupList } from '../../streams/events/control.ts';
import { controlGroups } from '../../streams/events/control.ts';
import { makeEvent } from '../../streams/events/index.ts';
import { EpochMs } from '../../streams/ids.ts';
import { PUBLISHERS } from '../../streams/topology.ts';
import { appendFirst } from '../appendFirst.ts';
import type { EventReader, EventSink } from '../ports.ts';

/** The newest group list and the place behind which the next version belongs. */
export interface NewestList {
  /** Null before there is any. */
  readonly list: GroupList | null;
  /** Last sequence of CONTROL when this was read: another event behind it makes an append a conflict. */
  readonly lastInStream: number;
}

/** Reads the newest version from the stream itself, which no projection can lag behind. */
export async function newestList(reader: EventReader): Promise<NewestList> {
  // The stream's end is read first: whatever is appended after it turns the compare-and-set into a conflict.
  const { last } = await reader.state('CONTROL');
  const found = await Promise.all(
    PUBLISHERS['control.groups'].map((origin) => reader.last('CONTROL', { verb: 'control.groups', origin })),
  );
  let list: GroupList | null = null;
  for (const stored of found) {
    if (stored?.event.type !== 'control.groups') continue;
    if (list === null || stored.event.data.listVersion > list.listVersion) list = stored.event.data;
  }
  return { list, lastInStream: last.sequence };
}

/** Appends `next` as the version after `newest`; false when somebody else was first. */
export async function appendList(
  sink: EventSink,
  newest: NewestList,
  next: GroupList,
  now: number,
  signal: AbortSignal,
): Promise<boolean> {
  const event = makeEvent(controlGroups, EpochMs(now), next);
  // The version is the identity: the other one's list has the same id and other content.
  return (await appendFirst(sink, event, { lastInStream: newest.lastInStream, signal })) !== null;
}
