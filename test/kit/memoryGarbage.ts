import type { GarbageTables } from '../../processors/ports.ts';
import type { MemoryEvents } from './memoryEvents.ts';

/** The garbage tables that an in-memory log holds. */
export class MemoryGarbageTables implements GarbageTables {
  readonly #events: MemoryEvents;
  constructor(events: MemoryEvents) {
    this.#events = events;
  }
  async version(garbageVersion: number) {
    const all = this.#events.events('CONTROL', 'control.garbage');
    return all.find(({ data }) => data.garbageVersion === garbageVersion)?.data.signatures ?? null;
  }
}
