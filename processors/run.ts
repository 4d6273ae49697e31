import type { Clock } from '../infra/base/clock.ts';
import { HeadwaterError, isHeadwaterError } from '../infra/base/errors/index.ts';
import type { Log } from '../infra/base/log.ts';
import type { Metrics } from '../infra/base/metrics.ts';
import type { EventType } from '../streams/events/index.ts';
import type { ConsumerSpec } from '../streams/topology.ts';
import { isPassing } from './failover/failureKind.ts';
import { holdLease } from './lease.ts';
import type { Conditions, Delivery, EventSource } from './ports.ts';

/**
 * What became of a delivery. `done`: acknowledge it. `retry`: hand it back, it comes again after the delay. `failed`: what it
 * stands for was recorded as failed by an event; never deliver it again.
 */
export type Outcome =
  | { readonly kind: 'done' }
  | { readonly kind: 'retry'; readonly delayMs: number; readonly reason: string }
  | { readonly kind: 'failed'; readonly reason: string };

export const done: Outcome = { kind: 'done' };
export const retry = (delayMs: number, reason: string): Outcome => ({ kind: 'retry', delayMs, reason });
export const failed = (reason: string): Outcome => ({ kind: 'failed', reason });

/** What the loop runs: one durable consumer whose messages are all of one type. */
export interface Processor<T extends EventType> {
  readonly consumer: ConsumerSpec;
  readonly accepts: T;
  /** Deliveries that are worked on at once. */
  readonly maxInFlight: number;
  /** Waits for what the work needs (a connection, a worker); nothing else is taken meanwhile. Returns how to give it back. */
  admit?(signal: AbortSignal): Promise<() => void>;
  /**
   * The whole work for one delivery; may be called again for the same one after a crash, also while an older call still
   * runs elsewhere. Throws the signal's reason when it aborts. A retriable HeadwaterError counts as `retry`; any other
   * error is a defect and ends the loop.
   */
  handle(delivery: Delivery<T>, signal: AbortSignal): Promise<Outcome>;
}

export interface RunContext {
  readonly source: EventSource;
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: Metrics;
  readonly conditions: Conditions;
}

/** How soon a delivery comes again whose handler met a passing error of the machinery (database away, ...). */
const PASSING_ERROR_MS = 5000;

/**
 * The one loop of all processors: take, handle, ack / nak / term. Ends when the signal aborts: leases whose handlers then
 * stop are handed back at once. Rejects with the first error that nobody could act on: an unknown or broken event, a
 * defect in a handler; other leases are handed back before.
 */
export async function runProcessor<T extends EventType>(
  processor: Processor<T>,
  context: RunContext,
  signal: AbortSignal,
): Promise<void> {
  const loop = new ProcessorLoop(processor, context, signal);
  await loop.run();
}

class ProcessorLoop<T extends EventType> {
  readonly #processor: Processor<T>;
  readonly #context: RunContext;
  readonly #stop = new AbortController();
  readonly #signal: AbortSignal;
  readonly #running = new Set<Promise<void>>();
  #defect: { readonly error: unknown } | null = null;

  constructor(processor: Processor<T>, context: RunContext, signal: AbortSignal) {
    this.#processor = processor;
    this.#context = context;
    this.#signal = AbortSignal.any([signal, this.#stop.signal]);
  }

  async run(): Promise<void> {
    const { consumer, maxInFlight } = this.#processor;
    try {
      for await (const delivery of this.#context.source.take(consumer, { maxInFlight, signal: this.#signal })) {
        await this.#start(delivery);
        while (this.#running.size >= maxInFlight) await Promise.race(this.#running);
      }
    } catch (error) {
      this.#fail(error);
    }
    await Promise.all(this.#running);
    if (this.#defect) throw this.#defect.error;
  }

  /** Starts the work on a delivery once it is admitted. The lease is held from the first moment. */
  async #start(delivery: Delivery): Promise<void> {
    const { consumer, admit } = this.#processor;
    const letGo = holdLease(delivery, consumer.ackWaitMs, this.#context.clock);
    let release: (() => void) | undefined;
    try {
      release = await admit?.call(this.#processor, this.#signal);
    } catch (error) {
      letGo();
      delivery.nak(0);
      this.#fail(error);
      return;
    }
    const work = this.#work(delivery)
      .catch((error: unknown) => this.#fail(error))
      .finally(() => {
        letGo();
        release?.();
        this.#running.delete(work);
      });
    this.#running.add(work);
  }

  async #work(delivery: Delivery): Promise<void> {
    const outcome = await this.#outcome(delivery);
    if (outcome === null) {
      delivery.nak(0);
      return;
    }
    const { log, metrics } = this.#context;
    const durable = this.#processor.consumer.durable;
    metrics.count('processor_deliveries_total', { consumer: durable, outcome: outcome.kind });
    if (outcome.kind !== 'done') {
      const level = outcome.kind === 'failed' ? 'warn' : 'info';
      log[level](`${durable}: ${outcome.kind}, ${outcome.reason}`, { id: delivery.event.id, ...outcome });
    }
    switch (outcome.kind) {
      case 'done':
        return await delivery.ack();
      case 'retry':
        return delivery.nak(outcome.delayMs);
      case 'failed':
        return delivery.term(outcome.reason);
    }
  }

  /** Null: the loop stops, the lease goes back. */
  async #outcome(delivery: Delivery): Promise<Outcome | null> {
    const { consumer } = this.#processor;
    const { conditions } = this.#context;
    const about = `consumer/${consumer.durable}`;
    try {
      const outcome = await this.#processor.handle(this.#accepted(delivery), this.#signal);
      conditions.clear(about);
      return outcome;
    } catch (error) {
      if (this.#signal.aborted) return null;
      if (!isHeadwaterError(error) || !error.retriable) {
        delivery.nak(0);
        throw error;
      }
      conditions.report(about, error);
      return retry(PASSING_ERROR_MS, error.message);
    }
  }

  #accepted(delivery: Delivery): Delivery<T> {
    const { accepts, consumer } = this.#processor;
    if (delivery.event.type === accepts) return delivery as unknown as Delivery<T>;
    const fields = { consumer: consumer.durable, type: delivery.event.type, accepts };
    throw new HeadwaterError('PROCESSOR_UNEXPECTED_EVENT', fields);
  }

  /** The first error is the one to report; what follows from stopping is not. */
  #fail(error: unknown): void {
    if (this.#signal.aborted) return;
    this.#defect = { error };
    this.#stop.abort(error);
  }
}

/**
 * Runs several loops as one: when one fails the others are stopped and its error is thrown once all have ended.
 * A loop that ends because the signal aborted ends well.
 */
export async function runTogether(
  loops: readonly ((signal: AbortSignal) => Promise<void>)[],
  signal: AbortSignal,
): Promise<void> {
  const stop = new AbortController();
  const all = AbortSignal.any([signal, stop.signal]);
  let defect: { readonly error: unknown } | null = null;
  const guarded = loops.map(async (loop) => {
    try {
      await loop(all);
    } catch (error) {
      if (all.aborted) return;
      defect = { error };
      stop.abort(error);
    }
  });
  await Promise.all(guarded);
  if (defect) throw (defect as { error: unknown }).error;
}

/**
 * Calls `round` again and again, `everyMs` after its last end. An error that passes is reported under `about` and the round
 * tried again; any other error ends the loop.
 */
export async function runRounds(
  about: string,
  everyMs: number,
  round: (signal: AbortSignal) => Promise<void>,
  context: { readonly clock: Clock; readonly conditions: Conditions },
  signal: AbortSignal,
): Promise<void> {
  while (!signal.aborted) {
    try {
      await round(signal);
      context.conditions.clear(about);
    } catch (error) {
      if (signal.aborted) return;
      if (!isPassing(error)) throw error;
      context.conditions.report(about, error);
    }
    await context.clock.sleep(everyMs, signal).catch((error: unknown) => {
      if (!signal.aborted) throw error;
    });
  }
}
