import type { JetStreamClient, JetStreamManager } from '@nats-io/jetstream';
import type { NatsConnection } from 'nats';
import type { Conditions } from '../../processors/ports.ts';
import type { Clock } from '../base/clock.ts';
import type { HeadwaterError } from '../base/errors/index.ts';
import type { Log } from '../base/log.ts';

/** A connection to NATS that comes back by itself, and what the adapters need to know of it. */
export interface NatsLink {
  readonly nc: NatsConnection;
  readonly js: JetStreamClient;
  readonly jsm: JetStreamManager;
  /** Host and port, without credentials. */
  readonly url: string;
  readonly serverVersion: string;
  readonly log: Log;
  readonly clock: Clock;
  readonly conditions: Conditions;
  /** Aborts when this TCP connection is lost; another one stands here after the reconnect. */
  readonly session: AbortSignal;
  /** Aborts when the link was closed, by `close` or for good; operations without a signal of their own end by it. */
  readonly stopping: AbortSignal;
  /** Resolves when there is a connection; nothing is sent before, else it would pile up in the client's buffer. */
  up(signal?: AbortSignal): Promise<void>;
  /** Null after `close()`; NATS_CLOSED when the client gave up: the process must end then. */
  readonly closed: Promise<HeadwaterError | null>;
  /** Sends what is buffered and closes. Stop what uses the link first. */
  close(): Promise<void>;
}
