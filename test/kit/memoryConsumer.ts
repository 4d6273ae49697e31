import type { Clock } from '../../infra/base/clock.ts';
import type { Delivery } from '../../processors/ports.ts';
import type { ConsumerSpec } from '../../streams/topology.ts';
import { decoded, type MemoryMessage, type MemoryStream } from './memoryStream.ts';
import { filterMatches } from './subjectFilter.ts';

interface Lease {
  readonly message: MemoryMessage;
  deliveries: number;
  /** The lease runs until then; a message handed back waits until then. */
  until: number;
  leased: boolean;
}

/** A durable consumer in memory: leases that run out after the ack wait and are then handed out again, oldest first. */
export class MemoryConsumer {
  readonly #spec: ConsumerSpec;
  readonly #stream: MemoryStream;
  readonly #clock: Clock;
  readonly #open = new Map<number, Lease>();
  #taken = 0;

  constructor(spec: ConsumerSpec, stream: MemoryStream, clock: Clock) {
    this.#spec = spec;
    this.#stream = stream;
    this.#clock = clock;
  }

  /** Messages that are leased or wait to be handed out again. */
  get unfinished(): number {
    return this.#open.size;
  }

  /** As if every lease had run out: the next `take` gets the messages again while their old holders live on. */
  expire(): void {
    for (const lease of this.#open.values()) lease.until = Number.NEGATIVE_INFINITY;
    this.#stream.ring();
  }

  async *take(maxInFlight: number, signal: AbortSignal): AsyncGenerator<Delivery> {
    const mine = new Set<number>();
    const wake = () => this.#stream.ring();
    signal.addEventListener('abort', wake, { once: true });
    try {
      while (!signal.aborted) {
        const lease = mine.size < maxInFlight ? this.#next() : null;
        if (lease === null) {
          await this.#idle(signal);
          continue;
        }
        mine.add(lease.message.sequence);
        yield this.#delivery(lease, mine);
      }
    } finally {
      signal.removeEventListener('abort', wake);
    }
  }

  #next(): Lease | null {
    const now = this.#clock.now();
    const again = [...this.#open.values()].find((lease) => lease.until <= now);
    const lease = again ?? this.#fresh();
    if (lease === null) return null;
    lease.deliveries++;
    lease.until = now + this.#spec.ackWaitMs;
    lease.leased = true;
    return lease;
  }

  #fresh(): Lease | null {
    if (this.#open.size >= this.#spec.maxAckPending) return null;
    const matching = (m: MemoryMessage) => m.sequence > this.#taken && filterMatches(this.#spec.filter, m.wire.subject);
    const message = this.#stream.messages.find(matching);
    if (message === undefined) return null;
    this.#taken = message.sequence;
    const lease = { message, deliveries: 0, until: 0, leased: false };
    this.#open.set(message.sequence, lease);
    return lease;
  }

  /** Waits for a message, or for the next lease to run out. */
  async #idle(signal: AbortSignal): Promise<void> {
    const due = Math.min(...[...this.#open.values()].map((lease) => lease.until));
    const stopWaiting = new AbortController();
    const changed = this.#stream.changed();
    const waits = [changed];
    if (Number.isFinite(due)) {
      const ms = Math.max(1, due - this.#clock.now());
      waits.push(this.#clock.sleep(ms, AbortSignal.any([signal, stopWaiting.signal])).catch(() => undefined));
    }
    await Promise.race(waits);
    stopWaiting.abort();
  }

  #delivery(lease: Lease, mine: Set<number>): Delivery {
    const { sequence } = lease.message;
    const finish = () => {
      this.#open.delete(sequence);
      mine.delete(sequence);
      this.#stream.ring();
    };
    const giveBack = (delayMs: number) => {
      lease.until = this.#clock.now() + delayMs;
      lease.leased = false;
      mine.delete(sequence);
      this.#stream.ring();
    };
    return {
      ...decoded(lease.message),
      deliveries: lease.deliveries,
      ack: async () => finish(),
      nak: giveBack,
      term: () => finish(),
      working: () => {
        if (lease.leased) lease.until = this.#clock.now() + this.#spec.ackWaitMs;
      },
    } as Delivery;
  }
}
