import { HeadwaterError } from '../../infra/base/errors/index.ts';
import { CorruptPayload } from '../../streams/codec/errors.ts';
import type { BatchRef } from '../../streams/events/ranges.ts';
import { ArticleNumber, type EpochMs } from '../../streams/ids.ts';
import { readNumber } from '../headers/lines.ts';
import type { EventReader, RangeRun } from '../ports.ts';
import { type DateSpan, datesOf, joinDates, openFrame } from './frame.ts';
import { SeenNumbers } from './missing.ts';

/** Stored batches that are read at a time: each may hold several MB. */
const PAGE = 4;
const LF = 10;

/** A span of a range with what is stored of it so far: where fetching goes on, and what `range.fetched` will say. */
export class RangeProgress {
  readonly lo: number;
  readonly hi: number;
  readonly seen: SeenNumbers;
  readonly batches: BatchRef[] = [];
  /** Field names of the stored batches; null before there is one. */
  format: readonly string[] | null = null;
  dates: DateSpan = { firstAt: null, lastAt: null };
  /** When the last batch was stored. */
  storedAt: EpochMs | null = null;

  constructor(lo: number, hi: number) {
    this.lo = lo;
    this.hi = hi;
    this.seen = new SeenNumbers(lo, hi);
  }

  /** The first number that no stored batch answers for. */
  get next(): number {
    return (this.batches.at(-1)?.hi ?? this.lo - 1) + 1;
  }

  get complete(): boolean {
    return this.next > this.hi;
  }

  /** Sequence of the last batch on the range's subject, 0 before the first: what the next append expects. */
  get lastSequence(): number {
    return this.batches.at(-1)?.sequence ?? 0;
  }

  add(batch: StoredBatch): void {
    const { sequence, lo, hi, lines, rawBytes } = batch;
    this.batches.push({ sequence, lo: ArticleNumber(lo), hi: ArticleNumber(hi), lines, rawBytes });
    for (const number of batch.numbers) this.seen.add(number);
    this.format = batch.format;
    this.dates = joinDates(this.dates, batch.dates);
    this.storedAt = batch.at;
  }
}

export interface StoredBatch {
  readonly sequence: number;
  readonly lo: number;
  readonly hi: number;
  readonly lines: number;
  readonly rawBytes: number;
  readonly numbers: Iterable<number>;
  readonly format: readonly string[];
  readonly dates: DateSpan;
  readonly at: EpochMs;
}

function* numbersIn(raw: Buffer): Generator<number> {
  for (let start = 0; start < raw.length; ) {
    const lf = raw.indexOf(LF, start);
    const end = lf < 0 ? raw.length : lf + 1;
    const tab = raw.indexOf(9, start);
    const number = readNumber(raw, start, tab < 0 || tab > end ? end : tab);
    if (number >= 0) yield number;
    start = end;
  }
}

/** What is stored of a run, read in pages. Throws RANGE_BATCHES_BROKEN when the batches do not follow each other. */
export async function readProgress(
  reader: EventReader,
  run: RangeRun,
  span: { readonly lo: number; readonly hi: number },
): Promise<RangeProgress> {
  const progress = new RangeProgress(span.lo, span.hi);
  for (;;) {
    const after = { number: 1, sequence: progress.lastSequence };
    const page = await reader.allOn('OVERVIEW', { verb: 'overview', ...run }, PAGE, after);
    for (const { event, position } of page) {
      if (event.type !== 'overview.batch') continue;
      const { lo, hi, body } = event.data;
      // Also what would happen if a reader gave the same page again and again.
      if (lo !== progress.next || hi > span.hi) throw broken(run, `${lo}-${hi} where ${progress.next} was to begin`);
      const { head, raw } = opened(run, body);
      const { lines, rawBytes, format } = head;
      const found = { lo, hi, lines, rawBytes, format, sequence: position.sequence, at: event.at };
      progress.add({ ...found, numbers: numbersIn(raw), dates: datesOf(raw, format) });
    }
    if (page.length < PAGE) return progress;
  }
}

function opened(run: RangeRun, body: Uint8Array): ReturnType<typeof openFrame> {
  try {
    return openFrame(body);
  } catch (error) {
    if (error instanceof CorruptPayload) throw broken(run, error.message);
    throw error;
  }
}

const broken = (run: RangeRun, reason: string): HeadwaterError =>
  new HeadwaterError('RANGE_BATCHES_BROKEN', { range: run.rangeId, group: run.group, run: run.run, reason });
