import type { EventReader, StreamState } from '../../processors/ports.ts';
import type { StoredEvent } from '../../streams/envelope.ts';
import type { Position } from '../../streams/ids.ts';
import { formatSubject, type Subject } from '../../streams/subjects.ts';
import { type StreamFamily, streamName } from '../../streams/topology.ts';
import { type Metrics, noMetrics } from '../base/metrics.ts';
import { decodeStored } from './decode.ts';
import type { NatsLink } from './link.ts';
import { retrying } from './outage.ts';
import { lastOn, messageAfterDirect, messageAt, type StoredWire, streamNumbers } from './stored.ts';
import { readStreamState } from './streamState.ts';

class NatsEventReader implements EventReader {
  readonly #link: NatsLink;
  readonly #metrics: Metrics;

  constructor(link: NatsLink, metrics: Metrics) {
    this.#link = link;
    this.#metrics = metrics;
  }

  async get(family: StreamFamily, position: Position): Promise<StoredEvent | null> {
    // The server has no message 0; a caller may well ask before there was any.
    if (position.sequence < 1) return null;
    const stream = streamName(family, position.number);
    const stored = await retrying(this.#link, { stream }, () => messageAt(this.#link, stream, position.sequence));
    return stored && this.#decode(stored, stream, position.number);
  }

  async last(family: StreamFamily, subject: Subject): Promise<StoredEvent | null> {
    for (const number of (await this.#numbers(family)).toReversed()) {
      const stream = streamName(family, number);
      const stored = await retrying(this.#link, { stream }, () => lastOn(this.#link, stream, formatSubject(subject)));
      if (stored !== null) return this.#decode(stored, stream, number);
    }
    return null;
  }

  /** One message after the other: no more than one is under way, whatever their sizes. */
  async allOn(
    family: StreamFamily,
    subject: Subject,
    limit: number,
    after?: Position,
  ): Promise<readonly StoredEvent[]> {
    const text = formatSubject(subject);
    const events: StoredEvent[] = [];
    const from = after ?? { number: 1, sequence: 0 };
    for (const number of (await this.#numbers(family)).filter((n) => n >= from.number)) {
      const stream = streamName(family, number);
      for (let done = number === from.number ? from.sequence : 0; events.length < limit; ) {
        const last = done;
        const stored = await retrying(this.#link, { stream }, () => messageAfterDirect(this.#link, stream, last, text));
        if (stored === null) break;
        events.push(this.#decode(stored, stream, number));
        done = stored.sequence;
      }
    }
    return events;
  }

  state(family: StreamFamily): Promise<StreamState> {
    return retrying(this.#link, { stream: family }, () => readStreamState(this.#link, family));
  }

  #numbers(family: StreamFamily): Promise<readonly number[]> {
    return retrying(this.#link, { stream: family }, () => streamNumbers(this.#link, family));
  }

  #decode(stored: StoredWire, stream: string, number: number): StoredEvent {
    return decodeStored(stored.wire, { stream, position: { number, sequence: stored.sequence } }, this.#metrics);
  }
}

/** Reads single events and the state of streams; waits through outages until the link is closed. */
export const createEventReader = (link: NatsLink, metrics: Metrics = noMetrics): EventReader =>
  new NatsEventReader(link, metrics);
