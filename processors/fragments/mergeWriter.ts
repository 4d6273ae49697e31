import { encodeMergedChunks, encodeMerges, sliceMerges } from '../../streams/codec/merges.ts';
import { chunksMerged } from '../../streams/events/chunks.ts';
import { type HeadwaterEvent, makeEvent } from '../../streams/events/index.ts';
import { releaseMerged } from '../../streams/events/releases.ts';
import { type Backbone, type Epoch, EpochMs, type Group, type Position } from '../../streams/ids.ts';
import { mergesDigest } from '../../streams/merges.ts';
import type { Merge, MergedChunks } from '../../streams/records.ts';
import type { NewMerge } from './mergePieces.ts';
import type { FragmentsPorts } from './ports.ts';

export interface MergePlace {
  readonly backbone: Backbone;
  readonly group: Group;
  readonly epoch: Epoch;
}

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
    const { backbone, group, epoch } = place;
    const head = { backbone, group, epoch, revision };
    const unplaced = merges.map((m) => ({ ...m, contribution: { ...m.contribution, chunksPosition: NOWHERE } }));
    for (const slice of sliceMerges(unplaced)) {
      const lists = slice.map(({ contribution: _, ...rest }): MergedChunks => rest);
      const listsDigest = mergesDigest(revision, encodeMergedChunks(lists));
      const listed = makeEvent(chunksMerged, this.#now(), { ...head, digest: listsDigest, body: lists });
      const chunksPosition = await this.#append(listed, signal);
      const body = slice.map(({ chunks: _, contribution, ...ref }): Merge => {
        return { ...ref, contribution: { ...contribution, chunksPosition } };
      });
      const digest = mergesDigest(revision, encodeMerges(body));
      yield await this.#append(makeEvent(releaseMerged, this.#now(), { ...head, digest, body }), signal);
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
