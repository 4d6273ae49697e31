import { RequestError, TimeoutError } from 'nats';
import { HeadwaterError } from '../base/errors/index.ts';
import { orAborted } from '../base/orAborted.ts';
import type { NatsLink } from './link.ts';
import { backoffMs } from './outage.ts';

const CONFIRM_TIMEOUT_MS = 2_000;
/** After the shutdown began an acknowledgement is tried for this long; the lease lapses then and another worker repeats. */
const LAST_TRIES_MS = 5_000;

const say = (link: NatsLink, reply: string, word: string): void => {
  // A closed connection: the lease lapses by itself.
  if (!link.nc.isClosed()) link.nc.publish(reply, word);
};

export const nakLease = (link: NatsLink, reply: string, delayMs: number): void =>
  say(link, reply, `-NAK ${JSON.stringify({ delay: Math.max(0, Math.round(delayMs)) * 1_000_000 })}`);

export const extendLease = (link: NatsLink, reply: string): void => say(link, reply, '+WPI');

export const endLease = (link: NatsLink, reply: string, reason: string): void =>
  // Line breaks would end the reason early.
  say(link, reply, `+TERM ${reason.replaceAll(/\s+/g, ' ').slice(0, 500)}`);

/** Of a server that could be asked: no answer, or nobody there who would give one. */
const SILENCES_MAX = 3;
const isSilence = (error: unknown): boolean => error instanceof TimeoutError || error instanceof RequestError;

/**
 * Acknowledges and waits for the server's confirmation, again and again through outages until `signal` aborts (then for
 * some seconds more). Throws NATS_UNAVAILABLE when it was not confirmed. A server that is there and does not answer knows
 * nothing of the delivery: it was killed before that was on disk, another leader died with the news, or the consumer was made
 * anew. It hands the message out again, to whoever asks, so this returns.
 */
export async function confirmLease(link: NatsLink, reply: string, signal: AbortSignal): Promise<void> {
  let deadline = Number.POSITIVE_INFINITY;
  for (let attempt = 0, silences = 0; ; attempt++) {
    try {
      await link.up(AbortSignal.timeout(CONFIRM_TIMEOUT_MS));
      await orAborted(link.nc.request(reply, Buffer.from('+ACK'), { timeout: CONFIRM_TIMEOUT_MS }), [link.session]);
      return;
    } catch (error) {
      if (signal.aborted) deadline = Math.min(deadline, link.clock.now() + LAST_TRIES_MS);
      if (link.nc.isClosed() || link.clock.now() >= deadline) throw notConfirmed(error);
      if (isSilence(error) && ++silences >= SILENCES_MAX) {
        link.log.warn('an acknowledgement was not confirmed: what it was for comes again', { reply });
        return;
      }
    }
    await link.clock.sleep(backoffMs(attempt));
  }
}

const notConfirmed = (cause: unknown): HeadwaterError =>
  new HeadwaterError('NATS_UNAVAILABLE', { stream: 'ack', reason: String((cause as Error).message) }, { cause });
