import { nuid } from 'nats';
import type { EventLog, LogBatch, ReadOptions } from '../../projections/ports.ts';
import type { StoredEvent } from '../../streams/envelope.ts';
import type { Position } from '../../streams/ids.ts';
import { type StreamFamily, streamName } from '../../streams/topology.ts';
import { type Metrics, noMetrics } from '../base/metrics.ts';
import { decodeStored } from './decode.ts';
import { BYTES_IN_FLIGHT_MAX } from './eventSink.ts';
import type { NatsLink } from './link.ts';
import { backoffMs, isMissing, retrying } from './outage.ts';
import { type Pulled, Puller, type PullItem } from './puller.ts';
import { messageAfter, streamNumbers } from './stored.ts';
import { readStreamState } from './streamState.ts';

const REQUEST_MESSAGES = 1_000;
/** Room for the largest message that a server of ours takes (8 MiB), so that a half empty buffer can always ask for one. */
const HALF_BYTES = BYTES_IN_FLIGHT_MAX / 2;
/** The server removes a reader's consumer after this long without a request: longer than a transaction may take. */
const READER_KEPT_MS = 300_000;

/** Events that were collected for one batch. */
interface Collected {
  readonly events: StoredEvent[];
  bytes: number;
  /** What the last event before a broken one allows to say; the error follows the batch. */
  broken: unknown;
}

/** Reads one numbered stream from a sequence on: an own consumer without acks, made anew whenever something is odd. */
class StreamReader {
  readonly #link: NatsLink;
  readonly #stream: string;
  readonly #number: number;
  readonly #options: ReadOptions;
  readonly #metrics: Metrics;
  #done: number;
  #puller: Puller | null = null;
  #consumer = '';
  #expected = 1;
  #failures = 0;
  #large = false;
  /** The stream was found cut or made anew: its numbers may stand for other events by now. */
  #replaced = false;
  /** When the stream that is read was created. */
  #created: string | null = null;
  /** An item that was taken but did not fit into the batch. */
  #kept: Pulled | null = null;

  constructor(link: NatsLink, place: { stream: string; after: Position }, options: ReadOptions, metrics: Metrics) {
    this.#link = link;
    this.#stream = place.stream;
    this.#number = place.after.number;
    this.#done = place.after.sequence;
    this.#options = options;
    this.#metrics = metrics;
  }

  /**
   * Batches for ever; `idle` is asked whenever nothing more is stored, and ends the stream by true. Returns whether there
   * is a next number to go on with; false when the stream was cut or made anew under its reader.
   */
  async *run(idle: () => Promise<boolean>): AsyncGenerator<LogBatch, boolean> {
    try {
      for (;;) {
        const batch = await this.#collect();
        if (this.#replaced) return false;
        const last = batch.events.at(-1);
        if (last !== undefined) {
          this.#done = last.position.sequence;
          yield { events: batch.events, upTo: last.position };
        }
        if (batch.broken !== null) throw batch.broken;
        if (last !== undefined) continue;
        const upTo = await this.#caughtUp();
        if (this.#replaced) return false;
        if (upTo === null) continue;
        if (upTo > this.#done) yield this.#nothingUntil(upTo);
        // Ended by a next number: what came in before it was opened is read first.
        if ((await idle()) && (await this.#caughtUp()) === this.#done) return true;
      }
    } finally {
      await this.#close();
    }
  }

  #nothingUntil(sequence: number): LogBatch {
    this.#done = sequence;
    return { events: [], upTo: { number: this.#number, sequence } };
  }

  /** Events until a bound is met, or nothing came for `idleMs`; none when a request ended without any. */
  async #collect(): Promise<Collected> {
    const { eventsMax, bytesMax, idleMs, signal } = this.#options;
    const batch: Collected = { events: [], bytes: 0, broken: null };
    while (batch.events.length < eventsMax && batch.bytes < bytesMax) {
      const pulled = this.#kept ?? (await this.#nextMessage(signal, batch.events.length > 0 ? idleMs : undefined));
      this.#kept = null;
      if (pulled === null) break;
      if (batch.events.length > 0 && batch.bytes + pulled.bytes > bytesMax) {
        this.#kept = pulled;
        break;
      }
      batch.bytes += pulled.bytes;
      const position = { number: this.#number, sequence: pulled.facts.streamSequence };
      try {
        batch.events.push(decodeStored(pulled.wire, { stream: this.#stream, position }, this.#metrics));
      } catch (error) {
        batch.broken = error;
        break;
      }
    }
    return batch;
  }

  /** Null after `idleMs`, when a request expired without a message, and when the consumer had to be made anew. */
  async #nextMessage(signal: AbortSignal, idleMs: number | undefined): Promise<Pulled | null> {
    for (;;) {
      const puller = this.#puller ?? (await this.#open());
      if (this.#replaced) return null;
      await this.#refill(puller);
      const item = await puller.next(signal, idleMs);
      if (item === null) return null;
      if (item.kind === 'message') {
        if (this.#inOrder(item)) return item;
        await this.#reopen('a message was lost on the way');
      } else if (await this.#ended(item)) return null;
    }
  }

  async #refill(puller: Puller): Promise<void> {
    if (puller.asking || puller.bytes > HALF_BYTES) return;
    await this.#link.up(this.#options.signal);
    if (this.#large) puller.request(1, 0);
    else puller.request(REQUEST_MESSAGES, BYTES_IN_FLIGHT_MAX - puller.bytes);
    this.#large = false;
  }

  #inOrder(pulled: Pulled): boolean {
    const { consumerSequence, streamSequence } = pulled.facts;
    const next = consumerSequence === this.#expected && streamSequence > this.#done;
    if (next) {
      this.#expected++;
      this.#failures = 0;
    }
    return next;
  }

  /** True when nothing more is there for now. */
  async #ended(item: PullItem & { kind: 'ended' }): Promise<boolean> {
    this.#large = item.end === 'too large';
    switch (item.end) {
      case 'filled':
      case 'too large':
        return false;
      case 'expired':
        return true;
      case 'lost':
      case 'gone':
        await this.#reopen(item.detail);
        return false;
    }
  }

  async #reopen(reason: string): Promise<void> {
    const fields = { stream: this.#stream, after: this.#done, reason };
    this.#link.log.warn('reading a stream again from the last event', fields);
    await this.#close();
    await this.#link.clock.sleep(backoffMs(this.#failures++), this.#options.signal);
  }

  async #open(): Promise<Puller> {
    const { signal, subjects } = this.#options;
    const name = `reader-${nuid.next()}`;
    await retrying(this.#link, { stream: this.#stream, signal }, async () => {
      // The name is taken when an earlier attempt arrived after all.
      await this.#link.jsm.consumers.delete(this.#stream, name).catch(ignoreMissing);
      await this.#link.jsm.consumers.add(this.#stream, {
        name,
        ack_policy: 'none',
        deliver_policy: 'by_start_sequence',
        opt_start_seq: this.#done + 1,
        mem_storage: true,
        num_replicas: 1,
        inactive_threshold: READER_KEPT_MS * 1e6,
        ...filters(subjects),
      });
      // Such a stream delivers whatever is numbered from there on once it has grown again.
      const { created, state } = await this.#link.jsm.streams.info(this.#stream);
      this.#created ??= created;
      this.#replaced = state.last_seq < this.#done || created !== this.#created;
    });
    this.#consumer = name;
    this.#expected = 1;
    this.#puller = new Puller(this.#link, this.#stream, name);
    return this.#puller;
  }

  async #close(): Promise<void> {
    const name = this.#consumer;
    this.#puller?.close();
    this.#puller = null;
    this.#consumer = '';
    // What is left behind removes itself after a while.
    if (name !== '' && !this.#link.nc.isClosed() && !this.#link.session.aborted) {
      await this.#link.jsm.consumers.delete(this.#stream, name).catch(() => undefined);
    }
  }

  /**
   * The sequence up to which everything that matches was delivered, as the leader knows it; null when something is
   * stored that did not come: then the consumer is stuck and is made anew.
   */
  async #caughtUp(): Promise<number | null> {
    const { signal, subjects } = this.#options;
    const wanted = subjects.length > 0 ? subjects : ['>'];
    const after = this.#done;
    const found = await retrying(this.#link, { stream: this.#stream, signal }, async () => {
      // The end is read first: what is appended meanwhile may only be found too early, never be left out.
      const { last_seq: end } = (await this.#link.jsm.streams.info(this.#stream)).state;
      this.#replaced = end < after;
      if (end <= after) return { end: after, waiting: false };
      const next = await Promise.all(wanted.map((filter) => messageAfter(this.#link, this.#stream, after, filter)));
      return { end, waiting: next.some((message) => message !== null && message.sequence <= end) };
    });
    if (found.waiting) {
      await this.#lagging();
      return null;
    }
    this.#failures = 0;
    return found.end;
  }

  /** Something is stored that did not come yet. Once is a race with an append; twice in a row is a stuck consumer. */
  async #lagging(): Promise<void> {
    if (this.#failures++ > 0) await this.#reopen('events are stored but do not arrive');
  }
}

const ignoreMissing = (error: unknown): void => {
  if (!isMissing(error)) throw error;
};

const filters = (subjects: readonly string[]): object => {
  if (subjects.length === 0) return {};
  return subjects.length === 1 ? { filter_subject: subjects[0] } : { filter_subjects: [...subjects] };
};

class NatsEventLog implements EventLog {
  readonly #link: NatsLink;
  readonly #metrics: Metrics;

  constructor(link: NatsLink, metrics: Metrics) {
    this.#link = link;
    this.#metrics = metrics;
  }

  state(family: StreamFamily) {
    return retrying(this.#link, { stream: family }, () => readStreamState(this.#link, family));
  }

  async *read(family: StreamFamily, after: Position, options: ReadOptions): AsyncGenerator<LogBatch> {
    try {
      for (let at = { number: Math.max(1, after.number), sequence: after.sequence }; ; ) {
        const place = { stream: streamName(family, at.number), after: at };
        const { number } = at;
        const reader = new StreamReader(this.#link, place, options, this.#metrics);
        const goesOn = yield* reader.run(() => this.#sealed(family, number));
        if (!goesOn) return;
        at = { number: number + 1, sequence: 0 };
      }
    } catch (error) {
      if (!options.signal.aborted) throw error;
    }
  }

  /** True when the next number exists: this one takes no more, and all of it was read before this was asked. */
  async #sealed(family: StreamFamily, number: number): Promise<boolean> {
    const numbers = await retrying(this.#link, { stream: family }, () => streamNumbers(this.#link, family));
    return numbers.includes(number + 1);
  }
}

/** Streams in order, from a position on, for projections. */
export const createEventLog = (link: NatsLink, metrics: Metrics = noMetrics): EventLog =>
  new NatsEventLog(link, metrics);
