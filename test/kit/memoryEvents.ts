/**
 * The event ports without a server: what processors and projections are tested on. It keeps wire messages and decodes
 * them on the way out, so an event that does not survive its encoding fails here too. The contract suite
 * (`test/contract/events.contract.test.ts`) holds it and the NATS adapters to the same behaviour.
 */
import { type Clock, systemClock } from '../../infra/base/clock.ts';
import { HeadwaterError } from '../../infra/base/errors/index.ts';
import { encodeForSink } from '../../infra/nats/eventSink.ts';
import type {
  Appended,
  AppendOptions,
  Conditions,
  EventReader,
  EventSink,
  EventSource,
  OverviewStore,
  RangeRun,
  StreamState,
} from '../../processors/ports.ts';
import type { EventLog, LogBatch, ReadOptions } from '../../projections/ports.ts';
import { decodeEvent, ID_HEADER, type StoredEvent, type WireMessage } from '../../streams/envelope.ts';
import { definitionOf, type EventType, type HeadwaterEvent } from '../../streams/events/index.ts';
import type { Position } from '../../streams/ids.ts';
import { formatSubject, parseSubject } from '../../streams/subjects.ts';
import { type ConsumerSpec, STREAMS, type StreamFamily } from '../../streams/topology.ts';
import { MemoryConsumer } from './memoryConsumer.ts';
import { decoded, type MemoryMessage, MemoryStream, sameWire, sizeOf } from './memoryStream.ts';
import { filterMatches } from './subjectFilter.ts';

/**
 * What the next matching append meets.
 * - `outage`: the server is away for one attempt; the append reports a condition, waits and tries again.
 * - `lost ack`: stored, but the answer is lost; the retry finds its own event (`repeated`).
 * - `conflict`: nothing is stored, the answer is `conflict`.
 * - `duplicate`: somebody else stored the same event just before (`repeated`).
 * - an Error: is thrown, nothing is stored (a defect, a crash).
 */
export type Failure = 'outage' | 'lost ack' | 'conflict' | 'duplicate' | Error;

interface Planned {
  readonly failure: Failure;
  readonly type: EventType | undefined;
  left: number;
}

const at = (sequence: number): Position => ({ number: 1, sequence });
export const RETRY_MS = 100;

export class MemoryEvents implements EventSink, EventSource, EventReader, OverviewStore {
  readonly #clock: Clock;
  readonly #conditions: Conditions | undefined;
  readonly #streams = new Map<StreamFamily, MemoryStream>();
  readonly #consumers = new Map<string, MemoryConsumer>();
  readonly #failures: Planned[] = [];
  /** `EventReader.state` and `EventLog.state` have one name and two shapes: the log is a view of its own. */
  readonly log: EventLog;

  constructor(options: { readonly clock?: Clock; readonly conditions?: Conditions } = {}) {
    this.#clock = options.clock ?? systemClock;
    this.#conditions = options.conditions;
    this.log = { state: (family) => this.state(family), read: (family, after, o) => this.#read(family, after, o) };
  }

  // ---- for tests ----

  /** The next `times` appends (of `type`, when given) fail in this way; failures of one type queue up in order. */
  failNext(failure: Failure, times = 1, type?: EventType): void {
    this.#failures.push({ failure, type, left: times });
  }

  /** Every event of a stream that was not purged, in order; of one type, when given. */
  events<T extends EventType>(family: StreamFamily, type: T): readonly HeadwaterEvent<T>[];
  events(family: StreamFamily): readonly HeadwaterEvent[];
  events(family: StreamFamily, type?: EventType): readonly HeadwaterEvent[] {
    const all = this.stream(family).messages.map((m) => decodeEvent(m.wire));
    return type === undefined ? all : all.filter((event) => event.type === type);
  }

  /** Stores a message as it is, broken or not. */
  putRaw(family: StreamFamily, wire: WireMessage): Position {
    return at(this.stream(family).put(wire, this.#clock.now()).sequence);
  }

  consumer(spec: ConsumerSpec): MemoryConsumer {
    let consumer = this.#consumers.get(spec.durable);
    if (consumer === undefined) {
      consumer = new MemoryConsumer(spec, this.stream(spec.family), this.#clock);
      this.#consumers.set(spec.durable, consumer);
    }
    return consumer;
  }

  stream(family: StreamFamily): MemoryStream {
    let stream = this.#streams.get(family);
    if (stream === undefined) {
      stream = new MemoryStream(family, this.#clock.now());
      this.#streams.set(family, stream);
    }
    return stream;
  }

  // ---- EventSink ----

  async append(event: HeadwaterEvent, options: AppendOptions = {}): Promise<Appended> {
    const family = definitionOf(event.type).stream;
    const stream = this.stream(family);
    const wire = encodeForSink(event);
    // A server answers later, never in the same turn.
    await Promise.resolve();
    for (;;) {
      options.signal?.throwIfAborted();
      const failure = this.#nextFailure(event.type);
      if (failure instanceof Error) throw failure;
      if (failure === 'conflict') return { kind: 'conflict', last: stream.lastOn(wire.subject)?.sequence ?? 0 };
      if (failure === 'duplicate') stream.put(wire, this.#clock.now());
      if (failure === 'lost ack') this.#store(stream, wire, options);
      if (failure !== 'outage' && failure !== 'lost ack') {
        this.#conditions?.clear(`stream/${family}`);
        return this.#store(stream, wire, options);
      }
      this.#conditions?.report(`stream/${family}`, new HeadwaterError('NATS_UNAVAILABLE', { stream: family }));
      await this.#clock.sleep(RETRY_MS, options.signal);
    }
  }

  #nextFailure(type: EventType): Failure | null {
    const planned = this.#failures.find((f) => f.left > 0 && (f.type ?? type) === type);
    if (planned === undefined) return null;
    planned.left--;
    return planned.failure;
  }

  #store(stream: MemoryStream, wire: WireMessage, options: AppendOptions): Appended {
    const now = this.#clock.now();
    const { lastOnSubject, lastInStream } = options;
    if (lastOnSubject !== undefined && lastOnSubject !== (stream.lastOn(wire.subject)?.sequence ?? 0)) {
      const last = stream.lastOn(wire.subject)?.sequence ?? 0;
      return this.#compared(stream.after(lastOnSubject, wire.subject), wire) ?? { kind: 'conflict', last };
    }
    if (lastInStream !== undefined && lastInStream !== stream.last) {
      return this.#compared(stream.after(lastInStream), wire) ?? { kind: 'conflict', last: stream.last };
    }
    const known = this.#compared(stream.remembered(wire.headers[ID_HEADER] ?? '', now), wire);
    return known ?? { kind: 'stored', position: at(stream.put(wire, now).sequence) };
  }

  /** `repeated` when the stored message is ours; a defect when only its id is. */
  #compared(stored: MemoryMessage | null, wire: WireMessage): Appended | null {
    const id = wire.headers[ID_HEADER] ?? '';
    if (stored === null || stored.wire.headers[ID_HEADER] !== id) return null;
    if (!sameWire(stored.wire, wire)) throw new HeadwaterError('EVENT_ID_CONFLICT', { id, seq: stored.sequence });
    return { kind: 'repeated', position: at(stored.sequence) };
  }

  // ---- EventSource ----

  take(consumer: ConsumerSpec, options: { maxInFlight: number; signal: AbortSignal }): ReturnType<EventSource['take']> {
    return this.consumer(consumer).take(options.maxInFlight, options.signal);
  }

  // ---- EventReader ----

  async get(family: StreamFamily, position: Position): Promise<StoredEvent | null> {
    const message = this.stream(family).messages.find((m) => m.sequence === position.sequence);
    return message && position.number === 1 ? decoded(message) : null;
  }

  async last(family: StreamFamily, subject: Parameters<EventReader['last']>[1]): Promise<StoredEvent | null> {
    const message = this.stream(family).lastOn(formatSubject(subject));
    return message && decoded(message);
  }

  async allOn(family: StreamFamily, subject: Parameters<EventReader['allOn']>[1], limit: number, after?: Position) {
    const text = formatSubject(subject);
    const behind = after?.sequence ?? 0;
    const found = this.stream(family).messages.filter((m) => m.wire.subject === text && m.sequence > behind);
    return found.slice(0, limit).map(decoded);
  }

  async state(family: StreamFamily): Promise<StreamState> {
    const stream = this.stream(family);
    return {
      createdAt: stream.createdAt,
      first: at(stream.first),
      last: at(stream.last),
      messages: stream.messages.length,
      bytes: stream.messages.reduce((sum, m) => sum + sizeOf(m.wire), 0),
      maxBytes: STREAMS[family].maxBytes,
    };
  }

  // ---- OverviewStore ----

  async held(): Promise<readonly RangeRun[]> {
    const subjects = new Set(this.stream('OVERVIEW').messages.map((m) => m.wire.subject));
    return [...subjects]
      .map(parseSubject)
      .filter((subject) => subject?.verb === 'overview')
      .map(({ backbone, group, rangeId, run }) => ({ backbone, group, rangeId, run }));
  }

  async purge(run: RangeRun): Promise<void> {
    this.stream('OVERVIEW').purge(formatSubject({ verb: 'overview', ...run }));
  }

  // ---- EventLog ----

  async *#read(family: StreamFamily, after: Position, options: ReadOptions): AsyncGenerator<LogBatch> {
    const { signal } = options;
    const stream = this.stream(family);
    const wake = () => stream.ring();
    signal.addEventListener('abort', wake, { once: true });
    let done = after.sequence;
    try {
      while (!signal.aborted) {
        const changed = stream.changed();
        const batch = nextBatch(stream, done, options);
        if (batch.upTo.sequence > done) yield { events: batch.events, upTo: batch.upTo };
        else if (batch.broken === null) await changed;
        done = Math.max(done, batch.upTo.sequence);
        if (batch.broken !== null && !signal.aborted) throw batch.broken;
      }
    } finally {
      signal.removeEventListener('abort', wake);
    }
  }
}

/** What lies after `done`, up to the bounds or to a broken event; `upTo` covers what no filter matches. */
function nextBatch(stream: MemoryStream, done: number, options: ReadOptions): LogBatch & { broken: Error | null } {
  const events: StoredEvent[] = [];
  const wanted = (subject: string) =>
    options.subjects.length === 0 || options.subjects.some((filter) => filterMatches(filter, subject));
  let bytes = 0;
  for (const message of stream.messages.filter((m) => m.sequence > done && wanted(m.wire.subject))) {
    const before = at(message.sequence - 1);
    const full = events.length >= options.eventsMax || bytes + sizeOf(message.wire) > options.bytesMax;
    if (full && events.length > 0) return { events, upTo: before, broken: null };
    try {
      events.push(decoded(message));
    } catch (error) {
      return { events, upTo: before, broken: error as Error };
    }
    bytes += sizeOf(message.wire);
  }
  return { events, upTo: at(Math.max(done, stream.last)), broken: null };
}
