import { encodeMergedChunks, encodeMerges } from '../../streams/codec/merges.ts';
import { chunksMerged } from '../../streams/events/chunks.ts';
import { type HeadwaterEvent, makeEvent } from '../../streams/events/index.ts';
import { releaseMerged } from '../../streams/events/releases.ts';
import type { Backbone, Epoch, EpochMs, Group, Position } from '../../streams/ids.ts';
import { mergesDigest } from '../../streams/merges.ts';
import type { Merge, MergedChunks } from '../../streams/records.ts';
import type { NewMerge } from './mergePieces.ts';

/** The numbering that merges belong to, and the RELEASES position that the decision for them rests on. */
export interface Decision {
  readonly backbone: Backbone;
  readonly group: Group;
  readonly epoch: Epoch;
  readonly revision: Position;
}

const headOf = ({ backbone, group, epoch, revision }: Decision) => ({ backbone, group, epoch, revision });

/** The segment lists of merges: appended first, since the contributions name their position. */
export function chunksMergedEvent(decision: Decision, merges: readonly NewMerge[], at: EpochMs): HeadwaterEvent {
  const body = merges.map(({ contribution: _, ...rest }): MergedChunks => rest);
  const digest = mergesDigest(decision.revision, encodeMergedChunks(body));
  return makeEvent(chunksMerged, at, { ...headOf(decision), digest, body });
}

/** The contributions of merges whose segment lists were appended at `chunksPosition`. */
export function releaseMergedEvent(
  decision: Decision,
  merges: readonly NewMerge[],
  chunksPosition: Position,
  at: EpochMs,
): HeadwaterEvent {
  const body = merges.map(({ chunks: _, contribution, ...ref }): Merge => {
    return { ...ref, contribution: { ...contribution, chunksPosition } };
  });
  const digest = mergesDigest(decision.revision, encodeMerges(body));
  return makeEvent(releaseMerged, at, { ...headOf(decision), digest, body });
}
