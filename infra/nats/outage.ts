import { JetStreamApiError } from '@nats-io/jetstream';
import { ClosedConnectionError, DrainingConnectionError, InvalidArgumentError, PermissionViolationError } from 'nats';
import { HeadwaterError } from '../base/errors/index.ts';
import { orAborted } from '../base/orAborted.ts';
import type { NatsLink } from './link.ts';

/** The server's error codes that mean "no room": its own limit, the stream's, or a disk that takes no more. */
const FULL_CODES: readonly number[] = [
  10023, // insufficient resources
  10028, // memory resources exceeded
  10047, // storage resources exceeded
  10077, // the store refused: maximum bytes or messages, or a disk error
  10121, // the stream's limit passes the account's
];
/** Wrong last sequence, and its newer form that does not name the sequence. */
const CONFLICT_CODES: readonly number[] = [10071, 10164];
/** Answers of a stream that is being moved or rolled: another attempt finds it in order. */
const PASSING_CODES: readonly number[] = [10109, 10167];

export const isConflict = (error: unknown): boolean =>
  error instanceof JetStreamApiError && CONFLICT_CODES.includes(error.code);

/** True when the server answered that there is no such stream or consumer. */
export const isMissing = (error: unknown): boolean =>
  error instanceof JetStreamApiError && (error.code === 10014 || error.code === 10059);

export const backoffMs = (attempt: number): number => Math.min(5_000, 100 * 2 ** Math.min(attempt, 10));

/** Errors that no other attempt would change. */
const isFinal = (error: unknown): boolean =>
  error instanceof ClosedConnectionError ||
  error instanceof DrainingConnectionError ||
  error instanceof PermissionViolationError ||
  error instanceof InvalidArgumentError;

/**
 * What an error of the client means. Retriable: STREAM_FULL, NATS_UNAVAILABLE (time-out, no responders, elections, a lost
 * connection). Not: NATS_REFUSED. Programming errors come back as they are.
 */
export function classify(error: unknown, what: string): Error {
  if (error instanceof HeadwaterError || error instanceof TypeError || error instanceof RangeError) return error;
  const reason = error instanceof Error ? error.message : String(error);
  if (error instanceof JetStreamApiError) return classifyAnswer(error, what);
  if (isFinal(error)) return new HeadwaterError('NATS_REFUSED', { what, reason, code: 'client' }, { cause: error });
  return new HeadwaterError('NATS_UNAVAILABLE', { stream: what, reason }, { cause: error });
}

function classifyAnswer(error: JetStreamApiError, what: string): HeadwaterError {
  const { code, status, message: reason } = error;
  const options = { cause: error };
  if (FULL_CODES.includes(code)) return new HeadwaterError('STREAM_FULL', { stream: what, reason, code }, options);
  const passes = status >= 500 || status === 429 || PASSING_CODES.includes(code) || isMissing(error);
  if (passes) return new HeadwaterError('NATS_UNAVAILABLE', { stream: what, reason, code }, options);
  return new HeadwaterError('NATS_REFUSED', { what, reason, code }, options);
}

export interface RetryOptions {
  /** What it is about, as conditions and messages name it: a stream. */
  readonly stream: string;
  readonly signal?: AbortSignal | undefined;
  /** Throws what must not be retried although it looks like an outage. */
  readonly first?: (error: unknown) => void;
}

/**
 * Runs `attempt` until it succeeds, is refused for good, or a signal aborts. An outage is reported as the condition
 * `stream/<name>` while it lasts. Nothing is attempted while there is no connection, and an attempt ends with the
 * connection it was made on.
 */
export async function retrying<T>(
  link: NatsLink,
  options: RetryOptions,
  attempt: (count: number) => Promise<T>,
): Promise<T> {
  const { stream, signal } = options;
  const about = `stream/${stream}`;
  for (let count = 0; ; count++) {
    await link.up(signal);
    try {
      const result = await orAborted(attempt(count), [signal, link.session, link.stopping]);
      link.conditions.clear(about);
      return result;
    } catch (error) {
      signal?.throwIfAborted();
      link.stopping.throwIfAborted();
      options.first?.(error);
      const known = classify(error, stream);
      if (!(known instanceof HeadwaterError) || !known.retriable) throw known;
      link.conditions.report(about, known);
      if (count === 0) link.log.warn('waiting for NATS', { stream, code: known.code, reason: known.message });
    }
    await link.clock.sleep(backoffMs(count), signal);
  }
}
