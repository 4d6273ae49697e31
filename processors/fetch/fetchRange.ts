import type { Clock } from '../../infra/base/clock.ts';
import { HeadwaterError, isHeadwaterError } from '../../infra/base/errors/index.ts';
import type { Log } from '../../infra/base/log.ts';
import type { Metrics } from '../../infra/base/metrics.ts';
import type { FailureClass } from '../../streams/events/ranges.ts';
import type { ProviderName } from '../../streams/ids.ts';
import { appendFirst } from '../appendFirst.ts';
import { failureKind } from '../failover/failureKind.ts';
import type { Providers } from '../failover/providers.ts';
import type { Articles, EventReader, EventSink, RangeLedger } from '../ports.ts';
import { BatchCutter } from './cutBatches.ts';
import type { JobRetries } from './jobRetries.ts';
import { failedEvent, fetchedEvent, type RangeJob, runOf } from './rangeEvents.ts';
import { readSpans, spansOf } from './readSpans.ts';
import { Refusals } from './refusals.ts';
import type { FetchSettings } from './settings.ts';
import { BatchStore, LostRace } from './storeBatches.ts';
import { type RangeProgress, readProgress } from './stored.ts';

/**
 * What became of one range. `settled`: fetched now, before, or given up; `lost`: another worker has it; `later`: to be
 * tried again after the delay, and nothing that is stored is lost meanwhile.
 */
export type RangeResult =
  | { readonly kind: 'settled' }
  | { readonly kind: 'lost' }
  | { readonly kind: 'later'; readonly delayMs: number; readonly reason: string };

export interface FetchPorts {
  readonly sink: EventSink;
  readonly reader: EventReader;
  readonly ledger: RangeLedger;
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: Metrics;
}

export interface FetchContext extends FetchPorts {
  readonly providers: Providers;
  readonly retries: JobRetries;
  readonly settings: FetchSettings;
}

/** How soon a lost lease may come back: by then the winner has finished or has died. */
export const LOST_MS = 5000;
const settled: RangeResult = { kind: 'settled' };

/** Fetches one range: goes on behind what is stored, stores the rest, and appends `range.fetched` or `range.failed`. */
export async function fetchRange(job: RangeJob, context: FetchContext, signal: AbortSignal): Promise<RangeResult> {
  const run = runOf(job.range);
  const state = await context.ledger.stateOf(run);
  if (state !== null && state !== 'planned') return settled;
  try {
    const progress = await readProgress(context.reader, run, job.range);
    const waiting = progress.complete ? null : await fetchRest(job, progress, context, signal);
    if (waiting !== null) return waiting;
    await appendFirst(context.sink, fetchedEvent(job, progress), { signal });
    context.retries.forget(job.range);
    return settled;
  } catch (error) {
    signal.throwIfAborted();
    return await judge(error, job, context, signal);
  }
}

/** Null when the range is complete. */
async function fetchRest(
  job: RangeJob,
  progress: RangeProgress,
  context: FetchContext,
  signal: AbortSignal,
): Promise<RangeResult | null> {
  const failed = new Set<ProviderName>();
  const refusals = new Refusals(() => context.retries.first(job.range));
  for (;;) {
    const before = progress.next;
    try {
      const used = await context.providers.use(
        (articles, provider) =>
          readRest(articles, job, progress, context, signal).catch((error: unknown) => {
            failed.add(provider);
            throw refusals.blamed(error);
          }),
        signal,
        failed,
      );
      if (used.kind === 'used') return null;
      // One that was refused comes after the others: the next trial of the provider is theirs.
      const delayMs = used.delayMs + (refusals.any ? context.settings.retryMs : 0);
      return { kind: 'later', delayMs, reason: 'no provider of the backbone can be used now' };
    } catch (error) {
      // A connection that broke under a range that made headway is no failure of the range: it goes on from there at once.
      const again =
        failureKind(error, true) === 'work' && (progress.next > before || failed.size < context.providers.count);
      if (!again || signal.aborted) throw error;
      context.log.warn('a range goes on over another connection', { range: job.range.rangeId, error: String(error) });
    }
  }
}

/** Reads from the first number that is not stored to the end, over one connection. */
async function readRest(
  articles: Articles,
  job: RangeJob,
  progress: RangeProgress,
  context: FetchContext,
  signal: AbortSignal,
): Promise<void> {
  const { range } = job;
  const { settings } = context;
  // A kept connection sees new articles only after GROUP, also when the group is selected already.
  await articles.group(range.group);
  const format = await articles.overviewFormat();
  checkFormat(job, progress, format);
  const store = new BatchStore(runOf(range), progress, format, { ...context, level: settings.level });
  const cutter = new BatchCutter(progress.next, settings.batch);
  const spans = spansOf(progress.next, range.hi, settings.spanNumbers);
  try {
    for await (const { span, piece } of readSpans(articles, spans, settings.spansAhead, signal)) {
      for (const batch of cutter.push(piece, span)) await store.put(batch, signal);
    }
    const last = cutter.finish(range.hi);
    if (last) await store.put(last, signal);
  } finally {
    // Also after an error: whoever goes on must know what is stored. A lost race outweighs a broken connection.
    await store.flush();
  }
  if (cutter.dropped > 0) context.metrics.count('fetch_lines_dropped_total', { group: range.group }, cutter.dropped);
}

/** The batches of a run are parsed as one: they must have one format. */
function checkFormat({ range }: RangeJob, { format }: RangeProgress, now: readonly string[]): void {
  if (format === null || JSON.stringify(format) === JSON.stringify(now)) return;
  throw new HeadwaterError('RANGE_FORMAT_CHANGED', { range: range.rangeId, group: range.group, run: range.run });
}

/** What an error means for the range. Errors that are none of its own are thrown on. */
async function judge(error: unknown, job: RangeJob, context: FetchContext, signal: AbortSignal): Promise<RangeResult> {
  if (error instanceof LostRace) {
    context.log.info('another worker fetches the range', { range: job.range.rangeId, group: job.range.group });
    return { kind: 'lost' };
  }
  if (!isHeadwaterError(error)) throw error;
  if (error.code === 'RANGE_FORMAT_CHANGED' || error.code === 'RANGE_BATCHES_BROKEN') {
    return await giveUp(error, 'error', job, context, signal);
  }
  switch (failureKind(error, true)) {
    case 'group gone':
      return await giveUp(error, 'unavailable', job, context, signal);
    case 'work':
      if (!context.retries.first(job.range)) return await giveUp(error, 'error', job, context, signal);
      return { kind: 'later', delayMs: context.settings.retryMs, reason: error.message };
    default:
      throw error;
  }
}

async function giveUp(
  error: HeadwaterError,
  failureClass: FailureClass,
  job: RangeJob,
  context: FetchContext,
  signal: AbortSignal,
): Promise<RangeResult> {
  const { range } = job;
  context.log.error('a range failed', { range: range.rangeId, group: range.group, error: error.message });
  const failure = { origin: 'fetch', stage: 'fetch', class: failureClass, error } as const;
  await appendFirst(context.sink, failedEvent(range, context.clock.now(), failure), { signal });
  context.retries.forget(range);
  return settled;
}
