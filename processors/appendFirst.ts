import { isHeadwaterError } from '../infra/base/errors/index.ts';
import type { HeadwaterEvent } from '../streams/events/index.ts';
import type { Position } from '../streams/ids.ts';
import type { AppendOptions, EventSink } from './ports.ts';

/**
 * Appends an event of which only the first with its id counts, whatever a later one says (`range.fetched`: two workers may
 * both have done the work; `control.groups`: two writers made the next version). The position when ours was stored, now or
 * before; null when another was first: its id is taken, or the expectation does not hold.
 */
export async function appendFirst(
  sink: EventSink,
  event: HeadwaterEvent,
  options: AppendOptions,
): Promise<Position | null> {
  try {
    const appended = await sink.append(event, options);
    return appended.kind === 'conflict' ? null : appended.position;
  } catch (error) {
    if (isHeadwaterError(error, 'EVENT_ID_CONFLICT')) return null;
    throw error;
  }
}
