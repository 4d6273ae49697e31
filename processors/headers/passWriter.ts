import type { Clock } from '../../infra/base/clock.ts';
import { sliceBySize } from '../../streams/codec/releaseSeen.ts';
import { chunksOpened, chunksWritten } from '../../streams/events/chunks.ts';
import { type HeadwaterEvent, makeEvent } from '../../streams/events/index.ts';
import { probeCandidates } from '../../streams/events/probes.ts';
import { rangeParsed } from '../../streams/events/ranges.ts';
import { releaseFragments, releaseOpened, releaseSeen } from '../../streams/events/releases.ts';
import { EpochMs, type Position } from '../../streams/ids.ts';
import type { Contribution, Fragments, Interval, LineCounts, ProbeCandidate, RangeRef } from '../../streams/records.ts';
import type { EventSink } from '../ports.ts';
import type { ReleasesStep, SessionStep } from './rangeSession.ts';

/** A pass that another worker holds already is left to it, and the next one is taken; never as often as this. */
const OPENINGS_MAX = 1000;

export interface PassTotals {
  readonly releases: number;
  readonly files: number;
  readonly segments: number;
}

/** Appends everything that one pass over a range says, in order. */
export class PassWriter {
  readonly #range: RangeRef;
  readonly #sink: EventSink;
  readonly #clock: Clock;
  readonly #signal: AbortSignal;
  #pass = 0;
  #releasesAt: Position = { number: 1, sequence: 0 };
  #chunksAt: Position = { number: 1, sequence: 0 };
  #seen = 0;
  #written = 0;
  #fragments = 0;
  #candidates = 0;
  #totals: PassTotals = { releases: 0, files: 0, segments: 0 };

  constructor(range: RangeRef, ports: { readonly sink: EventSink; readonly clock: Clock }, signal: AbortSignal) {
    this.#range = range;
    this.#sink = ports.sink;
    this.#clock = ports.clock;
    this.#signal = signal;
  }

  /** Opens the first pass from `pass` on that nobody has opened before; returns it. */
  async open(pass: number): Promise<number> {
    for (this.#pass = pass; this.#pass < pass + OPENINGS_MAX; this.#pass++) {
      const { lo, hi } = this.#range;
      const data = { ...this.#fields(), lo, hi };
      const opened = await this.#sink.append(makeEvent(releaseOpened, this.#now(), data), { signal: this.#signal });
      if (opened.kind !== 'stored') continue;
      this.#releasesAt = opened.position;
      this.#chunksAt = await this.#append(makeEvent(chunksOpened, this.#now(), data));
      return this.#pass;
    }
    throw new RangeError(`${OPENINGS_MAX} passes of ${this.#range.rangeId} are open already`);
  }

  async write(step: SessionStep): Promise<void> {
    switch (step.kind) {
      case 'releases':
        return await this.#writeReleases(step);
      case 'fragments':
        return await this.#writeFragments(step.fragments);
      case 'candidates':
        return await this.#writeCandidates(step.candidates);
    }
  }

  /** The chunks first: a contribution names the position behind which all of its chunks are stored. */
  async #writeReleases(step: ReleasesStep): Promise<void> {
    if (step.chunks.length > 0) {
      const data = { ...this.#fields(), k: this.#written++, body: [...step.chunks] };
      this.#chunksAt = await this.#append(makeEvent(chunksWritten, this.#now(), data));
    }
    const chunksPosition = this.#chunksAt;
    const contributions = step.contributions.map((c): Contribution => ({ ...c, chunksPosition }));
    for (const body of sliceBySize(contributions)) {
      const data = { origin: 'headers' as const, ...this.#fields(), k: this.#seen++, body };
      this.#releasesAt = await this.#append(makeEvent(releaseSeen, this.#now(), data));
    }
    const sum = (of: (c: Contribution) => number) => contributions.reduce((total, c) => total + of(c), 0);
    this.#totals = {
      releases: this.#totals.releases + contributions.length,
      files: this.#totals.files + sum((c) => c.files),
      segments: this.#totals.segments + sum((c) => c.segments),
    };
  }

  async #writeFragments(body: Fragments): Promise<void> {
    const data = { ...this.#fields(), k: this.#fragments++, body };
    this.#releasesAt = await this.#append(makeEvent(releaseFragments, this.#now(), data));
  }

  async #writeCandidates(body: readonly ProbeCandidate[]): Promise<void> {
    const data = { ...this.#fields(), k: this.#candidates++, body: [...body] };
    this.#releasesAt = await this.#append(makeEvent(probeCandidates, this.#now(), data));
  }

  /** The pass is over: RELEASES and CHUNKS are complete for it. */
  async close({ lines, kept, skipped }: LineCounts, missing: readonly Interval[]): Promise<void> {
    const positions = { releasesPosition: this.#releasesAt, chunksPosition: this.#chunksAt };
    const counts = { lines, kept, skipped: { ...skipped }, ...this.#totals, missing: [...missing] };
    const data = { ...this.#range, pass: this.#pass, ...counts, ...positions };
    await this.#append(makeEvent(rangeParsed, this.#now(), data));
  }

  async #append(event: HeadwaterEvent): Promise<Position> {
    const appended = await this.#sink.append(event, { signal: this.#signal });
    // Nothing is expected of the subject, so nothing can be in the way.
    if (appended.kind === 'conflict') throw new TypeError(`conflict without an expectation: ${event.id}`);
    return appended.position;
  }

  #fields() {
    const { backbone, group, epoch, rangeId, run } = this.#range;
    return { backbone, group, epoch, rangeId, run, pass: this.#pass };
  }

  #now(): EpochMs {
    return EpochMs(this.#clock.now());
  }
}
