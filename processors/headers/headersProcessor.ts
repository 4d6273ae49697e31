import type { Clock } from '../../infra/base/clock.ts';
import { HeadwaterError, isHeadwaterError } from '../../infra/base/errors/index.ts';
import type { Log } from '../../infra/base/log.ts';
import type { Metrics } from '../../infra/base/metrics.ts';
import type { GarbageSignature } from '../../streams/events/control.ts';
import type { FailureClass, RangeFetched } from '../../streams/events/ranges.ts';
import type { LineCounts, RangeRef } from '../../streams/records.ts';
import { headersConsumer } from '../../streams/topology.ts';
import { appendFirst } from '../appendFirst.ts';
import { failedEvent, runOf } from '../fetch/rangeEvents.ts';
import type { Delivery, EventReader, EventSink, GarbageTables, GroupLists, PassLedger, RangeLedger } from '../ports.ts';
import { done, failed, type Outcome, type Processor, retry } from '../run.ts';
import { readBatches } from './batchReader.ts';
import { DEFAULT_GARBAGE } from './garbage.ts';
import { PassWriter } from './passWriter.ts';
import type { WorkerReply, WorkerRequest } from './workerMessages.ts';
import type { RangeThread, WorkerPool } from './workerPool.ts';
import { groupRanksOf } from './xref.ts';

export interface HeadersPorts {
  readonly sink: EventSink;
  readonly reader: EventReader;
  readonly ledger: RangeLedger;
  readonly groupLists: GroupLists;
  readonly garbageTables: GarbageTables;
  readonly passes: PassLedger;
  readonly workers: WorkerPool;
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: Metrics;
  /** A fresh seed for the tables of a range; the result does not depend on it. */
  readonly seed: () => number;
}

/** How soon a range is looked at again whose group list, garbage table, or end, is not projected yet. */
const LAG_MS = 1000;
/** A range under which the worker died this often is set aside: it would take the process down for ever. */
const DEATHS_MAX = 3;

/** Turns fetched ranges into releases and chunks. */
export const headersProcessor = (ports: HeadersPorts): Processor<'range.fetched'> => ({
  consumer: headersConsumer,
  accepts: 'range.fetched',
  maxInFlight: ports.workers.size,
  handle: (delivery, signal) => new RangePass(delivery, ports, signal).run(),
});

/** One delivery of a fetched range: one pass over it. */
class RangePass {
  readonly #delivery: Delivery<'range.fetched'>;
  readonly #ports: HeadersPorts;
  readonly #signal: AbortSignal;
  readonly #fetched: RangeFetched;
  readonly #range: RangeRef;

  constructor(delivery: Delivery<'range.fetched'>, ports: HeadersPorts, signal: AbortSignal) {
    this.#delivery = delivery;
    this.#ports = ports;
    this.#signal = signal;
    this.#fetched = delivery.event.data;
    const { lane, backbone, group, epoch, rangeId, lo, hi, run } = this.#fetched;
    this.#range = { lane, backbone, group, epoch, rangeId, lo, hi, run };
  }

  async run(): Promise<Outcome> {
    const { ledger, groupLists, passes } = this.#ports;
    const run = runOf(this.#range);
    const state = await ledger.stateOf(run);
    if (state !== null && state !== 'planned' && state !== 'fetched') return done;
    const list = await groupLists.version(this.#fetched.listVersion);
    if (list === null)
      return retry(LAG_MS, `version ${this.#fetched.listVersion} of the group list is not projected yet`);
    const garbage = await this.#garbage();
    if (garbage === null)
      return retry(LAG_MS, `version ${this.#fetched.garbageVersion} of the garbage table is not projected yet`);
    const { backbone, group, epoch } = this.#range;
    const groupRanks = groupRanksOf(list, backbone, group, epoch);
    try {
      // Before anything is opened: a range whose batches were purged is finished, whatever this delivery believes.
      await this.#firstBatch();
      const pass = Math.max(this.#delivery.deliveries, (await passes.highestPass(run)) + 1);
      await this.#ports.workers.withThread(async (thread) => {
        const options = { range: this.#range, groupRanks, garbage, seed: this.#ports.seed() };
        await this.#ask(thread, { kind: 'open', options });
        await this.#parse(thread, pass);
      });
      return done;
    } catch (error) {
      this.#signal.throwIfAborted();
      return await this.#judge(error);
    }
  }

  /** Version 0 is that of plans made before the operator had a table. */
  async #garbage(): Promise<readonly GarbageSignature[] | null> {
    const { garbageVersion } = this.#fetched;
    return garbageVersion === 0 ? DEFAULT_GARBAGE : await this.#ports.garbageTables.version(garbageVersion);
  }

  async #firstBatch(): Promise<void> {
    for await (const _ of readBatches(this.#ports.reader, this.#range, this.#fetched.batches.slice(0, 1))) return;
  }

  async #parse(thread: RangeThread, pass: number): Promise<void> {
    const writer = new PassWriter(this.#range, this.#ports, this.#signal);
    await writer.open(pass);
    for await (const body of readBatches(this.#ports.reader, this.#range, this.#fetched.batches)) {
      // A copy of its own: the body is a view into a message, and only a whole buffer can be handed over.
      const own = Uint8Array.from(body);
      await this.#ask(thread, { kind: 'add', body: own }, [own.buffer]);
    }
    const counted = await this.#ask(thread, { kind: 'finish' });
    await this.#publish(thread, writer);
    const counts = counted.kind === 'counts' ? counted.counts : unexpected(counted);
    await writer.close(counts, this.#fetched.missing);
    this.#count(counts);
  }

  /** Step by step; the thread makes the next step while one is appended, and no further one. */
  async #publish(thread: RangeThread, writer: PassWriter): Promise<void> {
    let next = await this.#ask(thread, { kind: 'next' });
    for (;;) {
      const step = next.kind === 'step' ? next.step : unexpected(next);
      if (step === null) return;
      const [following] = await Promise.all([this.#ask(thread, { kind: 'next' }), writer.write(step)]);
      next = following;
    }
  }

  async #ask(thread: RangeThread, request: WorkerRequest, transfer: ArrayBuffer[] = []): Promise<WorkerReply> {
    const reply = await thread.ask(request, this.#signal, transfer);
    if (reply.kind === 'broken') throw this.#breaks(reply.reason);
    return reply;
  }

  #breaks(reason: string): HeadwaterError {
    const { rangeId, group, run } = this.#range;
    return new HeadwaterError('RANGE_BREAKS_PARSER', { range: rangeId, group, run, reason: reason.slice(0, 500) });
  }

  /** What an error means for the range. Errors that are none of its own are thrown on. */
  async #judge(error: unknown): Promise<Outcome> {
    if (isHeadwaterError(error, 'RANGE_BREAKS_PARSER')) return await this.#giveUp(error, 'quarantined');
    if (isHeadwaterError(error, 'RANGE_BATCH_GONE')) return await this.#batchGone(error);
    if (isHeadwaterError(error, 'HEADERS_WORKER_DIED') && this.#delivery.deliveries >= DEATHS_MAX) {
      return await this.#giveUp(this.#breaks(error.message), 'quarantined');
    }
    throw error;
  }

  /**
   * Batches are purged when their range is finished, so the ledger knows better or soon will. Only when it has seen all of
   * the stream and still calls the range fetched were they lost.
   */
  async #batchGone(error: HeadwaterError): Promise<Outcome> {
    const { ledger, reader } = this.#ports;
    const { last } = await reader.state('RANGES');
    const { sequence } = await ledger.position();
    const state = await ledger.stateOf(runOf(this.#range));
    if (state === 'fetched' && sequence >= last.sequence) return await this.#giveUp(error, 'error');
    return retry(LAG_MS, error.message);
  }

  async #giveUp(error: HeadwaterError, failureClass: FailureClass): Promise<Outcome> {
    const { sink, clock, log } = this.#ports;
    log.error('a range could not be parsed', {
      range: this.#range.rangeId,
      group: this.#range.group,
      error: error.message,
    });
    const failure = { origin: 'headers', stage: 'parse', class: failureClass, error } as const;
    await appendFirst(sink, failedEvent(this.#range, clock.now(), failure), { signal: this.#signal });
    return failed(error.message);
  }

  #count({ lines, kept, skipped }: LineCounts): void {
    const { metrics } = this.#ports;
    const { group } = this.#range;
    metrics.count('headers_lines_total', { group }, lines);
    metrics.count('headers_lines_kept_total', { group }, kept);
    for (const [reason, n] of Object.entries(skipped)) metrics.count('headers_lines_skipped_total', { reason }, n);
  }
}

function unexpected(reply: WorkerReply): never {
  throw new TypeError(`a worker thread answered "${reply.kind}" out of turn`);
}
