import { HeadwaterError } from '../../infra/base/errors/index.ts';
import { makeEvent } from '../../streams/events/index.ts';
import { overviewBatch } from '../../streams/events/overview.ts';
import { rangePlanned } from '../../streams/events/ranges.ts';
import { ArticleNumber, EpochMs } from '../../streams/ids.ts';
import type { RangeRef } from '../../streams/records.ts';
import { appendFirst } from '../appendFirst.ts';
import type { CutBatch } from '../fetch/cutBatches.ts';
import { type DateSpan, datesOf, frameOf } from '../fetch/frame.ts';
import { fetchedEvent, type RangeJob, runOf } from '../fetch/rangeEvents.ts';
import { type RangeProgress, readProgress } from '../fetch/stored.ts';
import type { RangeLedger, RangeRun } from '../ports.ts';
import type { ImportPorts } from './overviewFile.ts';
import type { ImportSettings } from './settings.ts';

/** The fields of an overview file, as servers with standard settings send them. */
export const FILE_FORMAT = [
  'subject:',
  'from:',
  'date:',
  'message-id:',
  'references:',
  ':bytes',
  ':lines',
  'xref:full',
] as const;

/** A batch that waits for the end of its range: its lines only as they will be stored. */
export interface FramedBatch extends Omit<CutBatch, 'raw' | 'numbers'> {
  readonly frame: Uint8Array;
  readonly rawBytes: number;
  readonly numbers: Float64Array;
  readonly dates: DateSpan;
}

export async function framed(batch: CutBatch, level: number): Promise<FramedBatch> {
  const { lo, hi, lines, raw, numbers } = batch;
  const frame = await frameOf(batch, FILE_FORMAT, level);
  const dates = datesOf(raw, FILE_FORMAT);
  return { lo, hi, lines, frame, rawBytes: raw.length, numbers: Float64Array.from(numbers), dates };
}

/**
 * Appends a range of a file: its plan, the batches that are not stored yet, and `range.fetched`. False when the ledger knows
 * that all of it happened before. Waits while too much is waiting to be parsed.
 */
export async function storeRange(
  job: RangeJob,
  batches: readonly FramedBatch[],
  queue: ParseQueue,
  ports: ImportPorts,
  settings: ImportSettings,
  signal: AbortSignal,
): Promise<boolean> {
  const { range, listVersion, garbageVersion, plannedAt } = job;
  const state = await ports.ledger.stateOf(runOf(range));
  if (state !== null && state !== 'planned') return false;
  if (state === null && range.run === 1) await refuseOverlap(range, ports.ledger);
  const bytes = batches.reduce((sum, { frame }) => sum + frame.length, 0);
  await roomFor(bytes, queue, ports, settings, signal);
  const { lane, backbone, group, epoch, rangeId, lo, hi, run } = range;
  const ranges = [{ group, epoch, rangeId, lo, hi, run }];
  const plan = makeEvent(rangePlanned, plannedAt, { lane, backbone, ranges, listVersion, garbageVersion });
  if (state === null) await appendFirst(ports.sink, plan, { signal });
  const progress = await readProgress(ports.reader, runOf(range), range);
  checkStored(progress, batches, range);
  for (const batch of batches) {
    if (batch.lo >= progress.next) await appendBatch(batch, range, progress, ports, signal);
  }
  await appendFirst(ports.sink, fetchedEvent(job, progress), { signal });
  queue.add(runOf(range));
  return true;
}

/** A file that was cut elsewhere, or has grown since it was imported, has ranges of its own over the same numbers. */
async function refuseOverlap({ backbone, group, epoch, rangeId, lo, hi, run }: RangeRef, ledger: RangeLedger) {
  const covered = await ledger.planned(backbone, group, epoch);
  if (!covered.some(([from, to]) => from <= hi && to >= lo)) return;
  throw new HeadwaterError('IMPORT_OVERLAPS', { range: rangeId, group, run });
}

/** A range that is half there must have come from the same lines. */
function checkStored(progress: RangeProgress, batches: readonly FramedBatch[], range: RangeRef): void {
  const same = progress.batches.every(({ lo, hi, lines, rawBytes }, i) => {
    const ours = batches[i];
    return ours?.lo === lo && ours.hi === hi && ours.lines === lines && ours.rawBytes === rawBytes;
  });
  if (!same) throw otherContent(range);
}

async function appendBatch(
  batch: FramedBatch,
  range: RangeRef,
  progress: RangeProgress,
  ports: ImportPorts,
  signal: AbortSignal,
): Promise<void> {
  const { frame: body, lo, hi } = batch;
  const at = EpochMs(ports.clock.now());
  const span = { lo: ArticleNumber(lo), hi: ArticleNumber(hi) };
  const event = makeEvent(overviewBatch, at, { ...runOf(range), ...span, body });
  const stored = await appendFirst(ports.sink, event, { lastOnSubject: progress.lastSequence, signal });
  if (stored === null) throw otherContent(range);
  progress.add({ ...batch, sequence: stored.sequence, format: FILE_FORMAT, at });
}

/** Ranges of this import that are not parsed yet, as far as the ledger knows. */
export class ParseQueue {
  #runs: readonly RangeRun[] = [];

  add(run: RangeRun): void {
    this.#runs = [...this.#runs, run];
  }

  /** Whether there is room for one more beside those that wait still, at most `limit` of them. */
  async hasRoom(ledger: RangeLedger, limit: number): Promise<boolean> {
    // Only a full queue is worth the questions.
    if (this.#runs.length < limit) return true;
    const states = await Promise.all(this.#runs.map((run) => ledger.stateOf(run)));
    this.#runs = this.#runs.filter((_, i) => states[i] === null || states[i] === 'planned' || states[i] === 'fetched');
    return this.#runs.length < limit;
  }
}

/** Waits until OVERVIEW has place for the range and not too many ranges of this import wait to be parsed. */
async function roomFor(
  bytes: number,
  queue: ParseQueue,
  ports: ImportPorts,
  settings: ImportSettings,
  signal: AbortSignal,
): Promise<void> {
  for (;;) {
    const overview = await ports.reader.state('OVERVIEW');
    const limit = overview.maxBytes < 0 ? Number.POSITIVE_INFINITY : overview.maxBytes * settings.overviewShare;
    // An empty stream takes whatever comes: waiting would not make more room.
    const fits = overview.bytes + bytes <= limit || overview.messages === 0;
    if (fits && (await queue.hasRoom(ports.ledger, settings.outstandingRanges))) return;
    await ports.clock.sleep(settings.waitMs, signal);
  }
}

const otherContent = (range: RangeRef): HeadwaterError =>
  new HeadwaterError('IMPORT_OTHER_CONTENT', { range: range.rangeId, group: range.group, run: range.run });
