/** What the reply subject of a delivered message tells about it. */
export interface DeliveryFacts {
  readonly stream: string;
  readonly streamSequence: number;
  /** Counts the deliveries of the consumer from 1; a gap means that one was lost on the way. */
  readonly consumerSequence: number;
  /** How often this message was handed out, from 1. */
  readonly deliveries: number;
  /** Matching messages that the consumer has not handed out yet. */
  readonly pending: number;
}

/**
 * Reads `$JS.ACK.<stream>.<consumer>.<deliveries>.<sequence>.<consumer sequence>.<time>.<pending>`, or the form with a
 * domain and an account before the stream. Null when it is neither.
 */
export function parseDeliverySubject(reply: string): DeliveryFacts | null {
  const tokens = reply.split('.');
  const known = tokens[0] === '$JS' && tokens[1] === 'ACK' && (tokens.length === 9 || tokens.length >= 11);
  if (!known) return null;
  const at = tokens.length === 9 ? 2 : 4;
  const count = (i: number): number => Number(tokens[at + i]);
  const facts = {
    stream: tokens[at] ?? '',
    deliveries: count(2),
    streamSequence: count(3),
    consumerSequence: count(4),
    pending: count(6),
  };
  const numbers = [facts.deliveries, facts.streamSequence, facts.consumerSequence, facts.pending];
  return numbers.every((n) => Number.isSafeInteger(n) && n >= 0) ? facts : null;
}
