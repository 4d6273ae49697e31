import type { Delivery, EventSource } from '../../processors/ports.ts';
import { type ConsumerSpec, parseStreamName, streamName } from '../../streams/topology.ts';
import { HeadwaterError } from '../base/errors/index.ts';
import { type Metrics, noMetrics } from '../base/metrics.ts';
import { orAborted } from '../base/orAborted.ts';
import { decodeStored } from './decode.ts';
import { BYTES_IN_FLIGHT_MAX } from './eventSink.ts';
import { confirmLease, endLease, extendLease, nakLease } from './lease.ts';
import type { NatsLink } from './link.ts';
import { backoffMs, retrying } from './outage.ts';
import { type PullEnd, type Pulled, Puller } from './puller.ts';
import { streamNumbers } from './stored.ts';
import { ensureConsumer } from './topology.ts';

export interface TakeOptions {
  readonly maxInFlight: number;
  readonly signal: AbortSignal;
}

/** Leases that a `take` holds; a slot is free again once its message was acked, handed back or ended. */
class Slots {
  readonly #limit: number;
  #taken = 0;
  #freed: (() => void) | null = null;

  constructor(limit: number) {
    this.#limit = limit;
  }

  get free(): number {
    return this.#limit - this.#taken;
  }

  /** Takes a slot; the function gives it back, once. */
  take(): () => void {
    this.#taken++;
    let held = true;
    return () => {
      if (!held) return;
      held = false;
      this.#taken--;
      this.#freed?.();
    };
  }

  async wait(signal: AbortSignal): Promise<void> {
    if (this.free > 0) return;
    const freed = new Promise<void>((resolve) => {
      this.#freed = resolve;
    });
    await orAborted(freed, [signal]);
  }
}

/** The condition of the deliveries as such. `consumer/<durable>` is the condition of the work on them: only its success clears that. */
const deliveryOf = ({ durable }: ConsumerSpec): string => `delivery/${durable}`;

class Take {
  readonly #link: NatsLink;
  readonly #spec: ConsumerSpec;
  readonly #metrics: Metrics;
  readonly #signal: AbortSignal;
  readonly #slots: Slots;
  /** Requests in a row that brought nothing because something was wrong. */
  #failures = 0;
  /** The next message is larger than the bound on bytes: ask for it alone. */
  #large = false;

  constructor(link: NatsLink, spec: ConsumerSpec, options: TakeOptions, metrics: Metrics) {
    this.#link = link;
    this.#spec = spec;
    this.#metrics = metrics;
    this.#signal = options.signal;
    this.#slots = new Slots(options.maxInFlight);
  }

  async *run(): AsyncGenerator<Delivery> {
    const { family, durable } = this.#spec;
    await ensureConsumer(this.#link, this.#spec, this.#signal);
    const numbers = await retrying(this.#link, { stream: family, signal: this.#signal }, () =>
      streamNumbers(this.#link, family),
    );
    const stream = streamName(family, numbers.at(-1));
    const puller = new Puller(this.#link, stream, durable, (reply) => nakLease(this.#link, reply, 0));
    try {
      for (;;) {
        if (puller.empty) await this.#ask(puller);
        const item = await puller.next(this.#signal);
        if (item === null) continue;
        if (item.kind === 'message') yield this.#delivery(item);
        else await this.#ended(item.end, item.detail);
      }
    } finally {
      puller.close();
    }
  }

  async #ask(puller: Puller): Promise<void> {
    await this.#slots.wait(this.#signal);
    await this.#link.up(this.#signal);
    if (this.#large) puller.request(1, 0);
    else puller.request(this.#slots.free, BYTES_IN_FLIGHT_MAX);
    this.#large = false;
  }

  async #ended(end: PullEnd, detail: string): Promise<void> {
    const about = deliveryOf(this.#spec);
    this.#large = end === 'too large';
    if (end !== 'gone' && end !== 'lost') {
      this.#failures = 0;
      this.#link.conditions.clear(about);
      return;
    }
    const error = new HeadwaterError('NATS_UNAVAILABLE', { stream: about, reason: detail });
    // One lost request is no news: a leader changed, a connection broke. The link reports the latter itself.
    if (this.#failures > 0) this.#link.conditions.report(about, error);
    this.#link.log.warn('a request for events ended early', { consumer: this.#spec.durable, end, detail });
    await this.#link.clock.sleep(backoffMs(this.#failures++), this.#signal);
    // A consumer made anew hands out everything again; the ledger tells the workers what is done.
    if (end === 'gone') await ensureConsumer(this.#link, this.#spec, this.#signal);
  }

  #delivery(pulled: Pulled): Delivery {
    this.#failures = 0;
    this.#link.conditions.clear(deliveryOf(this.#spec));
    const { reply, facts } = pulled;
    const number = parseStreamName(facts.stream)?.number ?? 1;
    const position = { number, sequence: facts.streamSequence };
    const stored = decodeStored(pulled.wire, { stream: facts.stream, position }, this.#metrics);
    const free = this.#slots.take();
    return {
      ...stored,
      deliveries: facts.deliveries,
      ack: () => confirmLease(this.#link, reply, this.#signal).finally(free),
      nak: (delayMs) => {
        nakLease(this.#link, reply, delayMs);
        free();
      },
      term: (reason) => {
        endLease(this.#link, reply, reason);
        free();
      },
      working: () => extendLease(this.#link, reply),
    };
  }
}

async function* take(link: NatsLink, spec: ConsumerSpec, options: TakeOptions, metrics: Metrics) {
  try {
    yield* new Take(link, spec, options, metrics).run();
  } catch (error) {
    // The abort is the ordinary end; what the handlers hold they still acknowledge themselves.
    if (!options.signal.aborted) throw error;
  }
}

/** Leases the messages of durable consumers. */
export const createEventSource = (link: NatsLink, metrics: Metrics = noMetrics): EventSource => ({
  take: (consumer, options) => take(link, consumer, options, metrics),
});
