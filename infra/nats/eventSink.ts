import type { JetStreamPublishOptions, PubAck } from '@nats-io/jetstream';
import { headers } from 'nats';
import type { Appended, AppendOptions, EventSink } from '../../processors/ports.ts';
import { encodeEvent, ID_HEADER, type WireMessage } from '../../streams/envelope.ts';
import { MalformedEvent } from '../../streams/errors.ts';
import { definitionOf, type HeadwaterEvent } from '../../streams/events/index.ts';
import { parseStreamName, type StreamFamily, streamName } from '../../streams/topology.ts';
import { ByteBudget } from '../base/byteBudget.ts';
import { HeadwaterError } from '../base/errors/index.ts';
import type { NatsLink } from './link.ts';
import { isConflict, retrying } from './outage.ts';
import { lastOn, messageAfter, messageAt, type StoredWire, streamNumbers } from './stored.ts';

/** Under way at once, over all appends of a process. */
export const BYTES_IN_FLIGHT_MAX = 16_000_000;
/** Every message counts at least this much: so at most about 1,000 are under way, beyond which the client slows down. */
const MESSAGE_COST_MIN = 16_000;
/** The first answer is awaited for this long; slow disks get more time at every attempt, up to the longest. */
const ACK_TIMEOUT_MS = 5_000;
const ACK_TIMEOUT_MAX_MS = 30_000;

const idOf = (wire: WireMessage): string => wire.headers[ID_HEADER] ?? '';

/** The wire form of an event; one that is too large is EVENT_MALFORMED. */
export function encodeForSink(event: HeadwaterEvent): WireMessage {
  try {
    return encodeEvent(event);
  } catch (error) {
    if (!(error instanceof MalformedEvent)) throw error;
    throw new HeadwaterError('EVENT_MALFORMED', { type: error.type, reason: error.reason }, { cause: error });
  }
}

/**
 * `repeated` when the stored message is this event, null when it is another one. EVENT_ID_CONFLICT when only the id is
 * the same. The time is not compared: whoever repeats a fact may have noticed it later.
 */
export function compareStored(stored: StoredWire | null, wire: WireMessage, number: number): Appended | null {
  if (stored === null || idOf(stored.wire) !== idOf(wire)) return null;
  const same = stored.wire.subject === wire.subject && Buffer.compare(stored.wire.payload, wire.payload) === 0;
  if (!same) throw new HeadwaterError('EVENT_ID_CONFLICT', { id: idOf(wire), seq: stored.sequence });
  return { kind: 'repeated', position: { number, sequence: stored.sequence } };
}

class NatsEventSink implements EventSink {
  readonly #link: NatsLink;
  readonly #budget = new ByteBudget(BYTES_IN_FLIGHT_MAX);

  constructor(link: NatsLink) {
    this.#link = link;
  }

  async append(event: HeadwaterEvent, options: AppendOptions = {}): Promise<Appended> {
    const { stream } = definitionOf(event.type);
    const wire = encodeForSink(event);
    const release = await this.#budget.take(Math.max(MESSAGE_COST_MIN, wire.payload.length), options.signal);
    try {
      const retry = { stream, signal: options.signal };
      return await retrying(this.#link, retry, (count) => this.#publish(stream, wire, options, count));
    } finally {
      release();
    }
  }

  async #publish(family: StreamFamily, wire: WireMessage, options: AppendOptions, count: number): Promise<Appended> {
    let ack: PubAck;
    try {
      ack = await this.#link.js.publish(wire.subject, wire.payload, publishOptions(wire, options, count));
    } catch (error) {
      if (!isConflict(error)) throw error;
      return this.#conflict(family, wire, options);
    }
    const number = parseStreamName(ack.stream)?.number ?? 1;
    const position = { number, sequence: ack.seq };
    if (!ack.duplicate) return { kind: 'stored', position };
    // An earlier attempt of ours, another worker with the same fact, or two facts that share an id: read and see. What
    // was purged since cannot be compared; it was stored once.
    const stored = await messageAt(this.#link, ack.stream, ack.seq);
    return compareStored(stored, wire, number) ?? { kind: 'repeated', position };
  }

  /**
   * The expectation failed. Depending on version and replicas the server says so even to a repeat of what it stored
   * itself a moment ago, so what lies behind the expected sequence decides.
   */
  async #conflict(family: StreamFamily, wire: WireMessage, options: AppendOptions): Promise<Appended> {
    const number = (await streamNumbers(this.#link, family)).at(-1) ?? 1;
    const stream = streamName(family, number);
    const onSubject = options.lastOnSubject !== undefined;
    const expected = options.lastOnSubject ?? options.lastInStream ?? 0;
    const next = await messageAfter(this.#link, stream, expected, onSubject ? wire.subject : '>');
    const repeated = compareStored(next, wire, number);
    if (repeated !== null) return repeated;
    const last = onSubject
      ? ((await lastOn(this.#link, stream, wire.subject))?.sequence ?? 0)
      : (await this.#link.jsm.streams.info(stream)).state.last_seq;
    // A cluster refuses while another append on the subject is only proposed: whether it conflicts shows in a moment.
    if (last === expected)
      throw new HeadwaterError('NATS_UNAVAILABLE', { stream, reason: 'another append is pending' });
    return { kind: 'conflict', last };
  }
}

function publishOptions(wire: WireMessage, options: AppendOptions, count: number): Partial<JetStreamPublishOptions> {
  const own = headers();
  for (const [key, value] of Object.entries(wire.headers)) if (key !== ID_HEADER) own.set(key, value);
  const { lastOnSubject, lastInStream } = options;
  return {
    headers: own,
    msgID: idOf(wire),
    timeout: Math.min(ACK_TIMEOUT_MAX_MS, ACK_TIMEOUT_MS * 2 ** Math.min(count, 8)),
    expect: {
      ...(lastOnSubject === undefined ? {} : { lastSubjectSequence: lastOnSubject }),
      ...(lastInStream === undefined ? {} : { lastSequence: lastInStream }),
    },
  };
}

/** Appends events to their streams; one sink a process, so that the bound on bytes under way holds for the process. */
export const createEventSink = (link: NatsLink): EventSink => new NatsEventSink(link);
