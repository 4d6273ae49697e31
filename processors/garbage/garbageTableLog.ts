import type { GarbageSignature, GarbageTable } from '../../streams/events/control.ts';
import { controlGarbage } from '../../streams/events/control.ts';
import { makeEvent } from '../../streams/events/index.ts';
import { EpochMs } from '../../streams/ids.ts';
import { PUBLISHERS } from '../../streams/topology.ts';
import { appendFirst } from '../appendFirst.ts';
import { DEFAULT_GARBAGE } from '../headers/garbage.ts';
import type { EventReader, EventSink } from '../ports.ts';

/** The newest garbage table and the place behind which the next version belongs. */
export interface NewestGarbage {
  /** Null before there is any: then version 0 holds, the default. */
  readonly table: GarbageTable | null;
  /** Last sequence of CONTROL when this was read: another event behind it makes an append a conflict. */
  readonly lastInStream: number;
}

/** What a version says; that of version 0 is the default. */
export const signaturesOf = (table: GarbageTable | null): readonly GarbageSignature[] =>
  table?.signatures ?? DEFAULT_GARBAGE;

/** Reads the newest version from the stream itself, which no projection can lag behind. */
export async function newestGarbage(reader: EventReader): Promise<NewestGarbage> {
  // The stream's end is read first: whatever is appended after it turns the compare-and-set into a conflict.
  const { last } = await reader.state('CONTROL');
  const found = await Promise.all(
    PUBLISHERS['control.garbage'].map((origin) => reader.last('CONTROL', { verb: 'control.garbage', origin })),
  );
  let table: GarbageTable | null = null;
  for (const stored of found) {
    if (stored?.event.type !== 'control.garbage') continue;
    if (table === null || stored.event.data.garbageVersion > table.garbageVersion) table = stored.event.data;
  }
  return { table, lastInStream: last.sequence };
}

/** Appends `next` as the version after `newest`; false when somebody else was first. */
export async function appendGarbage(
  sink: EventSink,
  newest: NewestGarbage,
  next: GarbageTable,
  now: number,
  signal: AbortSignal,
): Promise<boolean> {
  const event = makeEvent(controlGarbage, EpochMs(now), next);
  return (await appendFirst(sink, event, { lastInStream: newest.lastInStream, signal })) !== null;
}

const nextVersion = (table: GarbageTable | null, signatures: readonly GarbageSignature[]): GarbageTable => ({
  origin: 'operator',
  garbageVersion: (table?.garbageVersion ?? 0) + 1,
  signatures: [...signatures],
});

/** The table with one pattern more at its end; null when it has it. A signature may have several patterns. */
export function withSignature(table: GarbageTable | null, added: GarbageSignature): GarbageTable | null {
  const known = signaturesOf(table);
  const same = (s: GarbageSignature): boolean =>
    s.signature === added.signature && s.field === added.field && s.pattern === added.pattern;
  return known.some(same) ? null : nextVersion(table, [...known, added]);
}

/** The table without every pattern of a signature; null when it has none. */
export function withoutSignature(table: GarbageTable | null, signature: string): GarbageTable | null {
  const known = signaturesOf(table);
  const kept = known.filter((s) => s.signature !== signature);
  return kept.length === known.length ? null : nextVersion(table, kept);
}
