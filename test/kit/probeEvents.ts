import { type HeadwaterEvent, makeEvent } from '../../streams/events/index.ts';
import { probeCandidates } from '../../streams/events/probes.ts';
import { releaseSettled } from '../../streams/events/releases.ts';
import { EpochMs, MessageId, ReleaseId } from '../../streams/ids.ts';
import { settlementDigest } from '../../streams/merges.ts';
import type { ProbeCandidate, Settlement } from '../../streams/records.ts';
import { keyOf, type PassOptions, passFields, T0 } from './releaseEvents.ts';

export type CandidateOptions = Partial<Omit<ProbeCandidate, 'messageId'>> & { readonly id?: string };

/** A candidate of the release `name`: the first article of its first volume. */
export function candidate(name: string, { id = `${name}@x`, ...o }: CandidateOptions = {}): ProbeCandidate {
  const firstAt = o.firstAt ?? T0;
  const said = { fileHash: '00000000000000aa', part: 1, bytes: 700_000, random: false, rank: 1 };
  return {
    key: keyOf(name),
    kind: 'archive',
    messageId: MessageId(id),
    ...said,
    lastAt: firstAt,
    ...o,
    firstAt,
  };
}

export const candidates = (
  o: PassOptions,
  body: readonly ProbeCandidate[],
  k = 0,
  at: number = T0,
): HeadwaterEvent<'probe.candidates'> =>
  makeEvent(probeCandidates, EpochMs(at), { ...passFields(o), k, body: [...body] });

/** A settlement of the release `name` with this span; its figures say nothing. */
export const settlement = (name: string, firstAt: number = T0, lastAt: number = firstAt): Settlement => ({
  releaseId: ReleaseId(keyOf(name)),
  key: keyOf(name),
  setHash: keyOf(`${name}/${firstAt}`),
  firstAt: EpochMs(firstAt),
  lastAt: EpochMs(lastAt),
  ...{ files: 1, filesComplete: 1, segments: 1, segmentsTotal: 1, bytes: 1 },
  ...{ par2Files: 0, par2Segments: 0, par2SegmentsTotal: 0, par2Bytes: 0 },
});

export const settledAs = (releases: readonly Settlement[], at: number = T0): HeadwaterEvent<'release.settled'> =>
  makeEvent(releaseSettled, EpochMs(at), { digest: settlementDigest(releases), releases: [...releases] });
