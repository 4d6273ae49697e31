import { isHeadwaterError } from '../../infra/base/errors/index.ts';
import { CorruptPayload } from '../../streams/codec/errors.ts';
import { makeEvent } from '../../streams/events/index.ts';
import { releaseSettled } from '../../streams/events/releases.ts';
import { EpochMs, type Position } from '../../streams/ids.ts';
import { settlementDigest } from '../../streams/merges.ts';
import type { Settlement } from '../../streams/records.ts';
import { comparePositions } from '../../streams/topology.ts';
import { runRounds } from '../run.ts';
import { largestSum } from './figures.ts';
import type { DueCursor, DueRelease, Figures, SettlePorts } from './ports.ts';
import { RoundResolutions } from './roundResolutions.ts';
import { SaidBefore } from './saidBefore.ts';
import { DEFAULT_SETTLE_SETTINGS, type SettleSettings } from './settings.ts';
import { settlementOf, unionFigures } from './settlement.ts';
import { readShares } from './sharedFiles.ts';

/** What a round has found so far; nothing of it counts before it is appended. */
interface Round {
  readonly numbers: RoundResolutions;
  readonly settled: Settlement[];
  readonly signal: AbortSignal;
}

/** Figures, and how they were found: `largest` where the shared files are too large to be joined (see `readShares`). */
interface Found {
  readonly figures: Figures;
  readonly by: 'sums' | 'union' | 'largest';
}

class Settling {
  readonly #ports: SettlePorts;
  readonly #settings: SettleSettings;
  readonly #said: SaidBefore;
  /** When the sweep that goes on began: what becomes due later is the next one's, so that every sweep ends. */
  #sweepAt = Number.NEGATIVE_INFINITY;
  /** Null: no sweep goes on. */
  #cursor: DueCursor | null = null;
  /** What the catalog must have passed before a sweep begins: what was settled may be due in it until then. */
  #barrier: Position | null = null;
  #waiting = 0;

  constructor(ports: SettlePorts, settings: SettleSettings) {
    this.#ports = ports;
    this.#settings = settings;
    this.#said = new SaidBefore(settings.repeatMs);
  }

  /**
   * One round: some pages of due releases from where the last round ended. When it throws, the next one looks at the same
   * pages again.
   */
  async round(signal: AbortSignal): Promise<void> {
    const { catalog, numbers } = this.#ports;
    // Read before the releases are: these are then of this position or a later one, never of an earlier.
    const projected = await catalog.position();
    if (this.#cursor === null && !(await this.#begins(projected))) return;
    const round: Round = { numbers: new RoundResolutions(numbers, projected), settled: [], signal };
    let cursor = this.#cursor;
    for (let page = 0; page < this.#settings.pagesPerRound; page++) {
      signal.throwIfAborted();
      const due = await catalog.due(EpochMs(this.#sweepAt), cursor, this.#settings.pageReleases);
      for (const release of due) await this.#take(release, round);
      const last = due.at(-1);
      cursor = last ? { settleDueAt: last.settleDueAt, releaseId: last.releaseId } : null;
      if (cursor === null) break;
    }
    await this.#append(round);
    this.#cursor = cursor;
    if (cursor === null) this.#ports.metrics.gauge('settle_releases_waiting', this.#waiting);
  }

  /** Whether a sweep may begin: it is time for one, and the catalog knows what was appended, also by an earlier process. */
  async #begins(projected: Position): Promise<boolean> {
    const { reader, clock } = this.#ports;
    this.#barrier ??= (await reader.state('RELEASES')).last;
    if (comparePositions(projected, this.#barrier) < 0) return false;
    if (clock.now() < this.#sweepAt + this.#settings.sweepEveryMs) return false;
    this.#sweepAt = clock.now();
    this.#waiting = 0;
    return true;
  }

  async #take(release: DueRelease, round: Round): Promise<void> {
    if (!(await round.numbers.isResolved(release))) {
      this.#waiting++;
      return;
    }
    const found = await this.#figures(release, round.signal);
    if (found === null) return;
    const settlement = settlementOf(release, found.figures);
    if (this.#said.lately(settlement, this.#ports.clock.now())) {
      this.#skip('repeated');
      return;
    }
    round.settled.push(settlement);
    this.#ports.metrics.count('settle_releases_settled_total', { figures: found.by });
  }

  /** Null when its chunks cannot be read now; the next sweep looks again, and no other release waits for it. */
  async #figures(release: DueRelease, signal: AbortSignal): Promise<Found | null> {
    const { chunks, log } = this.#ports;
    const { contributions } = release;
    try {
      const shares = await readShares(release, chunks, this.#settings, signal);
      if (shares === null) return { figures: largestSum(contributions), by: 'largest' };
      return { figures: unionFigures(contributions, shares), by: shares.length === 0 ? 'sums' : 'union' };
    } catch (error) {
      if (isHeadwaterError(error, 'CHUNKS_NOT_READY')) return this.#skip('chunks');
      if (!(error instanceof CorruptPayload)) throw error;
      log.error('a release cannot be settled: a chunk is damaged', { release: release.releaseId, error });
      return this.#skip('damaged');
    }
  }

  #skip(reason: string): null {
    this.#ports.metrics.count('settle_releases_skipped_total', { reason });
    return null;
  }

  async #append({ settled, signal }: Round): Promise<void> {
    const { sink, clock } = this.#ports;
    for (let from = 0; from < settled.length; from += this.#settings.messageReleases) {
      const releases = settled.slice(from, from + this.#settings.messageReleases);
      const data = { digest: settlementDigest(releases), releases };
      const appended = await sink.append(makeEvent(releaseSettled, EpochMs(clock.now()), data), { signal });
      if (appended.kind === 'conflict') continue;
      this.#raise(appended.position);
      for (const settlement of releases) this.#said.remember(settlement, clock.now());
    }
  }

  #raise(position: Position): void {
    if (this.#barrier === null || comparePositions(this.#barrier, position) < 0) this.#barrier = position;
  }
}

/**
 * Settles releases of which nothing more is to come: goes through all that are due, again and again, and appends the
 * figures of those whose numbers are resolved. Runs until the signal aborts; rejects only on a defect. Two at once append
 * the same twice, which changes nothing.
 */
export async function runSettle(
  ports: SettlePorts,
  signal: AbortSignal,
  settings: SettleSettings = DEFAULT_SETTLE_SETTINGS,
): Promise<void> {
  const settling = new Settling(ports, settings);
  await runRounds('settling', settings.roundMs, (all) => settling.round(all), ports, signal);
}
