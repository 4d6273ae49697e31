import type { Clock } from '../../infra/base/clock.ts';
import { makeEvent } from '../../streams/events/index.ts';
import { overviewBatch } from '../../streams/events/overview.ts';
import { ArticleNumber, EpochMs } from '../../streams/ids.ts';
import { appendFirst } from '../appendFirst.ts';
import type { EventSink, RangeRun } from '../ports.ts';
import type { CutBatch } from './cutBatches.ts';
import { datesOf, frameOf } from './frame.ts';
import type { RangeProgress } from './stored.ts';

/** Somebody else appended to the range meanwhile: this worker stops, the other one goes on. */
export class LostRace extends Error {
  override readonly name = 'LostRace';
}

/**
 * Appends the batches of one run, one after the other, each behind the one before (the expected last sequence of the
 * subject). The next batch may be collected while one is on its way; a third waits.
 */
export class BatchStore {
  readonly #run: RangeRun;
  readonly #progress: RangeProgress;
  readonly #format: readonly string[];
  readonly #options: { readonly sink: EventSink; readonly clock: Clock; readonly level: number };
  #last: Promise<void> = Promise.resolve();

  constructor(
    run: RangeRun,
    progress: RangeProgress,
    format: readonly string[],
    options: { readonly sink: EventSink; readonly clock: Clock; readonly level: number },
  ) {
    this.#run = run;
    this.#progress = progress;
    this.#format = format;
    this.#options = options;
  }

  /** Resolves when the batch before this one is stored. Throws LostRace. */
  async put(batch: CutBatch, signal: AbortSignal): Promise<void> {
    await this.#last;
    this.#last = this.#store(batch, signal);
    // Its error is thrown by the next `put` or by `flush`; it must not count as unhandled until then.
    this.#last.catch(() => {});
  }

  /** Resolves when everything is stored. Throws LostRace. */
  flush(): Promise<void> {
    return this.#last;
  }

  async #store(batch: CutBatch, signal: AbortSignal): Promise<void> {
    const { sink, clock, level } = this.#options;
    const { lo, hi, lines, raw, numbers } = batch;
    const body = await frameOf(batch, this.#format, level);
    const span = { lo: ArticleNumber(lo), hi: ArticleNumber(hi) };
    const { backbone, group, rangeId, run } = this.#run;
    const at = EpochMs(clock.now());
    const event = makeEvent(overviewBatch, at, { backbone, group, rangeId, run, ...span, body });
    const stored = await appendFirst(sink, event, { lastOnSubject: this.#progress.lastSequence, signal });
    if (stored === null) throw new LostRace(`another worker stored batches of ${rangeId}`);
    const { sequence } = stored;
    const format = this.#format;
    this.#progress.add({
      ...{ sequence, lo, hi, lines, numbers, format, at },
      rawBytes: raw.length,
      dates: datesOf(raw, format),
    });
  }
}
