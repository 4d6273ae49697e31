import type { StoredEvent } from '../../streams/envelope.ts';
import type { ProbeCandidates } from '../../streams/events/probes.ts';
import type { ReleaseSettled } from '../../streams/events/releases.ts';
import { PROBE_KINDS, type ProbeCandidate } from '../../streams/records.ts';
import { type BatchSource, BatchSources } from '../batchSources.ts';
import type { SqlValue } from '../ports.ts';
import { packPosition } from '../position.ts';
import type { StagedRows } from '../projection.ts';

/**
 * Which candidates are read first, 0 to 7: random names before readable ones, since a readable name tells already what the
 * article would; then by kind in the order of PROBE_KINDS: an archive's head names what is in it, a par2 names the files
 * only, a lone file is least likely to be something, and the end of a 7z set is no use before its beginning.
 */
export const preferenceOf = ({ random, kind }: Pick<ProbeCandidate, 'random' | 'kind'>): number =>
  (random ? 0 : PROBE_KINDS.length) + PROBE_KINDS.indexOf(kind);

/** No command can ask for an id with a NUL, and no text of the database holds one. */
const canBeAsked = (c: ProbeCandidate): boolean => !c.messageId.includes('\0');

class Batch {
  readonly sources = new BatchSources();
  readonly #candidates: SqlValue[][] = [];
  readonly #settled: SqlValue[][] = [];

  candidates(source: BatchSource, message: ProbeCandidates, position: number, at: number): void {
    const { run, pass } = message;
    for (const c of message.body.filter(canBeAsked)) {
      this.#candidates.push([
        ...[this.#candidates.length, position, at, source.n, run, pass, c.key, c.kind, preferenceOf(c), c.rank],
        ...[c.messageId, Buffer.from(c.fileHash, 'hex'), c.part, c.bytes, c.random],
        ...[c.firstAt, Math.max(c.firstAt, c.lastAt)],
      ]);
    }
  }

  settled({ releases }: ReleaseSettled, position: number): void {
    for (const [n, r] of releases.entries()) {
      this.#settled.push([position, n, r.key, r.firstAt, Math.max(r.firstAt, r.lastAt)]);
    }
  }

  rows(): StagedRows {
    return {
      stage_probes_source: this.sources.rows(),
      stage_probes_candidate: this.#candidates,
      stage_probes_settled: this.#settled,
    };
  }
}

/** The staged rows of a batch of RELEASES: what an earlier message of the batch replaced is dropped. */
export function projectProbes(events: readonly StoredEvent[]): StagedRows {
  const batch = new Batch();
  for (const { event, position } of events) {
    const packed = packPosition(position);
    if (event.type === 'release.settled') batch.settled(event.data, packed);
    if (event.type !== 'release.opened' && event.type !== 'probe.candidates') continue;
    const source = batch.sources.accept(event.data);
    if (source && event.type === 'probe.candidates') batch.candidates(source, event.data, packed, event.at);
  }
  return batch.rows();
}
