import type { DueCursor, DueRelease, SettleCatalog } from '../../processors/settle/ports.ts';
import type { EpochMs, Position } from '../../streams/ids.ts';
import { setHashOf } from '../../streams/merges.ts';
import type { MemoryEvents } from './memoryEvents.ts';
import { decoded } from './memoryStream.ts';

const compare = (a: DueCursor, b: DueCursor): number =>
  a.settleDueAt - b.settleDueAt || (a.releaseId < b.releaseId ? -1 : Number(a.releaseId > b.releaseId));

/** A catalog whose releases a test sets, and which takes `release.settled` from a stream in memory. */
export class MemorySettleCatalog implements SettleCatalog {
  readonly #events: MemoryEvents;
  releases: readonly DueRelease[] = [];
  /** The RELEASES sequence that it does not get beyond; null: it follows at once. */
  lagging: number | null = null;
  /** Takes no settlement, whatever is said: a defect. */
  stubborn = false;
  /** Thrown by the next reads, one each. */
  readonly failures: Error[] = [];
  /** Cursors and limits of every read. */
  readonly reads: { readonly after: DueCursor | null; readonly limit: number }[] = [];

  constructor(events: MemoryEvents) {
    this.#events = events;
  }

  async position(): Promise<Position> {
    const last = this.#events.stream('RELEASES').last;
    return { number: 1, sequence: Math.min(last, this.lagging ?? last) };
  }

  async due(now: EpochMs, after: DueCursor | null, limit: number): Promise<readonly DueRelease[]> {
    this.reads.push({ after, limit });
    const failure = this.failures.shift();
    if (failure) throw failure;
    const settled = await this.#settled();
    const open = this.releases.filter(
      (r) => settled.get(r.releaseId) !== setHashOf(r.contributions.map((c) => c.name)),
    );
    const due = open.filter((r) => r.settleDueAt <= now && (after === null || compare(r, after) > 0));
    return due.sort(compare).slice(0, limit);
  }

  /** The set hash that each release is settled with. */
  async #settled(): Promise<ReadonlyMap<string, string>> {
    if (this.stubborn) return new Map();
    const { sequence } = await this.position();
    const seen = this.#events.stream('RELEASES').messages.filter((m) => m.sequence <= sequence);
    const said = seen.map((m) => decoded(m).event).filter((event) => event.type === 'release.settled');
    return new Map(said.flatMap(({ data }) => data.releases.map((r) => [r.releaseId, r.setHash] as const)));
  }
}
