import { sliceMerges } from '../../streams/codec/merges.ts';
import type { HeadwaterEvent } from '../../streams/events/index.ts';
import { EpochMs, type Position } from '../../streams/ids.ts';
import { chunksMergedEvent, type Decision, releaseMergedEvent } from './mergeEvents.ts';
import type { NewMerge } from './mergePieces.ts';
import type { FragmentsPorts } from './ports.ts';

export type MergePlace = Omit<Decision, 'revision'>;

/** Stands for a position that is not known yet. */
const NOWHERE: Position = { number: 1, sequence: 0 };
/** Appends merges of one numbering: the segment lists first, then the contributions that name their position. */
export class MergeWriter {
  readonly #ports: Pick<FragmentsPorts, 'sink' | 'clock'>;

  constructor(ports: Pick<FragmentsPorts, 'sink' | 'clock'>) {
    this.#ports = ports;
  }

  /** Appends message by message; yields the RELEASES position of each. */
  async *append(place: MergePlace, revision: Position, merges: readonly NewMerge[], signal: AbortSignal) {
    const decision = { ...place, revision };
    const unplaced = merges.map((m) => ({ ...m, contribution: { ...m.contribution, chunksPosition: NOWHERE } }));
    for (const slice of sliceMerges(unplaced)) {
      const chunksPosition = await this.#append(chunksMergedEvent(decision, slice, this.#now()), signal);
      yield await this.#append(releaseMergedEvent(decision, slice, chunksPosition, this.#now()), signal);
    }
  }

  async #append(event: HeadwaterEvent, signal: AbortSignal): Promise<Position> {
    const appended = await this.#ports.sink.append(event, { signal });
    // Nothing is expected of the subject, so nothing can be in the way.
    if (appended.kind === 'conflict') throw new TypeError(`conflict without an expectation: ${event.id}`);
    return appended.position;
  }

  #now(): EpochMs {
    return EpochMs(this.#ports.clock.now());
  }
}
