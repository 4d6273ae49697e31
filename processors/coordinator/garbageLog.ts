import type { GarbageTable } from '../../streams/events/control.ts';
import { PUBLISHERS } from '../../streams/topology.ts';
import type { EventReader } from '../ports.ts';

/** The newest garbage table, read from the stream itself, which no projection can lag behind; null before there is one. */
export async function newestGarbage(reader: EventReader): Promise<GarbageTable | null> {
  const found = await Promise.all(
    PUBLISHERS['control.garbage'].map((origin) => reader.last('CONTROL', { verb: 'control.garbage', origin })),
  );
  let table: GarbageTable | null = null;
  for (const stored of found) {
    if (stored?.event.type !== 'control.garbage') continue;
    if (table === null || stored.event.data.garbageVersion > table.garbageVersion) table = stored.event.data;
  }
  return table;
}
