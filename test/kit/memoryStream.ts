import { noMetrics } from '../../infra/base/metrics.ts';
import { decodeStored } from '../../infra/nats/decode.ts';
import { ID_HEADER, type StoredEvent, type WireMessage } from '../../streams/envelope.ts';
import { STREAMS, type StreamFamily } from '../../streams/topology.ts';

export interface MemoryMessage {
  readonly sequence: number;
  readonly wire: WireMessage;
  readonly storedAt: number;
}

export const sizeOf = (wire: WireMessage): number => wire.subject.length + wire.payload.length;
export const sameWire = (a: WireMessage, b: WireMessage): boolean =>
  a.subject === b.subject && Buffer.compare(a.payload, b.payload) === 0;

/** The event of a message; a broken one is the catalogue's error, as with the NATS adapters. */
export const decoded = (message: MemoryMessage): StoredEvent => {
  const place = { stream: 'memory', position: { number: 1, sequence: message.sequence } };
  return decodeStored(message.wire, place, noMetrics);
};

/** One stream in memory: sequences from 1, no gaps but purged messages, repeats dropped inside its window. */
export class MemoryStream {
  readonly createdAt: number;
  readonly #windowMs: number;
  readonly #ids = new Map<string, MemoryMessage>();
  #messages: MemoryMessage[] = [];
  #last = 0;
  #waiting: (() => void)[] = [];

  constructor(family: StreamFamily, now: number) {
    this.createdAt = now;
    this.#windowMs = STREAMS[family].duplicateWindowMs;
  }

  get messages(): readonly MemoryMessage[] {
    return this.#messages;
  }

  /** Sequence of the last message ever stored, 0 before the first. */
  get last(): number {
    return this.#last;
  }

  get first(): number {
    return this.#messages[0]?.sequence ?? this.#last + 1;
  }

  put(wire: WireMessage, now: number): MemoryMessage {
    const message = { sequence: ++this.#last, wire, storedAt: now };
    this.#messages.push(message);
    const id = wire.headers[ID_HEADER];
    if (id !== undefined) this.#ids.set(id, message);
    this.ring();
    return message;
  }

  /** The message with this id that was stored inside the duplicate window, also when it was purged since. */
  remembered(id: string, now: number): MemoryMessage | null {
    const message = this.#ids.get(id);
    return message && now - message.storedAt < this.#windowMs ? message : null;
  }

  lastOn(subject: string): MemoryMessage | null {
    return this.#messages.findLast((m) => m.wire.subject === subject) ?? null;
  }

  /** The first message after `sequence`, on `subject` when one is given. */
  after(sequence: number, subject?: string): MemoryMessage | null {
    return this.#messages.find((m) => m.sequence > sequence && (subject ?? m.wire.subject) === m.wire.subject) ?? null;
  }

  purge(subject: string): void {
    this.#messages = this.#messages.filter((m) => m.wire.subject !== subject);
  }

  /** Resolves when something may have changed: a message came, a lease was given back. */
  changed(): Promise<void> {
    return new Promise((resolve) => this.#waiting.push(resolve));
  }

  ring(): void {
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const resolve of waiting) resolve();
  }
}
