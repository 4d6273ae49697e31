/**
 * Pull requests to one consumer, one at a time, bounded in messages and bytes at once. The client's own `consume` offers
 * only one of the two bounds and leases messages ahead of the handler; here a lease begins when a handler is free, and no
 * more bytes are under way than asked for.
 */
import { createInbox, type Msg, type Subscription } from 'nats';
import type { WireMessage } from '../../streams/envelope.ts';
import { orAborted } from '../base/orAborted.ts';
import { plainHeaders } from './decode.ts';
import { type DeliveryFacts, parseDeliverySubject } from './deliverySubject.ts';
import type { NatsLink } from './link.ts';

/** How long a request waits at the server; a leader that changes forgets requests, so it is short. */
export const REQUEST_MS = 2_000;
/** Without a word for this long the request is lost (server gone, link broken, answer dropped). */
const SILENCE_MS = REQUEST_MS + 1_500;

export type PullEnd =
  /** It gave all that it asked for: the messages, or the next one does not fit into the bytes. */
  | 'filled'
  /** Nothing more came in its time. */
  | 'expired'
  /** The next message alone is larger than the bytes it asked for. */
  | 'too large'
  /** No such consumer (any more). */
  | 'gone'
  /** Lost: ask again. */
  | 'lost';

export interface Pulled {
  readonly facts: DeliveryFacts;
  readonly reply: string;
  readonly wire: WireMessage;
  /** Payload, headers and subject as they came. */
  readonly bytes: number;
}

export type PullItem =
  | ({ readonly kind: 'message' } & Pulled)
  | { readonly kind: 'ended'; readonly end: PullEnd; readonly detail: string };

interface Open {
  readonly subscription: Subscription;
  left: number;
  received: number;
  timer: NodeJS.Timeout | undefined;
}

function endOf(code: number, description: string): PullEnd {
  if (code === 404 || code === 408) return 'expired';
  if (code === 409 && /deleted|push based/i.test(description)) return 'gone';
  if (code === 409 && /maxbytes|batch completed/i.test(description)) return 'filled';
  return code === 503 ? 'gone' : 'lost';
}

export class Puller {
  readonly #link: NatsLink;
  readonly #subject: string;
  /** What to do with a message that arrives after `close`: hand its lease back. */
  readonly #late: (reply: string) => void;
  readonly #items: PullItem[] = [];
  #open: Open | null = null;
  #wake: (() => void) | null = null;
  #bytes = 0;
  #closed = false;

  constructor(link: NatsLink, stream: string, consumer: string, late: (reply: string) => void = () => {}) {
    this.#link = link;
    this.#subject = `$JS.API.CONSUMER.MSG.NEXT.${stream}.${consumer}`;
    this.#late = late;
  }

  /** True while a request is under way. */
  get asking(): boolean {
    return this.#open !== null;
  }

  /** True when `next` would have to wait for ever: nothing is under way and everything was taken. */
  get empty(): boolean {
    return this.#open === null && this.#items.length === 0;
  }

  /** Bytes received and not yet taken by `next`. */
  get bytes(): number {
    return this.#bytes;
  }

  /** Asks for up to `messages` within `bytes` (no bound: 0). Only while no request is under way. */
  request(messages: number, bytes: number): void {
    const inbox = createInbox();
    const subscription = this.#link.nc.subscribe(inbox, {
      callback: (error, message) => this.#received(open, error, message),
    });
    const open: Open = { subscription, left: messages, received: 0, timer: undefined };
    this.#open = open;
    this.#listen(open);
    const query = { batch: messages, expires: REQUEST_MS * 1e6, ...(bytes > 0 ? { max_bytes: bytes } : {}) };
    this.#link.nc.publish(this.#subject, JSON.stringify(query), { reply: inbox });
  }

  /** The next message or end of a request; null after `timeoutMs` without one. Rejects with the signal's reason. */
  async next(signal: AbortSignal, timeoutMs?: number): Promise<PullItem | null> {
    signal.throwIfAborted();
    if (this.#items.length === 0) await this.#arrival(signal, timeoutMs);
    const item = this.#items.shift() ?? null;
    if (item?.kind === 'message') this.#bytes -= item.bytes;
    return item;
  }

  /** Ends the request; what was not taken is handed to `late`. */
  close(): void {
    this.#closed = true;
    const open = this.#open;
    this.#open = null;
    if (open !== null) {
      clearTimeout(open.timer);
      // Messages on their way still arrive during the drain.
      open.subscription.drain().catch(() => undefined);
    }
    for (const item of this.#items.splice(0)) if (item.kind === 'message') this.#late(item.reply);
    this.#bytes = 0;
  }

  async #arrival(signal: AbortSignal, timeoutMs: number | undefined): Promise<void> {
    let timer: NodeJS.Timeout | undefined;
    const arrived = new Promise<void>((resolve) => {
      this.#wake = resolve;
      if (timeoutMs !== undefined) timer = setTimeout(resolve, timeoutMs);
    });
    try {
      await orAborted(arrived, [signal]);
    } finally {
      clearTimeout(timer);
      this.#wake = null;
    }
  }

  #push(item: PullItem): void {
    this.#items.push(item);
    this.#wake?.();
  }

  #listen(open: Open): void {
    clearTimeout(open.timer);
    open.timer = setTimeout(() => this.#end(open, 'lost', 'no answer'), SILENCE_MS);
  }

  #end(open: Open, end: PullEnd, detail: string): void {
    clearTimeout(open.timer);
    open.subscription.unsubscribe();
    if (this.#open !== open) return;
    this.#open = null;
    this.#push({ kind: 'ended', end, detail });
  }

  #received(open: Open, error: Error | null, message: Msg): void {
    const reply = message?.reply ?? '';
    const facts = parseDeliverySubject(reply);
    if (error !== null) this.#end(open, 'lost', error.message);
    else if (facts === null) this.#status(open, message);
    else if (this.#closed || this.#open !== open) this.#late(reply);
    else this.#keep(open, message, { facts, reply });
  }

  #keep(open: Open, message: Msg, about: Pick<Pulled, 'facts' | 'reply'>): void {
    const wire = { subject: message.subject, headers: plainHeaders(message.headers), payload: message.data };
    const bytes = message.data.length + message.subject.length;
    this.#bytes += bytes;
    open.received++;
    open.left--;
    this.#push({ kind: 'message', ...about, wire, bytes });
    if (open.left === 0) this.#end(open, 'filled', '');
    else this.#listen(open);
  }

  #status(open: Open, message: Msg): void {
    const code = message.headers?.code ?? 0;
    // Heartbeats; we ask for none.
    if (code === 100) return;
    const description = message.headers?.description ?? '';
    const end = endOf(code, description);
    const nothing = end === 'filled' && open.received === 0;
    this.#end(open, nothing ? 'too large' : end, `${code} ${description}`);
  }
}
